// Loads style sheets that the first page does not need.

import { h } from "./dom.js";

const loaded = new Map();  // from an address to the promise of its style sheet

/** Load a style sheet once; resolves when it applies, or when it cannot be loaded. */
export function loadStyles(address) {
  if (!loaded.has(address)) {
    loaded.set(address, new Promise((resolve) => {
      const link = h("link", { rel: "stylesheet", href: address });
      link.addEventListener("load", resolve);
      link.addEventListener("error", resolve);
      document.head.append(link);
    }));
  }
  return loaded.get(address);
}
