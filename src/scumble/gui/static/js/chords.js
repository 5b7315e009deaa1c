// Chords on our pages: fetch the layout, draw, save.

import { chordAsText, drawChord, fitChord } from "/static/chord.js";
import { get, part } from "./api.js";
import { h, s } from "./dom.js";
import { saving } from "./pictures.js";

export function layoutOf(id, labels, { signal, around = null, order = "difficulty" } = {}) {
  const query = labels !== null ? `?labels=${labels.join(",")}&order=${order}` : around !== null ? `?around=${around}` : "";
  return get(`/datasets/${part(id)}/chord${query}`, signal);
}

/** A place for a chord, which fits itself in as soon as it is on the page, and when that changes. */
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

/** Draw a chord; where it has little room, `cuts` are the lengths to which names may be cut. */
export function draw(svg, layout, { like = null, cuts = [], onSelect = null } = {}) {
  svg.redraw = (longest) => drawChord(svg, layout, { like, longest, onSelect });
  svg.cuts = cuts;
  svg.redraw();
  fit(svg);
}

function fit(svg) {
  if (svg.cuts?.length) svg.redraw();
  fitChord(svg);
  for (const longest of svg.cuts ?? []) {
    if (!svg.classList.contains("chord-nameless")) return;
    svg.redraw(longest);
    fitChord(svg);
  }
}

/** What is pointed at in a chord, in words below it. */
export function readout(svg) {
  const told = h("p", { class: "readout", "aria-live": "polite" });
  const read = ({ target }) => { told.textContent = target.closest(".chord-ribbon, .chord-arc")?.querySelector("title")?.textContent ?? ""; };
  for (const kind of ["pointerover", "focusin"]) svg.addEventListener(kind, read);
  return told;
}

/** Buttons that save a chord. */
export const savingChord = (svg, title) => saving(svg, title, chordAsText);
