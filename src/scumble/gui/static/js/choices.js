// Check boxes for methods, with the parameters of each.

import { h } from "./dom.js";
import { field, input, values } from "./pages/treat.js";

/** Check boxes by display group. `items` are entries of the catalogue, `selected` has names and parameters,
 * `nameKey` is the JSON key of a name in a request. */
export class MethodChoices {
  constructor({ legend, help, items, selected, nameKey, onchange = () => {} }) {
    Object.assign(this, { items, nameKey, onchange });
    this.itemsByName = new Map(items.map((item) => [item.name, item]));
    this.rows = new Map();
    this.groups = new Map();
    for (const item of items) this.groups.set(item.family, [...(this.groups.get(item.family) ?? []), this.makeRow(item)]);
    this.element = h("fieldset", { class: "choices" }, h("legend", {}, legend), help ? h("p", { class: "dim" }, help) : "",
      [...this.groups].map(([group, rows]) => h("details", {}, h("summary", {}, group), rows.map((row) => row.element))));
    this.select(selected);
  }

  /** Create the check box and the parameter fields of a method. */
  makeRow(item) {
    const parameters = item.parameters.filter((parameter) => parameter.kind !== "seed");  // the form has one seed for all methods
    const inputs = new Map(parameters.map((parameter) => [parameter.name, input(parameter, this.itemsByName, parameter.default)]));
    const fields = h("details", { class: "parameters", hidden: true }, h("summary", {}, "Parameters"), h("div", { class: "fields" }, parameters.map((parameter) => field(parameter, inputs.get(parameter.name)))));
    const box = h("input", { type: "checkbox", onchange: () => { this.showParameters(item.name); this.onchange(); } });
    const element = h("div", { class: "choice" }, h("label", { class: "tick" }, box, h("span", {}, h("b", {}, item.name), " ", h("span", { class: "dim" }, item.summary))), parameters.length ? fields : null);
    this.rows.set(item.name, { name: item.name, parameters, inputs, fields, box, element });
    return this.rows.get(item.name);
  }

  /** Show the parameters of a method if it is selected. */
  showParameters(name) {
    const { box, fields } = this.rows.get(name);
    fields.hidden = !box.checked;
  }

  /** The names of the selected methods. */
  get names() {
    return this.items.map((item) => item.name).filter((name) => this.rows.get(name).box.checked);
  }

  /** Select exactly these methods with their parameters, and open their groups. */
  select(selected) {
    for (const { name, box, inputs, fields } of this.rows.values()) {
      const selection = selected.find((item) => item.name === name);
      box.checked = selection !== undefined;
      this.showParameters(name);
      for (const [parameter, value] of Object.entries(selection?.parameters ?? {})) {
        const element = inputs.get(parameter);
        if (element?.type === "checkbox") element.checked = ["true", true, "True"].includes(value);
        else if (element) element.value = value;
        if (element) fields.open = true;
      }
    }
    [...this.groups.values()].forEach((rows, index) => {
      this.element.querySelectorAll(":scope > details")[index].open = rows.some((row) => row.box.checked);
    });
  }

  /** Select exactly the methods with these names. */
  selectNames(names) {
    for (const { name, box } of this.rows.values()) {
      box.checked = names.includes(name);
      this.showParameters(name);
    }
    this.onchange();
  }

  /** Return the selected methods with the parameters that differ from their defaults. */
  selections() {
    return this.names.map((name) => {
      const row = this.rows.get(name);
      const defaults = new Map(row.parameters.map((parameter) => [parameter.name, parameter.default]));
      const changed = Object.entries(values(row, row.inputs)).filter(([parameter, value]) => (value ?? null) !== defaults.get(parameter));
      return { [this.nameKey]: name, parameters: Object.fromEntries(changed) };
    });
  }
}
