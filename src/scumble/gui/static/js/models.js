// Trained models: saves them and predicts labels with them.

import { catalogue, encode, get, post, remove, upload } from "./api.js";
import { saveFile } from "./downloads.js";
import { h, nameElement } from "./dom.js";
import { bytes, int, pluralize } from "./format.js";
import { showError, watchJob } from "./state.js";

/** The models of a data set: trains, lists and saves them, and predicts labels for a file. */
export class Models {
  constructor(dataset) {
    this.path = `/datasets/${encode(dataset.id)}/models`;
    this.status = h("div", { role: "status" });
    this.predictionStatus = h("div", { role: "status" });
    this.list = h("ul", { class: "models" });
    this.modelSelect = h("select", { required: true });
    this.fileInput = h("input", { type: "file", multiple: true, required: true });
    this.inputFormat = h("select", {}, h("option", { value: "" }, "automatic"));
    catalogue().then(({ formats }) => this.inputFormat.append(...formats.map((format) => h("option", { value: format.name }, format.title)))).catch(() => {});
    this.outputFormat = h("select", {}, [[".csv", "CSV"], [".parquet", "Parquet"]].map(([value, title]) => h("option", { value }, title)));
    this.outputValues = h("select", {}, [["", "0 and 1"], ["yes", "scores"]].map(([value, title]) => h("option", { value }, title)));
    this.predictButton = h("button", {}, "Predict");
    const field = (title, element) => h("label", { class: "field" }, h("span", {}, title), element);
    this.predictForm = h("form", { class: "tight predict", onsubmit: (event) => { event.preventDefault(); this.predict(); } },
      h("h3", {}, "Predict labels for another file"),
      h("p", { class: "dim" }, "The file needs the same feature columns; label columns are optional. A MULAN file may come with its XML file."),
      h("div", { class: "fields" }, field("Model", this.modelSelect), field("File", this.fileInput), field("File format", this.inputFormat), field("Predictions", this.outputValues), field("Save as", this.outputFormat)),
      h("div", { class: "row" }, this.predictButton), this.predictionStatus);
    this.element = h("section", { class: "panel tight", "aria-label": "Models" }, h("h2", {}, "Models"), this.status, this.list, this.predictForm);
  }

  /** Load and show the list of models. */
  async load() {
    const { models } = await get(this.path);
    this.element.hidden = models.length === 0 && !this.status.hasChildNodes();
    this.predictForm.hidden = models.length === 0;
    this.list.replaceChildren(...models.map((model) => h("li", {}, nameElement(model.title), h("span", { class: "dim" }, `${pluralize(model.n_labels, "label")}, ${bytes(model.size)}`), h("button", { type: "button", class: "small", "aria-label": `Download ${model.title}`, onclick: () => this.save(model) }, "Download"))));
    this.modelSelect.replaceChildren(...models.map((model) => h("option", { value: model.model }, model.title)));
  }

  /** Create a button that trains a method. */
  trainButton(title, body) {
    const button = h("button", { type: "button", class: "small", "aria-label": `Train ${title}`, onclick: async () => {
      button.disabled = true;
      this.element.hidden = false;
      this.status.replaceChildren(h("span", { class: "dim" }, `Training ${title} …`));
      this.element.scrollIntoView({ block: "nearest" });
      try {
        const job = await watchJob(await post(this.path, body), { owner: this.status });
        this.status.replaceChildren(h("span", {}, "Trained ", nameElement(job.result.title), " on all rows."), ...job.notes.map((note) => h("p", { class: "notice" }, note)));
        await this.load();
      } catch (error) {
        this.status.replaceChildren(errorElement(error));
      } finally {
        button.disabled = false;
      }
    } }, "Train");
    return button;
  }

  /** Save a model as a file. */
  async save(model) {
    try {
      await saveFile(await post(`/models/${encode(model.model)}/file`));
    } catch (error) {
      showError(error);
    }
  }

  /** Upload the chosen files, predict their labels and save the result. */
  async predict() {
    this.predictButton.disabled = true;
    this.predictionStatus.replaceChildren(h("span", { class: "dim" }, "Uploading …"));
    const uploads = [];
    try {
      for (const file of this.fileInput.files) uploads.push((await upload(file, () => {})).id);
      const job = await watchJob(await post(`/models/${encode(this.modelSelect.value)}/predictions`, { uploads, file_format: this.inputFormat.value || null, format: this.outputFormat.value, confidences: this.outputValues.value === "yes" }), { owner: this.predictionStatus });
      const { result } = job;
      const frequent = [...result.labels].sort((a, b) => b.count - a.count).slice(0, 6);
      this.predictionStatus.replaceChildren(
        h("p", {}, `Predicted ${pluralize(result.n_predicted, "label")} on ${pluralize(result.n_instances, "row")}; ${pluralize(result.n_unlabelled, "row")} without labels. Saved as `, h("b", {}, nameElement(result.name)), ` (${bytes(result.size)}). `),
        h("p", { class: "dim" }, "Most frequent: ", frequent.flatMap((label, index) => [index ? ", " : "", nameElement(label.name), ` (${int(label.count)})`]), "."),
        ...job.notes.map((note) => h("p", { class: "notice" }, note)));
      await saveFile(result);
    } catch (error) {
      for (const id of uploads) remove(`/uploads/${id}`).catch(() => {});  // another attempt uploads them again
      this.predictionStatus.replaceChildren(errorElement(error));
    } finally {
      this.predictButton.disabled = false;
    }
  }
}

/** Create the element that describes an error. */
const errorElement = (error) => error.name === "AbortError" ? h("span", {}, "Cancelled.") : h("p", { class: "notice bad", role: "alert" }, error.message);
