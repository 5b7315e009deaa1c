// Starts the page, and draws what all views have in common.

import { catalogue, get, loadModule, useToken } from "./api.js";
import { announce, h, hideTooltip, nameElement } from "./dom.js";
import { go, query, startRouter } from "./router.js";
import { datasetTitle, findDataset, refresh, showError, showJobs, showSwitcher, state, watchJob, watchOtherJobs } from "./state.js";

const PAGES = [
  ["overview", "Overview"], ["labels", "Labels"], ["labelsets", "Labelsets"], ["attributes", "Attributes"],
  ["concurrence", "Concurrence"], ["advise", "Advise"], ["treat", "Treat"], ["before_and_after", "Before and after"], ["compare", "Compare"], ["report", "Report"],
];
const main = document.getElementById("main");
let latest = 0;

/** Show the view of the address. */
async function showRoute({ isNavigation = false } = {}) {
  const number = ++latest;
  hideTooltip();
  const [, root, id, page = "overview"] = location.pathname.split("/");
  try {
    if (root === "d") await showPage(number, id, page, isNavigation);
    else if (root === "") await showStart(number, isNavigation);
    else notFound("There is no such page.", isNavigation);
  } catch (error) {
    if (error.name === "AbortError" || number !== latest) return;
    notFound(error.message, isNavigation);
  }
}

/** Show the page that opens data sets. */
async function showStart(number, isNavigation) {
  showTabs(null);
  const { render } = await loadModule("./pages/start.js");
  await showContent(number, "scumble", render, [], isNavigation);
}

/** Show a view of a data set. */
async function showPage(number, id, page, isNavigation) {
  const view = PAGES.find(([key]) => key === page);
  if (!findDataset(id)) await refresh();
  const dataset = findDataset(id);
  if (!view || !dataset) {
    showTabs(null);
    notFound(view ? "This data set is not open. It may have been closed, or the server was restarted." : "There is no such page.", isNavigation);
    return;
  }
  showTabs(dataset, page);
  const { render } = await loadModule(`./pages/${page}.js`);
  await showContent(number, `${view[1]}: ${datasetTitle(dataset)}`, render, [dataset], isNavigation);
}

/** Render a view and show it, unless another one was requested meanwhile. */
async function showContent(number, title, render, args, isNavigation) {
  const timer = setTimeout(() => { if (number === latest) main.setAttribute("aria-busy", "true"); }, 120);
  const content = await render(...args).finally(() => clearTimeout(timer));
  main.removeAttribute("aria-busy");
  if (number !== latest) return;
  document.title = title === "scumble" ? title : `${title} – scumble`;
  main.replaceChildren(content);
  main.dataset.page = location.pathname;
  showJobs();
  watchOtherJobs().catch(() => {});
  if (isNavigation) {
    scrollTo(0, 0);
    const heading = main.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
    announce(title);
  }
}

/** Show a message in place of a view. */
function notFound(message, isNavigation) {
  document.title = "scumble";
  main.replaceChildren(h("div", { class: "stack" }, h("h1", {}, "Nothing to show"), h("p", { class: "notice bad", role: "alert" }, message), h("p", {}, h("a", { href: "/" }, "Open a data set"))));
  if (isNavigation) main.focus({ preventScroll: true });
}

/** Show the tabs of a data set. */
function showTabs(dataset, page) {
  const tabs = document.getElementById("tabs");
  tabs.hidden = dataset === null;
  document.getElementById("datasets").current = dataset?.id ?? "";
  showSwitcher();
  if (dataset === null) return;
  tabs.replaceChildren(...PAGES.map(([key, title]) => h("a", { href: `/d/${dataset.id}/${key}`, "aria-current": key === page ? "page" : null }, title)));
  tabs.querySelector("[aria-current]").scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** Let the button change between light and dark. */
function setUpTheme() {
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    try { localStorage.setItem("scumble-theme", root.dataset.theme); } catch { /* storage may be off */ }
    document.dispatchEvent(new Event("themechange"));
  });
}

/** Open files that are dropped anywhere on the page. */
function setUpDrop() {
  const cover = document.getElementById("drop");
  const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => { if (holdsFiles(event)) { event.preventDefault(); cover.hidden = false; } });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) cover.hidden = true; });
  addEventListener("drop", async (event) => {
    cover.hidden = true;
    if (!holdsFiles(event)) return;
    event.preventDefault();
    const files = [...event.dataTransfer.files];  // gone after the event
    const { openFiles } = await loadModule("./opening.js");
    openFiles(files);
  });
}

/** Start the page. */
async function boot() {
  const isFirst = query().has("token");
  if (isFirst) {  // it is stored from now on, and should not stay in the address
    useToken(query().get("token"));
    const url = new URL(location.href);
    url.searchParams.delete("token");
    history.replaceState(null, "", url.pathname + url.search);
  }
  setUpTheme();
  setUpDrop();
  document.getElementById("datasets").addEventListener("change", (event) => {
    const page = location.pathname.split("/")[3] ?? "overview";
    if (event.target.value) go(`/d/${event.target.value}/${page}`);
  });
  startRouter(showRoute);
  const [about] = await Promise.all([get("/about"), refresh()]);
  state.about = about;
  await openWaiting(about.waiting);
  if (isFirst && location.pathname === "/") await showFirst();
  else await showRoute();
  setTimeout(() => catalogue().catch(() => {}), 500);  // takes seconds the first time
}

/** Show the data set of the command line as soon as it is open. */
async function showFirst() {
  const job = state.about.first_job;
  if (!job || state.about.waiting || (job.state === "done" && !findDataset(job.result.dataset?.id))) {
    if (state.datasets.length && !state.about.waiting) go(`/d/${state.datasets[0].id}/overview`, { replace: true });
    else await showRoute();
    return;
  }
  main.replaceChildren(h("p", { class: "dim" }, nameElement(job.title), " …"));
  try {
    const { result } = await watchJob(job);
    await refresh();
    if (!result.dataset) await showWaiting();
    else if (location.pathname === "/") go(`/d/${result.dataset.id}/overview`, { replace: true });
  } catch (error) {
    if (!await showWaiting()) showError(error);
  }
}

/** Show the form for a file of the command line, if it waits for options. */
async function openWaiting(waiting) {
  if (waiting) (await loadModule("./opening.js")).openCommandLineFile(waiting);
}

/** Show the start page, with the file of the command line if it waits for options. */
async function showWaiting() {
  const { waiting } = await get("/about");
  await openWaiting(waiting);
  if (location.pathname === "/") await showRoute();
  return Boolean(waiting);
}

boot().catch((error) => notFound(error.message, false));
