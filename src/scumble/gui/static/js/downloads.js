// Creates files on the server and saves them.

import { downloadAddress, post } from "./api.js";
import { h, nameElement, saveAddress } from "./dom.js";
import { bytes } from "./format.js";
import { showError, watchJob } from "./state.js";

/** Create a button that saves a file of the server. */
export function downloadButton(path, title, attributes = {}) {
  const save = async () => {
    try {
      saveAddress(await downloadAddress(typeof path === "function" ? path() : path));
    } catch (error) {
      showError(error);
    }
  };
  return h("button", { type: "button", class: "link", onclick: save, ...attributes }, title);
}

/** Save a file that a job has created. */
export async function saveFile({ file, name: filename }) {
  saveAddress(await downloadAddress(`/files/${file}`), filename);
}

/** Start a job that creates a file, and save the file. */
export async function createAndSave(path, options, status) {
  status.replaceChildren(h("span", { class: "dim" }, "Writing …"));
  try {
    const job = await watchJob(await post(path, options), { owner: status });
    const link = downloadButton(`/files/${job.result.file}`, nameElement(job.result.name));
    status.replaceChildren(h("span", {}, "Saved as ", link, h("span", { class: "dim" }, ` (${bytes(job.result.size)})`)), ...job.notes.map((note) => h("p", { class: "notice" }, note)));
    if (status.isConnected) link.click();
  } catch (error) {
    status.replaceChildren(error.name === "AbortError" ? "Cancelled." : h("p", { class: "notice bad", role: "alert" }, error.message));
  }
}
