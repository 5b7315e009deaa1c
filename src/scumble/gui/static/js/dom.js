// Elements from values. Text is always a text node: no markup is ever made from a string.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name in element && ["value", "checked", "disabled", "selected", "hidden"].includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A name from a file: text, kept apart from its surroundings whatever its direction. */
export function name(text, more) {
  return h("bdi", { class: "name", ...more }, text === "" ? "(no name)" : text);
}

/** A question mark that opens an explanation, by pointer, keyboard and touch alike. */
export function help(term, ...words) {
  return h("details", { class: "help" }, h("summary", {}, h("span", { "aria-hidden": "true" }, "?"), h("span", { class: "visually-hidden" }, `Help: ${term}`)), h("div", { class: "help-words" }, ...words));
}

export function say(text) {
  document.getElementById("live").textContent = text;
}

/** Show a text beside the pointer while it is over an element. */
export function hint(element, text) {
  const tip = document.getElementById("tip");
  const place = (event) => {
    const shown = typeof text === "function" ? text(event) : text;
    if (!shown) { tip.hidden = true; return; }
    tip.textContent = shown;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const below = event.clientY + 18 + box.height < innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${below ? event.clientY + 18 : event.clientY - box.height - 12}px`;
  };
  element.addEventListener("pointermove", place);
  element.addEventListener("pointerleave", () => { tip.hidden = true; });
  return element;
}

export function hideHint() {
  document.getElementById("tip").hidden = true;
}

/** Let the browser save what is at an address. */
export function saveFrom(address, filename = "") {
  h("a", { href: address, download: filename }).click();
}

/** Give the browser a file to save. */
export function save(blob, filename) {
  const address = URL.createObjectURL(blob);
  saveFrom(address, filename);
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
