// Answers that stay fresh. `const peers = resource("/peers", ["peerJoined", "peerLeft"])` fetches now, again after these
// kinds of activity, and after a gap. `peers()` is `{value, error, isLoading}`; `peers.reload()` fetches; `peers.set(v)`
// shows a value before the node confirms it (reload afterwards, whatever came of it).

import { signal, onEnd } from "./dom.js";
import { get } from "./api.js";
import { onActivity, onResume } from "./activity.js";

export function resource(path, kinds = [], { every = 0 } = {}) {
  const state = signal({ value: undefined, error: null, isLoading: true });
  let ended = false, running = false, again = false, isPaused = false, shown = null, took = 0;

  async function reload() {
    if (isPaused) return;
    if (running) { again = true; return; }
    running = true;
    do {
      again = false;
      const begun = performance.now();
      try {
        const value = await get(typeof path === "function" ? path() : path);
        if (!ended) show(value);
        took = performance.now() - begun;
      } catch (error) {
        // What was there stays visible while the node is away; the shell says that it is.
        if (!ended) state.update(old => ({ value: old.value, error, isLoading: false }));
      }
    } while (again && !ended);
    running = false;
  }

  // What has not changed stays the same object, so that nothing on the page is made anew.
  function show(value) {
    const old = state.peek();
    const text = JSON.stringify(value);
    if (text === shown && !old.error) return;
    state.set({ value: text === shown ? old.value : value, error: null, isLoading: false });
    shown = text;
  }

  // Long answers are fetched less often: the page has something else to do, too.
  const soon = debounce(reload, () => Math.min(2000, Math.max(30, 4 * (took - 20))));
  if (kinds === null || kinds.length) onActivity(kinds, soon);
  onResume(reload);
  const timer = every ? setInterval(() => { if (!document.hidden) reload(); }, every) : null;
  onEnd(() => { ended = true; clearInterval(timer); });
  reload();

  const read = () => state();
  return Object.assign(read, {
    peek: state.peek,
    reload,
    // Stops the fetches while the caller removes the resource.
    pause: paused => { isPaused = paused; },
    set: value => { shown = null; state.set({ value, error: null, isLoading: false }); },
  });
}

/// Turns a burst of events into one call, `milliseconds` (a number or a function) after the first.
export function debounce(body, milliseconds) {
  let timer = null;
  return () => {
    const wait = typeof milliseconds === "function" ? milliseconds() : milliseconds;
    timer ??= setTimeout(() => { timer = null; body(); }, wait);
  };
}

/// Kinds of activity after which networks, members and peers look different.
export const membershipKinds = [
  "peerJoined", "peerLeft", "refusedByPeer", "revoked", "membershipEnded", "joinGranted", "tokenRenewed",
  "tokenExpiring", "eventsIsolated", "eventsConnected", "changed:networks", "changed:peers",
];
export const peerKinds = [...membershipKinds, "pathChanged", "peerDiscovered", "peerLost"];
