// The HTTP API. Every address is on our own origin.

const ROOT = "/api/v1";
const KEEP = "scumble-token";

let token = "";
try { token = localStorage.getItem(KEEP) ?? ""; } catch { /* storage may be off */ }

/** Keep the token where only pages of this very port can read it: cookies go to all ports. */
export function useToken(given) {
  token = given;
  try { localStorage.setItem(KEEP, given); } catch { /* then for this tab only */ }
}

const key = () => (token ? { authorization: `Bearer ${token}` } : {});

/** Says "lost" when nobody answers, and "found" with every answer. */
export const server = new EventTarget();

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Tells all who listen that nobody answers; what to throw then. */
function lost() {
  server.dispatchEvent(new Event("lost"));
  return new ApiError(0, "The server does not answer. Is 'scumble gui' still running?");
}

/** A part of the page that not every visit needs. */
export const load = (path) => import(path).catch((error) => { throw error instanceof TypeError ? lost() : error; });

async function call(method, path, body, signal) {
  const options = { method, signal, headers: key() };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["content-type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(ROOT + path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw lost();
  }
  server.dispatchEvent(new Event("found"));
  if (response.status === 204) return null;
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  if (!response.ok) {
    const told = isJson ? (await response.json()).error : await response.text();
    throw new ApiError(response.status, told);
  }
  return response.json();
}

export const get = (path, signal) => call("GET", path, undefined, signal);
export const post = (path, body = {}) => call("POST", path, body);
export const remove = (path) => call("DELETE", path);
export const part = encodeURIComponent;

let known = null;
/** Formats and methods; asked for once. */
export function catalogue() {
  known ??= get("/catalogue").catch((error) => { known = null; throw error; });
  return known;
}

/** Send a file. Tells progress from 0 to 1; `signal` breaks it off. */
export function upload(file, tell, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `${ROOT}/uploads?name=${part(file.name)}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    for (const [field, value] of Object.entries(key())) request.setRequestHeader(field, value);
    request.responseType = "json";
    request.upload.onprogress = (event) => tell(event.total ? event.loaded / event.total : 0);
    request.onload = () => request.status === 201
      ? resolve(request.response)
      : reject(new ApiError(request.status, request.response?.error ?? "The upload was refused."));
    request.onerror = () => reject(new ApiError(0, "The upload was broken off. The file may be too large for this server, or the server has ended."));
    request.onabort = () => reject(new DOMException("cancelled", "AbortError"));
    signal?.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

/** An address under which the browser can fetch a file once, without the token. */
export async function ticket(path) {
  return (await post("/tickets", { address: ROOT + path })).address;
}

/** Follow a job to its end; returns it, or throws why it failed. */
export async function follow(job, tell = () => {}) {
  for (;;) {
    tell(job);
    if (job.state === "done") return job;
    if (job.state === "failed") throw new ApiError(422, job.error);
    if (job.state === "cancelled") throw new DOMException("cancelled", "AbortError");
    job = await get(`/jobs/${job.id}?wait=1`);  // answered at once when the job is over
  }
}
