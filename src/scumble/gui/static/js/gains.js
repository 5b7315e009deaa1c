// Charts of a comparison: intervals of the differences between methods, and F1 of each label.

import { isNarrow, limitWidth } from "./charts.js";
import { addTooltip, h, s } from "./dom.js";
import { fixed, int, shorten, significant } from "./format.js";
import { signed } from "./study.js";

const ROW = 24;  // height of a row in units of the chart

/** Return round values for the ticks of an axis. */
function axisTicks(low, high) {
  const size = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1].find((step) => (high - low) / step <= 6) ?? 1;
  const ticks = [];
  for (let index = Math.ceil(low / size); index * size <= high; index += 1) ticks.push(index * size);
  return ticks;
}

/** Create a chart with its axis, and the function that maps values to it. */
function frame(rows, { low, high, width, nameWidth, label }) {
  const height = rows * ROW + 30;
  const x = (value) => nameWidth + (width - nameWidth - 16) * ((value - low) / (high - low));
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const value of axisTicks(low, high)) {
    svg.append(s("line", { class: "axis", x1: x(value), x2: x(value), y1: 2, y2: height - 22 }), s("text", { x: x(value), y: height - 7, "text-anchor": "middle" }, significant(value, 2).replace("-", "−")));
  }
  return { svg, x, height };
}

/** Draw differences to the baseline with their intervals; the line in the middle means no difference. */
export function intervals({ rows, baseline, metric, width = isNarrow() ? 380 : 640 }) {
  const defined = rows.filter((row) => row.difference !== null);
  const nameWidth = isNarrow() ? 140 : 220;
  const bounds = defined.flatMap((row) => [row.low ?? row.difference, row.high ?? row.difference]);
  const limit = Math.max(0.01, ...bounds.map(Math.abs)) * 1.08;
  const label = `Change of ${metric} against ${baseline}. ${defined.map((row) => `${row.method}: ${signed(row.difference)}, between ${signed(row.low)} and ${signed(row.high)}, ${row.verdict}`).join("; ")}`;
  const { svg, x, height } = frame(defined.length, { low: -limit, high: limit, width, nameWidth, label });
  svg.append(s("line", { class: "zero", x1: x(0), x2: x(0), y1: 2, y2: height - 22 }));
  defined.forEach((row, index) => {
    const y = 13 + index * ROW;
    const className = { better: "good", worse: "bad" }[row.verdict] ?? "open";
    const line = s("g", { class: className }, s("rect", { x: 0, y: y - ROW / 2, width, height: ROW, fill: "transparent" }), s("text", { x: nameWidth - 10, y: y + 4, "text-anchor": "end" }, shorten(row.method, isNarrow() ? 20 : 33)));
    if (row.low !== null) {
      const ends = [row.low, row.high].map((end) => s("line", { class: "reach", x1: x(end), x2: x(end), y1: y - 4, y2: y + 4 }));
      line.append(s("line", { class: "reach", x1: x(row.low), x2: x(row.high), y1: y, y2: y }), ...ends);
    }
    line.append(s("circle", { class: "middle", cx: x(row.difference), cy: y, r: 4.5 }));
    svg.append(addTooltip(line, `${row.method}\n${signed(row.difference)} (${signed(row.low)} to ${signed(row.high)})\n${row.verdict}`));
  });
  return h("figure", {}, limitWidth(svg, width), h("figcaption", {}, `Change of ${metric} against ${baseline}, with its confidence interval. Right of the line is better.`));
}

const MAX_LABELS = 40;  // more lines than this are hard to read

/** Return the style class of a gain. */
function gainClass(gain) {
  if (gain > 0) return "good";
  return gain < 0 ? "bad" : "open";
}

/** Draw F1 of the labels that change most, by the baseline and by another method. */
export function gainsChart({ rows, baseline, method, width = isNarrow() ? 380 : 640 }) {
  const nameWidth = isNarrow() ? 150 : 230;
  const displayed = [...rows].sort((a, b) => Math.abs(b.gain) - Math.abs(a.gain)).slice(0, MAX_LABELS).sort((a, b) => b.gain - a.gain);
  const up = rows.filter((row) => row.gain > 0).length;
  const down = rows.filter((row) => row.gain < 0).length;
  const label = `F1 of labels by ${baseline} and by ${method}. ${int(up)} gain, ${int(down)} lose. The table below has all numbers.`;
  const { svg, x } = frame(displayed.length, { low: 0, high: 1, width, nameWidth, label });
  displayed.forEach((row, index) => {
    const y = 13 + index * ROW;
    const text = `${shorten(row.label, isNarrow() ? 14 : 26)} (${int(row.rows)})`;
    const line = s("g", { class: gainClass(row.gain) }, s("rect", { x: 0, y: y - ROW / 2, width, height: ROW, fill: "transparent" }), s("text", { x: nameWidth - 10, y: y + 4, "text-anchor": "end" }, text));
    line.append(s("line", { class: "reach", x1: x(row.before), x2: x(row.after), y1: y, y2: y }), s("circle", { class: "from", cx: x(row.before), cy: y, r: 4.2 }));
    if (row.gain) line.append(s("path", { class: "middle", d: triangle(x(row.after), y, row.gain > 0) }));
    svg.append(addTooltip(line, `${row.label}\nF1 ${fixed(row.before, 3)} → ${fixed(row.after, 3)} (${signed(row.gain)})\n${int(row.rows)} training rows`));
  });
  const n_hidden = rows.length - displayed.length;
  return h("figure", {}, limitWidth(svg, width), h("figcaption", {}, `F1 of each label, pooled over all folds. Open dots: ${baseline}. Triangles: ${method}, pointing up for a gain and down for a loss. In brackets: training rows.${n_hidden > 0 ? ` ${int(n_hidden)} labels with smaller changes are not shown.` : ""}`));
}

/** Return the path of a triangle that points up or down. */
function triangle(x, y, up) {
  const size = up ? 5.5 : -5.5;
  return `M${x} ${y - size}L${x + 5.5} ${y + size * 0.8}L${x - 5.5} ${y + size * 0.8}Z`;
}
