// The chord diagram in the browser, from the layout that scumble.plots.chord_layout computes.
//
//   import { drawChord } from "./chord.js";
//   const chord = drawChord(svg, layout, { onSelect: (arc) => ..., onHover: (arc) => ... });
//   chord.highlight(label);  // the index of a label, or null
//
// The drawing carries its colours as attributes, so that a saved copy looks the same anywhere;
// chord.css restyles it for dark pages. Names enter as text nodes only, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const RADIUS = 255;
const RING = 14;
const NAME_RADIUS = RADIUS + 16;
const MAX_NAME_LENGTH = 24; // characters; wide ones count twice
const LETTER_WIDTH = 0.62; // width of a bold letter divided by its height
const SMALL_FONT_SIZE = 12; // fits the smallest distance between names in a layout
const LARGE_FONT_SIZE = 18;
const MIN_READABLE_SIZE = 7; // pixels on the screen; smaller names are not drawn
const INFO_HEIGHT = 34;
// The colours of scumble.plots.palette: warm for rare labels, cool for frequent ones.
const RARE_COLORS = ["#d55e00", "#e69f00"];
const FREQUENT_COLORS = ["#0072b2", "#56b4e9", "#009e73"];
const TEXT_COLOR = "#1c2024";
const DIM_COLOR = "#667079";

const format = new Intl.NumberFormat("en");

// Draw a layout into an SVG element. Labels keep the colours that they have in the layout `like`; names
// are cut to `maxLength` characters.
export function drawChord(svg, layout, { onSelect = null, onHover = null, like = null, maxLength = MAX_NAME_LENGTH } = {}) {
  const colors = arcColors(layout.arcs, like?.arcs);
  const fontSize = largestFontSize(layout.arcs);
  const halfWidth = Math.max(320, ...layout.arcs.map((arc) => nameExtent(arc, fontSize, maxLength)));
  svg.replaceChildren();
  svg.classList.remove("chord-nameless");
  svg.fontSize = fontSize;
  svg.fullViewBox = [-halfWidth, -halfWidth, 2 * halfWidth, 2 * halfWidth + INFO_HEIGHT].map(Math.round).join(" ");
  svg.setAttribute("viewBox", svg.fullViewBox);
  svg.setAttribute("font-family", "system-ui, sans-serif");
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", `Label concurrence. ${layout.note}`);
  svg.classList.add("chord");

  const templates = new Map();
  const ribbons = layout.ribbons.map((ribbon, index) => drawRibbon(ribbon, index, colors, templates));
  const arcs = layout.arcs.map((arc, index) => drawArc(arc, index, colors[index], { fontSize, maxLength }, Boolean(onSelect)));
  const ribbonGroup = group("chord-ribbons", ribbons);
  ribbonGroup.setAttribute("stroke-width", 0.7);
  ribbonGroup.layout = layout;
  const info = text("", { y: halfWidth + INFO_HEIGHT - 12, class: "chord-ink chord-info", "font-size": 15 });
  info.setAttribute("text-anchor", "middle");
  info.setAttribute("aria-live", "polite");
  svg.append(ribbonGroup, group("chord-arcs", arcs), info);

  let pinned = null;

  function opacity(ribbon, index) {
    if (index === null) return ribbonOpacity(ribbon);
    return ribbon.source === index || ribbon.target === index ? 0.8 : 0.06;
  }

  function highlightArc(index) {
    const linked = index === null ? null : neighbours(layout.ribbons, index);
    arcs.forEach((arc, k) => arc.setAttribute("opacity", linked === null || linked.has(k) ? 1 : 0.25));
    layout.ribbons.forEach((ribbon, k) => ribbons[k].setAttribute("opacity", opacity(ribbon, index)));
    info.textContent = index === null ? "" : arcSentence(layout, index);
  }

  function handleEnter(index) {
    highlightArc(index);
    if (onHover) onHover(layout.arcs[index]);
  }

  function handleLeave() {
    highlightArc(pinned);
    if (onHover) onHover(null);
  }

  function select(index) {
    pinned = pinned === index ? null : index;
    highlightArc(pinned);
    if (onSelect) onSelect(layout.arcs[index], pinned !== null);
  }

  arcs.forEach((arc, index) => {
    arc.addEventListener("pointerenter", () => handleEnter(index));
    arc.addEventListener("pointerleave", handleLeave);
    arc.addEventListener("focus", () => handleEnter(index));
    arc.addEventListener("blur", handleLeave);
    arc.addEventListener("click", () => select(index));
    arc.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      select(index);
    });
  });
  // One pair of listeners for all ribbons, because there may be a thousand of them.
  ribbonGroup.addEventListener("pointerover", ({ target }) => {
    if (target === ribbonGroup) return;
    const ribbon = layout.ribbons[target.index];
    addTitle(target, layout, ribbon);
    target.setAttribute("opacity", 0.95);
    info.textContent = ribbonSentence(layout, ribbon);
  });
  ribbonGroup.addEventListener("pointerout", ({ target }) => {
    if (target === ribbonGroup) return;
    target.setAttribute("opacity", opacity(layout.ribbons[target.index], pinned));
    info.textContent = pinned === null ? "" : arcSentence(layout, pinned);
  });

  return {
    highlight(label) {
      const index = layout.arcs.findIndex((arc) => arc.label === label);
      pinned = index < 0 ? null : index;
      highlightArc(pinned);
    },
  };
}

