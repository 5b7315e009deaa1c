// Charts with a line for each label or value.

import { isNarrow, limitWidth } from "./charts.js";
import { addTooltip, h, s } from "./dom.js";
import { int, percent, pluralize, shorten, significant } from "./format.js";
import { saveButtons } from "./pictures.js";

/** Draw each label as two dots on a line: before and after. */
export function dumbbells({ rows, width = isNarrow() ? 380 : 560 }) {
  const nameWidth = isNarrow() ? 150 : 190;
  const maxLength = isNarrow() ? 21 : 28;
  const largest = Math.max(0.05, ...rows.flatMap((row) => [row.before.scumble ?? 0, row.after.scumble ?? 0])) * 1.06;
  const height = rows.length * 22 + 26;
  const x = (value) => nameWidth + (width - nameWidth - 14) * (value / largest);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `SCUMBLE of difficult labels before and after. ${rows.map((row) => `${row.name}: ${significant(row.before.scumble, 3)} to ${significant(row.after.scumble, 3)}`).join("; ")}` });
  const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((size) => largest / size <= 6) ?? 0.2;
  for (let value = 0; value <= largest; value += step) {
    svg.append(s("line", { class: "axis", x1: x(value), x2: x(value), y1: 2, y2: height - 20 }), s("text", { x: x(value), y: height - 5, "text-anchor": "middle" }, significant(value, 2)));
  }
  rows.forEach((row, index) => {
    const y = 13 + index * 22;
    const text = shorten(row.name, maxLength);
    const from = row.before.scumble;
    const to = row.after.scumble;
    const line = s("g", {}, s("rect", { x: 0, y: y - 11, width, height: 22, fill: "transparent" }), s("text", { x: nameWidth - 10, y: y + 4, "text-anchor": "end" }, text));
    if (from !== null && to !== null) line.append(s("line", { class: "span", x1: x(from), x2: x(to), y1: y, y2: y }));
    if (from !== null) line.append(s("circle", { class: "from", cx: x(from), cy: y, r: 4 }));
    if (to !== null) line.append(s("circle", { class: "to", cx: x(to), cy: y, r: 4 }));
    svg.append(addTooltip(line, `${row.name}\nSCUMBLE ${significant(from)} → ${significant(to)}\nIRLbl ${significant(row.before.irlbl)} → ${significant(row.after.irlbl)}\ncount ${int(row.before.count)} → ${int(row.after.count)}`));
  });
  return h("figure", {}, limitWidth(svg, width), h("figcaption", {}, "Open dots: before; filled: after."), saveButtons(svg, "Difficult labels"));
}

/** Draw a horizontal bar for each row. */
export function bars({ title, rows, width = isNarrow() ? 380 : 640 }) {
  const nameWidth = isNarrow() ? 150 : 240;
  const maxLength = isNarrow() ? 21 : 36;
  const largest = Math.max(1, ...rows.map((row) => row.value));
  const size = (value) => (width - nameWidth - 60) * (value / largest);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${rows.length * 18 + 4}`, role: "img", "aria-label": `${title}. ${rows.map((row) => `${row.name}: ${int(row.value)}`).join("; ")}` },
    rows.map((row, index) => addTooltip(s("g", {},
      s("text", { x: nameWidth - 8, y: index * 18 + 14, "text-anchor": "end" }, shorten(row.name, maxLength)),
      s("rect", { class: row.isRare ? "bar is-rare" : "bar", x: nameWidth, y: index * 18 + 3, width: Math.max(size(row.value), 1), height: 14 }),
      s("text", { x: nameWidth + size(row.value) + 5, y: index * 18 + 14 }, int(row.value))), `${row.name}\n${int(row.value)}`)));
  return h("figure", {}, limitWidth(svg, width), saveButtons(svg, title));
}

/** Draw a heat map: the share of the instances of a label (row) that also have another label (column). */
export function heatMap({ title, names, counts, joint }) {
  const left = isNarrow() ? 110 : 170;
  const maxLength = isNarrow() ? 15 : 25;
  const cell = Math.max(9, Math.min(26, 520 / names.length));
  const side = left + cell * names.length + 6;
  const shortName = (text) => shorten(text, maxLength);
  const shareOf = (row, column) => (row === column ? 1 : (joint[row].get(column) ?? 0) / Math.max(counts[row], 1));
  const svg = s("svg", { class: "chart heat", viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": `${title}. ${pluralize(names.length, "label")} in rows and columns; the table of co-occurring labels has the numbers.` });
  names.forEach((text, row) => {
    const middle = left + cell * (row + 0.5);
    svg.append(s("text", { x: left - 6, y: middle + 4, "text-anchor": "end" }, shortName(text)), s("text", { transform: `translate(${middle + 4} ${left - 6}) rotate(-90)` }, shortName(text)));
    names.forEach((columnName, column) => {
      const share = shareOf(row, column);
      const square = s("rect", { class: row === column ? "same" : "share", x: left + cell * column, y: left + cell * row, width: cell - 1, height: cell - 1, "fill-opacity": row === column ? 1 : share.toFixed(3) });
      svg.append(row === column ? square : addTooltip(square, `${text}\n${percent(share)} also have ${columnName}\n${int(joint[row].get(column) ?? 0)} of ${int(counts[row])}`));
    });
  });
  return h("figure", {}, limitWidth(svg, side), saveButtons(svg, title));
}
