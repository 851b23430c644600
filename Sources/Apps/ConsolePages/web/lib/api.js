// Talking with the node. Paths are below /api/v1; every request carries the token of this browser.
//
// `await get("/networks")`, `post(path, body)`, `put`, `patch`, `del`; bodies and answers are JSON. A failure throws an
// `ApiError` whose `message` says what to do. `stream(path, body, onLine, signal)` reads an answer line by line (NDJSON)
// until it ends or the signal aborts; without a body it is a GET. `lasting` does so with one that lasts.

import { access } from "./access.js";
import { signal } from "./dom.js";
import { inPlace } from "./turns.js";
import { clean } from "./format.js";
import { t } from "../texts.js";

const base = "/api/v1";
/// Whether this browser is on the device itself: over the local network the console is there with TLS only.
export const isHere = location.protocol === "http:";

/// Whether this screen may perform an operation, such as "POST /backup": some belong to the device itself.
export const isAllowed = operation => isHere || !(operation in access);

const metricsPath = "/metrics";
const key = "runar.session";

class ApiError extends Error {
  constructor(status, code, message, context) {
    super(message);
    Object.assign(this, { status, code, context });
  }
}

/// `unknown` until it is tried, `in`, or `out`: then the page says how to open the console.
export const session = signal("unknown");

function stored() {
  try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
}

/// Changes the one-time secret in the address into a session, which stays in this browser.
export async function openSession() {
  const secret = new URLSearchParams(location.hash.slice(1)).get("secret");
  if (secret) {
    history.replaceState(null, "", "#/networks");
    try { keep(await send("POST", "/session", { secret })); } catch (error) {
      if (error.code === "unreachable") throw error;
      if (!stored()) return session.set("out");
    }
  }
  session.set(stored() ? "in" : "out");
  const rest = (stored()?.expires ?? 0) - Date.now() / 1000;
  if (stored() && rest < 15 * 86400) renew();
}

async function renew() {
  // The old session goes on until its end; the next start tries again.
  try { keep(await post("/session/renew", {})); } catch { /* see above */ }
}

function keep(answer) { localStorage.setItem(key, JSON.stringify(answer)); }

export function closeSession() {
  localStorage.removeItem(key);
  session.set("out");
}

// Another page of this browser was told that the session is over.
addEventListener("storage", event => { if (event.key === key && !event.newValue) session.set("out"); });

async function request(method, path, body, signal) {
  const headers = {};
  const token = stored()?.token;
  if (token) headers.Authorization = `Bearer ${token}`;
  const isBytes = body instanceof Blob || body instanceof ArrayBuffer || ArrayBuffer.isView(body);
  if (body !== undefined) headers["Content-Type"] = isBytes ? "application/octet-stream" : "application/json";
  const payload = body === undefined || isBytes ? body : JSON.stringify(body);
  let answer;
  try {
    const address = path === metricsPath ? path : base + path;
    answer = await fetch(address, { method, headers, body: payload, signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", t.errors.unreachable);
  }
  if (answer.ok) return answer;
  const failure = await failureOf(answer);
  if (answer.status === 401 && path !== "/session") closeSession();
  throw failure;
}

async function failureOf(answer) {
  try {
    const { error } = await answer.json();
    return failureWith(answer.status, error);
  } catch {
    return new ApiError(answer.status, "failed", t.errors.status(answer.status));
  }
}

const longestMessage = 2000;

/// The node's words are for the command line, too; where the console knows better ones, it says those.
function failureWith(status, { code, message, context }) {
  return new ApiError(status, code, t.failures[code] ?? sentence(clean(message, longestMessage)), context);
}

const sentence = text => text && text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

async function send(method, path, body, signal) {
  const answer = await request(method, path, body, signal);
  const text = await answer.text();
  return text ? JSON.parse(text) : null;
}

export const get = (path, signal) => send("GET", path, undefined, signal);
export const post = (path, body = {}, signal) => send("POST", path, body, signal);
export const put = (path, body = {}, signal) => send("PUT", path, body, signal);
export const patch = (path, body = {}, signal) => send("PATCH", path, body, signal);
export const del = (path, signal) => send("DELETE", path, undefined, signal);

/// The answer itself as a file, for downloads.
export async function blob(path, body) {
  const answer = await request(body === undefined ? "GET" : "POST", path, body);
  return answer.blob();
}

/// Fetches the Prometheus metrics, whose path is outside the API.
export const metricsText = async () => (await request("GET", metricsPath)).text();

/// A part of a path: ids and names may hold any character.
export const part = text => encodeURIComponent(text);

const longestLine = 4 << 20;

export async function stream(path, body, onLine, signal) {
  const answer = await request(body === undefined ? "GET" : "POST", path, body, signal);
  const lines = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await lines.read();
    if (done) break;
    rest += value;
    const whole = rest.split("\n");
    rest = whole.pop();
    if (rest.length > longestLine) throw new ApiError(0, "failed", t.errors.lineTooLong);
    for (const line of whole) if (line) taken(JSON.parse(line), onLine);
  }
  if (rest) taken(JSON.parse(rest), onLine);
}

/// Streams a long-lived response. If the pages of this browser have too many of them open, it throws, or with `waits`
/// tries again until a place is free.
export async function lasting(path, body, onLine, signal, { waits = false } = {}) {
  while (!await inPlace(() => stream(path, body, onLine, signal))) {
    if (!waits) throw new ApiError(0, "no-place", t.errors.noPlace);
    await new Promise(resolve => { setTimeout(resolve, 500); });
    signal.throwIfAborted();
  }
}

/// A stream that has begun tells of a failure in a line of its own, and between others that it is alive.
function taken(line, onLine) {
  if (line.event === "failed") throw failureWith(200, line.error);
  if (line.event !== "alive") onLine(line);
}
