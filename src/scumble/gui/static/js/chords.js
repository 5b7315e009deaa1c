// Chords on our pages: fetch the layout, draw, save.

import { chordAsText, drawChord, fitChord } from "/static/chord.js";
import { get, part } from "./api.js";
import { s, save } from "./dom.js";

export function layoutOf(id, labels, { signal, order = "difficulty" } = {}) {
  const query = labels === null ? "" : `?labels=${labels.join(",")}&order=${order}`;
  return get(`/datasets/${part(id)}/chord${query}`, signal);
}

/** A place for a chord, which fits itself in as soon as it is on the page, and when that changes. */
export function chordElement() {
  const svg = s("svg", { class: "chord" });
  let width = 0;
  new ResizeObserver(() => {
    if (svg.clientWidth === width) return;
    width = svg.clientWidth;
    fitChord(svg);
  }).observe(svg);
  return svg;
}

export function draw(svg, layout) {
  drawChord(svg, layout);
  fitChord(svg);
}

export function saveSvg(svg, filename) {
  save(new Blob([chordAsText(svg)], { type: "image/svg+xml" }), `${filename}.svg`);
}

/** Let the browser paint the SVG on a canvas, large enough to print. */
export async function savePng(svg, filename, size = 2000) {
  const url = URL.createObjectURL(new Blob([chordAsText(svg)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = size;
    canvas.height = Math.round((size * image.naturalHeight) / image.naturalWidth);
    const ink = canvas.getContext("2d");
    ink.fillStyle = "#ffffff";
    ink.fillRect(0, 0, canvas.width, canvas.height);
    ink.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
    save(blob, `${filename}.png`);
  } finally {
    URL.revokeObjectURL(url);
  }
}
