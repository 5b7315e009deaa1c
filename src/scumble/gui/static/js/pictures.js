// Saves pictures as SVG, or as PNG painted by the browser.

import { h, saveBlob } from "./dom.js";
import { showError } from "./state.js";

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight", "paint-order"];
const PNG_WIDTH = 2000;  // pixels of a PNG, enough to print

/** Create two buttons that save a picture; `toText` returns the content of the SVG file. */
export function saveButtons(svg, title, toText = svgText) {
  const [, , id] = location.pathname.split("/");
  const file = [id, title].filter(Boolean).join(" ").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const text = () => new Blob([toText(svg)], { type: "image/svg+xml" });
  const button = (format, act) => h("button", { type: "button", class: "small quiet", "aria-label": `Save ${format}: ${title}`, onclick: act }, `Save ${format}`);
  return h("span", { class: "saving" },
    button("SVG", () => saveBlob(text(), `${file}.svg`)),
    button("PNG", () => savePng(text(), `${file}.png`).catch(showError)));
}

/** Return a picture as SVG text, with the colours of the light theme as attributes. */
function svgText(svg) {
  const copy = svg.cloneNode(true);
  const root = document.documentElement;
  const { theme } = root.dataset;
  root.dataset.theme = "light";  // it is restored before the browser paints
  const parts = [...svg.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((part, index) => {
    const style = getComputedStyle(parts[index]);
    for (const key of STYLES) part.setAttribute(key, style.getPropertyValue(key));
  });
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  const { width, height } = svg.viewBox.baseVal;
  for (const [key, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height })) copy.setAttribute(key, value);
  copy.removeAttribute("style");
  return new XMLSerializer().serializeToString(copy);
}

/** Paint an SVG picture and save it as PNG. */
async function savePng(text, filename) {
  const url = URL.createObjectURL(text);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = PNG_WIDTH;
    canvas.height = Math.round((PNG_WIDTH * image.naturalHeight) / image.naturalWidth);
    const context = canvas.getContext("2d");
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    saveBlob(await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); }), filename);
  } finally {
    URL.revokeObjectURL(url);
  }
}
