// Creates elements. Text becomes text nodes; strings are never parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Set attributes, properties and listeners of an element, and append its children. */
function setUp(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name in element && ["value", "checked", "disabled", "selected", "hidden"].includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Create an HTML element. */
export function h(tag, attributes, ...children) {
  return setUp(document.createElement(tag), attributes, children);
}

/** Create an SVG element. */
export function s(tag, attributes, ...children) {
  return setUp(document.createElementNS(SVG, tag), attributes, children);
}

/** Create an element for a name from a file; `bdi` isolates its direction from the text around it. */
export function nameElement(text, attributes) {
  return h("bdi", { class: "name", ...attributes }, text === "" ? "(no name)" : text);
}

/** Create a question mark that opens an explanation by pointer, keyboard or touch. */
export function help(term, ...explanation) {
  return h("details", { class: "help" }, h("summary", {}, h("span", { "aria-hidden": "true" }, "?"), h("span", { class: "visually-hidden" }, `Help: ${term}`)), h("div", { class: "help-words" }, ...explanation));
}

/** Announce a text to screen readers. */
export function announce(text) {
  document.getElementById("live").textContent = text;
}

/** Show a text next to the pointer while it is over an element. */
export function addTooltip(element, text) {
  const tip = document.getElementById("tip");
  const update = (event) => {
    const content = typeof text === "function" ? text(event) : text;
    if (!content) { tip.hidden = true; return; }
    tip.textContent = content;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const below = event.clientY + 18 + box.height < innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${below ? event.clientY + 18 : event.clientY - box.height - 12}px`;
  };
  element.addEventListener("pointermove", update);
  element.addEventListener("pointerleave", () => { tip.hidden = true; });
  return element;
}

/** Hide the tooltip. */
export function hideTooltip() {
  document.getElementById("tip").hidden = true;
}

/** Save the file at an address. */
export function saveAddress(address, filename = "") {
  h("a", { href: address, download: filename }).click();
}

/** Save a blob as a file. */
export function saveBlob(blob, filename) {
  const address = URL.createObjectURL(blob);
  saveAddress(address, filename);
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
