// The form for options of the reader: the format of a file, and the roles of its columns.

import { catalogue, post, waitForJob } from "./api.js";
import { h, nameElement } from "./dom.js";
import { parseLabels, pluralize } from "./format.js";

const ROLES = { label: "label", list: "list of labels", number: "number", category: "category", text: "text", ignore: "ignore" };
const TEXT_SETTINGS = {
  delimiter: ["Separator", [[",", "comma ,"], [";", "semicolon ;"], ["\t", "tab"], ["|", "bar |"], [":", "colon :"]]],
  decimal: ["Decimal sign", [[".", "point ."], [",", "comma ,"]]],
  encoding: ["Encoding", [["utf-8", "UTF-8"], ["utf-16", "UTF-16"], ["cp1252", "Windows-1252"], ["cp1250", "Windows-1250"], ["cp1251", "Windows-1251"], ["shift_jis", "Shift JIS"], ["gb18030", "GB 18030"], ["big5", "Big5"], ["euc_kr", "EUC-KR"]]],
  header: ["First row", [["true", "names"], ["false", "values"]]],
};
const MEMBER_MISSING = "Several files of this archive hold data. Choose one of them.";
const COLUMN_OPTIONS = ["keep", "category", "text", "ignore"];  // options that name columns
const LABELS_MISSING = "No column is a label yet. Choose 'label' above columns of 0 and 1, or 'list of labels' above one that names them.";

const field = (title, input, attributes) => h("label", { class: "field", ...attributes }, h("span", {}, title), input);

