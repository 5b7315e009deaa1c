// Charts of the overview, in SVG. Each has a title and a summary for screen readers. Charts with a line
// for each label are in label_charts.js.

import { addTooltip, h, s } from "./dom.js";
import { int, significant } from "./format.js";
import { saveButtons } from "./pictures.js";

const LEFT = 40;
const BOTTOM = 20;

/** Check for a phone; charts then get fewer units, so that their text stays readable. */
export const isNarrow = () => matchMedia("(max-width: 34rem)").matches;

/** Limit the width of a chart, so that its text does not become too large in a wide window. */
export function limitWidth(svg, width) {
  svg.style.maxWidth = `${1.4 * width}px`;
  return svg;
}

/** Draw a histogram. `label(low, high)` describes a bin. */
export function histogram({ title, data, note, label, log = false, height = 130, width = 320, largest = null, ticks = null }) {
  const { edges, counts } = data;
  largest ??= Math.max(1, ...counts);
  const innerWidth = width - LEFT - 4;
  const innerHeight = height - BOTTOM - 8;
  const x = (index) => LEFT + (innerWidth * index) / counts.length;
  const scale = log ? (value) => Math.log1p(value) / Math.log1p(largest) : (value) => value / largest;
  const top = (value) => 8 + innerHeight * (1 - (value ? Math.max(scale(value), 0.012) : 0));
  const bar = (value, index) => value ? s("rect", { class: "bar", x: x(index) + 0.5, width: Math.max(innerWidth / counts.length - 1, 0.6), y: top(value), height: 8 + innerHeight - top(value) }) : null;
  const labelledTicks = ticks ?? evenTicks(edges, counts.length);
  const drawing = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}. ${note ?? ""}` },
    s("line", { class: "axis", x1: LEFT, x2: width - 4, y1: 8 + innerHeight, y2: 8 + innerHeight }),
    s("text", { x: LEFT - 6, y: 16, "text-anchor": "end" }, int(largest)),
    s("text", { x: LEFT - 6, y: 8 + innerHeight, "text-anchor": "end" }, "0"),
    counts.map((value, index) => {
      const rect = bar(value, index);
      return rect && addTooltip(rect, `${label(edges[index], edges[index + 1])}\n${int(value)}`);
    }),
    labelledTicks.map(([index, text]) => s("text", { x: x(index), y: height - 5, "text-anchor": "middle" }, text)));
  return h("figure", {}, limitWidth(drawing, width), saveButtons(drawing, title));
}

/** Return about five ticks with their texts. */
function evenTicks(edges, n) {
  const step = Math.max(1, Math.ceil(n / 5));
  const tickLabels = [];
  for (let index = 0; index <= n; index += step) tickLabels.push([index, significant(edges[index], 3)]);
  return tickLabels;
}

/** Draw each label as a point: IRLbl on the horizontal axis, SCUMBLELbl on the vertical one. */
export function scatter({ points, meanIr, namedLabels, width = isNarrow() ? 380 : 640, height = isNarrow() ? 300 : 360, onPick }) {
  if (isNarrow()) namedLabels = namedLabels.slice(0, 1);
  const right = 8;
  const largest = Math.max(2, ...points.irlbl);
  const innerWidth = width - LEFT - right;
  const top = 24;  // space for the title of the axis
  const innerHeight = height - top - 26;
  const maxScumble = Math.min(1, Math.ceil(10 * Math.max(0.1, ...points.scumble) + 0.2) / 10);
  const nameSpace = namedLabels.length ? (isNarrow() ? 60 : 150) : 20;  // for names next to the rarest labels
  const x = (value) => LEFT + 4 + ((innerWidth - nameSpace) * Math.log10(value)) / Math.log10(largest);
  const y = (value) => top + innerHeight * (1 - value / maxScumble);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Labels by imbalance ratio and SCUMBLE. ${points.name.length} labels; the difficult ones are listed next to the chart.` });
  for (let value = 0; value <= maxScumble + 1e-9; value += maxScumble > 0.5 ? 0.2 : 0.1) {
    svg.append(s("line", { class: "axis", x1: LEFT, x2: width - right, y1: y(value), y2: y(value) }), s("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, significant(value, 1)));
  }
  for (let power = 1; power <= largest; power *= 10) {
    for (const tick of largest < 100 ? [power, 2 * power, 5 * power] : [power]) {
      if (tick <= largest) svg.append(s("text", { x: x(tick), y: height - 10, "text-anchor": "middle" }, int(tick)));
    }
  }
  svg.append(
    s("text", { x: width - right, y: height - 10, "text-anchor": "end" }, "IRLbl →"),
    s("text", { x: 4, y: 11 }, "↑ SCUMBLELbl"));
  if (meanIr) {
    svg.append(s("line", { class: "mean", x1: x(meanIr), x2: x(meanIr), y1: top, y2: top + innerHeight }), s("text", { x: Math.max(x(meanIr) - 36, 96), y: 11 }, `MeanIR ${significant(meanIr, 3)}`));
  }
  const order = points.label.map((_, index) => index).reverse();  // the most concurrent labels are drawn last, on top
  for (const index of order) {
    const circle = s("circle", { class: points.is_minority[index] ? "point is-rare" : "point", cx: x(points.irlbl[index]).toFixed(1), cy: y(points.scumble[index]).toFixed(1), r: 3.4 });
    circle.index = index;
    svg.append(circle);
  }
  drawNames(svg, points, namedLabels, x, y, width - right);
  addTooltip(svg, ({ target }) => target.index === undefined ? "" : `${points.name[target.index]}\n${int(points.count[target.index])} instances · IRLbl ${significant(points.irlbl[target.index])} · SCUMBLE ${significant(points.scumble[target.index])}`);
  svg.addEventListener("click", ({ target }) => { if (target.index !== undefined) onPick(points.label[target.index]); });
  return h("figure", {}, limitWidth(svg, width), saveButtons(svg, "Imbalance and concurrence"));
}

/** Write the names of labels where they do not overlap. */
function drawNames(svg, points, namedLabels, x, y, edge) {
  const drawnBoxes = [];
  for (const label of namedLabels) {
    const index = points.label.indexOf(label);
    if (index < 0) continue;
    const fullName = points.name[index];
    const text = fullName.length > 26 ? `${fullName.slice(0, 25)}…` : fullName;
    const size = text.length * 6.4;
    const pointX = x(points.irlbl[index]);
    const fits = pointX + 8 + size < edge;
    const box = { left: fits ? pointX + 7 : pointX - 7 - size, top: y(points.scumble[index]) - 7, width: size, height: 13 };
    if (drawnBoxes.some((other) => box.left < other.left + other.width && other.left < box.left + box.width && Math.abs(box.top - other.top) < 13)) continue;
    drawnBoxes.push(box);
    svg.append(s("text", { class: "mark", x: fits ? pointX + 7 : pointX - 7, y: box.top + 11, "text-anchor": fits ? "start" : "end" }, text));
  }
}
