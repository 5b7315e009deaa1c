// Chord diagrams: fetches the layout, draws it and saves the picture.

import { chordAsText, drawChord, fitChord } from "/static/chord.js";
import { encode, get } from "./api.js";
import { h, s } from "./dom.js";
import { saveButtons } from "./pictures.js";

/** Fetch the layout of a chord diagram for labels, for the partners of a label, or for the most difficult labels. */
export function fetchLayout(id, labels, { signal, around = null, order = "difficulty" } = {}) {
  const query = labels !== null ? `?labels=${labels.join(",")}&order=${order}` : around !== null ? `?around=${around}` : "";
  return get(`/datasets/${encode(id)}/chord${query}`, signal);
}

/** Create the element of a chord diagram, which is fitted again whenever its width changes. */
export function chordElement() {
  const svg = s("svg", { class: "chord" });
  let width = 0;
  new ResizeObserver(() => {
    if (svg.clientWidth === width) return;
    width = svg.clientWidth;
    fit(svg);
  }).observe(svg);
  return svg;
}

/** Draw a chord diagram; if names would become too small, they are cut to the `nameLengths` in turn. */
export function drawFitted(svg, layout, { like = null, nameLengths = [], onSelect = null } = {}) {
  svg.redraw = (maxLength) => drawChord(svg, layout, { like, maxLength, onSelect });
  svg.nameLengths = nameLengths;
  svg.redraw();
  fit(svg);
}

/** Fit the drawing to its width. */
function fit(svg) {
  if (svg.nameLengths?.length) svg.redraw();
  fitChord(svg);
  for (const maxLength of svg.nameLengths ?? []) {
    if (!svg.classList.contains("chord-nameless")) return;
    svg.redraw(maxLength);
    fitChord(svg);
  }
}

/** Create the line below a chord diagram that describes the arc or ribbon under the pointer. */
export function readout(svg) {
  const text = h("p", { class: "readout", "aria-live": "polite" });
  const showTitle = ({ target }) => { text.textContent = target.closest(".chord-ribbon, .chord-arc")?.querySelector("title")?.textContent ?? ""; };
  for (const eventType of ["pointerover", "focusin"]) svg.addEventListener(eventType, showTitle);
  return text;
}

/** Create the buttons that save a chord diagram. */
export const chordSaveButtons = (svg, title) => saveButtons(svg, title, chordAsText);
