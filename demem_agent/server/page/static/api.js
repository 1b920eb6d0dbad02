// What is asked of the server, or of what is embedded where the page was written to a file.

const KEY = "demem-key";
const PROBLEM = "urn:demem:problem:";

export class Problem extends Error {
  constructor(status, told) {
    super(told.detail || told.title || "Something went wrong.");
    this.status = status;
    this.title = told.title || "Something went wrong";
    this.kind = (told.type || "").replace(PROBLEM, "");
    this.field = told.field;
    this.allowed = told.allowed;
  }
}

function embeddedData() {
  const element = document.getElementById("data");
  return element ? JSON.parse(element.textContent) : null;
}

export const embedded = embeddedData();
export const isFile = embedded !== null;

// A key in the address is for this tab alone, and is not left where others could see it.
function keyFromAddress() {
  const found = /^#key=([\w.-]+)(?:&memory=([^&]*))?$/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(KEY, found[1]);
  history.replaceState(null, "", location.pathname + (found[2] ? `#/${found[2]}` : ""));
}

if (!isFile) keyFromAddress();

export const key = {
  get: () => (isFile ? null : sessionStorage.getItem(KEY)),
  set: (written) => sessionStorage.setItem(KEY, written),
  drop: () => sessionStorage.removeItem(KEY),
};

function headersFor(body) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key.get()) headers.Authorization = `Bearer ${key.get()}`;
  return headers;
}

async function sent(method, path, { body, headers, signal } = {}) {
  const options = { method, signal, credentials: "omit", cache: "no-cache" };
  options.headers = { ...headersFor(body), ...headers };
  if (body !== undefined) options.body = JSON.stringify(body);
  try {
    return await fetch(path.slice(1), options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { title: "The server cannot be reached", detail: "Is it still running?" });
  }
}

async function problemOf(response) {
  try {
    return new Problem(response.status, await response.json());
  } catch {
    return new Problem(response.status, { title: `The server answered ${response.status}` });
  }
}

export async function ask(method, path, body, more = {}) {
  if (isFile) return answerFromFile(method, path, body);
  const response = await sent(method, path, { body, ...more });
  if (!response.ok) throw await problemOf(response);
  return response.status === 204 ? null : response.json();
}

function answerFromFile(method, path, body) {
  const known = embedded.answers[method === "GET" ? path : writtenFor(method, path, body)];
  if (known === undefined) {
    throw new Problem(404, { title: "Not in this file", detail: "This page was written to a file, and shows what was in the memory then." });
  }
  return known;
}

// How what is read for a question is known in a file: one reading in whole, and at each limit its ids.
function writtenFor(method, path, body) {
  const limit = path.endsWith("/read") ? ` ${body.limit}` : "";
  return `${method} ${path} ${body?.query ?? ""}${limit}`;
}

export const get = (path, more) => ask("GET", path, undefined, more);
export const post = (path, body = {}, more) => ask("POST", path, body, more);

// All pages of a list, up to so many records; "more" says that there are others.
export async function every(path, most = 2000) {
  const records = [];
  let next = null;
  do {
    const page = await get(withCursor(path, next));
    records.push(...page.records);
    next = page.next;
  } while (next && records.length < most);
  return { records, more: Boolean(next) };
}

export function withCursor(path, cursor, limit) {
  if (isFile) return path;
  const more = [];
  if (limit) more.push(`limit=${limit}`);
  if (cursor) more.push(`cursor=${encodeURIComponent(cursor)}`);
  if (!more.length) return path;
  return `${path}${path.includes("?") ? "&" : "?"}${more.join("&")}`;
}

// A change that is asked for twice by a bad connection is done once.
export function onceOnly() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return { headers: { "Idempotency-Key": Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("") } };
}

// Events as they come; EventSource could not send a key.
export async function listen(path, tell, signal, begun) {
  const response = await sent("GET", path, { headers: { Accept: "text/event-stream" }, signal });
  if (!response.ok) throw await problemOf(response);
  begun();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let left = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (left + value).split("\n\n");
    left = blocks.pop();
    for (const block of blocks) tellBlock(block, tell);
  }
}

function tellBlock(block, tell) {
  const event = {};
  for (const line of block.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) event[line.slice(0, at)] = line.slice(at + 2);
  }
  if (event.data) tell({ kind: event.event, id: event.id, ...JSON.parse(event.data) });
}

export const ofMemory = (memory) => `/v1/memories/${encodeURIComponent(memory)}`;
