// What is open, and what the server is working on.

import { follow, get, remove, server } from "./api.js";
import { h, name, say } from "./dom.js";
import { download } from "./downloads.js";
import { seconds } from "./format.js";
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

/** Of several with one name all but the first have a number. */
const numberOf = ({ copy }) => (copy > 1 ? ` (${copy})` : "");

export function showSwitcher() {
  const select = document.getElementById("datasets");
  const current = select.current ?? "";
  select.replaceChildren(
    ...(current ? [] : [h("option", { value: "" }, "Choose a data set")]),
    ...state.datasets.map((each) => h("option", { value: each.id, selected: each.id === current }, titleOf(each))),
  );
  select.hidden = state.datasets.length === 0;
}

const watched = new Map();  // jobs by number, with their cards
const corner = () => document.getElementById("jobs");

/**
 * Follow a job and show it in the corner of every page until it is over. Resolves to the job.
 * `owner` tells how it ended while it is on the page; once it is not, the corner does. While `instead`
 * is on the page, it shows the work in place of the corner. Who watches a job last is the one who
 * tells of it: a page that was left and come back to, or what began elsewhere.
 */
export async function watch(job, { owner = null, instead = null, tell = () => {}, begun = location.pathname + location.search } = {}) {
  watched.get(job.id)?.remove();
  const card = new Card(job, instead);
  watched.set(job.id, card);
  const isLeft = () => owner !== null && !owner.isConnected && watched.get(job.id) === card;
  try {
    const over = await follow(job, (now) => { card.tell(now); tell(now); });
    say(`${job.title}: done`);
    if (isLeft()) finished(over, begun);
    return over;
  } catch (error) {
    if (isLeft()) complain(error);
    throw error;
  } finally {
    card.remove();
  }
}

/** Show what was begun elsewhere: before this page was loaded, or in another tab. */
export async function adopt() {
  const others = (await get("/jobs")).jobs.filter((job) => !watched.has(job.id));
  const isYoung = (job) => job.seconds < 1;  // perhaps our own, of which we have not heard yet
  for (const job of others.filter((each) => !isYoung(each))) {
    watch(job, { owner: h("div"), begun: null }).then(refresh).catch(() => {});  // told by the corner
  }
  if (others.some(isYoung)) setTimeout(() => adopt().catch(() => {}), 1000);
}

/** Look again which jobs the page in view shows itself. */
export function showJobs() {
  for (const card of watched.values()) card.show();
}

class Card {
  constructor(job, instead) {
    this.instead = instead;
    this.bar = h("progress", { "aria-label": job.title });
    this.time = h("span", { class: "dim num" });
    this.element = h("div", { class: "job", role: "group", "aria-label": job.title, hidden: true },
      h("div", { class: "row" }, name(job.title), this.time, h("button", { type: "button", class: "small push", onclick: () => remove(`/jobs/${job.id}`).catch(complain) }, "Cancel")),
      this.bar);
    corner().append(this.element);
    this.timer = setTimeout(() => { this.timer = null; this.show(); }, 250);  // most work is over before
  }

  show() {
    this.element.hidden = this.timer !== null || Boolean(this.instead?.isConnected);
  }

  tell({ progress: { title, done, total }, state: now, seconds: gone }) {
    this.time.textContent = now === "queued" ? "waiting" : title === "Stopping" ? "stopping" : seconds(gone);
    if (total && done) { this.bar.max = total; this.bar.value = done; } else this.bar.removeAttribute("value");
  }

  remove() {
    clearTimeout(this.timer);
    this.element.remove();
  }
}

/** Tell that something is ready whose page has been left; `begun` is the address of that page. */
function finished({ title, result }, begun) {
  const { dataset, file } = result ?? {};
  const where = !dataset ? !file && begun : dataset.parent ? `/d/${dataset.parent}/treat?result=${dataset.id}` : `/d/${dataset.id}/overview`;
  note(h("p", {}, name(title), ": done. ", where ? h("a", { href: where }, "Look at it") : file ? download(`/files/${file}`, name(result.name)) : ""), "status");
}

/** Tell of something that failed, until it is closed. */
export function complain(error) {
  if (error.name === "AbortError" || error.status === 0) return;  // that nobody answers is told once
  note(h("p", { class: "notice bad" }, error.message), "alert");
}

function note(content, role) {
  const element = h("div", { class: "job", role }, content, h("button", { type: "button", class: "small", onclick: () => element.remove() }, "Close"));
  corner().append(element);
  element.addEventListener("click", ({ target }) => { if (target.closest("a")) element.remove(); });
  return element;
}

let lost = null;
server.addEventListener("lost", () => {
  lost ??= note(h("p", { class: "notice bad" }, "The server does not answer any more, and with it all work has ended. Start 'scumble gui' again and open the address that it prints."), "alert");
});
server.addEventListener("found", () => { lost?.remove(); lost = null; });

/** Go to a data set that was opened, unless the page that asked for it has been left. */
export async function opened(job, owner = document.body) {
  await refresh();
  if (owner.isConnected) go(`/d/${job.result.dataset.id}/overview`);
}
