// Requests to the server, and the token of this browser.
//
// `await get("/account")`, `await post(path, body)`: bodies and answers are JSON. Every failure is a `Failure`, whose
// `message` has the next step. The token is in the memory of the page and in `sessionStorage`, which ends with the tab,
// and in no address.

import { t } from "../texts.js";

const key = "identity.session";
const shortestWait = 60_000;

/// A failure in words. `link` is where the next step is: `{href, text}`.
export class Failure extends Error {
  constructor(code, message, link = null) {
    super(message);
    Object.assign(this, { code, link });
  }
}

/// `{token, expires}` with the last second since 1970 at which the token is valid, or null.
let session = JSON.parse(sessionStorage.getItem(key));

export const isSignedIn = () => session !== null;

/// Ends the session in this tab; the server is asked to revoke the token before.
export function forgetToken() {
  session = null;
  sessionStorage.removeItem(key);
}

function keepToken(token, expires) {
  session = { token, expires };
  sessionStorage.setItem(key, JSON.stringify(session));
}

/// Renews the token after half of its rest of life, as long as the page is open.
export function keepFresh() {
  if (!session?.expires) return;
  const rest = session.expires * 1000 - Date.now();
  setTimeout(async () => {
    // Without a new token the old one serves to its end; then the page asks to sign in.
    try { await post("/token/refresh", {}); } catch { /* see above */ }
    keepFresh();
  }, Math.max(rest / 2, shortestWait));
}

export const get = (path, options) => send("GET", path, options);
export const post = (path, body, options) => send("POST", path, { ...options, body });

/// `signal` aborts the request; `isPublic` leaves the token out.
async function send(method, path, { body, signal, isPublic = false } = {}) {
  const headers = {};
  if (session && !isPublic) headers.Authorization = `Bearer ${session.token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("unreachable", t.failures.unreachable);
  }
  if (!answer.ok) throw await failureOf(answer);
  const report = await answer.json().catch(() => { throw new Failure("unreadable", t.failures.unreadable); });
  const token = answer.headers.get("x-auth-token");
  if (token && !isPublic) keepToken(token, report.expires);
  return report;
}

const longestMessage = 1000;

async function failureOf(answer) {
  const { code, message } = await answer.json().then(body => body.error ?? {}, () => ({}));
  if (answer.status === 401) {
    forgetToken();
    return new Failure("signed-out", t.failures.signedOut, { href: "/sign-in", text: t.app.signIn });
  }
  if (answer.status === 429) {
    return new Failure(code, t.failures.tooMany(Number(answer.headers.get("Retry-After")) || 0));
  }
  if (typeof message !== "string" || !message) return new Failure("failed", t.failures.status(answer.status));
  return new Failure(code, sentence(message.slice(0, longestMessage)));
}

const sentence = text => text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

/// The facts of this server, which every page shows.
export const loadServer = () => get("/pages/config.json", { isPublic: true });

/// The origins at which the passkeys of this server work, the first one being that of its pages.
export const loadOrigins = async () => (await get("/.well-known/webauthn", { isPublic: true })).origins;

/// The page of the account; the API has the address `/account`.
export const accountPage = "/my-account";

const resolvePath = "/xrpc/com.atproto.identity.resolveHandle";

/// Whether a full handle has no account: true only if the server says so; undefined if that cannot be told.
export async function isAvailable(handle, signal) {
  try {
    const query = new URLSearchParams({ handle });
    const { status } = await fetch(`${resolvePath}?${query}`, { signal, cache: "no-store" });
    return { 404: true, 200: false }[status];
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return undefined;
  }
}
