// Opens files: uploads and reads them, and shows a form if a file needs options.

import { loadModule, post, remove, upload } from "./api.js";
import { announce, h, nameElement } from "./dom.js";
import { bytes } from "./format.js";
import { go } from "./router.js";
import { showOpened, state, watchJob } from "./state.js";

const cards = [];  // kept while other pages are shown
const retryable = new Set();  // openings of single files that may be tried again
const shownIds = new Set();  // ids of files of the command line whose form was shown

/** Create the list of files being opened, for the start page. */
export function openingList() {
  return h("div", { id: "opening", class: "stack" }, ...cards);
}

/** Open files; an XML file belongs to an ARFF file. */
export function openFiles(files) {
  if (!files.length) return;
  if (location.pathname !== "/") go("/");
  for (const group of groupFiles(files)) {
    const opening = group.length === 1 && isXml(group[0]) ? findWaiting(group[0]) : null;
    if (opening) { opening.join(group[0]); continue; }
    new FileOpening(newCard(), group).send();
  }
}

/** Show the form for the file of the command line, with the reason if it could not be opened; once. */
export function openCommandLineFile(file) {
  if (!file || shownIds.has(file.id)) return;
  shownIds.add(file.id);
  new FileOpening(newCard(), [{ name: file.name }], { uploads: [file.id], options: file.options }).preview(file.error ?? "");
}

/** Add an empty card to the list. */
function newCard() {
  const card = h("section", { class: "panel card" });
  cards.unshift(card);
  document.getElementById("opening")?.prepend(card);
  return card;
}

const isXml = (file) => file.name.toLowerCase().endsWith(".xml");
const stem = (file) => file.name.toLowerCase().replace(/\.(gz|bz2|xz|zst)$/, "").replace(/\.[^.]*$/, "").replace(/[-_](train|test)$/, "");

/** Return the opening of the ARFF file that an XML file belongs to: the one with its name, or the only one. */
function findWaiting(xml) {
  const candidates = [...retryable].filter(({ files: [file] }) => /\.arff\b/i.test(file.name));
  return candidates.find(({ files: [file] }) => stem(file) === stem(xml)) ?? (candidates.length === 1 ? candidates[0] : null);
}

/** Group files: an XML file belongs to the ARFF file with its name, or to the only one. */
function groupFiles(files) {
  const data = files.filter((file) => !isXml(file));
  const xml = files.filter(isXml);
  if (!data.length) return xml.map((file) => [file]);
  const used = new Set();
  const groups = data.map((file) => {
    const companion = xml.find((candidate) => stem(candidate) === stem(file)) ?? (xml.length === 1 && data.length === 1 ? xml[0] : null);
    if (companion) used.add(companion);
    return companion ? [file, companion] : [file];
  });
  return [...groups, ...xml.filter((file) => !used.has(file)).map((file) => [file])];
}

/** A file, or a MULAN file with its XML, that is being opened. */
class FileOpening {
  /** `uploads` are the ids of files that the server has, `options` those of the command line. */
  constructor(card, files, { uploads = [], options = {} } = {}) {
    Object.assign(this, { card, files, uploads, options });
    this.abort = new AbortController();
    this.updateTitle();
  }

  /** Name the card after its files. */
  updateTitle() {
    this.title = this.files.map((file) => file.name).join(" + ");
    this.card.setAttribute("aria-label", this.title);
  }

  /** Add the missing XML file and try again. */
  join(xml) {
    this.files.push(xml);
    this.updateTitle();
    this.send();
  }

  /** Upload the files, then open them. */
  async send() {
    retryable.delete(this);
    const bar = this.showBusy("Uploading");
    try {
      const files = this.files.slice(this.uploads.length);
      const total = files.reduce((sum, file) => sum + file.size, 0);
      for (const file of files) {
        if (state.about && file.size > state.about.max_upload) throw new Error(`${file.name} is too large: this server takes at most ${bytes(state.about.max_upload)}. Compress it, open it with 'scumble gui FILE', or start the server with a larger --max-upload.`);
      }
      let sentBytes = 0;
      for (const file of files) {
        const stored = await upload(file, (fraction) => { bar.value = (sentBytes + fraction * file.size) / Math.max(total, 1); }, this.abort.signal);
        this.uploads.push(stored.id);
        sentBytes += file.size;
      }
      if (this.files.length === 1) await this.preview();
      else await this.read({});
    } catch (error) {
      this.showFailure(error);
    }
  }

