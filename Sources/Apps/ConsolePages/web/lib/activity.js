// What happens at the node, live: `onActivity(["peerJoined", "message"], line => …)` hears these kinds until the view
// ends, `onActivity(null, …)` all of them. The kind of an event of the node is its name; `changed:networks` (`changed`
// for everything) is what a command or another page has changed. `connection()` is the state of the line: `connecting`,
// `live`, or `lost`. `onResume(body)` is called after a gap (the node was away, or restarted): whatever was fetched may
// be old then.

import { signal, onEnd } from "./dom.js";
import { stream, session } from "./api.js";

export const connection = signal("connecting");
/// Set when the node that answers is another run than before; the shell says so and clears it.
export const restarted = signal(false);
/// False while the page is out of sight and another tab shows the console. A browser opens six connections to one
/// address at most, for all of its tabs together; a tab that sleeps catches up when it is seen again.
export const isAwake = signal(true);

const listeners = new Set();
const resumers = new Set();
let boot = null;
let since = 0;
let attempt = null;
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
export async function runActivity() {
  addEventListener("online", () => wake?.());
  document.addEventListener("visibilitychange", showPresence);
  addEventListener("pagehide", () => tabs.postMessage("gone"));
  showPresence();
  for (let failures = 0; ; ) {
    if (session.peek() !== "in" || !isAwake.peek()) { await pause(500); continue; }
    attempt = new AbortController();
    let timer = null;
    const alive = () => { clearTimeout(timer); timer = setTimeout(() => attempt.abort(), silence); };
    alive();
    try {
      const query = boot ? `?boot=${encodeURIComponent(boot)}&since=${since}` : "";
      await stream(`/activity${query}`, undefined, line => { failures = 0; alive(); take(line); }, attempt.signal);
    } catch { /* Whatever ended the line, it is tried again below. */ }
    clearTimeout(timer);
    if (!isAwake.peek()) continue;
    connection.set("lost");
    await pause(waits[Math.min(failures++, waits.length - 1)]);
  }
}

const tabs = new BroadcastChannel("runar");
tabs.onmessage = ({ data }) => {
  if (data === "here" && document.hidden) { isAwake.set(false); attempt?.abort(); }
  if (data === "gone") isAwake.set(true);
};

/// The tab in sight is awake, and lets the others sleep until it goes.
function showPresence() {
  if (document.hidden) return;
  tabs.postMessage("here");
  isAwake.set(true);
  wake?.();
}

function pause(milliseconds) {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    wake = () => { clearTimeout(timer); resolve(); };
  });
}

function take(line) {
  if (line.kind === "hello") {
    const isFirst = boot === null;
    const isOther = !isFirst && boot !== line.boot;
    const hadGap = !isFirst && (isOther || line.missed || connection.peek() === "lost");
    boot = line.boot;
    if (isOther) since = 0;
    if (isFirst) since = line.seq ?? 0;
    connection.set("live");
    if (isOther) restarted.set(true);
    if (hadGap) for (const body of [...resumers]) body();
    return;
  }
  if (line.seq) since = Math.max(since, line.seq);
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
