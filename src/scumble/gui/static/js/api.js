// The HTTP API of the server. All addresses have the origin of the page.

const ROOT = "/api/v1";
const TOKEN_KEY = "scumble-token";

let token = "";
try { token = localStorage.getItem(TOKEN_KEY) ?? ""; } catch { /* storage may be off */ }

/** Store the token where only pages of this port can read it; a cookie would be sent to every port. */
export function useToken(newToken) {
  token = newToken;
  try { localStorage.setItem(TOKEN_KEY, newToken); } catch { /* then it lasts as long as this tab */ }
}

const authorization = () => (token ? { authorization: `Bearer ${token}` } : {});

/** Emits "lost" when the server does not answer, and "answered" with every response. */
export const server = new EventTarget();

/** An error that the server reports; status 0 means that it did not answer. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Emit "lost" and return the error to throw. */
function connectionLost() {
  server.dispatchEvent(new Event("lost"));
  return new ApiError(0, "The server does not answer. Is 'scumble gui' still running?");
}

/** Import a module that not every visit needs. */
export async function loadModule(path) {
  try {
    return await import(path);
  } catch (error) {
    throw error instanceof TypeError ? connectionLost() : error;
  }
}

/** Send a request and return the parsed response. */
async function request(method, path, body, signal) {
  const options = { method, signal, headers: authorization() };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["content-type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(ROOT + path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw connectionLost();
  }
  server.dispatchEvent(new Event("answered"));
  if (response.status === 204) return null;
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  if (!response.ok) {
    const message = isJson ? (await response.json()).error : await response.text();
    throw new ApiError(response.status, message);
  }
  return response.json();
}

/** GET a path. */
export const get = (path, signal) => request("GET", path, undefined, signal);
/** POST a JSON body to a path. */
export const post = (path, body = {}) => request("POST", path, body);
/** DELETE a path. */
export const remove = (path) => request("DELETE", path);
/** Encode a text as part of an address. */
export const encode = encodeURIComponent;

let catalogueRequest = null;
/** Return formats and methods with their parameters; requested once. */
export function catalogue() {
  catalogueRequest ??= get("/catalogue").catch((error) => { catalogueRequest = null; throw error; });
  return catalogueRequest;
}

/** Upload a file. `onProgress` gets a fraction from 0 to 1; `signal` aborts. */
export function upload(file, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const transfer = new XMLHttpRequest();
    transfer.open("POST", `${ROOT}/uploads?name=${encode(file.name)}`);
    transfer.setRequestHeader("content-type", "application/octet-stream");
    for (const [field, value] of Object.entries(authorization())) transfer.setRequestHeader(field, value);
    transfer.responseType = "json";
    transfer.upload.onprogress = (event) => onProgress(event.total ? event.loaded / event.total : 0);
    transfer.onload = () => transfer.status === 201
      ? resolve(transfer.response)
      : reject(new ApiError(transfer.status, transfer.response?.error ?? "The upload was refused."));
    transfer.onerror = () => reject(new ApiError(0, "The upload was interrupted. The file may be too large for this server, or the server has stopped."));
    transfer.onabort = () => reject(new DOMException("cancelled", "AbortError"));
    signal?.addEventListener("abort", () => transfer.abort());
    transfer.send(file);
  });
}

/** Return an address from which the browser can download a file once, without the token. */
export async function downloadAddress(path) {
  return (await post("/tickets", { address: ROOT + path })).address;
}

/** Wait until a job is over and return it; throw if it failed or was cancelled. */
export async function waitForJob(job, onProgress = () => {}) {
  for (;;) {
    onProgress(job);
    if (job.state === "done") return job;
    if (job.state === "failed") throw new ApiError(422, job.error);
    if (job.state === "cancelled") throw new DOMException("cancelled", "AbortError");
    job = await get(`/jobs/${job.id}?wait=1`);  // the response comes as soon as the job is over
  }
}
