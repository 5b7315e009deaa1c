import { encode, get } from "../api.js";
import { histogram } from "../charts.js";
import { bars } from "../label_charts.js";
import { h, nameElement } from "../dom.js";
import { int, percent, significant } from "../format.js";
import { showError } from "../state.js";
import { PagedTable } from "../table.js";

/** Render the table of attributes. */
export async function render(dataset) {
  const picture = h("section", { class: "panel", "aria-label": "Values of an attribute", "aria-live": "polite", hidden: true });
  const showDistribution = async (row) => {
    try {
      const distribution = await get(`/datasets/${encode(dataset.id)}/features/${row.feature}/distribution`);
      picture.replaceChildren(h("h2", {}, nameElement(row.name)), distributionChart(row, distribution));
      picture.hidden = false;
      picture.scrollIntoView({ block: "nearest" });
    } catch (error) {
      showError(error);
    }
  };
  const table = new PagedTable({
    path: `/datasets/${encode(dataset.id)}/features`,
    caption: "Attributes with the range of their values",
    noun: "attribute",
    searchTitle: "Search attributes",
    columns: [
      { key: "feature", title: "Position", hide: true, render: (row) => int(row.feature) },
      { key: "name", title: "Attribute", text: true, head: true, render: (row) => h("button", { type: "button", class: "link plain", onclick: () => showDistribution(row) }, nameElement(row.name)) },
      { key: "kind", title: "Type", text: true, render: (row) => row.kind },
      { key: "minimum", title: "Minimum", render: (row) => value(row, row.minimum) },
      { key: "quartiles", title: "Quartiles", text: true, hide: true, sort: false, help: "A quarter of the values is below the first quartile, half below the second, three quarters below the third. For nominal attributes: the most frequent values with their counts.", render: values },
      { key: "mean", title: "Mean", hide: true, render: (row) => row.kind === "date" ? "" : value(row, row.mean) },
      { key: "maximum", title: "Maximum", render: (row) => value(row, row.maximum) },
      { key: "n_nonzero", title: "Not 0", hide: true, help: "Share of the instances whose value is not 0. Empty for nominal attributes.", render: (row) => row.n_nonzero === null ? "" : percent(dataset.n_instances ? row.n_nonzero / dataset.n_instances : null) },
      { key: "n_missing", title: "Missing", hide: true, help: "Instances without a value.", render: (row) => row.n_missing ? int(row.n_missing) : h("span", { class: "dim" }, "0") },
    ],
  });
  await table.load();
  return h("div", {}, h("div", { class: "head" }, h("h1", {}, "Attributes"), h("span", { class: "dim" }, "The features of the instances. Select a name to see the distribution of its values.")), picture, table.element);
}

const isCode = (row) => ["nominal", "string", "text"].includes(row.kind);

/** Format a value of an attribute. */
function value(row, number) {
  if (isCode(row)) return "";
  return row.kind === "date" && number !== null ? new Date(number).toISOString().slice(0, 10) : significant(number);
}

/** Show the quartiles of a numeric attribute, or the most frequent values of a nominal one. */
function values(row) {
  if (!isCode(row)) return row.quartiles && row.kind !== "date" ? row.quartiles.map((quartile) => significant(quartile)).join(" · ") : "";
  const nHidden = row.n_values - row.values.length;
  return h("span", { class: "tags" }, row.values.map(([text, count]) => h("span", {}, nameElement(text), h("span", { class: "dim" }, ` ${int(count)}`))), nHidden > 0 ? h("span", { class: "dim" }, `and ${int(nHidden)} more`) : null);
}

/** Draw the distribution of the values of an attribute. */
function distributionChart(row, { edges, counts, values: frequentValues }) {
  const title = `Values of ${row.name}`;
  if (frequentValues.length) return bars({ title, rows: frequentValues.map(([text, count]) => ({ name: text, value: count })) });
  if (!counts.length) return h("p", {}, "This attribute has no values.");
  const show = (number) => value(row, number);
  const isUnit = edges[1] - edges[0] === 1;
  const label = (low, high) => (isUnit ? show(low + 0.5) : `${show(low)} to ${show(high)}`);
  const step = Math.max(1, Math.ceil(counts.length / 6));
  const ticks = edges.map((edge, position) => [isUnit ? position + 0.5 : position, isUnit ? show(edge + 0.5) : show(edge)]).filter(([position], index) => index % step === 0 && position <= counts.length);
  return histogram({ title, data: { edges, counts }, label, ticks, log: true, width: 640, note: `From ${show(edges[0])} to ${show(edges.at(-1))}.` });
}
