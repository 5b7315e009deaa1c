// From files to open data sets: upload, read, and ask again where a file does not say enough.

import { catalogue, post, remove, upload } from "./api.js";
import { h, name } from "./dom.js";
import { bytes, parseLabels } from "./format.js";
import { go } from "./router.js";
import { opened, state, watch } from "./state.js";

const cards = [];  // they outlive the page they are shown on
const refused = new Set();  // single files that may be tried again

/** The list of files being opened; belongs to the start page. */
export function openingList() {
  return h("div", { id: "opening", class: "stack" }, ...cards);
}

export function openFiles(files) {
  if (!files.length) return;
  if (location.pathname !== "/") go("/");
  for (const group of grouped(files)) {
    const waiting = group.length === 1 && isXml(group[0]) ? waitingFor(group[0]) : null;
    if (waiting) { waiting.join(group[0]); continue; }
    const card = h("section", { class: "panel card" });
    cards.unshift(card);
    document.getElementById("opening")?.prepend(card);
    new Opening(card, group).send();
  }
}

const isXml = (file) => file.name.toLowerCase().endsWith(".xml");
const stem = (file) => file.name.toLowerCase().replace(/\.(gz|bz2|xz|zst)$/, "").replace(/\.[^.]*$/, "").replace(/[-_](train|test)$/, "");

/** The file that was refused for want of an XML: the one with its name, or the only one. */
function waitingFor(xml) {
  const alone = [...refused].filter(({ files: [file] }) => /\.arff\b/i.test(file.name));
  return alone.find(({ files: [file] }) => stem(file) === stem(xml)) ?? (alone.length === 1 ? alone[0] : null);
}

/** An XML file belongs to the ARFF file with its name, or to the only one. */
function grouped(files) {
  const data = files.filter((file) => !isXml(file));
  const xml = files.filter(isXml);
  if (!data.length) return xml.map((file) => [file]);
  const used = new Set();
  const groups = data.map((file) => {
    const own = xml.find((each) => stem(each) === stem(file)) ?? (xml.length === 1 && data.length === 1 ? xml[0] : null);
    if (own) used.add(own);
    return own ? [file, own] : [file];
  });
  return [...groups, ...xml.filter((file) => !used.has(file)).map((file) => [file])];
}

class Opening {
  constructor(card, files) {
    this.card = card;
    this.files = files;
    this.title = files.map((file) => file.name).join(" + ");
    this.abort = new AbortController();
    this.typed = {};  // in the form; kept from one try to the next
  }

  /** Take the XML that was forgotten, and try again. */
  join(xml) {
    this.files.push(xml);
    this.title = this.files.map((file) => file.name).join(" + ");
    this.discard();
    this.send();
  }

  async send() {
    refused.delete(this);
    const bar = this.busy("Sending");
    try {
      const total = this.files.reduce((sum, file) => sum + file.size, 0);
      for (const file of this.files) {
        if (state.about && file.size > state.about.max_upload) throw new Error(`${file.name} has ${bytes(file.size)}; this server takes at most ${bytes(state.about.max_upload)}. Compress it, open it with 'scumble gui FILE', or start the server with a larger --max-upload.`);
      }
      let before = 0;
      this.uploads = [];
      for (const file of this.files) {
        const stored = await upload(file, (part) => { bar.value = (before + part * file.size) / Math.max(total, 1); }, this.abort.signal);
        this.uploads.push(stored.id);
        before += file.size;
      }
      await this.read({});
    } catch (error) {
      this.failed(error);
    }
  }

  async read(options) {
    const bar = this.busy("Reading");
    try {
      this.job = await post("/datasets", { uploads: this.uploads, ...options });
      const job = await watch(this.job, { owner: this.card, instead: this.card, tell: ({ progress }) => {
        if (progress.total && progress.done) bar.value = progress.done / progress.total;
        else bar.removeAttribute("value");
      } });
      this.uploads = [];  // gone, now that they are open
      await opened(job, this.card);
      this.close();
    } catch (error) {
      this.failed(error);
    }
  }

  busy(verb) {
    const bar = h("progress", { max: 1, value: 0, "aria-label": `${verb} ${this.title}` });
    this.card.replaceChildren(
      h("div", { class: "row" }, h("span", {}, `${verb} `, name(this.title)), h("button", { type: "button", class: "small push", onclick: () => this.cancel() }, "Cancel")),
      bar);
    return bar;
  }

  cancel() {
    this.abort.abort();
    if (this.job) remove(`/jobs/${this.job.id}`).catch(() => {});
    this.close();
  }

  /** Delete what was sent from the server. */
  discard() {
    for (const id of this.uploads ?? []) remove(`/uploads/${id}`).catch(() => {});
    this.uploads = [];
  }

  close() {
    refused.delete(this);
    this.discard();
    cards.splice(cards.indexOf(this.card), 1);
    this.card.remove();
  }

  failed(error) {
    if (error.name === "AbortError") { this.close(); return; }
    const canRetry = this.uploads?.length === this.files.length;
    if (canRetry && this.files.length === 1) refused.add(this);
    const dismiss = h("button", { type: "button", onclick: () => this.close() }, "Dismiss");
    this.card.replaceChildren(
      h("h2", {}, "Not opened: ", name(this.title)),
      h("p", { class: "notice bad", role: "alert" }, error.message),
      canRetry && error.status !== 404 ? this.form(dismiss) : h("div", { class: "row" }, dismiss));
  }

  form(dismiss) {
    const format = h("select", { name: "format" }, h("option", { value: "" }, "find out"));
    catalogue().then(({ formats }) => format.append(...formats.map((each) => h("option", { value: each.name, selected: each.name === this.typed.format }, each.title)))).catch(() => {});
    const labels = h("input", { type: "text", name: "labels", placeholder: "-5, or: sun, sea, or: 3,4", value: this.typed.labels });
    const column = h("input", { type: "text", name: "label_column", value: this.typed.column });
    const separator = h("input", { type: "text", name: "label_separator", placeholder: "|", value: this.typed.separator });
    const field = (title, input) => h("label", { class: "field" }, h("span", {}, title), input);
    const retry = (event) => {
      event.preventDefault();
      this.typed = { format: format.value, labels: labels.value, column: column.value, separator: separator.value };
      const wish = {
        format: format.value || null, labels: parseLabels(labels.value),
        label_column: column.value || null, label_separator: separator.value || null,
      };
      this.read(Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== null)));
    };
    return h("form", { class: "card", onsubmit: retry },
      h("p", { class: "dim" }, "Say more about the file and try again. Labels: a count (negative: from the end), names, or column numbers from 0."),
      h("div", { class: "fields" }, field("Format", format), field("Label columns", labels), field("Column of label lists", column), field("Separator in lists", separator)),
      h("div", { class: "row" }, h("button", { class: "primary" }, "Try again"), dismiss));
  }
}
