// The chord diagram in the browser, from the layout that scumble.plots.chord_layout computes.
//
//   import { drawChord } from "./chord.js";
//   const chord = drawChord(svg, layout, { onSelect: (arc) => ..., onHover: (arc) => ... });
//   chord.highlight(label);  // the number of a label, or null
//
// The drawing carries its colours as attributes, so that a saved copy looks the same anywhere;
// chord.css restyles it for dark pages. Names enter as text nodes only, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const RADIUS = 255;
const RING = 14;
const NAME_RADIUS = RADIUS + 16;
const LONGEST_NAME = 24; // letters; wide ones count twice
const LETTER = 0.62; // width of a bold letter over its height
const SMALL_LETTERS = 12; // fit where names stand as close as the layout allows
const LARGE_LETTERS = 18;
const READABLE = 7; // pixels on the screen; smaller names are not drawn
const INFO_ROOM = 34;
// The same colours as scumble.plots.palette: warm for rare labels, cool for frequent ones.
const RARE = ["#d55e00", "#e69f00"];
const COMMON = ["#0072b2", "#56b4e9", "#009e73"];
const INK = "#1c2024";
const DIM = "#667079";

const format = new Intl.NumberFormat("en");

// Labels of the layout `like` keep their colours; names are cut to `longest` letters.
export function drawChord(svg, layout, { onSelect = null, onHover = null, like = null, longest = LONGEST_NAME } = {}) {
  const colors = arcColors(layout.arcs, like?.arcs);
  const letters = letterHeight(layout.arcs);
  const reach = Math.max(320, ...layout.arcs.map((arc) => extent(arc, letters, longest)));
  svg.replaceChildren();
  svg.classList.remove("chord-nameless");
  svg.letters = letters;
  svg.fullViewBox = [-reach, -reach, 2 * reach, 2 * reach + INFO_ROOM].map(Math.round).join(" ");
  svg.setAttribute("viewBox", svg.fullViewBox);
  svg.setAttribute("font-family", "system-ui, sans-serif");
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", `Label concurrence. ${layout.note}`);
  svg.classList.add("chord");

  const models = new Map();
  const ribbons = layout.ribbons.map((ribbon, index) => drawRibbon(ribbon, index, colors, models));
  const arcs = layout.arcs.map((arc, index) => drawArc(arc, index, colors[index], { letters, longest }, Boolean(onSelect)));
  const below = group("chord-ribbons", ribbons);
  below.setAttribute("stroke-width", 0.7);
  below.layout = layout;
  const info = text("", { y: reach + INFO_ROOM - 12, class: "chord-ink chord-info", "font-size": 15 });
  info.setAttribute("text-anchor", "middle");
  info.setAttribute("aria-live", "polite");
  svg.append(below, group("chord-arcs", arcs), info);

  let pinned = null;

  function opacity(ribbon, index) {
    if (index === null) return strength(ribbon);
    return ribbon.source === index || ribbon.target === index ? 0.8 : 0.06;
  }

  function show(index) {
    const linked = index === null ? null : neighbours(layout.ribbons, index);
    arcs.forEach((arc, k) => arc.setAttribute("opacity", linked === null || linked.has(k) ? 1 : 0.25));
    layout.ribbons.forEach((ribbon, k) => ribbons[k].setAttribute("opacity", opacity(ribbon, index)));
    info.textContent = index === null ? "" : arcSentence(layout, index);
  }

  function enter(index) {
    show(index);
    if (onHover) onHover(layout.arcs[index]);
  }

  function leave() {
    show(pinned);
    if (onHover) onHover(null);
  }

  function select(index) {
    pinned = pinned === index ? null : index;
    show(pinned);
    if (onSelect) onSelect(layout.arcs[index], pinned !== null);
  }

  arcs.forEach((arc, index) => {
    arc.addEventListener("pointerenter", () => enter(index));
    arc.addEventListener("pointerleave", leave);
    arc.addEventListener("focus", () => enter(index));
    arc.addEventListener("blur", leave);
    arc.addEventListener("click", () => select(index));
    arc.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      select(index);
    });
  });
  // One pair of listeners for all ribbons, because there may be a thousand of them.
  below.addEventListener("pointerover", ({ target }) => {
    if (target === below) return;
    const ribbon = layout.ribbons[target.index];
    addTitle(target, layout, ribbon);
    target.setAttribute("opacity", 0.95);
    info.textContent = ribbonSentence(layout, ribbon);
  });
  below.addEventListener("pointerout", ({ target }) => {
    if (target === below) return;
    target.setAttribute("opacity", opacity(layout.ribbons[target.index], pinned));
    info.textContent = pinned === null ? "" : arcSentence(layout, pinned);
  });

  return {
    highlight(label) {
      const index = layout.arcs.findIndex((arc) => arc.label === label);
      pinned = index < 0 ? null : index;
      show(pinned);
    },
  };
}

