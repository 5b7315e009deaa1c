// Trained models: save them, and ask them about a second file.

import { catalogue, get, part, post, remove, upload } from "./api.js";
import { saveFile } from "./downloads.js";
import { h, name } from "./dom.js";
import { bytes, counted, int } from "./format.js";
import { complain, watch } from "./state.js";

/** Train, list, save and ask the models of a data set. */
export class Models {
  constructor(dataset) {
    this.path = `/datasets/${part(dataset.id)}/models`;
    this.told = h("div", { role: "status" });
    this.answer = h("div", { role: "status" });
    this.list = h("ul", { class: "models" });
    this.which = h("select", { required: true });
    this.file = h("input", { type: "file", multiple: true, required: true });
    this.read = h("select", {}, h("option", { value: "" }, "by its name"));
    catalogue().then(({ formats }) => this.read.append(...formats.map((each) => h("option", { value: each.name }, each.title)))).catch(() => {});
    this.form = h("select", {}, [[".csv", "CSV"], [".parquet", "Parquet"]].map(([value, title]) => h("option", { value }, title)));
    this.content = h("select", {}, [["", "0 and 1"], ["yes", "how sure it is"]].map(([value, title]) => h("option", { value }, title)));
    this.ask = h("button", {}, "Predict");
    const field = (title, element) => h("label", { class: "field" }, h("span", {}, title), element);
    this.predict = h("form", { class: "tight predict", onsubmit: (event) => { event.preventDefault(); this.predicted(); } },
      h("h3", {}, "Predict a second file"),
      h("p", { class: "dim" }, "Rows with the same columns, with or without labels; a MULAN file may come with its XML."),
      h("div", { class: "fields" }, field("Model", this.which), field("File", this.file), field("Read as", this.read), field("Answers", this.content), field("Written as", this.form)),
      h("div", { class: "row" }, this.ask), this.answer);
    this.element = h("section", { class: "panel tight", "aria-label": "Models" }, h("h2", {}, "Models"), this.told, this.list, this.predict);
  }

  async load() {
    const { models } = await get(this.path);
    this.element.hidden = models.length === 0 && !this.told.hasChildNodes();
    this.predict.hidden = models.length === 0;
    this.list.replaceChildren(...models.map((model) => h("li", {}, name(model.title), h("span", { class: "dim" }, `${counted(model.n_labels, "label")}, ${bytes(model.size)}`), h("button", { type: "button", class: "small", "aria-label": `Download ${model.title}`, onclick: () => this.save(model) }, "Download"))));
    this.which.replaceChildren(...models.map((model) => h("option", { value: model.model }, model.title)));
  }

  /** A button that trains a method. */
  trainer(title, wish) {
    const button = h("button", { type: "button", class: "small", "aria-label": `Train ${title}`, onclick: async () => {
      button.disabled = true;
      this.element.hidden = false;
      this.told.replaceChildren(h("span", { class: "dim" }, `Training ${title} …`));
      this.element.scrollIntoView({ block: "nearest" });
      try {
        const job = await watch(await post(this.path, wish), { owner: this.told });
        this.told.replaceChildren(h("span", {}, "Trained ", name(job.result.title), " on all rows."), ...job.notes.map((note) => h("p", { class: "notice" }, note)));
        await this.load();
      } catch (error) {
        this.told.replaceChildren(problem(error));
      } finally {
        button.disabled = false;
      }
    } }, "Train");
    return button;
  }

  async save(model) {
    try {
      await saveFile(await post(`/models/${part(model.model)}/file`));
    } catch (error) {
      complain(error);
    }
  }

  async predicted() {
    this.ask.disabled = true;
    this.answer.replaceChildren(h("span", { class: "dim" }, "Sending …"));
    const uploads = [];
    try {
      for (const file of this.file.files) uploads.push((await upload(file, () => {})).id);
      const job = await watch(await post(`/models/${part(this.which.value)}/predictions`, { uploads, file_format: this.read.value || null, format: this.form.value, confidences: this.content.value === "yes" }), { owner: this.answer });
      const { result } = job;
      const most = [...result.labels].sort((a, b) => b.count - a.count).slice(0, 6);
      this.answer.replaceChildren(
        h("p", {}, `${counted(result.n_predicted, "label")} on ${counted(result.n_instances, "row")}, ${int(result.n_unlabelled)} of them without any. Saved as `, h("b", {}, name(result.name)), ` (${bytes(result.size)}). `),
        h("p", { class: "dim" }, "Most often ", most.flatMap((label, at) => [at ? ", " : "", name(label.name), ` (${int(label.count)})`]), "."),
        ...job.notes.map((note) => h("p", { class: "notice" }, note)));
      await saveFile(result);
    } catch (error) {
      for (const id of uploads) remove(`/uploads/${id}`).catch(() => {});  // another try sends them again
      this.answer.replaceChildren(problem(error));
    } finally {
      this.ask.disabled = false;
    }
  }
}

const problem = (error) => error.name === "AbortError" ? h("span", {}, "Cancelled.") : h("p", { class: "notice bad", role: "alert" }, error.message);
