// Make a file on the server, then let the browser save it.

import { catalogue, part, post, ticket } from "./api.js";
import { h, name, saveFrom } from "./dom.js";
import { bytes } from "./format.js";
import { complain, watch } from "./state.js";

/** Something to press that saves a file of the server, as often as it is pressed. */
export function download(path, title, more = {}) {
  const press = async () => {
    try {
      saveFrom(await ticket(typeof path === "function" ? path() : path));
    } catch (error) {
      complain(error);
    }
  };
  return h("button", { type: "button", class: "link", onclick: press, ...more }, title);
}

export const makeAndSave = (dataset, wish, told) => makeFile(`/datasets/${part(dataset.id)}/exports`, wish, told);

/** Save a file that the server offers. */
export async function saveFile({ file, name: filename }) {
  saveFrom(await ticket(`/files/${file}`), filename);
}

/** Let a job make a file, and save it. */
export async function makeFile(path, wish, told) {
  told.replaceChildren(h("span", { class: "dim" }, "Writing …"));
  try {
    const job = await watch(await post(path, wish), { owner: told });
    const link = download(`/files/${job.result.file}`, name(job.result.name));
    told.replaceChildren(h("span", {}, "Saved as ", link, h("span", { class: "dim" }, ` (${bytes(job.result.size)})`)), ...job.notes.map((note) => h("p", { class: "notice" }, note)));
    if (told.isConnected) link.click();
  } catch (error) {
    told.replaceChildren(error.name === "AbortError" ? "Cancelled." : h("p", { class: "notice bad", role: "alert" }, error.message));
  }
}

/** A form that writes the data in any format. */
export function dataDownload(dataset) {
  const told = h("div", { role: "status" });
  const format = h("select", { "aria-label": "Format" });
  const compression = h("select", { "aria-label": "Compression" });
  catalogue().then(({ formats, compressions }) => {
    const first = ["mulan", "meka", "csv"];
    const order = [...formats].sort((a, b) => (first.indexOf(a.name) + 9) % 9 - (first.indexOf(b.name) + 9) % 9);
    format.append(...order.map((each) => h("option", { value: each.name }, each.title)));
    compression.append(...compressions.map((each) => h("option", { value: each }, each || "not compressed")));
  }).catch(() => {});
  const submit = (event) => {
    event.preventDefault();
    makeAndSave(dataset, { kind: "data", format: format.value, compression: compression.value }, told);
  };
  return h("form", { class: "stack", onsubmit: submit }, h("div", { class: "row" }, format, compression, h("button", {}, "Download")), told);
}
