import { encode, get } from "../api.js";
import { histogram, scatter } from "../charts.js";
import { h, help, nameElement } from "../dom.js";
import { fixed, int, pluralize, significant } from "../format.js";
import { go } from "../router.js";
import { findDataset } from "../state.js";

const GROUPS = [
  ["Size", [
    ["n_instances", "Instances", int], ["n_features", "Attributes", int], ["n_labels", "Labels", int],
    ["n_unlabelled", "Instances without labels", int, "They count in every mean, with a SCUMBLE of 0."], ["n_unseen", "Labels without instances", int, "They have no imbalance ratio and are left out of MeanIR, MaxIR and CVIR."],
  ]],
  ["Labels", [
    ["cardinality", "Cardinality", (v) => fixed(v, 3), "How many labels an instance has on average."],
    ["density", "Density", (v) => fixed(v, 4), "Cardinality divided by the number of labels: the share of the cells of the label matrix that are 1."],
    ["p_min", "P(min)", (v) => fixed(v, 3), "The share of the instances with exactly one label. Such an instance cannot combine rare and frequent labels."],
    ["n_minority", "Rarer than average", int, "The minority labels: those whose imbalance ratio (IRLbl) is above the mean (MeanIR)."],
    ["tcs", "TCS", (v) => fixed(v, 3), "Theoretical complexity, ln(attributes × labels × labelsets): how hard the data is to learn because of its size."],
  ]],
  ["Labelsets", [
    ["n_labelsets", "Labelsets", int, "Distinct combinations of labels, including the empty one."],
    ["n_single_labelsets", "Occurring once", int, "Labelsets of a single instance. A method that learns labelsets has one example of each."],
    ["max_labelset_count", "Most frequent", int, "Instances of the most frequent labelset."],
    ["diversity", "Diversity", (v) => fixed(v, 3), "Labelsets divided by instances. Near 1, almost every instance has a different labelset."],
  ]],
  ["Imbalance and concurrence", [
    ["scumble", "SCUMBLE", (v) => fixed(v, 4), "How far rare and frequent labels share instances: 0 if the labels of each instance are equally frequent, close to 1 if rare labels always occur together with very frequent ones. Above about 0.1, according to the paper, resampling alone helps little.", true],
    ["scumble_cv", "SCUMBLE.CV", (v) => fixed(v, 3), "How much SCUMBLE differs between instances: its standard deviation divided by its mean."],
    ["mean_ir", "MeanIR", (v) => fixed(v, 2), "How many times rarer than the most frequent label a label is, on average. 1 means balanced; a label with IRLbl above this mean counts as rare.", true],
    ["max_ir", "MaxIR", (v) => fixed(v, 2), "How many times rarer than the most frequent label the rarest one is."],
    ["cvir", "CVIR", (v) => fixed(v, 3), "How much the imbalance ratios of the labels differ: their standard deviation divided by their mean."],
  ]],
];