// Fit the view to the circle and the names; hide names that would be too small to read. The drawing
// must be on the screen.
export function fitChord(svg) {
  if (!svg.isConnected || !svg.querySelector(".chord-arc")) return;
  svg.classList.remove("chord-nameless");
  fitViewBox(svg);
  const fontSize = (svg.fontSize * svg.clientWidth) / svg.viewBox.baseVal.width;
  if (fontSize >= MIN_READABLE_SIZE) return;
  svg.classList.add("chord-nameless");
  fitViewBox(svg);
}

// Fit the view box to the circle and the names.
function fitViewBox(svg) {
  const info = svg.querySelector(".chord-info");
  const isShown = getComputedStyle(info).display !== "none";
  const { x, y, width, height } = svg.querySelector(".chord-arcs").getBBox();
  if (!width || !height) return;
  const box = [x - 6, y - 6, width + 12, height + 12 + (isShown ? INFO_HEIGHT : 0)].map(Math.round);
  svg.setAttribute("viewBox", box.join(" "));
  info.setAttribute("x", round(x + width / 2));
  info.setAttribute("y", round(y + height + INFO_HEIGHT - 12));
}

// Return the drawing as the text of an SVG file.
export function chordAsText(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", SVG);
  if (copy.classList.contains("chord-nameless")) {  // a file has enough space for the names
    copy.classList.remove("chord-nameless");
    copy.setAttribute("viewBox", svg.fullViewBox);
  }
  const [, , width, height] = copy.getAttribute("viewBox").split(" ");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  for (const part of copy.querySelectorAll("[tabindex]")) part.removeAttribute("tabindex");
  const { layout } = svg.querySelector(".chord-ribbons");
  copy.querySelectorAll(".chord-ribbon").forEach((path, index) => addTitle(path, layout, layout.ribbons[index]));
  return new XMLSerializer().serializeToString(copy);
}

// Return the colour of each arc; labels of the reference arcs keep their colours.
function arcColors(arcs, referenceArcs = []) {
  const referenceColors = new Map(referenceArcs.length ? arcColors(referenceArcs).map((color, index) => [referenceArcs[index].label, color]) : []);
  let rare = 0;
  let common = 0;
  return arcs.map((arc) => {
    const k = arc.is_minority ? rare++ % RARE_COLORS.length : common++ % FREQUENT_COLORS.length;
    const color = arc.is_minority ? { fill: RARE_COLORS[k], class: `chord-rare-${k}` } : { fill: FREQUENT_COLORS[k], class: `chord-common-${k}` };
    return referenceColors.get(arc.label) ?? color;
  });
}

// Draw the arc of a label with its name.
function drawArc(arc, index, color, style, selectable) {
  const share = arc.count ? Math.round((100 * arc.n_company) / arc.count) : 0;
  const description = `${arc.name}: ${instances(arc.count)}, ${share} % with other labels`;
  const parts = [title(description)];
  parts.push(band(arc.start, arc.end, RADIUS - RING, RADIUS, color));
  if (arc.company_end > arc.ribbons_end) {
    const pale = band(arc.ribbons_end, arc.company_end, RADIUS - RING - 7, RADIUS - RING - 2, color);
    pale.setAttribute("opacity", 0.4);
    parts.push(pale);
  }
  if (arc.name_angle !== null) parts.push(drawLeader(arc), drawName(arc, style));
  // A wider invisible band, so that a pointer can hit a label that occurs once.
  const middle = (arc.start + arc.end) / 2;
  const half = Math.max((arc.end - arc.start) / 2, 0.012);
  const target = band(middle - half, middle + half, RADIUS - RING - 4, RADIUS + 12, {});
  target.setAttribute("fill", "transparent");
  parts.push(target);
  const arcGroup = group("chord-arc", parts);
  arcGroup.setAttribute("tabindex", "0");
  arcGroup.setAttribute("role", selectable ? "button" : "img");
  arcGroup.setAttribute("aria-label", description);
  arcGroup.dataset.label = arc.label;
  arcGroup.dataset.index = index;
  return arcGroup;
}

