import { get, part } from "../api.js";
import { histogram } from "../charts.js";
import { bars } from "../label_charts.js";
import { h, name } from "../dom.js";
import { int, percent, sig } from "../format.js";
import { complain } from "../state.js";
import { PagedTable } from "../table.js";

export async function render(dataset) {
  const picture = h("section", { class: "panel", "aria-label": "Values of an attribute", "aria-live": "polite", hidden: true });
  const look = async (row) => {
    try {
      const found = await get(`/datasets/${part(dataset.id)}/features/${row.feature}/distribution`);
      picture.replaceChildren(h("h2", {}, name(row.name)), drawn(row, found));
      picture.hidden = false;
      picture.scrollIntoView({ block: "nearest" });
    } catch (error) {
      complain(error);
    }
  };
  const table = new PagedTable({
    path: `/datasets/${part(dataset.id)}/features`,
    caption: "Attributes with the range of their values",
    noun: "attribute",
    searchTitle: "Search attributes",
    columns: [
      { key: "feature", title: "Position", hide: true, render: (row) => int(row.feature) },
      { key: "name", title: "Attribute", text: true, head: true, render: (row) => h("button", { type: "button", class: "link plain", onclick: () => look(row) }, name(row.name)) },
      { key: "kind", title: "Type", text: true, render: (row) => row.kind },
      { key: "minimum", title: "Least", render: (row) => value(row, row.minimum) },
      { key: "quartiles", title: "Quartiles", text: true, hide: true, sort: false, help: "A quarter of the values is below the first, half below the second, three quarters below the third. Of nominal attributes: the most frequent values with their counts.", render: values },
      { key: "mean", title: "Mean", hide: true, render: (row) => row.kind === "date" ? "" : value(row, row.mean) },
      { key: "maximum", title: "Most", render: (row) => value(row, row.maximum) },
      { key: "n_nonzero", title: "Not 0", hide: true, help: "The part of the instances whose value is not 0. Nominal values are not amounts, so they have none.", render: (row) => row.n_nonzero === null ? "" : percent(dataset.n_instances ? row.n_nonzero / dataset.n_instances : null) },
      { key: "n_missing", title: "Missing", hide: true, help: "Instances without a value.", render: (row) => row.n_missing ? int(row.n_missing) : h("span", { class: "dim" }, "0") },
    ],
  });
  await table.load();
  return h("div", {}, h("div", { class: "head" }, h("h1", {}, "Attributes"), h("span", { class: "dim" }, "What the instances are described by. Press a name to see its values.")), picture, table.element);
}

const isCode = (row) => ["nominal", "string", "text"].includes(row.kind);

function value(row, number) {
  if (isCode(row)) return "";
  return row.kind === "date" && number !== null ? new Date(number).toISOString().slice(0, 10) : sig(number);
}

/** Quartiles of numbers; of nominal attributes the most frequent values. */
function values(row) {
  if (!isCode(row)) return row.quartiles && row.kind !== "date" ? row.quartiles.map((each) => sig(each)).join(" · ") : "";
  const rest = row.n_values - row.values.length;
  return h("span", { class: "tags" }, row.values.map(([text, count]) => h("span", {}, name(text), h("span", { class: "dim" }, ` ${int(count)}`))), rest > 0 ? h("span", { class: "dim" }, `and ${int(rest)} more`) : null);
}

/** How often an attribute has which values. */
function drawn(row, { edges, counts, values: listed }) {
  const title = `Values of ${row.name}`;
  if (listed.length) return bars({ title, rows: listed.map(([text, count]) => ({ name: text, value: count })) });
  if (!counts.length) return h("p", {}, "It has no values.");
  const show = (number) => value(row, number);
  const isUnit = edges[1] - edges[0] === 1;
  const label = (low, high) => (isUnit ? show(low + 0.5) : `${show(low)} to ${show(high)}`);
  const step = Math.max(1, Math.ceil(counts.length / 6));
  const ticks = edges.map((edge, at) => [isUnit ? at + 0.5 : at, isUnit ? show(edge + 0.5) : show(edge)]).filter(([at], index) => index % step === 0 && at <= counts.length);
  return histogram({ title, data: { edges, counts }, label, ticks, log: true, width: 640, note: `From ${show(edges[0])} to ${show(edges.at(-1))}.` });
}
