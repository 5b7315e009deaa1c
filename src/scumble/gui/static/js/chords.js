// Chords on our pages: fetch the layout, draw, save.

import { chordAsText, drawChord } from "/static/chord.js";
import { get, part } from "./api.js";
import { s, save } from "./dom.js";

export function layoutOf(id, labels, { signal, order = "difficulty" } = {}) {
  const query = labels === null ? "" : `?labels=${labels.join(",")}&order=${order}`;
  return get(`/datasets/${part(id)}/chord${query}`, signal);
}

export function chordElement() {
  return s("svg", { class: "chord" });
}

export function draw(svg, layout) {
  drawChord(svg, layout);
  if (svg.isConnected) fit(svg);
  else requestAnimationFrame(() => fit(svg));
}

/** Leave no more room for names than they take. */
function fit(svg) {
  if (!svg.isConnected || !svg.querySelector(".chord-arc")) return;
  const { x, y, width, height } = svg.getBBox();
  if (width && height) svg.setAttribute("viewBox", [x - 6, y - 6, width + 12, height + 12].map(Math.round).join(" "));
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
