import { get, part } from "../api.js";
import { histogram, scatter } from "../charts.js";
import { h, help, name } from "../dom.js";
import { counted, fixed, int, sig } from "../format.js";
import { go } from "../router.js";
import { find } from "../state.js";

const GROUPS = [
  ["Size", [
    ["n_instances", "Instances", int], ["n_features", "Attributes", int], ["n_labels", "Labels", int],
    ["n_unlabelled", "Instances without labels", int, "They count in every mean, with a SCUMBLE of 0."], ["n_unseen", "Labels never seen", int, "They have no imbalance ratio and are left out of MeanIR, MaxIR and CVIR."],
  ]],
  ["Labels", [
    ["cardinality", "Cardinality", (v) => fixed(v, 3), "How many labels an instance has on average."],
    ["density", "Density", (v) => fixed(v, 4), "Cardinality divided by the number of labels: the part of the label table that is filled."],
    ["p_min", "P(min)", (v) => fixed(v, 3), "The part of the instances that has exactly one label. Such an instance cannot mix rare and frequent labels."],
    ["n_minority", "Rarer than average", int, "The minority labels: those whose imbalance ratio (IRLbl) is above the mean of all (MeanIR)."],
    ["tcs", "TCS", (v) => fixed(v, 3), "Theoretical complexity, ln(attributes × labels × labelsets): how hard the data is to learn by its size alone."],
  ]],
  ["Labelsets", [
    ["n_labelsets", "Labelsets", int, "Distinct combinations of labels; the empty one counts."],
    ["n_single_labelsets", "Occurring once", int, "Combinations that a single instance has: a method that learns whole labelsets sees one example of each."],
    ["max_labelset_count", "Most frequent", int, "Instances of the most frequent labelset."],
    ["diversity", "Diversity", (v) => fixed(v, 3), "Labelsets divided by instances. Near 1 nearly every instance has a combination of its own."],
  ]],
  ["Imbalance and concurrence", [
    ["scumble", "SCUMBLE", (v) => fixed(v, 4), "How far rare and frequent labels share instances: 0 where each instance has labels that are equally frequent, towards 1 where rare labels always come with very frequent ones. Above about 0.1 the paper found that resampling alone helps little.", true],
    ["scumble_cv", "SCUMBLE.CV", (v) => fixed(v, 3), "How much SCUMBLE differs between instances: its standard deviation divided by its mean."],
    ["mean_ir", "MeanIR", (v) => fixed(v, 2), "How many times rarer than the most frequent label a label is, on average. 1 is balanced; a label above this mean counts as rare.", true],
    ["max_ir", "MaxIR", (v) => fixed(v, 2), "How many times rarer than the most frequent label the rarest one is."],
    ["cvir", "CVIR", (v) => fixed(v, 3), "How much the imbalance ratios of the labels differ: their standard deviation divided by their mean."],
  ]],
];

export async function render(dataset) {
  const found = await get(`/datasets/${part(dataset.id)}`);
  const { summary, verdict, difficult, points, histograms, advice } = found;
  const toChord = (label) => `/d/${dataset.id}/concurrence?label=${label}`;
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, name(dataset.name)), origin(dataset)),
    dataset.notes.map((note) => h("p", { class: "notice" }, note)),
    h("div", { class: "verdict" }, verdict.map((sentence) => h("p", {}, sentence))),
    advised(dataset, advice),
    h("div", { class: "measures cols-4" }, GROUPS.map(([title, rows]) => h("section", { class: "panel" }, h("h2", {}, title), h("dl", {}, rows.map(([key, term, format, words, isKey]) => [
      h("dt", { class: isKey ? "key" : null }, term, words ? [" ", help(term, words)] : ""), h("dd", { "data-measure": key, class: isKey ? "key" : null }, format(summary[key])),
    ]))))),
    h("div", { class: "cols-2" },
      h("div", { class: "stack" },
        h("section", { class: "panel" }, h("h2", {}, "Rare, and in company"), h("p", { class: "dim" }, "Each point is a label. The upper right corner is where rare labels drown."),
          points.label.length ? scatter({ points, meanIr: summary.mean_ir, named: difficult.map((each) => each.label), onPick: (label) => go(toChord(label)) }) : h("p", {}, "No label occurs."),
          points.n_left_out ? h("p", { class: "dim" }, `${int(points.n_left_out)} less concurrent labels are not drawn.`) : null),
        h("div", { class: "cols-2 even" },
          chart("Labels per instance", histograms.labels_per_instance, (low, high) => high - low > 1 ? `${int(low)}–${int(high - 1)} labels` : counted(low, "label")),
          chart("SCUMBLE per instance", histograms.scumble_by_instance, (low, high) => `SCUMBLE ${sig(low, 3)}–${sig(high, 3)}`, { log: true }),
          chart("Instances per label", histograms.label_frequency, inDecades("instance"), { ticks: decades(histograms.label_frequency) }),
          chart("Instances per labelset", histograms.labelset_count, inDecades("instance"), { ticks: decades(histograms.labelset_count), log: true }))),
      h("section", { class: "panel" }, h("h2", {}, "Difficult labels"), h("p", { class: "dim" }, "Rare labels by SCUMBLE, and the frequent ones they meet."),
        difficult.length ? h("ol", { class: "difficult" }, difficult.map((label) => h("li", {},
          h("a", { href: toChord(label.label) }, name(label.name)),
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
