import { catalogue, part } from "../api.js";
import { Choices } from "../choices.js";
import { h, name } from "../dom.js";
import { fromApi } from "../methods.js";
import { counted, fixed, int, percent, sig } from "../format.js";
import { change, ofTotal, plainTable, Study } from "../study.js";

export async function render(dataset) {
  const { methods } = await catalogue();
  const button = h("button", { class: "primary" }, "Compare");
  const count = h("span", { class: "dim", "aria-live": "polite" });
  const all = methods.map((method) => method.name);
  const choices = new Choices({ legend: "Methods and their parameters", items: methods, chosen: all.map((each) => ({ name: each })), key: "method", onchange: () => showCount() });
  const showCount = () => {
    count.textContent = counted(choices.names.length, "method");
    button.disabled = choices.names.length === 0;
  };
  const study = new Study({ dataset, kind: "methods", button, noun: ofTotal("methods"), draw: (found) => drawTable(found, dataset) });
  const tickAll = (names) => h("button", { type: "button", class: "small", onclick: () => choices.tick(names) }, names.length ? "All" : "None");
  const last = await study.restore();
  if (last) choices.set(Object.values(last.chains).flatMap(fromApi));
  showCount();
  return h("div", { class: "stack" },
    h("div", { class: "head" }, h("h1", {}, "Compare"), h("span", { class: "dim" }, "What resamplers do to this data, side by side. The data itself stays as it is.")),
    h("form", { class: "panel tight", onsubmit: (event) => { event.preventDefault(); study.begin({ methods: choices.wishes() }); } },
      h("div", { class: "row" }, button, count, tickAll(all), tickAll([])),
      h("details", {}, h("summary", {}, "Choose methods"), choices.element)),
    study.element);
}

function drawTable(found, dataset) {
  const done = found.methods.filter((method) => method.error === null);
  const failed = found.methods.filter((method) => method.error !== null);
  const { advised } = found;
  const preselected = done.find((one) => found.chains[one.method][0].method === advised.method)?.method ?? null;
  const act = h("div", { class: "row", "aria-live": "polite" });
  const pick = (method) => {
    act.replaceChildren(
      h("a", { class: "button primary", href: `/d/${dataset.id}/compare?treatments=${part(method)}` }, `Prove ${method}`),
      h("a", { class: "button", href: `/d/${dataset.id}/treat?chain=${part(method)}` }, `Treat with ${method}`));
  };
  const radio = (method) => h("input", { type: "radio", name: "pick", "aria-label": `Take ${method}`, checked: method === preselected, onchange: () => pick(method) });
  const rows = done.map((one) => ({
    class: one.method === preselected ? "advised" : null,
    cells: [
      h("label", { class: "tick" }, radio(one.method), h("span", {}, name(one.method), one.method === preselected ? h("b", {}, " (advised)") : "")),
      ...found.measures.map(({ key }) => cell(key, one.changes[key])),
      fixed(one.seconds, 2),
    ],
  }));
  if (preselected) pick(preselected);
  return [
    h("section", { class: "panel tight" }, h("h2", {}, "Verdict"),
      h("p", { class: "helps-line" }, found.verdict),
      h("p", { class: "notice" }, h("b", {}, `Advised: ${advised.method}. `), advised.reason, advised.measured_here ? "" : " ", advised.measured_here ? "" : h("a", { href: `/d/${dataset.id}/advise` }, "Advise tries it on this data.")),
      act),
    h("section", { class: "panel" }, h("h2", {}, "Side by side"),
      h("p", { class: "dim" }, "As it is: ", found.measures.map(({ key, title: measure }, at) => `${at ? ", " : ""}${measure} ${number(key, found.before[key])}`).join(""), "."),
      plainTable("Methods side by side", [["Method", "text"], ...found.measures.map(({ title: measure }) => [measure, "text"]), ["Seconds", "narrow-hide"]], rows, { "data-testid": "side-by-side" }),
      failed.map((one) => h("p", { class: "notice bad" }, name(one.method), `: ${one.error}`))),
  ];
}

const number = (key, value) => (key.startsWith("n_") ? int(value) : sig(value, 4));

function cell(key, { value, part: share, verdict }) {
  const much = share === null ? "" : `${share < 0 ? "−" : "+"}${percent(Math.abs(share), 1)} `;
  const word = verdict === "changed" ? (much ? "" : "new") : verdict;
  return [h("span", { class: "num" }, number(key, value)), " ", change(verdict === "same" ? "same" : `${much}${word}`.trim(), verdict)];
}