/** Render the overview of a data set. */
export async function render(dataset) {
  const overview = await get(`/datasets/${encode(dataset.id)}`);
  const { summary, verdict, difficult, points, histograms, advice } = overview;
  const toChord = (label) => `/d/${dataset.id}/concurrence?label=${label}`;
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, nameElement(dataset.name)), origin(dataset)),
    dataset.notes.map((note) => h("p", { class: "notice" }, note)),
    h("div", { class: "verdict" }, verdict.map((sentence) => h("p", {}, sentence))),
    adviceNotice(dataset, advice),
    h("div", { class: "measures cols-4" }, GROUPS.map(([title, rows]) => h("section", { class: "panel" }, h("h2", {}, title), h("dl", {}, rows.map(([key, term, format, explanation, isKey]) => [
      h("dt", { class: isKey ? "key" : null }, term, explanation ? [" ", help(term, explanation)] : ""), h("dd", { "data-measure": key, class: isKey ? "key" : null }, format(summary[key])),
    ]))))),
    h("div", { class: "cols-2" },
      h("div", { class: "stack" },
        h("section", { class: "panel" }, h("h2", {}, "Imbalance and concurrence of labels"), h("p", { class: "dim" }, "Each point is a label. Labels in the upper right corner are rare and mostly occur together with frequent ones."),
          points.label.length ? scatter({ points, meanIr: summary.mean_ir, namedLabels: difficult.map((label) => label.label), onPick: (label) => go(toChord(label)) }) : h("p", {}, "No label occurs."),
          points.n_left_out ? h("p", { class: "dim" }, `${int(points.n_left_out)} labels with lower SCUMBLE are not shown.`) : null),
        h("div", { class: "cols-2 even" },
          chart("Labels per instance", histograms.labels_per_instance, (low, high) => high - low > 1 ? `${int(low)}–${int(high - 1)} labels` : pluralize(low, "label")),
          chart("SCUMBLE per instance", histograms.scumble_by_instance, (low, high) => `SCUMBLE ${significant(low, 3)}–${significant(high, 3)}`, { log: true }),
          chart("Instances per label", histograms.label_frequency, inDecades("instance"), { ticks: decades(histograms.label_frequency) }),
          chart("Instances per labelset", histograms.labelset_count, inDecades("instance"), { ticks: decades(histograms.labelset_count), log: true }))),
      h("section", { class: "panel" }, h("h2", {}, "Difficult labels"), h("p", { class: "dim" }, "Rare labels, ordered by SCUMBLE, and the frequent labels they co-occur with."),
        difficult.length ? h("ol", { class: "difficult" }, difficult.map((label) => h("li", {},
          h("a", { href: toChord(label.label) }, nameElement(label.name)),
          h("span", { class: "num", title: "SCUMBLELbl" }, fixed(label.scumble, 3)),
          h("span", { class: "partners" }, pluralize(label.count, "instance"), partners(label))))) : h("p", {}, "No label is rarer than average."),
        difficult.length ? h("p", { class: "row more" }, h("a", { href: `/d/${dataset.id}/concurrence` }, "Show in the chord diagram"), h("a", { href: `/d/${dataset.id}/treat` }, "Decouple")) : null)));
}

/** Show the advice for this data, or a link to the page that computes it. */
function adviceNotice(dataset, advice) {
  if (dataset.treatment) return null;
  const link = (title) => h("a", { href: `/d/${dataset.id}/advise` }, title);
  if (!advice) return h("p", { class: "notice" }, link("Get advice"), ": promising methods are evaluated on this data, and the result says how certain it is.");
  return h("p", { class: "notice" }, h("b", {}, "Recommended for this data. "), advice.join(" "), " ", link("Details"));
}

/** Show the frequent labels that a label co-occurs with. */
function partners(label) {
  if (!label.partners.length) return "; co-occurs with no frequent label";
  const nHidden = label.n_partners - label.partners.length;
  return [", with ", label.partners.flatMap((partner, index) => [index ? ", " : "", nameElement(partner.name), ` (${int(partner.joint_count)})`]), nHidden ? ` and ${int(nHidden)} more` : ""];
}

/** Show the source of a data set, or the data set that it was resampled from. */
function origin(dataset) {
  if (findDataset(dataset.parent)) return h("span", { class: "dim" }, `${dataset.treatment} of `, h("a", { href: `/d/${dataset.parent}/treat?result=${dataset.id}` }, nameElement(dataset.parent)));
  return dataset.source === dataset.name ? null : h("span", { class: "dim" }, nameElement(dataset.source));
}

/** Draw a histogram in a panel of its own. */
function chart(title, data, label, options = {}) {
  const largest = data.counts.indexOf(Math.max(...data.counts));
  const note = data.counts.length ? `Most frequent: ${label(data.edges[largest], data.edges[largest + 1])}.` : "";
  return h("section", { class: "panel" }, h("h2", {}, title, options.log ? h("span", { class: "dim" }, " (log)") : null), histogram({ title, data, label, note, ...options }));
}

/** Create a function that describes a bin of counts. */
const inDecades = (noun) => (low, high) => high - low > 1 ? `${int(low)}–${int(high - 1)} ${noun}s` : pluralize(low, noun);

/** Return the powers of ten among the edges of bins, as ticks. */
function decades({ edges }) {
  return edges.map((edge, index) => [index, edge]).filter(([, edge]) => /^10*$/.test(String(edge))).map(([index, edge]) => [index, int(edge)]);
}