// Fit the view to the circle and the names; hide names that would be too small to read. The drawing
// must be on the screen.
export function fitChord(svg) {
  if (!svg.isConnected || !svg.querySelector(".chord-arc")) return;
  svg.classList.remove("chord-nameless");
  frame(svg);
  const letters = (svg.letters * svg.clientWidth) / svg.viewBox.baseVal.width;
  if (letters >= READABLE) return;
  svg.classList.add("chord-nameless");
  frame(svg);
}

function frame(svg) {
  const info = svg.querySelector(".chord-info");
  const isShown = getComputedStyle(info).display !== "none";
  const { x, y, width, height } = svg.querySelector(".chord-arcs").getBBox();
  if (!width || !height) return;
  const box = [x - 6, y - 6, width + 12, height + 12 + (isShown ? INFO_ROOM : 0)].map(Math.round);
  svg.setAttribute("viewBox", box.join(" "));
  info.setAttribute("x", round(x + width / 2));
  info.setAttribute("y", round(y + height + INFO_ROOM - 12));
}

// Return the drawing as the text of an SVG file.
export function chordAsText(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", SVG);
  if (copy.classList.contains("chord-nameless")) {  // in a file there is room for the names
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

function arcColors(arcs, knownArcs = []) {
  const knownColors = new Map(knownArcs.length ? arcColors(knownArcs).map((ink, index) => [knownArcs[index].label, ink]) : []);
  let rare = 0;
  let common = 0;
  return arcs.map((arc) => {
    const k = arc.is_minority ? rare++ % RARE.length : common++ % COMMON.length;
    const color = arc.is_minority ? { fill: RARE[k], class: `chord-rare-${k}` } : { fill: COMMON[k], class: `chord-common-${k}` };
    return knownColors.get(arc.label) ?? color;
  });
}

function drawArc(arc, index, ink, style, selectable) {
  const share = arc.count ? Math.round((100 * arc.n_company) / arc.count) : 0;
  const description = `${arc.name}: ${instances(arc.count)}, ${share} % with other labels`;
  const parts = [title(description)];
  parts.push(band(arc.start, arc.end, RADIUS - RING, RADIUS, ink));
  if (arc.company_end > arc.ribbons_end) {
    const pale = band(arc.ribbons_end, arc.company_end, RADIUS - RING - 7, RADIUS - RING - 2, ink);
    pale.setAttribute("opacity", 0.4);
    parts.push(pale);
  }
  if (arc.name_angle !== null) parts.push(leader(arc), name(arc, style));
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

// Cloning a few template elements takes half the time of creating each element.
function drawRibbon(ribbon, index, colors, models) {
  const ink = colors[ribbon.source];
  const key = `${ink.class} ${ribbon.is_mixed}`;
  if (!models.has(key)) {
    const opacity = strength(ribbon);
    const shared = { fill: ink.fill, stroke: ink.fill, opacity, class: `chord-ribbon ${ink.class}` };
    models.set(key, element("path", shared));
  }
  const path = models.get(key).cloneNode(false);
  const r = RADIUS - RING - 2;
  const { source_start: a, source_end: b, target_start: c, target_end: d } = ribbon;
  path.setAttribute("d", `M${point(a, r)}${along(a, b, r)}C${curve(b, c, r)}${point(c, r)}` +
    `${along(c, d, r)}C${curve(d, a, r)}${point(a, r)}Z`);
  path.index = index;
  return path;
}

// A ribbon gets its title when the pointer is over it, because most ribbons never need one.
function addTitle(path, { arcs }, ribbon) {
  if (path.firstChild) return;
  path.append(title(`${arcs[ribbon.source].name} and ${arcs[ribbon.target].name}: ` +
    `${instances(ribbon.joint_count)} together`));
}

function strength(ribbon) {
  return ribbon.is_mixed ? 0.7 : 0.3;
}

function neighbours(ribbons, index) {
  const linked = new Set([index]);
  for (const ribbon of ribbons) {
    if (ribbon.source === index) linked.add(ribbon.target);
    if (ribbon.target === index) linked.add(ribbon.source);
  }
  return linked;
}

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

function ribbonSentence(layout, ribbon) {
  const rarer = layout.arcs[ribbon.source];
  const other = layout.arcs[ribbon.target];
  const share = Math.round((100 * ribbon.joint_count) / rarer.count);
  return (
    `${shorten(rarer.name)} and ${shorten(other.name)}: ` +
    `${instances(ribbon.joint_count)} together, ${share} % of the former`
  );
}

function name(arc, { letters, longest }) {
  const angle = arc.name_angle;
  const turned = (((angle % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI)) > Math.PI;
  const degrees = (angle * 180) / Math.PI - 90 + (turned ? 180 : 0);
  const [x, y] = coordinates(angle, NAME_RADIUS);
  const label = text(shorten(arc.name, longest), {
    transform: `translate(${x} ${y}) rotate(${round(degrees)})`,
    "text-anchor": turned ? "end" : "start",
    "dominant-baseline": "central",
    "font-size": letters,
    "font-weight": arc.is_minority ? 600 : 400,
    class: "chord-ink",
  });
  const count = element("tspan", { fill: DIM, class: "chord-dim", "font-weight": 400 });
  count.textContent = format.format(arc.count);
  if (turned) label.prepend(count, "  ");
  else label.append("  ", count);
  return label;
}

function leader(arc) {
  const middle = (arc.start + arc.end) / 2;
  return element("path", {
    d: `M${point(middle, RADIUS + 2)}L${point(arc.name_angle, NAME_RADIUS - 3)}`,
    stroke: DIM,
    "stroke-width": 0.7,
    fill: "none",
    class: "chord-line",
  });
}

function band(start, end, inner, outer, ink) {
  return element("path", {
    d:
      `M${point(start, outer)}${along(start, end, outer)}L${point(end, inner)}` +
      `${along(end, start, inner)}Z`,
    fill: ink.fill ?? "none",
    stroke: ink.fill ?? "none",
    "stroke-width": 0.7,
    class: ink.class ?? "",
  });
}

// Long arcs are divided, because SVG draws nothing if an arc ends at its start; very short ones are
// drawn as lines, which look the same.
function along(start, end, r) {
  const size = Math.abs(end - start);
  if (size < 0.02) return `L${point(end, r)}`;
  const sweep = end >= start ? 1 : 0;
  if (size < 3) return `A${r} ${r} 0 0 ${sweep} ${point(end, r)}`;
  const middle = (start + end) / 2;
  return `A${r} ${r} 0 0 ${sweep} ${point(middle, r)}A${r} ${r} 0 0 ${sweep} ${point(end, r)}`;
}

// Ribbons between distant arcs pass near the centre, those between neighbours stay outside.
function curve(from, to, r) {
  const apart = Math.abs(((from - to + 3 * Math.PI) % (2 * Math.PI)) - Math.PI) / Math.PI;
  const pull = r * (0.55 - 0.5 * apart);
  return `${point(from, pull)} ${point(to, pull)} `;
}

function coordinates(angle, r) {
  return [round(r * Math.sin(angle)), round(-r * Math.cos(angle))];
}

function point(angle, r) {
  return `${round(r * Math.sin(angle))} ${round(-r * Math.cos(angle))}`;
}

function round(value) {
  return Math.round(value * 100) / 100;
}

// Return the largest font size at which adjacent names do not overlap.
function letterHeight(arcs) {
  const angles = arcs.map((arc) => arc.name_angle).filter((angle) => angle !== null);
  const apart = Math.min(1, ...angles.slice(1).map((angle, index) => angle - angles[index]));
  return Math.round(Math.max(SMALL_LETTERS, Math.min(LARGE_LETTERS, 0.85 * NAME_RADIUS * apart)));
}

// Return the distance from the centre to the end of a name.
function extent(arc, letters, longest) {
  if (arc.name_angle === null) return 0;
  const cells = width(shorten(arc.name, longest)) + 1.5 + String(arc.count).length;
  return NAME_RADIUS + 10 + LETTER * letters * cells;
}

function width(text) {
  let cells = 0;
  for (const letter of text) cells += letter.codePointAt(0) >= 0x1100 ? 2 : 1;
  return cells;
}

function shorten(text, longest = LONGEST_NAME) {
  const fullText = visible(text);
  if (width(fullText) <= longest) return fullText;
  let cut = "";
  for (const letter of fullText) {
    if (width(cut + letter) > longest - 1) break;
    cut += letter;
  }
  return `${cut}…`;
}

// Control characters and direction marks could make one name look like another.
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{fffd}");
}

function instances(n) {
  return `${format.format(n)} instance${n === 1 ? "" : "s"}`;
}

function title(words) {
  const node = element("title", {});
  node.textContent = visible(words);
  return node;
}

function text(words, attributes) {
  const node = element("text", { fill: INK, ...attributes });
  node.textContent = words;
  return node;
}

function group(name, children) {
  const node = element("g", { class: name });
  node.append(...children);
  return node;
}

function element(kind, attributes) {
  const node = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}
