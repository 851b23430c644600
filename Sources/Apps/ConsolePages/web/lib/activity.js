// What happens at the node, live: `onActivity(["peerJoined", "message"], line => …)` hears these kinds until the view
// ends, `onActivity(null, …)` all of them. The kind of an event of the node is its name; `changed:networks` (`changed`
// for everything) is what a command or another page has changed. `connection()` is the state of the line: `connecting`,
// `live`, or `lost`. `onResume(body)` is called after a gap (the node was away, or restarted), and when the line first
// stands (`body(true)`): whatever was fetched before may be old then.
//
// One page of the browser reads, and hands every line on to the others. Lines are numbered without a gap, so each page
// knows by itself what it has already, and what it has to ask for.

import { signal, onEnd } from "./dom.js";
import { stream, session } from "./api.js";
import { takeTurns } from "./turns.js";

export const connection = signal("connecting");
/// Set when the node that answers is another run than before; the shell says so and clears it.
export const restarted = signal(false);

const listeners = new Set();
const resumers = new Set();
const pages = new BroadcastChannel("runar.activity");
let boot = null;
let since = 0;
let isReading = false;
let wake = null;

export function onActivity(kinds, listener) {
  const entry = { kinds: kinds && new Set(kinds), listener };
  listeners.add(entry);
  onEnd(() => listeners.delete(entry));
}

export function onResume(body) {
  resumers.add(body);
  onEnd(() => resumers.delete(body));
}

// The node sends a line at least every five seconds.
const silence = 12_000;
const waits = [300, 500, 1000, 2000, 3000];

/// Runs as long as the page.
export function runActivity() {
  const insist = takeTurns(read);
  let timer = null;
  const listen = () => {
    clearTimeout(timer);
    timer = setTimeout(() => { insist(); listen(); }, silence + waits.at(-1));
  };
  pages.onmessage = ({ data }) => {
    listen();
    if (!isReading) hear(data);
  };
  listen();
  addEventListener("online", () => wake?.());
  document.addEventListener("visibilitychange", () => { if (!document.hidden) wake?.(); });
}

/// Reads for all pages while it is this one's turn.
async function read(turn) {
  isReading = true;
  catching?.abort();
  for (let failures = 0; !turn.aborted; ) {
    if (session.peek() !== "in") { await pause(500, turn); continue; }
    const attempt = new AbortController();
    let timer = null;
    const alive = () => { clearTimeout(timer); timer = setTimeout(() => attempt.abort(), silence); };
    alive();
    try {
      await stream(`/activity${seen()}`, undefined, line => {
        failures = 0;
        alive();
        pages.postMessage({ boot: line.boot ?? boot, line });
        take(line);
      }, AbortSignal.any([turn, attempt.signal]));
    } catch { /* Whatever ended the line, it is tried again below. */ }
    clearTimeout(timer);
    if (turn.aborted) break;
    connection.set("lost");
    pages.postMessage({ boot, line: { kind: "lost" } });
    await pause(waits[Math.min(failures++, waits.length - 1)], turn);
  }
  isReading = false;
}

const seen = () => (boot ? `?boot=${encodeURIComponent(boot)}&since=${since}` : "");

function pause(milliseconds, turn) {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    wake = () => { clearTimeout(timer); resolve(); };
    turn.addEventListener("abort", wake, { once: true });
  });
}

let catching = null;
let later = [];

/// Takes what the page that reads has handed on, if it is the next; asks the node if something is missing before it.
function hear(message) {
  const { line } = message;
  if (catching) { later.push(message); return; }
  if (line.kind === "lost") { connection.set("lost"); return; }
  // These two have the number of the line before them.
  const isUnnumbered = line.kind === "hello" || line.kind === "alive";
  const next = isUnnumbered ? since : since + 1;
  if (message.boot !== boot || line.seq > next) catchUp();
  else if (line.seq === next || isUnnumbered) take(line);
}

async function catchUp() {
  const mine = catching = new AbortController();
  const patience = AbortSignal.timeout(silence);
  const address = `/activity${seen()}`;
  try {
    await stream(`${address}${address.includes("?") ? "&" : "?"}follow=false`, undefined, take,
      AbortSignal.any([mine.signal, patience]));
  } catch { /* The next line shows that something is missing still. */ }
  catching = null;
  for (const message of later.splice(0)) if (!mine.signal.aborted) hear(message);
}

function take(line) {
  if (line.kind === "hello") {
    const isFirst = boot === null, isOther = !isFirst && boot !== line.boot;
    const hadGap = isOther || line.missed || connection.peek() === "lost";
    if (boot !== line.boot) since = line.seq;
    boot = line.boot;
    connection.set("live");
    if (isOther) restarted.set(true);
    if (isFirst || hadGap) for (const body of [...resumers]) body(!hadGap);
    return;
  }
  since = Math.max(since, line.seq);
  if (line.kind === "alive") return;
  const names = namesOf(line);
  for (const { kinds, listener } of [...listeners]) {
    if (!kinds || names.some(name => kinds.has(name))) listener(line);
  }
}

function namesOf(line) {
  if (line.kind === "event") return [line.event];
  if (line.kind === "changed") return ["changed", ...line.what.map(what => `changed:${what}`)];
  return [line.kind];
}
