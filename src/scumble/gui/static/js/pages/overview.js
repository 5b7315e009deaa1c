import { get, part } from "../api.js";
import { histogram, scatter } from "../charts.js";
import { h, name } from "../dom.js";
import { counted, fixed, int, sig } from "../format.js";
import { go } from "../router.js";
import { find } from "../state.js";

const GROUPS = [
  ["Size", [
    ["n_instances", "Instances", int], ["n_features", "Attributes", int], ["n_labels", "Labels", int],
    ["n_unlabelled", "Instances without labels", int], ["n_unseen", "Labels never seen", int],
  ]],
  ["Labels", [
    ["cardinality", "Cardinality", (v) => fixed(v, 3), "Labels of an instance, on average."],
    ["density", "Density", (v) => fixed(v, 4), "Cardinality over the number of labels."],
    ["p_min", "P(min)", (v) => fixed(v, 3), "Share of the instances with exactly one label."],
    ["n_minority", "Rarer than average", int, "Labels with IRLbl above MeanIR: the minority labels."],
    ["tcs", "TCS", (v) => fixed(v, 3), "Theoretical complexity: ln(attributes × labels × labelsets)."],
  ]],
  ["Labelsets", [
    ["n_labelsets", "Labelsets", int, "Distinct combinations of labels."],
    ["n_single_labelsets", "Occurring once", int],
    ["max_labelset_count", "Most frequent", int],
    ["diversity", "Diversity", (v) => fixed(v, 3), "Labelsets over instances."],
  ]],
  ["Imbalance and concurrence", [
    ["scumble", "SCUMBLE", (v) => fixed(v, 4), "How far rare and frequent labels share instances, from 0 to 1.", true],
    ["scumble_cv", "SCUMBLE.CV", (v) => fixed(v, 3), "Its coefficient of variation over the instances."],
    ["mean_ir", "MeanIR", (v) => fixed(v, 2), "How many times rarer than the most frequent label a label is, on average.", true],
    ["max_ir", "MaxIR", (v) => fixed(v, 2), "The same for the rarest label."],
    ["cvir", "CVIR", (v) => fixed(v, 3), "Coefficient of variation of the imbalance ratios."],
  ]],
];

export async function render(dataset) {
  const found = await get(`/datasets/${part(dataset.id)}`);
  const { summary, verdict, difficult, points, histograms, advice } = found;
  const toChord = (labels) => `/d/${dataset.id}/concurrence?labels=${labels.join(",")}`;
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, name(dataset.name)), origin(dataset)),
    dataset.notes.map((note) => h("p", { class: "notice" }, note)),
    h("div", { class: "verdict" }, verdict.map((sentence) => h("p", {}, sentence))),
    advised(dataset, advice),
    h("div", { class: "measures cols-4" }, GROUPS.map(([title, rows]) => h("section", { class: "panel" }, h("h2", {}, title), h("dl", {}, rows.map(([key, term, format, help, isKey]) => [
      h("dt", { title: help, class: isKey ? "key" : null }, term), h("dd", { "data-measure": key, class: isKey ? "key" : null }, format(summary[key])),
    ]))))),
    h("div", { class: "cols-2" },
      h("div", { class: "stack" },
        h("section", { class: "panel" }, h("h2", {}, "Rare, and in company"), h("p", { class: "dim" }, "Each point is a label. The upper right corner is where rare labels drown."),
          points.label.length ? scatter({ points, meanIr: summary.mean_ir, named: difficult.map((each) => each.label), onPick: (label) => go(toChord([label, ...(difficult.find((each) => each.label === label)?.partners.map((other) => other.label) ?? [])])) }) : h("p", {}, "No label occurs."),
          points.n_left_out ? h("p", { class: "dim" }, `${int(points.n_left_out)} less concurrent labels are not drawn.`) : null),
        h("div", { class: "cols-2 even" },
          chart("Labels per instance", histograms.labels_per_instance, (low, high) => high - low > 1 ? `${low}–${high - 1} labels` : counted(low, "label")),
          chart("SCUMBLE per instance", histograms.scumble_by_instance, (low, high) => `SCUMBLE ${sig(low, 3)}–${sig(high, 3)}`, { log: true }),
          chart("Instances per label", histograms.label_frequency, inDecades("instance"), { ticks: decades(histograms.label_frequency) }),
          chart("Instances per labelset", histograms.labelset_count, inDecades("instance"), { ticks: decades(histograms.labelset_count), log: true }))),
      h("section", { class: "panel" }, h("h2", {}, "Difficult labels"), h("p", { class: "dim" }, "Rare labels by SCUMBLE, and the frequent ones they meet."),
        difficult.length ? h("ol", { class: "difficult" }, difficult.map((label) => h("li", {},
          h("a", { href: toChord([label.label, ...label.partners.map((other) => other.label)]) }, name(label.name)),
          h("span", { class: "num", title: "SCUMBLELbl" }, fixed(label.scumble, 3)),
          h("span", { class: "partners" }, counted(label.count, "instance"), partners(label))))) : h("p", {}, "No label is rarer than average."),
        difficult.length ? h("p", { class: "row more" }, h("a", { href: `/d/${dataset.id}/concurrence` }, "See them together"), h("a", { href: `/d/${dataset.id}/treat` }, "Decouple them")) : null)));
}

/** What was advised for this data, or the way to it. */
function advised(dataset, advice) {
  if (dataset.treatment) return null;
  const link = (title) => h("a", { href: `/d/${dataset.id}/advise` }, title);
  if (!advice) return h("p", { class: "notice" }, link("Ask for advice"), " on this data: the likely methods are tried on it, with a word on how sure that is.");
  return h("p", { class: "notice" }, h("b", {}, "Advised for this data. "), advice.join(" "), " ", link("Why"));
}

function partners(label) {
  if (!label.partners.length) return "; meets no frequent label";
  const rest = label.n_partners - label.partners.length;
  return [", with ", label.partners.flatMap((other, at) => [at ? ", " : "", name(other.name), ` (${int(other.joint_count)})`]), rest ? ` and ${int(rest)} more` : ""];
}

function origin(dataset) {
  if (find(dataset.parent)) return h("span", { class: "dim" }, `${dataset.treatment} of `, h("a", { href: `/d/${dataset.parent}/treat?result=${dataset.id}` }, name(dataset.parent)));
  return dataset.source === dataset.name ? null : h("span", { class: "dim" }, name(dataset.source));
}

function chart(title, data, label, more = {}) {
  const most = data.counts.indexOf(Math.max(...data.counts));
  const note = data.counts.length ? `Most often ${label(data.edges[most], data.edges[most + 1])}.` : "";
  return h("section", { class: "panel" }, h("h2", {}, title, more.log ? h("span", { class: "dim" }, " (log)") : null), histogram({ title, data, label, note, ...more }));
}

const inDecades = (noun) => (low, high) => high - low > 1 ? `${int(low)}–${int(high - 1)} ${noun}s` : counted(low, noun);

function decades({ edges }) {
  return edges.map((edge, at) => [at, edge]).filter(([, edge]) => /^10*$/.test(String(edge))).map(([at, edge]) => [at, int(edge)]);
}
