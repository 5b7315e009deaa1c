// Charts with a line for each label or value.

import { bounded, isNarrow } from "./charts.js";
import { h, hint, s } from "./dom.js";
import { counted, int, percent, sig } from "./format.js";
import { saving } from "./pictures.js";

/** Before and after of each label, as two dots on a line. */
export function dumbbells({ rows, width = isNarrow() ? 380 : 560 }) {
  const nameWidth = isNarrow() ? 150 : 190;
  const longest = isNarrow() ? 21 : 28;
  const most = Math.max(0.05, ...rows.flatMap((row) => [row.before.scumble ?? 0, row.after.scumble ?? 0])) * 1.06;
  const height = rows.length * 22 + 26;
  const x = (value) => nameWidth + (width - nameWidth - 14) * (value / most);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `SCUMBLE of difficult labels before and after. ${rows.map((row) => `${row.name}: ${sig(row.before.scumble, 3)} to ${sig(row.after.scumble, 3)}`).join("; ")}` });
  const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((each) => most / each <= 6) ?? 0.2;
  for (let value = 0; value <= most; value += step) {
    svg.append(s("line", { class: "axis", x1: x(value), x2: x(value), y1: 2, y2: height - 20 }), s("text", { x: x(value), y: height - 5, "text-anchor": "middle" }, sig(value, 2)));
  }
  rows.forEach((row, at) => {
    const y = 13 + at * 22;
    const text = row.name.length > longest ? `${row.name.slice(0, longest - 1)}…` : row.name;
    const from = row.before.scumble;
    const to = row.after.scumble;
    const line = s("g", {}, s("rect", { x: 0, y: y - 11, width, height: 22, fill: "transparent" }), s("text", { x: nameWidth - 10, y: y + 4, "text-anchor": "end" }, text));
    if (from !== null && to !== null) line.append(s("line", { class: "span", x1: x(from), x2: x(to), y1: y, y2: y }));
    if (from !== null) line.append(s("circle", { class: "from", cx: x(from), cy: y, r: 4 }));
    if (to !== null) line.append(s("circle", { class: "to", cx: x(to), cy: y, r: 4 }));
    svg.append(hint(line, `${row.name}\nSCUMBLE ${sig(from)} → ${sig(to)}\nIRLbl ${sig(row.before.irlbl)} → ${sig(row.after.irlbl)}\ncount ${int(row.before.count)} → ${int(row.after.count)}`));
  });
  return h("figure", {}, bounded(svg, width), h("figcaption", {}, "Open dots: before; filled: after."), saving(svg, "Difficult labels"));
}

/** Amounts with names, as bars from the left. */
export function bars({ title, rows, width = isNarrow() ? 380 : 640 }) {
  const nameWidth = isNarrow() ? 150 : 240;
  const longest = isNarrow() ? 21 : 36;
  const most = Math.max(1, ...rows.map((row) => row.value));
  const size = (value) => (width - nameWidth - 60) * (value / most);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${rows.length * 18 + 4}`, role: "img", "aria-label": `${title}. ${rows.map((row) => `${row.name}: ${int(row.value)}`).join("; ")}` },
    rows.map((row, at) => hint(s("g", {},
      s("text", { x: nameWidth - 8, y: at * 18 + 14, "text-anchor": "end" }, row.name.length > longest ? `${row.name.slice(0, longest - 1)}…` : row.name),
      s("rect", { class: row.isRare ? "bar is-rare" : "bar", x: nameWidth, y: at * 18 + 3, width: Math.max(size(row.value), 1), height: 14 }),
      s("text", { x: nameWidth + size(row.value) + 5, y: at * 18 + 14 }, int(row.value))), `${row.name}\n${int(row.value)}`)));
  return h("figure", {}, bounded(svg, width), saving(svg, title));
}

/** Of the instances of a label (row), the part that also has another one (column). */
export function heatMap({ title, names, counts, joint }) {
  const left = isNarrow() ? 110 : 170;
  const longest = isNarrow() ? 15 : 25;
  const cell = Math.max(9, Math.min(26, 520 / names.length));
  const side = left + cell * names.length + 6;
  const short = (text) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);
  const part = (row, column) => (row === column ? 1 : (joint[row].get(column) ?? 0) / Math.max(counts[row], 1));
  const svg = s("svg", { class: "chart heat", viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": `${title}. ${counted(names.length, "label")} in rows and columns; the table of partners has the numbers.` });
  names.forEach((text, row) => {
    const at = left + cell * (row + 0.5);
    svg.append(s("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, short(text)), s("text", { transform: `translate(${at + 4} ${left - 6}) rotate(-90)` }, short(text)));
    names.forEach((other, column) => {
      const share = part(row, column);
      const square = s("rect", { class: row === column ? "same" : "share", x: left + cell * column, y: left + cell * row, width: cell - 1, height: cell - 1, "fill-opacity": row === column ? 1 : share.toFixed(3) });
      svg.append(row === column ? square : hint(square, `${text}\n${percent(share)} also have ${other}\n${int(joint[row].get(column) ?? 0)} of ${int(counts[row])}`));
    });
  });
  return h("figure", {}, bounded(svg, side), saving(svg, title));
}