/** A form for the options that a file needs, with a preview of its first rows. */
export class ReadOptionsForm {
  /** `options` are those of the command line; `submit` gets all options. */
  constructor({ upload, title, options = {}, submit, dismiss }) {
    Object.assign(this, { upload, title, options, preview: null, heads: null, memberSelect: null, turn: 0 });
    this.settings = Object.fromEntries(["format", "member", ...Object.keys(TEXT_SETTINGS)].filter((key) => key in options).map((key) => [key, options[key]]));
    this.messageBox = h("div", { hidden: true });
    this.fields = h("div", { class: "fields five" });
    this.content = h("div", { class: "card" });
    this.openButton = h("button", { class: "primary" }, "Open");
    this.element = h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); this.submit(submit); } },
      this.messageBox, this.fields, this.content, h("div", { class: "row" }, this.openButton, dismiss));
    this.formatSelect = h("select", { name: "format", onchange: () => this.setSetting("format", this.formatSelect.value) }, h("option", { value: "" }, "automatic"));
    catalogue().then(({ formats }) => this.formatSelect.append(...formats.map((format) => h("option", { value: format.name, selected: format.name === this.settings.format }, format.title)))).catch(() => {});
    this.fields.append(field("Format", this.formatSelect));
  }

  /** Show a problem, or none if the message is empty. */
  showProblem(message) {
    this.messageBox.replaceChildren(message ? h("p", { class: "notice bad", role: "alert" }, message) : "");
    this.messageBox.hidden = !message;
    if (message) this.openButton.textContent = "Try again";
  }

  /** Change a setting and update the preview. */
  setSetting(key, value) {
    if (value === "") delete this.settings[key];
    else this.settings[key] = key === "header" ? value === "true" : value;
    return this.refresh();
  }

  /** Add a menu if an archive has several files with data. */
  async findMembers() {
    if (this.memberSelect || !/\.zip$/i.test(this.title)) return;
    this.job = await post(`/uploads/${this.upload}/members`);
    const { members, taken } = (await waitForJob(this.job)).result;
    if (members.length < 2 || this.memberSelect) return;
    const selected = this.settings.member ?? taken ?? "";
    const choices = [...(selected ? [] : [["", "choose one"]]), ...members.map((member) => [member, member])];
    this.memberSelect = h("select", { name: "member", onchange: () => this.setSetting("member", this.memberSelect.value) }, choices.map(([value, title]) => h("option", { value, selected: value === selected }, title)));
    this.fields.append(field("File in the archive", this.memberSelect, { class: "field two" }));
  }

  /** Load the preview with the current settings; roles that were selected are kept if possible. */
  async refresh() {
    const turn = ++this.turn;
    this.content.setAttribute("aria-busy", "true");
    this.openButton.disabled = true;  // the preview does not match the settings yet
    try {
      await this.findMembers();
      if (turn !== this.turn) return;
      if (this.memberSelect?.value === "") throw new Error(MEMBER_MISSING);
      this.job = await post(`/uploads/${this.upload}/preview`, this.settings);
      const job = await waitForJob(this.job);
      if (turn !== this.turn) return;
      this.showProblem("");
      this.showPreview(job.result);
    } catch (error) {
      if (turn !== this.turn) return;
      this.showProblem(error.message);
      this.showPreview(null);
    } finally {
      if (turn === this.turn) {
        this.content.removeAttribute("aria-busy");
        this.openButton.disabled = false;
      }
    }
  }

  /** Show the preview of a table, fields for label columns of another format, or nothing. */
  showPreview(preview) {
    this.preview = preview;
    this.showTextSettings();
    if (preview !== null && !preview.asks) { this.showGeneral(); return; }
    if (preview === null) { this.content.replaceChildren(); return; }
    this.showTable();
  }

  /** Show the settings of a text file. */
  showTextSettings() {
    const focused = document.activeElement?.name;
    const isText = this.preview === null ? (this.settings.format ?? "csv") === "csv" : this.preview.delimiter !== null;
    const selects = Object.entries(isText ? TEXT_SETTINGS : {}).map(([key, [title, choices]]) => {
      const value = String(this.settings[key] ?? this.preview?.[key] ?? "");
      const allChoices = choices.some(([choice]) => choice === value) || value === "" ? choices : [...choices, [value, value]];
      return field(title, h("select", { name: key, onchange: (event) => this.setSetting(key, event.target.value) },
        [["", "automatic"], ...allChoices].map(([choice, text]) => h("option", { value: choice, selected: choice === value }, text))));
    });
    while (this.fields.childElementCount > (this.memberSelect ? 2 : 1)) this.fields.lastChild.remove();
    this.fields.append(...selects);
    if (focused in TEXT_SETTINGS) this.fields.querySelector(`[name=${focused}]`)?.focus();
  }

  /** Show fields that describe the labels of a file that is not a plain table. */
  showGeneral() {
    const previous = { labels: this.labels?.value, label_column: this.column?.value, label_separator: this.separator?.value };
    const text = (key, attributes) => h("input", { type: "text", name: key, value: previous[key] ?? this.options[key] ?? "", ...attributes });
    this.labels = text("labels", { placeholder: "-5, or: sun, sea, or: 3,4" });
    this.column = text("label_column");
    this.separator = text("label_separator", { placeholder: "|" });
    this.content.replaceChildren(
      h("p", { class: "dim" }, "Describe the label columns and try again: as a count (negative: from the end), as names, or as column numbers from 0."),
      h("div", { class: "fields" }, field("Label columns", this.labels, { class: "field two" }), field("Column of label lists", this.column), field("Separator in lists", this.separator)));
  }

  /** Show the preview of a table. Values that the user has changed are kept if the number of columns is the same. */
  showTable() {
    const { columns, rows, n_columns, separator } = this.preview;
    const isFirst = this.heads === null;
    const previous = this.width === n_columns ? { heads: this.heads, labels: this.labels.value, separator: this.separator.value, ...this.inferred } : null;
    this.width = n_columns;
    this.heads = new Map(columns.map((column) => [column.at, this.makeHead(column, previous?.heads.get(column.at))]));
    let separatorText = separator;
    if (previous && previous.separator !== previous.inferredSeparator) separatorText = previous.separator;
    if (isFirst) separatorText = this.options.label_separator ?? separatorText;
    this.separator = h("input", { type: "text", name: "label_separator", size: 6, value: separatorText, placeholder: "in brackets" });
    this.separatorField = field("Between labels", this.separator);
    this.labels = h("input", { type: "text", name: "labels", onchange: () => this.readLabels(), placeholder: "-5, or: sun, sea, or: 3,4" });
    this.status = h("p", { class: "dim", role: "status" });
    this.includeHidden = h("input", { type: "checkbox", checked: this.includeHidden?.checked ?? true, onchange: () => this.showSummary() });
    this.cells = rows.map((row) => row.map((cell) => h("td", { class: "text" }, cell)));
    const gaps = columns.map((column, index) => column.at - (index ? columns[index - 1].at + 1 : 0));  // columns that are not in the preview
    const withGaps = (parts, between) => parts.flatMap((part, index) => gaps[index] ? [between(gaps[index]), part] : [part]);
    this.content.replaceChildren(
      h("div", { class: "table-wrap preview", tabindex: "0", role: "region", "aria-label": `The first rows of ${this.title}` }, h("table", {},
        h("thead", {}, h("tr", {}, withGaps([...this.heads.values()].map(({ cell }) => cell), (gap) => h("th", { class: "dim" }, `… ${pluralize(gap, "more column")} …`)))),
        h("tbody", {}, this.cells.map((cells) => h("tr", {}, withGaps(cells, () => h("td", {}))))))),
      h("div", { class: "fields" }, field("Label columns", this.labels, { class: "field two" }), this.separatorField),
      ...this.hiddenColumnsElement(), this.status);
    if (isFirst) this.applyRoleOptions();
    this.initLabels();
    this.inferred = { inferredSeparator: separator, inferredLabels: this.labels.value };
    if (isFirst) this.applyLabelOptions();
    if (previous && previous.labels !== previous.inferredLabels) { this.labels.value = previous.labels; this.readLabels(); }
    this.showSummary();
  }

  /** Create the header of a column with the menu of its role. */
  makeHead(column, previous) {
    const title = column.name || `column ${column.at}`;
    const selected = previous && previous.select.value !== previous.column.role ? previous.select.value : column.role;
    const select = h("select", { "aria-label": `Role of ${title}`, onchange: () => this.roleChanged(column.at) },
      Object.entries(ROLES).map(([role, text]) => h("option", { value: role, selected: role === (column.roles.includes(selected) ? selected : column.role), disabled: !column.roles.includes(role) }, text)));
    return { column, select, cell: h("th", { scope: "col", class: "text" }, nameElement(title), select, h("small", { class: "dim" }, column.why)) };
  }

  /** Return the entries of an option of the command line, with the columns that each names; a text may name several, separated by commas. */
  columnsInOption(key) {
    const { columns, n_columns } = this.preview;
    const entries = Array.isArray(this.options[key]) ? this.options[key] : [];
    return entries.map((entry) => {
      if (Number.isInteger(entry)) return { entry, columnKeys: [entry < 0 ? entry + n_columns : entry] };
      const text = String(entry);  // a column may be called 1.5
      const isName = columns.some((column) => column.name === text);
      return { entry: text, columnKeys: isName ? [text] : text.split(",").map((part) => part.trim()) };
    });
  }

  /** Return the entries of an option of the command line for columns that are not in the preview. */
  hiddenColumnsInOption(key) {
    const isHidden = (key) => !this.preview.columns.some((column) => [column.at, column.name].includes(key));
    return this.columnsInOption(key).flatMap(({ entry, columnKeys }) => columnKeys.every(isHidden) ? [entry] : columnKeys.filter(isHidden));
  }

  /** Return these entries, unless the check box is off. */
  includedHiddenColumns(key) {
    return this.includeHidden.checked ? this.hiddenColumnsInOption(key) : [];
  }

  /** Select the roles that options of the command line give to columns. */
  applyRoleOptions() {
    const namedColumns = COLUMN_OPTIONS.map((key) => [key, new Set(this.columnsInOption(key).flatMap(({ columnKeys }) => columnKeys))]);
    for (const { column, select } of this.heads.values()) {
      for (const [key, columns] of namedColumns) {
        const role = key === "keep" ? nonLabelRole({ ...column, role: column.role === "ignore" ? "label" : column.role }) : key;
        const isNamed = columns.has(column.name) || columns.has(column.at) || (key === "keep" && this.options.keep === true && column.role === "ignore");
        if (isNamed && column.roles.includes(role)) select.value = role;
      }
    }
  }

  /** Create a check box for options of the command line about columns that are not in the preview. */
  hiddenColumnsElement() {
    const entries = COLUMN_OPTIONS.map((key) => [key, this.hiddenColumnsInOption(key)]).filter(([, columns]) => columns.length);
    if (!entries.length) return [];
    return [h("label", { class: "tick" }, this.includeHidden, h("span", {}, "Use these options of the command line for columns that are not shown: ",
      entries.map(([key, columns], index) => [index ? "; " : "", `${key} `, columns.map((column, position) => [position ? ", " : "", nameElement(String(column))])])))];
  }

  /** Replace the inferred labels by those of the command line. */
  applyLabelOptions() {
    const { labels, label_column: column } = this.options;
    const list = [...this.heads.values()].find((head) => column !== undefined && [head.column.name, head.column.at].includes(column));
    if (list?.column.roles.includes("list")) {
      list.select.value = "list";
      this.roleChanged(list.column.at);
    } else if (labels !== undefined) {
      this.labels.value = Array.isArray(labels) ? labels.join(", ") : labels;
      this.readLabels();
    }
  }

  /** Start with the inferred labels. */
  initLabels() {
    const heads = [...this.heads.values()];
    const hidden = this.preview.labels.filter((index) => !this.heads.has(index));
    this.labelKeys = new Set([...heads.filter(({ select }) => select.value === "label").map(({ column }) => column.at), ...hidden]);
    this.labels.value = this.labelsText();
  }

  /** Update the labels after a role has changed; label columns and a list of labels exclude each other. */
  roleChanged(index) {
    const { select, column } = this.heads.get(index);
    for (const other of this.heads.values()) {
      const excluded = select.value === "list" ? ["label", "list"] : select.value === "label" ? ["list"] : [];
      if (other.column.at !== index && excluded.includes(other.select.value)) other.select.value = nonLabelRole(other.column);
    }
    if (select.value === "list") this.labelKeys.clear();
    if (select.value === "label") this.labelKeys.add(index);
    else { this.labelKeys.delete(index); this.labelKeys.delete(column.name); }
    this.labels.value = this.labelsText();
    this.showSummary();
  }

  /** Update the roles after the label columns were typed. */
  readLabels() {
    const { n_columns } = this.preview;
    const typed = parseLabels(this.labels.value);
    const byName = new Map([...this.heads.values()].map(({ column }) => [column.name, column.at]));
    let entries = typed ?? [];
    if (Number.isInteger(typed)) {
      const count = Math.min(Math.abs(typed), n_columns);
      const first = typed < 0 ? n_columns - count : 0;
      entries = Array.from({ length: count }, (_, index) => first + index);
    }
    this.labelKeys = new Set(entries.map((entry) => byName.get(entry) ?? entry));
    for (const { column, select } of this.heads.values()) {
      if (this.labelKeys.has(column.at)) select.value = "label";
      else if (select.value === "label" || (this.labelKeys.size && select.value === "list")) select.value = nonLabelRole(column);
    }
    this.showSummary();
  }

  /** Return the labels as text: names, or a count, or positions. */
  labelsText() {
    const { n_columns } = this.preview;
    const all = [...this.labelKeys];
    const positions = all.filter(Number.isInteger).sort((a, b) => a - b);
    const keys = positions.map((index) => this.heads.get(index)?.column.key);
    if (keys.every((key) => typeof key === "string") && (all.length <= 12 || positions.length < all.length)) return [...keys, ...all.filter((key) => !Number.isInteger(key))].join(", ");
    const isRun = positions.at(-1) - positions[0] === positions.length - 1;
    if (isRun && positions.at(-1) === n_columns - 1) return String(-positions.length);
    if (isRun && positions[0] === 0) return String(positions.length);
    return keys.every((key) => typeof key === "string") ? keys.join(", ") : `${positions.join(",")}${positions.length === 1 ? "," : ""}`;
  }

  /** Return the columns with a role. */
  columnsWithRole(role) {
    return [...this.heads.values()].filter(({ select }) => select.value === role).map(({ column }) => column);
  }

  /** Show how many labels and attributes the roles give, and mark the columns. */
  showSummary() {
    const [list] = this.columnsWithRole("list");
    this.separatorField.hidden = !list;
    for (const [index, { select, cell }] of [...this.heads.values()].entries()) {
      for (const element of [cell, ...this.cells.map((cells) => cells[index])]) {
        element.classList.toggle("is-label", ["label", "list"].includes(select.value));
        element.classList.toggle("is-out", select.value === "ignore");
      }
    }
    const n_out = this.columnsWithRole("ignore").length + this.includedHiddenColumns("ignore").length;
    const n_labels = list ? 1 : this.labelKeys.size;
    const isReported = this.messageBox.textContent === LABELS_MISSING;
    if (isReported && !this.problem) this.showProblem("");
    if (this.problem) {
      this.status.replaceChildren(isReported ? "" : this.problem);
      return;
    }
    const labels = list ? ["The labels are in ", nameElement(list.name || `column ${list.at}`), "; "] : [`${pluralize(n_labels, "label")}, `];
    const attributes = pluralize(this.preview.n_columns - n_labels - n_out, "attribute");
    const ignored = n_out ? `, ${pluralize(n_out, "column")} left out` : "";
    this.status.replaceChildren(...labels, `${attributes}${ignored}.`);
  }

  /** Why the file cannot be opened yet, or an empty text. */
  get problem() {
    if (this.memberSelect?.value === "") return MEMBER_MISSING;
    return this.preview?.asks && !this.labelKeys.size && !this.columnsWithRole("list").length ? LABELS_MISSING : "";
  }

  /** Pass the options on, or show what is missing. */
  submit(onSubmit) {
    if (this.problem) {
      this.showProblem(this.problem);
      if (this.preview) this.showSummary();
      (this.preview ? this.content.querySelector("select") : this.memberSelect)?.focus();
      return;
    }
    this.showProblem("");
    onSubmit(this.readerOptions());
  }

  /** Return the options of the reader, without those that it infers. */
  readerOptions() {
    const { preview } = this;
    const options = { ...this.options, ...this.settings };
    const formKeys = ["labels", "label_column", "label_separator", ...(preview?.asks ? ["ignore", "text", "category", "keep"] : [])];
    for (const key of formKeys) if (preview !== null) delete options[key];
    const put = (key, value) => { if (value !== null && value !== "" && value?.length !== 0) options[key] = value; };
    if (preview === null) return options;
    if (!preview.asks) {
      put("labels", parseLabels(this.labels.value));
      put("label_column", this.column.value);
      put("label_separator", this.separator.value);
      return options;
    }
    const keys = (columns) => columns.map((column) => column.key);
    const putColumns = (key, columns) => put(key, [...keys(columns), ...this.includedHiddenColumns(key)]);
    const [list] = this.columnsWithRole("list");
    put("labels", list ? null : parseLabels(this.labels.value));
    put("label_column", list ? list.key : null);
    put("label_separator", list ? this.separator.value : null);
    putColumns("ignore", this.columnsWithRole("ignore"));
    putColumns("text", this.columnsWithRole("text"));
    // With further rows, the reader could infer another role for a column that is a category by the first rows.
    putColumns("category", this.columnsWithRole("category").filter((column) => column.role !== "category" || !preview.is_whole));
    if (this.options.keep === true) put("keep", true);
    else putColumns("keep", this.columnsWithRole("number").filter((column) => column.role === "ignore"));
    if (preview.decimal === ",") put("decimal", ",");
    if (preview.encoding !== null && !["utf-8", "utf-16"].includes(preview.encoding)) put("encoding", preview.encoding);
    const columnKeys = [options.labels, options.label_column, options.ignore, options.text, options.category, options.keep].flat();
    if (preview.header !== null && !columnKeys.some((key) => typeof key === "string")) put("header", preview.header);
    return options;
  }
}

/** Return the role of a column if it does not contain labels. */
function nonLabelRole({ role, roles }) {
  return ["label", "list"].includes(role) ? roles.find((other) => !["label", "list"].includes(other)) : role;
}
