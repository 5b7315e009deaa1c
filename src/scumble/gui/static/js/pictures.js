// Pictures as files: SVG by itself, PNG by way of the browser's own painter.

import { h, save } from "./dom.js";
import { complain } from "./state.js";

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight", "paint-order"];
const WIDE = 2000;  // pixels of a PNG, enough to print

/** Two small buttons that save a picture; `textOf` makes the content of its file. */
export function saving(svg, title, textOf = asText) {
  const [, , id] = location.pathname.split("/");
  const file = [id, title].filter(Boolean).join(" ").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const text = () => new Blob([textOf(svg)], { type: "image/svg+xml" });
  const button = (form, act) => h("button", { type: "button", class: "small quiet", "aria-label": `Save ${form}: ${title}`, onclick: act }, `Save ${form}`);
  return h("span", { class: "saving" },
    button("SVG", () => save(text(), `${file}.svg`)),
    button("PNG", () => savePng(text(), `${file}.png`).catch(complain)));
}

/** A picture with the colours it has on a light page, for a file of its own. */
function asText(svg) {
  const copy = svg.cloneNode(true);
  const root = document.documentElement;
  const { theme } = root.dataset;
  root.dataset.theme = "light";  // nothing is painted before it is put back
  const parts = [...svg.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((part, at) => {
    const style = getComputedStyle(parts[at]);
    for (const key of STYLES) part.setAttribute(key, style.getPropertyValue(key));
  });
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  const { width, height } = svg.viewBox.baseVal;
  for (const [key, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height })) copy.setAttribute(key, value);
  copy.removeAttribute("style");
  return new XMLSerializer().serializeToString(copy);
}

async function savePng(text, filename) {
  const url = URL.createObjectURL(text);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = WIDE;
    canvas.height = Math.round((WIDE * image.naturalHeight) / image.naturalWidth);
    const ink = canvas.getContext("2d");
    ink.fillStyle = "#ffffff";
    ink.fillRect(0, 0, canvas.width, canvas.height);
    ink.drawImage(image, 0, 0, canvas.width, canvas.height);
    save(await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); }), filename);
  } finally {
    URL.revokeObjectURL(url);
  }
}
