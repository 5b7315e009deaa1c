import { encode, get, post, remove } from "../api.js";
import { h, nameElement } from "../dom.js";
import { bytes, pluralize } from "../format.js";
import { openFiles, openingList } from "../opening.js";
import { datasetTitle, refresh, showError, showOpened, state, watchJob } from "../state.js";
import { loadStyles } from "../styles.js";

const styles = loadStyles("/static/start.css");

const SYNTHETIC = [
  ["n_instances", "Instances", 2000, 1], ["n_labels", "Labels", 30, 1], ["n_features", "Attributes", 20, 1],
  ["cardinality", "Cardinality", 3, "any"], ["mean_ir", "MeanIR", 20, "any"], ["scumble", "SCUMBLE", 0.2, "any"], ["random_state", "Seed", 0, 1],
];  // key, title, default and step of a parameter

/** Render the page that opens data sets. */
export async function render() {
  await styles;
  const list = h("ul", { class: "datasets" });
  const panel = h("section", { class: "panel" }, h("h2", {}, "Open now"), list);
  const showList = () => {
    list.replaceChildren(...inOrder(state.datasets).map((entry) => item(entry, showList)));
    panel.hidden = !state.datasets.length;
  };
  showList();
  const picker = h("input", { type: "file", multiple: true, class: "visually-hidden", id: "picker", onchange: (event) => { openFiles([...event.target.files]); event.target.value = ""; } });
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, "Open a data set"), h("span", { class: "dim" }, "All data stays on this machine.")),
    h("div", { class: "welcome" },
      h("div", { class: "stack" },
        h("div", { class: "drop" },
          h("h2", {}, "Drop files here"),
          h("p", { class: "dim" }, "MULAN (the ARFF with its XML), MEKA, CSV, Parquet, Arrow, LibSVM, KEEL, extreme classification; plain or compressed, up to ", h("span", { class: "whole" }, bytes(state.about?.max_upload ?? 0), ".")),
          h("label", { class: "button primary", for: "picker" }, "Choose files"), picker),
        openingList()),
      h("div", { class: "stack" },
        panel,
        h("section", { class: "panel" }, h("h2", {}, "Examples"), (state.about?.examples ?? []).map(example)),
        publicDatasets())));
}

/** List public data sets; those that are not on this machine are downloaded on request. */
function publicDatasets() {
  const message = h("div");
  const list = h("ul", { class: "public" });
  const showFailure = (error) => message.replaceChildren(h("p", { class: "notice bad", role: "alert" }, error.message));
  const open = async (entry, button) => {
    message.replaceChildren();
    button.disabled = true;
    try {
      await showOpened(await watchJob(await post(`/public-datasets/${encode(entry.name)}`), { owner: button }), button);
    } catch (error) {
      if (error.name !== "AbortError") showFailure(error);
    } finally {
      button.disabled = false;
    }
  };
  const row = (entry) => {
    const isRemote = entry.place === "to fetch";
    const button = entry.place === "here" || isRemote ? h("button", { type: "button", class: "small", "aria-label": `${isRemote ? "Download" : "Open"} ${entry.name}`, onclick: (event) => open(entry, event.target) }, isRemote ? `Download, ${bytes(entry.size)}` : "Open") : null;
    return h("li", {}, h("span", {}, h("b", {}, nameElement(entry.name)), " ", h("span", { class: "dim" }, entry.title)),
      h("small", {}, `${pluralize(entry.instances, "instance")}, ${pluralize(entry.labels, "label")}, ${pluralize(entry.features, "attribute")}${button ? "" : "; put its file into the folder given by SCUMBLE_DATA"}`), button);
  };
  const load = async (event) => {
    if (!event.target.open || list.childElementCount) return;
    try {
      const { datasets } = await get("/public-datasets");
      const order = ["here", "to fetch"];  // others come last
      const rank = (entry) => (order.includes(entry.place) ? order.indexOf(entry.place) : order.length);
      list.replaceChildren(...datasets.filter((entry) => entry.place !== "embedded").sort((a, b) => rank(a) - rank(b)).map(row));
    } catch (error) {
      showFailure(error);
    }
  };
  return h("section", { class: "panel" }, h("h2", {}, "Public data sets"),
    h("p", { class: "dim" }, "Data sets that are on this machine open immediately. Others are downloaded and verified when you select them."),
    message, h("details", { ontoggle: load }, h("summary", {}, "Show list"), list));
}

/** Order data sets so that resampled ones follow the data set they result from. */
function inOrder(datasets) {
  const ids = new Set(datasets.map((entry) => entry.id));
  const top = datasets.filter((entry) => !ids.has(entry.parent));
  const resultsOf = (parent) => datasets.filter((entry) => entry.parent === parent.id).flatMap((entry) => [entry, ...resultsOf(entry)]);
  return top.flatMap((entry) => [entry, ...resultsOf(entry)]);
}

/** Create the line of an open data set. */
function item(dataset, onClose) {
  const close = async () => {
    try {
      await remove(`/datasets/${encode(dataset.id)}`);
      await refresh();
      onClose();
    } catch (error) {
      showError(error);
    }
  };
  return h("li", { class: dataset.parent ? "child" : null },
    h("a", { href: `/d/${dataset.id}/overview` }, nameElement(datasetTitle(dataset))),
    h("small", {}, `${pluralize(dataset.n_instances, "instance")}, ${pluralize(dataset.n_labels, "label")}, ${pluralize(dataset.n_features, "attribute")}`),
    h("button", { type: "button", class: "small quiet", "aria-label": `Close ${datasetTitle(dataset)}`, onclick: close }, "Close"));
}

/** Create the line of an example. */
function example(entry) {
  const open = async (options, button) => {
    button.disabled = true;
    try {
      await showOpened(await watchJob(await post(`/examples/${entry.name}`, options), { owner: button }), button);
    } catch (error) {
      showError(error);
    } finally {
      button.disabled = false;
    }
  };
  const parts = [h("h3", {}, entry.title), h("p", { class: "dim" }, entry.summary)];
  if (entry.name !== "synthetic") {
    return h("div", { class: "example" }, parts, h("button", { type: "button", onclick: (event) => open({}, event.target), "aria-label": `Open ${entry.title}` }, "Open"));
  }
  const inputs = SYNTHETIC.map(([key, title, value, step]) => [key, title, h("input", { type: "number", min: 0, step, value, required: true, name: key })]);
  const submit = (event) => {
    event.preventDefault();
    open(Object.fromEntries(inputs.map(([key, , input]) => [key, Number(input.value)])), event.submitter);
  };
  return h("div", { class: "example" }, parts, h("details", {}, h("summary", {}, "Options"),
    h("form", { class: "card", onsubmit: submit }, h("div", { class: "fields" }, inputs.map(([, title, input]) => h("label", { class: "field" }, h("span", {}, title), input))), h("div", { class: "row" }, h("button", { class: "primary" }, "Create and open")))));
}