// Draw a ribbon. Cloning a few template elements takes half the time of creating each element.
function drawRibbon(ribbon, index, colors, templates) {
  const color = colors[ribbon.source];
  const key = `${color.class} ${ribbon.is_mixed}`;
  if (!templates.has(key)) {
    const opacity = ribbonOpacity(ribbon);
    const shared = { fill: color.fill, stroke: color.fill, opacity, class: `chord-ribbon ${color.class}` };
    templates.set(key, element("path", shared));
  }
  const path = templates.get(key).cloneNode(false);
  const r = RADIUS - RING - 2;
  const { source_start: a, source_end: b, target_start: c, target_end: d } = ribbon;
  path.setAttribute("d", `M${point(a, r)}${arcPath(a, b, r)}C${curveControls(b, c, r)}${point(c, r)}` +
    `${arcPath(c, d, r)}C${curveControls(d, a, r)}${point(a, r)}Z`);
  path.index = index;
  return path;
}

// Add the title of a ribbon when the pointer is over it, because most ribbons never need one.
function addTitle(path, { arcs }, ribbon) {
  if (path.firstChild) return;
  path.append(title(`${arcs[ribbon.source].name} and ${arcs[ribbon.target].name}: ` +
    `${instances(ribbon.joint_count)} together`));
}

// Return the opacity of a ribbon; those that join rare and frequent labels are stronger.
function ribbonOpacity(ribbon) {
  return ribbon.is_mixed ? 0.7 : 0.3;
}

// Return the indices of an arc and of those that share ribbons with it.
function neighbours(ribbons, index) {
  const linked = new Set([index]);
  for (const ribbon of ribbons) {
    if (ribbon.source === index) linked.add(ribbon.target);
    if (ribbon.target === index) linked.add(ribbon.source);
  }
  return linked;
}

// Describe an arc and its largest ribbons.
function arcSentence(layout, index) {
  const arc = layout.arcs[index];
  const partners = layout.ribbons
    .filter((ribbon) => ribbon.source === index || ribbon.target === index)
    .sort((a, b) => b.joint_count - a.joint_count)
    .slice(0, 3)
    .map((ribbon) => {
      const other = layout.arcs[ribbon.source === index ? ribbon.target : ribbon.source];
      return `${shorten(other.name)} ${format.format(ribbon.joint_count)}`;
    });
  const partnersText = partners.length ? `; with ${partners.join(", ")}` : "";
  return `${shorten(arc.name)}: ${instances(arc.count)}${partnersText}`;
}

// Describe a ribbon.
function ribbonSentence(layout, ribbon) {
  const rarer = layout.arcs[ribbon.source];
  const other = layout.arcs[ribbon.target];
  const share = Math.round((100 * ribbon.joint_count) / rarer.count);
  return (
    `${shorten(rarer.name)} and ${shorten(other.name)}: ` +
    `${instances(ribbon.joint_count)} together, ${share} % of the former`
  );
}

