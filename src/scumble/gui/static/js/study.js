// Work of minutes about a data set: begin it, watch it, cancel it, come back to it.

import { get, part, post, remove } from "./api.js";
import { h, help, say } from "./dom.js";
import { fixed, int, seconds as duration } from "./format.js";
import { complain, watch } from "./state.js";

/** The styles of these pages; the first page has no need of them. */
const styles = new Promise((resolve) => {
  const link = h("link", { rel: "stylesheet", href: "/static/studies.css" });
  link.addEventListener("load", resolve);
  link.addEventListener("error", resolve);
  document.head.append(link);
});

/**
 * kind: the part of the address; button: what begins it; draw(result, job): elements of what was found;
 * noun: what is counted while it runs.
 */
export class Study {
  constructor({ dataset, kind, noun, button, draw }) {
    Object.assign(this, { path: `/datasets/${part(dataset.id)}/${kind}`, noun, button, draw });
    this.live = h("div");
    this.result = h("div", { class: "stack" });
    this.element = h("div", { class: "stack" }, this.live, this.result);
  }

  /** Show what was found last, and return it; or follow what is running. */
  async restore() {
    await styles;
    const { job } = await get(this.path);
    if (job?.state === "done") await this.show(job);
    else if (job) this.watch(job);
    return job?.result ?? null;
  }

  async begin(wish) {
    this.button.disabled = true;
    try {
      await this.watch(await post(this.path, wish), { ours: true });
    } catch (error) {
      this.tell(error);
    } finally {
      this.button.disabled = false;
    }
  }

  async watch(job, { ours = false } = {}) {
    this.button.disabled = true;
    const stop = h("button", { type: "button", class: "small", onclick: () => remove(`/jobs/${job.id}`).catch(complain) }, "Cancel");
    const bar = h("progress", { "aria-label": job.title });
    const line = h("span", { class: "dim num", "data-testid": "progress" });
    this.live.replaceChildren(h("div", { class: "panel card", role: "group", "aria-label": job.title },
      h("div", { class: "row" }, h("span", {}, job.title), line, h("span", { class: "push" }, stop)), bar));
    if (ours) stop.focus();
    say(`${job.title} has begun`);
    try {
      const over = await watch(job, { owner: this.live, instead: this.live, tell: (now) => this.advance(now, bar, line) });
      const wasHere = this.live.contains(document.activeElement);
      this.live.replaceChildren();
      await this.show(over);
      say(`${job.title}: done`);
      if (wasHere) this.result.querySelector("h2")?.focus();
    } catch (error) {
      this.tell(error);
    } finally {
      this.button.disabled = false;
    }
  }

  advance({ state, seconds, progress }, bar, line) {
    const { title, done, total, left } = progress;
    if (done !== this.done) Object.assign(this, { done, since: seconds });
    if (total && done) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
    const said = [state === "queued" ? "waiting for its turn" : total ? this.noun(done, total) : title === "Stopping" ? "stopping" : "", `${duration(seconds)} so far`];
    if (left) said.push(`about ${duration(Math.max(1, left - (seconds - this.since)))} left`);
    line.textContent = said.filter(Boolean).join(" · ");
  }

  tell(error) {
    this.live.replaceChildren(error.name === "AbortError"
      ? h("p", { class: "notice", role: "status" }, "Cancelled.")
      : h("p", { class: "notice bad", role: "alert" }, error.message));
  }

  async show(job) {
    await styles;
    const notes = job.notes.map((note) => h("p", { class: "notice" }, note));
    this.result.replaceChildren(...notes, ...[await this.draw(job.result, job)].flat(Infinity).filter(Boolean));
    for (const heading of this.result.querySelectorAll("h2")) heading.setAttribute("tabindex", "-1");
  }
}

/** A change in sign, number and word; colour only repeats it. */
export function change(text, verdict) {
  const [sign, kind] = { better: ["✓", "good"], worse: ["✗", "bad"], same: ["=", "dim"], changed: ["", "dim"] }[verdict] ?? ["≈", "dim"];
  return h("span", { class: `change-mark ${kind}` }, h("span", { "aria-hidden": "true" }, sign && `${sign} `), text);
}

export function signed(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  return `${value < 0 ? "−" : "+"}${fixed(Math.abs(value), digits)}`;
}

/** A table of so many columns; the first cell of a row heads it. */
export function plainTable(caption, heads, rows, more = {}) {
  return h("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": caption }, h("table", more,
    h("caption", { class: "visually-hidden" }, caption),
    h("thead", {}, h("tr", {}, heads.map(([title, kind, words]) => h("th", { scope: "col", class: kind }, title, words ? [" ", help(title, words)] : "")))),
    h("tbody", {}, rows.map(({ cells, ...row }) => h("tr", row, cells.map((cell, at) => at ? h("td", { class: heads[at][1] }, cell) : h("th", { scope: "row" }, cell)))))));
}

/** Data that was resampled here must not be split: the page leads back to where it came from. */
export function onlyUntreated(dataset, page, title) {
  if (!dataset.treatment) return null;
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, title)),
    h("p", { class: "notice" }, `${dataset.treatment} made this data set. Copies of one row would be learnt from and asked about, so that nothing could be proven. Go back to the data as it was: there treatments are applied to the training parts only.`),
    dataset.parent ? h("p", {}, h("a", { href: `/d/${dataset.parent}/${page}` }, `${title} on the data as it was`)) : "");
}

export const ofTotal = (noun) => (done, total) => `${int(done)} of ${int(total)} ${noun}`;
