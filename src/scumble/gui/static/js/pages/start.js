import { get, part, post, remove } from "../api.js";
import { h, name } from "../dom.js";
import { bytes, counted } from "../format.js";
import { openFiles, openingList } from "../opening.js";
import { complain, opened, refresh, state, titleOf, watch } from "../state.js";

const SYNTHETIC = [
  ["n_instances", "Instances", 2000, 1], ["n_labels", "Labels", 30, 1], ["n_features", "Attributes", 20, 1],
  ["cardinality", "Cardinality", 3, "any"], ["mean_ir", "MeanIR", 20, "any"], ["scumble", "SCUMBLE", 0.2, "any"], ["random_state", "Seed", 0, 1],
];

export async function render() {
  const list = h("ul", { class: "datasets" });
  const panel = h("section", { class: "panel" }, h("h2", {}, "Open now"), list);
  const showList = () => {
    list.replaceChildren(...inOrder(state.datasets).map((each) => item(each, showList)));
    panel.hidden = !state.datasets.length;
  };
  showList();
  const picker = h("input", { type: "file", multiple: true, class: "visually-hidden", id: "picker", onchange: (event) => { openFiles([...event.target.files]); event.target.value = ""; } });
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, "Open a data set"), h("span", { class: "dim" }, "Everything stays on this machine.")),
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
        shelf())));
}

/** Public data sets: what is here opens at once, others are fetched when asked for. */
function shelf() {
  const told = h("div");
  const list = h("ul", { class: "shelf" });
  const fail = (error) => told.replaceChildren(h("p", { class: "notice bad", role: "alert" }, error.message));
  const open = async (each, button) => {
    told.replaceChildren();
    button.disabled = true;
    try {
      await opened(await watch(await post(`/shelf/${part(each.name)}`), { owner: button }), button);
    } catch (error) {
      if (error.name !== "AbortError") fail(error);
    } finally {
      button.disabled = false;
    }
  };
  const row = (each) => {
    const isFar = each.place === "to fetch";
    const button = each.place === "here" || isFar ? h("button", { type: "button", class: "small", "aria-label": `${isFar ? "Fetch" : "Open"} ${each.name}`, onclick: (event) => open(each, event.target) }, isFar ? `Fetch, ${bytes(each.size)}` : "Open") : null;
    return h("li", {}, h("span", {}, h("b", {}, name(each.name)), " ", h("span", { class: "dim" }, each.title)),
      h("small", {}, `${counted(each.instances, "instance")}, ${counted(each.labels, "label")}, ${counted(each.features, "attribute")}${button ? "" : "; put its file into a folder that SCUMBLE_DATA names"}`), button);
  };
  const load = async (event) => {
    if (!event.target.open || list.childElementCount) return;
    try {
      const { datasets } = await get("/shelf");
      const rank = ({ place }) => ["here", "to fetch"].indexOf(place) + 3 * (place !== "here" && place !== "to fetch");
      list.replaceChildren(...datasets.filter(({ place }) => place !== "embedded").sort((a, b) => rank(a) - rank(b)).map(row));
    } catch (error) {
      fail(error);
    }
  };
  return h("section", { class: "panel" }, h("h2", {}, "Public data sets"),
    h("p", { class: "dim" }, "Known by name. Those on this machine open at once; others are fetched when you say so, and verified."),
    told, h("details", { ontoggle: load }, h("summary", {}, "Show them"), list));
}

/** Treated data sets follow the one they were made of. */
function inOrder(datasets) {
  const ids = new Set(datasets.map((each) => each.id));
  const top = datasets.filter((each) => !ids.has(each.parent));
  const below = (parent) => datasets.filter((each) => each.parent === parent.id).flatMap((each) => [each, ...below(each)]);
  return top.flatMap((each) => [each, ...below(each)]);
}

function item(dataset, changed) {
  const close = async () => {
    try {
      await remove(`/datasets/${part(dataset.id)}`);
      await refresh();
      changed();
    } catch (error) {
      complain(error);
    }
  };
  return h("li", { class: dataset.parent ? "child" : null },
    h("a", { href: `/d/${dataset.id}/overview` }, name(titleOf(dataset))),
    h("small", {}, `${counted(dataset.n_instances, "instance")}, ${counted(dataset.n_labels, "label")}, ${counted(dataset.n_features, "attribute")}`),
    h("button", { type: "button", class: "small quiet", "aria-label": `Close ${titleOf(dataset)}`, onclick: close }, "Close"));
}

function example(each) {
  const open = async (options, button) => {
    button.disabled = true;
    try {
      await opened(await watch(await post(`/examples/${each.name}`, options), { owner: button }), button);
    } catch (error) {
      complain(error);
    } finally {
      button.disabled = false;
    }
  };
  const parts = [h("h3", {}, each.title), h("p", { class: "dim" }, each.summary)];
  if (each.name !== "synthetic") {
    return h("div", { class: "example" }, parts, h("button", { type: "button", onclick: (event) => open({}, event.target), "aria-label": `Open ${each.title}` }, "Open"));
  }
  const inputs = SYNTHETIC.map(([key, title, value, step]) => [key, title, h("input", { type: "number", min: 0, step, value, required: true, name: key })]);
  const submit = (event) => {
    event.preventDefault();
    open(Object.fromEntries(inputs.map(([key, , input]) => [key, Number(input.value)])), event.submitter);
  };
  return h("div", { class: "example" }, parts, h("details", {}, h("summary", {}, "Make some"),
    h("form", { class: "card", onsubmit: submit }, h("div", { class: "fields" }, inputs.map(([, title, input]) => h("label", { class: "field" }, h("span", {}, title), input))), h("div", { class: "row" }, h("button", { class: "primary" }, "Make and open")))));
}