// Draw the name of a label with its count.
function drawName(arc, { fontSize, maxLength }) {
  const angle = arc.name_angle;
  const isUpsideDown = (((angle % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI)) > Math.PI;
  const degrees = (angle * 180) / Math.PI - 90 + (isUpsideDown ? 180 : 0);
  const [x, y] = coordinates(angle, NAME_RADIUS);
  const label = text(shorten(arc.name, maxLength), {
    transform: `translate(${x} ${y}) rotate(${round(degrees)})`,
    "text-anchor": isUpsideDown ? "end" : "start",
    "dominant-baseline": "central",
    "font-size": fontSize,
    "font-weight": arc.is_minority ? 600 : 400,
    class: "chord-ink",
  });
  const count = element("tspan", { fill: DIM_COLOR, class: "chord-dim", "font-weight": 400 });
  count.textContent = format.format(arc.count);
  if (isUpsideDown) label.prepend(count, "  ");
  else label.append("  ", count);
  return label;
}

// Draw the line from an arc to its name.
function drawLeader(arc) {
  const middle = (arc.start + arc.end) / 2;
  return element("path", {
    d: `M${point(middle, RADIUS + 2)}L${point(arc.name_angle, NAME_RADIUS - 3)}`,
    stroke: DIM_COLOR,
    "stroke-width": 0.7,
    fill: "none",
    class: "chord-line",
  });
}

// Draw a ring segment.
function band(start, end, inner, outer, color) {
  return element("path", {
    d:
      `M${point(start, outer)}${arcPath(start, end, outer)}L${point(end, inner)}` +
      `${arcPath(end, start, inner)}Z`,
    fill: color.fill ?? "none",
    stroke: color.fill ?? "none",
    "stroke-width": 0.7,
    class: color.class ?? "",
  });
}

// Return the path along a circle. Long arcs are divided, because SVG draws nothing if an arc ends at its
// start; very short ones are drawn as lines, which look the same.
function arcPath(start, end, r) {
  const size = Math.abs(end - start);
  if (size < 0.02) return `L${point(end, r)}`;
  const sweep = end >= start ? 1 : 0;
  if (size < 3) return `A${r} ${r} 0 0 ${sweep} ${point(end, r)}`;
  const middle = (start + end) / 2;
  return `A${r} ${r} 0 0 ${sweep} ${point(middle, r)}A${r} ${r} 0 0 ${sweep} ${point(end, r)}`;
}

// Return the control points of the edge of a ribbon. Ribbons between distant arcs pass near the centre,
// those between neighbours stay outside.
function curveControls(from, to, r) {
  const distance = Math.abs(((from - to + 3 * Math.PI) % (2 * Math.PI)) - Math.PI) / Math.PI;
  const pull = r * (0.55 - 0.5 * distance);
  return `${point(from, pull)} ${point(to, pull)} `;
}

// Return the coordinates of a point on a circle.
function coordinates(angle, r) {
  return [round(r * Math.sin(angle)), round(-r * Math.cos(angle))];
}

// Return a point on a circle as text.
function point(angle, r) {
  return `${round(r * Math.sin(angle))} ${round(-r * Math.cos(angle))}`;
}

// Round to two decimals, which keeps the file small.
function round(value) {
  return Math.round(value * 100) / 100;
}

// Return the largest font size at which adjacent names do not overlap.
function largestFontSize(arcs) {
  const angles = arcs.map((arc) => arc.name_angle).filter((angle) => angle !== null);
  const distance = Math.min(1, ...angles.slice(1).map((angle, index) => angle - angles[index]));
  return Math.round(Math.max(SMALL_FONT_SIZE, Math.min(LARGE_FONT_SIZE, 0.85 * NAME_RADIUS * distance)));
}

// Return the distance from the centre to the end of a name.
function nameExtent(arc, fontSize, maxLength) {
  if (arc.name_angle === null) return 0;
  const cells = width(shorten(arc.name, maxLength)) + 1.5 + String(arc.count).length;
  return NAME_RADIUS + 10 + LETTER_WIDTH * fontSize * cells;
}

// Return the width of a text in letters.
function width(text) {
  let cells = 0;
  for (const letter of text) cells += letter.codePointAt(0) >= 0x1100 ? 2 : 1;
  return cells;
}

// Cut a text to a width.
function shorten(text, maxLength = MAX_NAME_LENGTH) {
  const fullText = visible(text);
  if (width(fullText) <= maxLength) return fullText;
  let shortText = "";
  for (const letter of fullText) {
    if (width(shortText + letter) > maxLength - 1) break;
    shortText += letter;
  }
  return `${shortText}…`;
}

// Replace control characters and direction marks, which could make one name look like another.
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{fffd}");
}

// Format a number of instances.
function instances(n) {
  return `${format.format(n)} instance${n === 1 ? "" : "s"}`;
}

// Create the title of an element.
function title(content) {
  const node = element("title", {});
  node.textContent = visible(content);
  return node;
}

// Create a text element.
function text(content, attributes) {
  const node = element("text", { fill: TEXT_COLOR, ...attributes });
  node.textContent = content;
  return node;
}

// Create a group of elements.
function group(className, children) {
  const node = element("g", { class: className });
  node.append(...children);
  return node;
}

// Create an SVG element.
function element(tagName, attributes) {
  const node = document.createElementNS(SVG, tagName);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}
