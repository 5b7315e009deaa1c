// The address holds the state of the page, so that links and the back button work.

let render = () => {};
let currentPath = "";
const rememberPath = () => { currentPath = location.pathname + location.search; };

/** Call `showPage` whenever the address changes; links of the page do not reload it. */
export function startRouter(showPage) {
  render = showPage;
  rememberPath();
  addEventListener("popstate", () => {
    if (currentPath === location.pathname + location.search) return;  // only the fragment has changed, as by the skip link
    rememberPath();
    render({ isNavigation: true });
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const isPlainClick = !event.defaultPrevented && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlainClick || link.hasAttribute("download") || link.target) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || url.pathname.startsWith("/api/") || link.getAttribute("href").startsWith("#")) return;
    event.preventDefault();
    go(url.pathname + url.search);
  });
}

/** Go to a path of the page. */
export function go(path, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", path);
  rememberPath();
  render({ isNavigation: true });
}

/** Change the query of the address without rendering. */
export function setQuery(changes, { replace = false } = {}) {
  const url = new URL(location.href);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === "" || value === undefined) url.searchParams.delete(key);
    else url.searchParams.set(key, value);
  }
  const path = url.pathname + url.search.replaceAll("%2C", ",");
  if (path !== location.pathname + location.search) {
    history[replace ? "replaceState" : "pushState"](null, "", path);
    rememberPath();
  }
}

/** Return the query of the address. */
export const query = () => new URLSearchParams(location.search);
