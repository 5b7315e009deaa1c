// Boot, and the frame around every page.

import { catalogue, get, load, useToken } from "./api.js";
import { h, hideHint, name, say } from "./dom.js";
import { go, query, start } from "./router.js";
import { adopt, complain, find, refresh, showJobs, showSwitcher, state, titleOf, watch } from "./state.js";

const PAGES = [
  ["overview", "Overview"], ["labels", "Labels"], ["labelsets", "Labelsets"], ["attributes", "Attributes"],
  ["concurrence", "Concurrence"], ["advise", "Advise"], ["treat", "Treat"], ["before_and_after", "Before and after"], ["compare", "Compare"], ["report", "Report"],
];
const main = document.getElementById("main");
let serial = 0;

async function show({ moved = false } = {}) {
  const mine = ++serial;
  hideHint();
  const [, root, id, page = "overview"] = location.pathname.split("/");
  try {
    if (root === "d") await showPage(mine, id, page, moved);
    else if (root === "") await showStart(mine, moved);
    else notFound("There is no such page.", moved);
  } catch (error) {
    if (error.name === "AbortError" || mine !== serial) return;
    notFound(error.message, moved);
  }
}

async function showStart(mine, moved) {
  frame(null);
  const { render } = await load("./pages/start.js");
  await place(mine, "scumble", render, [], moved);
}

async function showPage(mine, id, page, moved) {
  const known = PAGES.find(([key]) => key === page);
  if (!find(id)) await refresh();
  const dataset = find(id);
  if (!known || !dataset) {
    frame(null);
    notFound(known ? "This data set is not open. It may have been closed, or the server was started anew." : "There is no such page.", moved);
    return;
  }
  frame(dataset, page);
  const { render } = await load(`./pages/${page}.js`);
  await place(mine, `${known[1]}: ${titleOf(dataset)}`, render, [dataset], moved);
}

async function place(mine, title, render, args, moved) {
  const timer = setTimeout(() => { if (mine === serial) main.setAttribute("aria-busy", "true"); }, 120);
  const content = await render(...args).finally(() => clearTimeout(timer));
  main.removeAttribute("aria-busy");
  if (mine !== serial) return;
  document.title = title === "scumble" ? title : `${title} – scumble`;
  main.replaceChildren(content);
  main.dataset.page = location.pathname;
  showJobs();
  adopt().catch(() => {});
  if (moved) {
    scrollTo(0, 0);
    const heading = main.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
    say(title);
  }
}

function notFound(message, moved) {
  document.title = "scumble";
  main.replaceChildren(h("div", { class: "stack" }, h("h1", {}, "Nothing to show"), h("p", { class: "notice bad", role: "alert" }, message), h("p", {}, h("a", { href: "/" }, "Open a data set"))));
  if (moved) main.focus({ preventScroll: true });
}

function frame(dataset, page) {
  const tabs = document.getElementById("tabs");
  tabs.hidden = dataset === null;
  document.getElementById("datasets").current = dataset?.id ?? "";
  showSwitcher();
  if (dataset === null) return;
  tabs.replaceChildren(...PAGES.map(([key, title]) => h("a", { href: `/d/${dataset.id}/${key}`, "aria-current": key === page ? "page" : null }, title)));
  tabs.querySelector("[aria-current]").scrollIntoView({ block: "nearest", inline: "nearest" });
}

function setUpTheme() {
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    try { localStorage.setItem("scumble-theme", root.dataset.theme); } catch { /* storage may be off */ }
    document.dispatchEvent(new Event("themechange"));
  });
}

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
    const { openFiles } = await load("./opening.js");
    openFiles(files);
  });
}

async function boot() {
  const isFirst = query().has("token");
  if (isFirst) {  // it is kept from now on, and has no business in the address
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
  start(show);
  const [about] = await Promise.all([get("/about"), refresh()]);
  state.about = about;
  await openWaiting(about.waiting);
  if (isFirst && location.pathname === "/") await arrive();
  else await show();
  setTimeout(() => catalogue().catch(() => {}), 500);  // takes seconds the first time
}

/** What was named on the command line is shown as soon as it is there. */
async function arrive() {
  const loading = state.about.first_job;
  if (!loading || state.about.waiting || (loading.state === "done" && !find(loading.result.dataset?.id))) {
    if (state.datasets.length && !state.about.waiting) go(`/d/${state.datasets[0].id}/overview`, { replace: true });
    else await show();
    return;
  }
  main.replaceChildren(h("p", { class: "dim" }, name(loading.title), " …"));
  try {
    const { result } = await watch(loading);
    await refresh();
    if (!result.dataset) await askAbout();
    else if (location.pathname === "/") go(`/d/${result.dataset.id}/overview`, { replace: true });
  } catch (error) {
    if (!await askAbout()) complain(error);
  }
}

async function openWaiting(waiting) {
  if (waiting) (await load("./opening.js")).openWaiting(waiting);
}

/** Show the file of the command line on the start page, if it waits for an answer. */
async function askAbout() {
  const { waiting } = await get("/about");
  await openWaiting(waiting);
  if (location.pathname === "/") await show();
  return Boolean(waiting);
}

boot().catch((error) => notFound(error.message, false));
