// The open data sets and the running jobs.

import { get, remove, server, waitForJob } from "./api.js";
import { announce, h, nameElement } from "./dom.js";
import { downloadButton } from "./downloads.js";
import { duration } from "./format.js";
import { go } from "./router.js";

/** What the server says about itself, and the open data sets. */
export const state = { about: null, datasets: [] };

/** Load the list of open data sets. */
export async function refresh() {
  state.datasets = (await get("/datasets")).datasets;
  showSwitcher();
}

/** Return the open data set with an id. */
export const findDataset = (id) => state.datasets.find((dataset) => dataset.id === id);

/** Return the name of a data set, with the treatment that it results from. */
export function datasetTitle(dataset) {
  return dataset.treatment ? `${dataset.name} · ${treatmentTitle(dataset)}` : dataset.name + copySuffix(dataset);
}

/** Return the treatment that a data set results from. */
export function treatmentTitle(dataset) {
  return dataset.treatment + copySuffix(dataset);
}

/** Return the number that distinguishes data sets of one name. */
const copySuffix = ({ copy }) => (copy > 1 ? ` (${copy})` : "");

/** Fill the menu of open data sets. */
export function showSwitcher() {
  const select = document.getElementById("datasets");
  const current = select.current ?? "";
  select.replaceChildren(
    ...(current ? [] : [h("option", { value: "" }, "Choose a data set")]),
    ...state.datasets.map((dataset) => h("option", { value: dataset.id, selected: dataset.id === current }, datasetTitle(dataset))),
  );
  select.hidden = state.datasets.length === 0;
}

const jobCards = new Map();  // from the id of a job to its card
const corner = () => document.getElementById("jobs");

/**
 * Show a job in the corner of every page until it is over, and return the finished job. `owner` is the
 * element that shows its result; if it is no longer on the page, the corner shows a note. `inlineView`
 * shows the progress instead of the corner while it is on the page. If a job is watched several times,
 * the last call reports its end.
 */
export async function watchJob(job, { owner = null, inlineView = null, onProgress = () => {}, startAddress = location.pathname + location.search } = {}) {
  jobCards.get(job.id)?.remove();
  const card = new JobCard(job, inlineView);
  jobCards.set(job.id, card);
  const isPageLeft = () => owner !== null && !owner.isConnected && jobCards.get(job.id) === card;
  try {
    const finishedJob = await waitForJob(job, (update) => { card.update(update); onProgress(update); });
    announce(`${job.title}: done`);
    if (isPageLeft()) noteFinished(finishedJob, startAddress);
    return finishedJob;
  } catch (error) {
    if (isPageLeft()) showError(error);
    throw error;
  } finally {
    card.remove();
  }
}

/** Watch jobs that were started elsewhere: before the page was loaded, or in another tab. */
export async function watchOtherJobs() {
  const unwatched = (await get("/jobs")).jobs.filter((job) => !jobCards.has(job.id));
  const isNew = (job) => job.seconds < 1;  // perhaps of this page, whose response has not arrived yet
  for (const job of unwatched.filter((job) => !isNew(job))) {
    watchJob(job, { owner: h("div"), startAddress: null }).then(refresh).catch(() => {});  // the corner shows the error
  }
  if (unwatched.some(isNew)) setTimeout(() => watchOtherJobs().catch(() => {}), 1000);
}

/** Show the jobs in the corner that the page does not show itself. */
export function showJobs() {
  for (const card of jobCards.values()) card.show();
}

/** The progress of a job in the corner. */
class JobCard {
  constructor(job, inlineView) {
    this.inlineView = inlineView;
    this.bar = h("progress", { "aria-label": job.title });
    this.time = h("span", { class: "dim num" });
    this.element = h("div", { class: "job", role: "group", "aria-label": job.title, hidden: true },
      h("div", { class: "row" }, nameElement(job.title), this.time, h("button", { type: "button", class: "small push", onclick: () => remove(`/jobs/${job.id}`).catch(showError) }, "Cancel")),
      this.bar);
    corner().append(this.element);
    this.timer = setTimeout(() => { this.timer = null; this.show(); }, 250);  // most jobs are over earlier
  }

  /** Show the card, unless the job is young or the page shows it. */
  show() {
    this.element.hidden = this.timer !== null || Boolean(this.inlineView?.isConnected);
  }

  /** Show the state of the job. */
  update({ progress: { title, done, total }, state: jobState, seconds }) {
    if (jobState === "queued") this.time.textContent = "waiting";
    else if (title === "Stopping") this.time.textContent = "stopping";
    else this.time.textContent = duration(seconds);
    if (total && done) { this.bar.max = total; this.bar.value = done; } else this.bar.removeAttribute("value");
  }

  /** Remove the card. */
  remove() {
    clearTimeout(this.timer);
    this.element.remove();
  }
}

/** Show a note on a finished job whose page has been left; `startAddress` is the address of that page. */
function noteFinished({ title, result }, startAddress) {
  const { dataset, file } = result ?? {};
  let link = "";
  const linkTo = (href) => h("a", { href }, "Show result");
  if (dataset?.parent) link = linkTo(`/d/${dataset.parent}/treat?result=${dataset.id}`);
  else if (dataset) link = linkTo(`/d/${dataset.id}/overview`);
  else if (file) link = downloadButton(`/files/${file}`, nameElement(result.name));
  else if (startAddress) link = linkTo(startAddress);
  showNote(h("p", {}, nameElement(title), ": done. ", link), "status");
}

/** Show an error in the corner until it is closed. */
export function showError(error) {
  if (error.name === "AbortError" || error.status === 0) return;  // a lost connection has its own note
  showNote(h("p", { class: "notice bad" }, error.message), "alert");
}

/** Add a note that can be closed to the corner. */
function showNote(content, role) {
  const element = h("div", { class: "job", role }, content, h("button", { type: "button", class: "small", onclick: () => element.remove() }, "Close"));
  corner().append(element);
  element.addEventListener("click", ({ target }) => { if (target.closest("a")) element.remove(); });
  return element;
}

let lostNote = null;
server.addEventListener("lost", () => {
  lostNote ??= showNote(h("p", { class: "notice bad" }, "The server no longer responds, and all work has ended. Start 'scumble gui' again and open the address that it prints."), "alert");
});
server.addEventListener("answered", () => { lostNote?.remove(); lostNote = null; });

/** Show a data set that a job has opened, unless its `owner` is no longer on the page. */
export async function showOpened(job, owner = document.body) {
  await refresh();
  if (owner.isConnected) go(`/d/${job.result.dataset.id}/overview`);
}
