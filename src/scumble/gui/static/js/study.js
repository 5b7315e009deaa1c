// Jobs that take minutes: advice, comparisons. They can be started, watched, cancelled and shown again.

import { encode, get, post, remove } from "./api.js";
import { announce, h, help } from "./dom.js";
import { duration, fixed, int } from "./format.js";
import { showError, watchJob } from "./state.js";
import { loadStyles } from "./styles.js";

/** Resolves when the styles of these pages are loaded; the first page does not need them. */
const styles = loadStyles("/static/studies.css");

/**
 * A long job about a data set, with its progress and its result. kind: part of the address;
 * button: starts the job; draw(result, job): returns the elements of the result; noun(done, total):
 * returns a text on the progress.
 */
export class Study {
  constructor({ dataset, kind, noun, button, draw }) {
    Object.assign(this, { path: `/datasets/${encode(dataset.id)}/${kind}`, noun, button, draw });
    this.live = h("div");
    this.result = h("div", { class: "stack" });
    this.element = h("div", { class: "stack" }, this.live, this.result);
  }

  /** Show the last result and return it, or watch the running job. */
  async restore() {
    await styles;
    const { job } = await get(this.path);
    if (job?.state === "done") await this.show(job);
    else if (job) this.watch(job);
    return job?.result ?? null;
  }

  /** Start a job with a JSON body. */
  async start(body) {
    this.button.disabled = true;
    try {
      await this.watch(await post(this.path, body), { focusCancel: true });
    } catch (error) {
      this.showProblem(error);
    } finally {
      this.button.disabled = false;
    }
  }

  /** Show the progress of a job, then its result. */
  async watch(job, { focusCancel = false } = {}) {
    this.button.disabled = true;
    const stop = h("button", { type: "button", class: "small", onclick: () => remove(`/jobs/${job.id}`).catch(showError) }, "Cancel");
    const bar = h("progress", { "aria-label": job.title });
    const line = h("span", { class: "dim num", "data-testid": "progress" });
    this.live.replaceChildren(h("div", { class: "panel card", role: "group", "aria-label": job.title },
      h("div", { class: "row" }, h("span", {}, job.title), line, h("span", { class: "push" }, stop)), bar));
    if (focusCancel) stop.focus();
    announce(`${job.title} has started`);
    try {
      const finishedJob = await watchJob(job, { owner: this.live, inlineView: this.live, onProgress: (update) => this.showProgress(update, bar, line) });
      const hadFocus = this.live.contains(document.activeElement);
      this.live.replaceChildren();
      await this.show(finishedJob);
      announce(`${job.title}: done`);
      if (hadFocus) this.result.querySelector("h2")?.focus();
    } catch (error) {
      this.showProblem(error);
    } finally {
      this.button.disabled = false;
    }
  }

  /** Update the progress bar and the line next to it. */
  showProgress({ state, seconds, progress }, bar, line) {
    const { title, done, total, left: secondsLeft } = progress;
    if (done !== this.done) Object.assign(this, { done, since: seconds });
    if (total && done) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
    let status = "";
    if (state === "queued") status = "waiting for other jobs";
    else if (total) status = this.noun(done, total);
    else if (title === "Stopping") status = "stopping";
    const parts = [status, `${duration(seconds)} so far`];
    if (secondsLeft) parts.push(`about ${duration(Math.max(1, secondsLeft - (seconds - this.since)))} left`);
    line.textContent = parts.filter(Boolean).join(" · ");
  }

  /** Show why there is no result. */
  showProblem(error) {
    this.live.replaceChildren(error.name === "AbortError"
      ? h("p", { class: "notice", role: "status" }, "Cancelled.")
      : h("p", { class: "notice bad", role: "alert" }, error.message));
  }

  /** Show the result of a finished job. */
  async show(job) {
    await styles;
    const notes = job.notes.map((note) => h("p", { class: "notice" }, note));
    this.result.replaceChildren(...notes, ...[await this.draw(job.result, job)].flat(Infinity).filter(Boolean));
    for (const heading of this.result.querySelectorAll("h2")) heading.setAttribute("tabindex", "-1");
  }
}

/** Create the mark of a change: sign, number and word; the colour repeats them. */
export function changeMark(text, verdict) {
  const [sign, className] = { better: ["✓", "good"], worse: ["✗", "bad"], same: ["=", "dim"], changed: ["", "dim"] }[verdict] ?? ["≈", "dim"];
  return h("span", { class: `change-mark ${className}` }, h("span", { "aria-hidden": "true" }, sign && `${sign} `), text);
}

/** Format a number with its sign. */
export function signed(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  return `${value < 0 ? "−" : "+"}${fixed(Math.abs(value), digits)}`;
}

/** Create a table; the first cell of a row is its header. */
export function plainTable(caption, columns, rows, attributes = {}) {
  return h("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": caption }, h("table", attributes,
    h("caption", { class: "visually-hidden" }, caption),
    h("thead", {}, h("tr", {}, columns.map(([title, className, explanation]) => h("th", { scope: "col", class: className }, title, explanation ? [" ", help(title, explanation)] : "")))),
    h("tbody", {}, rows.map(({ cells, ...row }) => h("tr", row, cells.map((cell, index) => index ? h("td", { class: columns[index][1] }, cell) : h("th", { scope: "row" }, cell)))))));
}

/** Create a notice if a data set was resampled here: it must not be split, because copies of a row could be in both parts. */
export function noticeIfResampled(dataset, page, title) {
  if (!dataset.treatment) return null;
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, title)),
    h("p", { class: "notice" }, `This data set is the result of ${dataset.treatment}. Copies of one row could be in both the training and the test part, so that scores would be too high. Use the original data set instead: there, treatments are applied to the training parts only.`),
    dataset.parent ? h("p", {}, h("a", { href: `/d/${dataset.parent}/${page}` }, `${title} with the original data`)) : "");
}

/** Create a function that describes progress, such as "3 of 10 methods". */
export const progressOf = (noun) => (done, total) => `${int(done)} of ${int(total)} ${noun}`;
