// What is open, and what the server is working on.

import { follow, get, remove } from "./api.js";
import { h, name, say } from "./dom.js";
import { go } from "./router.js";

export const state = { about: null, datasets: [] };

export async function refresh() {
  state.datasets = (await get("/datasets")).datasets;
  showSwitcher();
}

export const find = (id) => state.datasets.find((each) => each.id === id);

/** A treated data set keeps its name; what was done tells it apart. */
export function titleOf(dataset) {
  return dataset.treatment ? `${dataset.name} · ${treatmentOf(dataset)}` : dataset.name + numberOf(dataset);
}

export function treatmentOf(dataset) {
  return dataset.treatment + numberOf(dataset);
}

/** Of several with one name, all but the first have a number at the end of their address. */
function numberOf({ id, name: title, treatment }) {
  const [, number] = id.match(/-(\d+)$/) ?? [];
  return number && !`${title} ${treatment ?? ""}`.trim().endsWith(number) ? ` (${number})` : "";
}

export function showSwitcher() {
  const select = document.getElementById("datasets");
  const current = select.current ?? "";
  select.replaceChildren(
    ...(current ? [] : [h("option", { value: "" }, "Choose a data set")]),
    ...state.datasets.map((each) => h("option", { value: each.id, selected: each.id === current }, titleOf(each))),
  );
  select.hidden = state.datasets.length === 0;
}

/** Show a job in the corner until it is over. Resolves to the job. */
export async function watch(job, { quiet = false } = {}) {
  const bar = h("progress", { "aria-label": job.title });
  const card = h("div", { class: "job", role: "group", "aria-label": job.title },
    h("div", { class: "row" }, name(job.title), h("button", { type: "button", class: "small push", onclick: () => remove(`/jobs/${job.id}`) }, "Cancel")),
    bar);
  const timer = setTimeout(() => { if (!quiet) document.getElementById("jobs").append(card); }, 250);
  try {
    const over = await follow(job, ({ progress }) => {
      if (progress.total && progress.done) { bar.max = progress.total; bar.value = progress.done; } else bar.removeAttribute("value");
    });
    say(`${job.title}: done`);
    return over;
  } finally {
    clearTimeout(timer);
    card.remove();
  }
}

/** Tell of something that failed, until it is closed. */
export function complain(error) {
  if (error.name === "AbortError") return;
  const card = h("div", { class: "job", role: "alert" },
    h("p", { class: "notice bad" }, error.message),
    h("button", { type: "button", class: "small", onclick: () => card.remove() }, "Close"));
  document.getElementById("jobs").append(card);
}

export async function opened(job) {
  await refresh();
  go(`/d/${job.result.dataset.id}/overview`);
}
