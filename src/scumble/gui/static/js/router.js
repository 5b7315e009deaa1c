// Addresses are the state: every view can be linked to, and the back button works.

let render = () => {};
let here = "";
const arrived = () => { here = location.pathname + location.search; };

export function start(show) {
  render = show;
  arrived();
  addEventListener("popstate", () => {
    if (here === location.pathname + location.search) return;  // the skip link moves the focus only
    arrived();
    render({ moved: true });
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const plain = !event.defaultPrevented && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || link.hasAttribute("download") || link.target) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || url.pathname.startsWith("/api/") || link.getAttribute("href").startsWith("#")) return;
    event.preventDefault();
    go(url.pathname + url.search);
  });
}

export function go(path, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", path);
  arrived();
  render({ moved: true });
}

/** Change the query of this address. Renders nothing: the caller has done so. */
export function setQuery(changes, { replace = false } = {}) {
  const url = new URL(location.href);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === "" || value === undefined) url.searchParams.delete(key);
    else url.searchParams.set(key, value);
  }
  const path = url.pathname + url.search.replaceAll("%2C", ",");
  if (path !== location.pathname + location.search) {
    history[replace ? "replaceState" : "pushState"](null, "", path);
    arrived();
  }
}

export const query = () => new URLSearchParams(location.search);
