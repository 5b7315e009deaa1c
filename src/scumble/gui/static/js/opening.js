// From files to open data sets: upload, read, and ask again where a file does not say enough.

import { load, post, remove, upload } from "./api.js";
import { h, name, say } from "./dom.js";
import { bytes } from "./format.js";
import { go } from "./router.js";
import { opened, state, watch } from "./state.js";

const cards = [];  // they outlive the page they are shown on
const refused = new Set();  // single files that may be tried again
const known = new Set();  // files of the command line that are asked about

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
    new Opening(newCard(), group).send();
  }
}

/** Ask about the file of the command line, or say why it could not be opened; once. */
export function openWaiting(waiting) {
  if (!waiting || known.has(waiting.id)) return;
  known.add(waiting.id);
  new Opening(newCard(), [{ name: waiting.name }], { uploads: [waiting.id], given: waiting.options }).look(waiting.error ?? "");
}

function newCard() {
  const card = h("section", { class: "panel card" });
  cards.unshift(card);
  document.getElementById("opening")?.prepend(card);
  return card;
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
  /** `uploads` are the numbers of files that are there already, `given` what is known of them. */
  constructor(card, files, { uploads = [], given = {} } = {}) {
    Object.assign(this, { card, files, uploads, given });
    this.abort = new AbortController();
    this.name();
  }

  name() {
    this.title = this.files.map((file) => file.name).join(" + ");
    this.card.setAttribute("aria-label", this.title);
  }

  /** Take the XML that was forgotten, and try again. */
  join(xml) {
    this.files.push(xml);
    this.name();
    this.send();
  }

  async send() {
    refused.delete(this);
    const bar = this.busy("Sending");
    try {
      const files = this.files.slice(this.uploads.length);
      const total = files.reduce((sum, file) => sum + file.size, 0);
      for (const file of files) {
        if (state.about && file.size > state.about.max_upload) throw new Error(`${file.name} is too large: this server takes at most ${bytes(state.about.max_upload)}. Compress it, open it with 'scumble gui FILE', or start the server with a larger --max-upload.`);
      }
      let before = 0;
      for (const file of files) {
        const stored = await upload(file, (part) => { bar.value = (before + part * file.size) / Math.max(total, 1); }, this.abort.signal);
        this.uploads.push(stored.id);
        before += file.size;
      }
      if (this.files.length === 1) await this.look();
      else await this.read({});
    } catch (error) {
      this.failed(error);
    }
  }

  /** Ask about a plain table, with what went wrong so far; open any other file. */
  async look(problem = "") {
    this.busy("Looking at").removeAttribute("value");
    await this.prepare();
    await this.asking.refresh();
    if (this.isClosed) return;
    if (!problem && this.asking.preview?.asks === false) { await this.read(this.given); return; }
    if (problem && this.asking.member?.value !== "") this.asking.complain(problem);
    this.ask();
  }

  async prepare() {
    const { Asking } = await load("./read_options.js");
    const dismiss = h("button", { type: "button", onclick: () => this.close() }, "Dismiss");
    this.asking ??= new Asking({ upload: this.uploads[0], title: this.title, given: this.given, submit: (wish) => this.read(wish), dismiss });
  }

  /** Show the form, as it was left. */
  ask() {
    if (this.files.length === 1) refused.add(this);
    const { told, element } = this.asking;
    if (told.hidden) say(`${this.title}: what are its columns for?`);
    this.card.replaceChildren(h("h2", {}, told.hidden ? "Opening " : "Not opened: ", name(this.title)), element);
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
      await this.failed(error);
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
    const job = this.job ?? this.asking?.job;
    if (job) remove(`/jobs/${job.id}`).catch(() => {});
    this.close();
  }

  /** Remove the card, and what was sent from the server. */
  close() {
    this.isClosed = true;
    refused.delete(this);
    for (const id of this.uploads) remove(`/uploads/${id}`).catch(() => {});
    this.uploads = [];
    cards.splice(cards.indexOf(this.card), 1);
    this.card.remove();
  }

  async failed(error) {
    if (error.name === "AbortError") { this.close(); return; }
    if (this.uploads.length === this.files.length && error.status !== 404) {
      await this.prepare();
      if (this.files.length > 1) this.asking.show({ asks: false, delimiter: null });
      this.asking.complain(error.message);
      this.ask();
      if (document.activeElement === document.body) this.asking.open.focus();  // which was on the button that is gone
      return;
    }
    this.card.replaceChildren(
      h("h2", {}, "Not opened: ", name(this.title)),
      h("p", { class: "notice bad", role: "alert" }, error.message),
      h("div", { class: "row" }, h("button", { type: "button", onclick: () => this.close() }, "Dismiss")));
  }
}
