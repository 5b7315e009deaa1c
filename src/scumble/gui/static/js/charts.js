// Small charts in SVG. Every chart has a name and a summary in words for those who do not see it.
// What the first page draws is here, charts of single labels are in label_charts.js.

import { h, hint, s } from "./dom.js";
import { int, sig } from "./format.js";
import { saving } from "./pictures.js";

const LEFT = 40;
const BOTTOM = 20;

/** On a phone charts get fewer units, so that their letters stay readable. */
export const isNarrow = () => matchMedia("(max-width: 34rem)").matches;

/** Where a window grows, as when a phone is turned, letters grow only so far. */
export function bounded(svg, width) {
  svg.style.maxWidth = `${1.4 * width}px`;
  return svg;
}

/** Bars over bins. `label(low, high)` names a bin. */
export function histogram({ title, data, note, label, log = false, height = 130, width = 320, most = null, ticks = null }) {
  const { edges, counts } = data;
  most ??= Math.max(1, ...counts);
  const innerWidth = width - LEFT - 4;
  const innerHeight = height - BOTTOM - 8;
  const x = (at) => LEFT + (innerWidth * at) / counts.length;
  const scale = log ? (value) => Math.log1p(value) / Math.log1p(most) : (value) => value / most;
  const top = (value) => 8 + innerHeight * (1 - (value ? Math.max(scale(value), 0.012) : 0));
  const bar = (value, at) => value ? s("rect", { class: "bar", x: x(at) + 0.5, width: Math.max(innerWidth / counts.length - 1, 0.6), y: top(value), height: 8 + innerHeight - top(value) }) : null;
  const shown = ticks ?? evenTicks(edges, counts.length);
  const drawing = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}. ${note ?? ""}` },
    s("line", { class: "axis", x1: LEFT, x2: width - 4, y1: 8 + innerHeight, y2: 8 + innerHeight }),
    s("text", { x: LEFT - 6, y: 16, "text-anchor": "end" }, int(most)),
    s("text", { x: LEFT - 6, y: 8 + innerHeight, "text-anchor": "end" }, "0"),
    counts.map((value, at) => {
      const rect = bar(value, at);
      return rect && hint(rect, `${label(edges[at], edges[at + 1])}\n${int(value)}`);
    }),
    shown.map(([at, text]) => s("text", { x: x(at), y: height - 5, "text-anchor": "middle" }, text)));
  return h("figure", {}, bounded(drawing, width), saving(drawing, title));
}

function evenTicks(edges, n) {
  const step = Math.max(1, Math.ceil(n / 5));
  const found = [];
  for (let at = 0; at <= n; at += step) found.push([at, sig(edges[at], 3)]);
  return found;
}

/** Labels as points: how rare against how concurrent. */
export function scatter({ points, meanIr, named, width = isNarrow() ? 380 : 640, height = isNarrow() ? 300 : 360, onPick }) {
  if (isNarrow()) named = named.slice(0, 1);
  const right = 8;
  const most = Math.max(2, ...points.irlbl);
  const innerWidth = width - LEFT - right;
  const top = 24;  // room for the name of the axis
  const innerHeight = height - top - 26;
  const tallest = Math.min(1, Math.ceil(10 * Math.max(0.1, ...points.scumble) + 0.2) / 10);
  const room = named.length ? (isNarrow() ? 60 : 150) : 20;  // for names beside the rarest
  const x = (value) => LEFT + 4 + ((innerWidth - room) * Math.log10(value)) / Math.log10(most);
  const y = (value) => top + innerHeight * (1 - value / tallest);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Labels by imbalance ratio and SCUMBLE. ${points.name.length} labels; the difficult ones are listed beside.` });
  for (let value = 0; value <= tallest + 1e-9; value += tallest > 0.5 ? 0.2 : 0.1) {
    svg.append(s("line", { class: "axis", x1: LEFT, x2: width - right, y1: y(value), y2: y(value) }), s("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, sig(value, 1)));
  }
  for (let power = 1; power <= most; power *= 10) {
    for (const tick of most < 100 ? [power, 2 * power, 5 * power] : [power]) {
      if (tick <= most) svg.append(s("text", { x: x(tick), y: height - 10, "text-anchor": "middle" }, int(tick)));
    }
  }
  svg.append(
    s("text", { x: width - right, y: height - 10, "text-anchor": "end" }, "IRLbl →"),
    s("text", { x: 4, y: 11 }, "↑ SCUMBLELbl"));
  if (meanIr) {
    svg.append(s("line", { class: "mean", x1: x(meanIr), x2: x(meanIr), y1: top, y2: top + innerHeight }), s("text", { x: Math.max(x(meanIr) - 36, 96), y: 11 }, `MeanIR ${sig(meanIr, 3)}`));
  }
  const order = points.label.map((_, at) => at).reverse();  // the most concurrent on top
  for (const at of order) {
    const circle = s("circle", { class: points.is_minority[at] ? "point is-rare" : "point", cx: x(points.irlbl[at]).toFixed(1), cy: y(points.scumble[at]).toFixed(1), r: 3.4 });
    circle.at = at;
    svg.append(circle);
  }
  nameSome(svg, points, named, x, y, width - right);
  hint(svg, ({ target }) => target.at === undefined ? "" : `${points.name[target.at]}\n${int(points.count[target.at])} instances · IRLbl ${sig(points.irlbl[target.at])} · SCUMBLE ${sig(points.scumble[target.at])}`);
  svg.addEventListener("click", ({ target }) => { if (target.at !== undefined) onPick(points.label[target.at]); });
  return h("figure", {}, bounded(svg, width), saving(svg, "Rare and in company"));
}

/** Write names where they do not run into each other. */
function nameSome(svg, points, named, x, y, edge) {
  const taken = [];
  for (const label of named) {
    const at = points.label.indexOf(label);
    if (at < 0) continue;
    const full = points.name[at];
    const text = full.length > 26 ? `${full.slice(0, 25)}…` : full;
    const size = text.length * 6.4;
    const px = x(points.irlbl[at]);
    const fits = px + 8 + size < edge;
    const box = { left: fits ? px + 7 : px - 7 - size, top: y(points.scumble[at]) - 7, width: size, height: 13 };
    if (taken.some((other) => box.left < other.left + other.width && other.left < box.left + box.width && Math.abs(box.top - other.top) < 13)) continue;
    taken.push(box);
    svg.append(s("text", { class: "mark", x: fits ? px + 7 : px - 7, y: box.top + 11, "text-anchor": fits ? "start" : "end" }, text));
  }
}
