// What methods change, as pictures: intervals of differences, and every label before and after.

import { bounded, isNarrow } from "./charts.js";
import { h, hint, s } from "./dom.js";
import { fixed, int, sig } from "./format.js";
import { signed } from "./study.js";

const ROW = 24;
const cut = (text, longest) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);

/** Steps of an axis that read well. */
function steps(low, high) {
  const size = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1].find((each) => (high - low) / each <= 6) ?? 1;
  const found = [];
  for (let at = Math.ceil(low / size); at * size <= high; at += 1) found.push(at * size);
  return found;
}

function frame(rows, { low, high, width, nameWidth, label }) {
  const height = rows * ROW + 30;
  const x = (value) => nameWidth + (width - nameWidth - 16) * ((value - low) / (high - low));
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const value of steps(low, high)) {
    svg.append(s("line", { class: "axis", x1: x(value), x2: x(value), y1: 2, y2: height - 22 }), s("text", { x: x(value), y: height - 7, "text-anchor": "middle" }, sig(value, 2).replace("-", "−")));
  }
  return { svg, x, height };
}

/** Differences to the first method with their intervals; the line in the middle is no difference. */
export function intervals({ rows, baseline, metric, width = isNarrow() ? 380 : 640 }) {
  const known = rows.filter((row) => row.difference !== null);
  const nameWidth = isNarrow() ? 140 : 220;
  const ends = known.flatMap((row) => [row.low ?? row.difference, row.high ?? row.difference]);
  const reach = Math.max(0.01, ...ends.map(Math.abs)) * 1.08;
  const label = `Change of ${metric} against ${baseline}. ${known.map((row) => `${row.method}: ${signed(row.difference)}, between ${signed(row.low)} and ${signed(row.high)}, ${row.verdict}`).join("; ")}`;
  const { svg, x, height } = frame(known.length, { low: -reach, high: reach, width, nameWidth, label });
  svg.append(s("line", { class: "zero", x1: x(0), x2: x(0), y1: 2, y2: height - 22 }));
  known.forEach((row, at) => {
    const y = 13 + at * ROW;
    const kind = { better: "good", worse: "bad" }[row.verdict] ?? "open";
    const line = s("g", { class: kind }, s("rect", { x: 0, y: y - ROW / 2, width, height: ROW, fill: "transparent" }), s("text", { x: nameWidth - 10, y: y + 4, "text-anchor": "end" }, cut(row.method, isNarrow() ? 20 : 33)));
    if (row.low !== null) line.append(s("line", { class: "reach", x1: x(row.low), x2: x(row.high), y1: y, y2: y }), [row.low, row.high].map((end) => s("line", { class: "reach", x1: x(end), x2: x(end), y1: y - 4, y2: y + 4 })).reduce((group, each) => { group.append(each); return group; }, s("g", {})));
    line.append(s("circle", { class: "middle", cx: x(row.difference), cy: y, r: 4.5 }));
    svg.append(hint(line, `${row.method}\n${signed(row.difference)} (${signed(row.low)} to ${signed(row.high)})\n${row.verdict}`));
  });
  return h("figure", {}, bounded(svg, width), h("figcaption", {}, `Change of ${metric} against ${baseline}, with the interval it lies in. Right of the line is better.`));
}

const MOST = 40;

/** F1 of labels by the first method and by another: those that change most. */
export function gainsChart({ rows, baseline, method, width = isNarrow() ? 380 : 640 }) {
  const nameWidth = isNarrow() ? 150 : 230;
  const shown = [...rows].sort((a, b) => Math.abs(b.gain) - Math.abs(a.gain)).slice(0, MOST).sort((a, b) => b.gain - a.gain);
  const up = rows.filter((row) => row.gain > 0).length;
  const down = rows.filter((row) => row.gain < 0).length;
  const label = `F1 of labels by ${baseline} and by ${method}. ${int(up)} gain, ${int(down)} lose. The table below has all numbers.`;
  const { svg, x } = frame(shown.length, { low: 0, high: 1, width, nameWidth, label });
  shown.forEach((row, at) => {
    const y = 13 + at * ROW;
    const text = `${cut(row.label, isNarrow() ? 14 : 26)} (${int(row.rows)})`;
    const line = s("g", { class: row.gain > 0 ? "good" : row.gain < 0 ? "bad" : "open" }, s("rect", { x: 0, y: y - ROW / 2, width, height: ROW, fill: "transparent" }), s("text", { x: nameWidth - 10, y: y + 4, "text-anchor": "end" }, text));
    line.append(s("line", { class: "reach", x1: x(row.before), x2: x(row.after), y1: y, y2: y }), s("circle", { class: "from", cx: x(row.before), cy: y, r: 4.2 }));
    if (row.gain) line.append(s("path", { class: "middle", d: triangle(x(row.after), y, row.gain > 0) }));
    svg.append(hint(line, `${row.label}\nF1 ${fixed(row.before, 3)} → ${fixed(row.after, 3)} (${signed(row.gain)})\n${int(row.rows)} training rows`));
  });
  const left = rows.length - shown.length;
  return h("figure", {}, bounded(svg, width), h("figcaption", {}, `F1 of each label, counts of all folds added up. Open dots: ${baseline}. Triangles: ${method}, pointing up where the label gains, down where it loses. In brackets the training rows.${left > 0 ? ` ${int(left)} labels that change less are not drawn.` : ""}`));
}

function triangle(x, y, up) {
  const size = up ? 5.5 : -5.5;
  return `M${x} ${y - size}L${x + 5.5} ${y + size * 0.8}L${x - 5.5} ${y + size * 0.8}Z`;
}
