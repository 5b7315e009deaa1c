// A table that loads one page at a time from the server.

import { get } from "./api.js";
import { downloadButton } from "./downloads.js";
import { announce, h, help } from "./dom.js";
import { int, pluralize } from "./format.js";
import { query, setQuery } from "./router.js";

const PAGE_SIZE = 50;

/**
 * A table with sorting, searching and paging on the server. columns: [{ key, title, text?, head?, help?,
 * render(row), hide?, sort? }]. picture(rows): returns a chart of the rows in view. keepInAddress: whether
 * sorting, searching and paging are part of the address.
 */
export class PagedTable {
  constructor({ path, caption, columns, noun, pageSize = PAGE_SIZE, keepInAddress = true, csv = true, decorate = () => {}, picture = null, searchTitle = "Search" }) {
    Object.assign(this, { path, caption, columns, noun, pageSize, keepInAddress, decorate, picture });
    const addressQuery = keepInAddress ? query() : new URLSearchParams();
    this.request = { sort: addressQuery.get("sort"), order: addressQuery.get("order"), q: addressQuery.get("q") ?? "", offset: Number(addressQuery.get("offset") ?? 0) || 0 };
    this.search = h("input", { type: "search", placeholder: searchTitle, "aria-label": `${searchTitle}`, value: this.request.q, oninput: () => this.searchSoon() });
    this.count = h("span", { class: "dim", "aria-live": "polite" });
    this.csv = csv ? downloadButton(() => `${this.path}.csv?${this.parameters({ offset: 0 })}`, "CSV", { class: "link push" }) : null;
    this.body = h("tbody");
    this.heads = columns.map((column) => this.makeHead(column));
    this.wrap = h("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": caption },
      h("table", {}, h("caption", { class: "visually-hidden" }, caption), h("thead", {}, h("tr", {}, ...this.heads)), this.body));
    this.pager = h("div", { class: "pager", role: "group", "aria-label": "Pages of the table" });
    this.element = h("div", {}, h("div", { class: "tools" }, this.search, this.count, columnHelp(columns), this.csv), this.pictureElement(), this.wrap, this.pager);
  }

  /** Create the element that shows the rows in view as a chart when it is opened. */
  pictureElement() {
    if (!this.picture) return null;
    this.frame = h("div", {});
    this.fold = h("details", { class: "fold", ontoggle: () => this.drawPicture() }, h("summary", {}, "Show as chart"), this.frame);
    return this.fold;
  }

  /** Draw the chart if it is open. */
  drawPicture() {
    if (this.fold?.open) this.frame.replaceChildren(this.picture(this.page.rows));
  }

  /** Create the header of a column. */
  makeHead(column) {
    const classes = columnClasses(column);
    if (column.sort === false) return h("th", { scope: "col", class: classes }, column.title);
    return h("th", { scope: "col", class: classes }, h("button", { type: "button", onclick: () => this.sortBy(column.key) }, column.title));
  }

  /** Sort by a column, or reverse the order. */
  sortBy(key) {
    let order = this.columns.find((column) => column.key === key).text ? "ascending" : "descending";
    if (this.page?.sort === key) order = this.page.order === "ascending" ? "descending" : "ascending";
    this.update({ sort: key, order, offset: 0 });
  }

  /** Search when typing pauses. */
  searchSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update({ q: this.search.value, offset: 0 }, { replace: true }), 180);
  }

  /** Change sorting, search or page, and load the rows. */
  async update(changes, historyOptions = {}) {
    Object.assign(this.request, changes);
    if (this.keepInAddress) setQuery({ ...this.request, offset: this.request.offset || null }, historyOptions);
    await this.load();
  }

  /** Return the parameters of a request. */
  parameters(changes = {}) {
    const parameters = new URLSearchParams();
    for (const [key, value] of Object.entries({ ...this.request, ...changes })) if (value) parameters.set(key, value);
    return parameters;
  }

  /** Load the rows and draw them; a later call cancels an earlier one. */
  async load() {
    this.abort?.abort();
    this.abort = new AbortController();
    this.wrap.setAttribute("aria-busy", "true");
    try {
      this.page = await get(`${this.path}?${this.parameters({ limit: this.pageSize })}`, this.abort.signal);
    } catch (error) {
      if (error.name === "AbortError") return;
      throw error;
    }
    this.wrap.removeAttribute("aria-busy");
    this.draw();
  }

  /** Draw the rows that were loaded. */
  draw() {
    const { rows, sort, order, total, n_matches: nMatches } = this.page;
    this.columns.forEach((column, index) => {
      const isSorted = column.key === sort;
      if (column.sort !== false) this.heads[index].setAttribute("aria-sort", isSorted ? order : "none");
      this.heads[index].classList.toggle("sorted", isSorted);
    });
    this.body.replaceChildren(...rows.map((row) => this.makeRow(row)));
    if (!rows.length) this.body.append(h("tr", {}, h("td", { class: "text dim", colspan: this.columns.length }, total ? "No matches." : "The table is empty.")));
    this.count.textContent = nMatches === total ? pluralize(total, this.noun) : `${int(nMatches)} of ${pluralize(total, this.noun)}`;
    this.drawPager();
    this.drawPicture();
  }

  /** Create the element of a row. */
  makeRow(row) {
    const cells = this.columns.map((column) => {
      const classes = columnClasses(column);
      return column.head ? h("th", { scope: "row", class: classes }, column.render(row)) : h("td", { class: classes }, column.render(row));
    });
    const element = h("tr", {}, ...cells);
    this.decorate(element, row);
    return element;
  }

  /** Draw the buttons that go to other pages. */
  drawPager() {
    const { offset, n_matches: nMatches } = this.page;
    const last = Math.min(offset + this.pageSize, nMatches);
    this.pager.hidden = nMatches <= this.pageSize;
    const button = (title, newOffset, enabled) => h("button", { type: "button", class: "small", disabled: !enabled, onclick: async () => {
      await this.update({ offset: newOffset });
      this.wrap.scrollIntoView({ block: "nearest" });
      [...this.pager.children].find((other) => other.textContent === title && !other.disabled)?.focus();
      announce(`${int(this.page.offset + 1)} to ${int(Math.min(this.page.offset + this.pageSize, nMatches))}`);
    } }, title);
    this.pager.replaceChildren(
      h("span", { class: "dim num" }, `${int(offset + 1)}–${int(last)} of ${int(nMatches)}`),
      button("First", 0, offset > 0), button("Previous", Math.max(0, offset - this.pageSize), offset > 0),
      button("Next", offset + this.pageSize, last < nMatches), button("Last", Math.floor((nMatches - 1) / this.pageSize) * this.pageSize, last < nMatches));
  }
}

/** Return the style classes of the cells of a column. */
function columnClasses(column) {
  const classes = [column.text ? "text" : "", column.hide ? "narrow-hide" : "", column.class ?? ""];
  return classes.filter(Boolean).join(" ");
}

/** Create the explanation of the columns. */
function columnHelp(columns) {
  const explained = columns.filter((column) => column.help);
  return explained.length ? help("the columns", h("dl", {}, explained.map((column) => [h("dt", {}, column.title), h("dd", {}, column.help)]))) : null;
}

/** Create a number with a bar from 0 to 1. */
export function meter(text, part) {
  const bar = h("i");
  bar.style.setProperty("--part", `${Math.max(0, Math.min(1, part ?? 0)) * 100}%`);
  return [h("span", {}, text), h("span", { class: "meter", "aria-hidden": "true" }, bar)];
}