  /** Show the form for a plain table, with a problem if there was one; open any other file. */
  async preview(problem = "") {
    this.showBusy("Reading the first rows of").removeAttribute("value");
    await this.prepareForm();
    await this.form.refresh();
    if (this.isClosed) return;
    if (!problem && this.form.preview?.asks === false) { await this.read(this.options); return; }
    if (problem && this.form.memberSelect?.value !== "") this.form.showProblem(problem);
    this.showForm();
  }

  /** Create the form with the options of the reader. */
  async prepareForm() {
    const { ReadOptionsForm } = await loadModule("./read_options.js");
    const dismiss = h("button", { type: "button", onclick: () => this.close() }, "Dismiss");
    this.form ??= new ReadOptionsForm({ upload: this.uploads[0], title: this.title, options: this.options, submit: (readerOptions) => this.read(readerOptions), dismiss });
  }

  /** Show the form with its current values. */
  showForm() {
    if (this.files.length === 1) retryable.add(this);
    const { messageBox, element } = this.form;
    if (messageBox.hidden) announce(`${this.title}: check the columns.`);
    this.card.replaceChildren(h("h2", {}, messageBox.hidden ? "Opening " : "Not opened: ", nameElement(this.title)), element);
  }

  /** Read the uploaded files and show the data set. */
  async read(options) {
    const bar = this.showBusy("Reading");
    try {
      this.job = await post("/datasets", { uploads: this.uploads, ...options });
      const job = await watchJob(this.job, { owner: this.card, inlineView: this.card, onProgress: ({ progress }) => {
        if (progress.total && progress.done) bar.value = progress.done / progress.total;
        else bar.removeAttribute("value");
      } });
      this.uploads = [];  // the server has removed them
      await showOpened(job, this.card);
      this.close();
    } catch (error) {
      await this.showFailure(error);
    }
  }

  /** Show a progress bar and return it. */
  showBusy(verb) {
    const bar = h("progress", { max: 1, value: 0, "aria-label": `${verb} ${this.title}` });
    this.card.replaceChildren(
      h("div", { class: "row" }, h("span", {}, `${verb} `, nameElement(this.title)), h("button", { type: "button", class: "small push", onclick: () => this.cancel() }, "Cancel")),
      bar);
    return bar;
  }

  /** Cancel the upload or the job. */
  cancel() {
    this.abort.abort();
    const job = this.job ?? this.form?.job;
    if (job) remove(`/jobs/${job.id}`).catch(() => {});
    this.close();
  }

  /** Remove the card, and the uploads from the server. */
  close() {
    this.isClosed = true;
    retryable.delete(this);
    for (const id of this.uploads) remove(`/uploads/${id}`).catch(() => {});
    this.uploads = [];
    cards.splice(cards.indexOf(this.card), 1);
    this.card.remove();
  }

  /** Show an error, with the form if the file can be tried again. */
  async showFailure(error) {
    if (error.name === "AbortError") { this.close(); return; }
    if (this.uploads.length === this.files.length && error.status !== 404) {
      await this.prepareForm();
      if (this.files.length > 1) this.form.showPreview({ asks: false, delimiter: null });
      this.form.showProblem(error.message);
      this.showForm();
      if (document.activeElement === document.body) this.form.openButton.focus();  // the focused button was removed
      return;
    }
    this.card.replaceChildren(
      h("h2", {}, "Not opened: ", nameElement(this.title)),
      h("p", { class: "notice bad", role: "alert" }, error.message),
      h("div", { class: "row" }, h("button", { type: "button", onclick: () => this.close() }, "Dismiss")));
  }
}
