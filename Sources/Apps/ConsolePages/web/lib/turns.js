// What the pages of this browser share. It opens six connections to one address at most, for all of them together: one is
// for what happens at the node, which one page at a time reads for all (`takeTurns`, activity.js); four are for other
// answers that last (`inPlace`); so there is always one for a question. Without locks every page is on its own.

import { signal } from "./dom.js";

const { locks } = navigator;
const turn = "runar.activity";
const places = 4;

/// Runs `work(signal)` in one page at a time: the one that was shown last, or another when that is closed or hidden.
/// The work ends when its signal aborts. Returns a function that takes over from a page that seems to be suspended.
export function takeTurns(work) {
  let waiting = null, working = null, insists = !document.hidden;
  const insist = () => {
    if (working) return;
    insists = true;
    waiting?.abort();
  };
  const mine = () => {
    insists = false;
    working = new AbortController();
    return work(working.signal);
  };
  const giveAway = async () => {
    const { pending } = await locks.query();
    if (document.hidden && pending.some(one => one.name === turn)) working?.abort();
  };
  async function run() {
    while (locks) {
      waiting = new AbortController();
      try {
        await locks.request(turn, insists ? { steal: true } : { signal: waiting.signal }, mine);
      } catch (error) {
        // Either another page has taken the turn, or this one does now.
        if (error.name !== "AbortError") break;
      }
      working?.abort();
      working = null;
    }
    mine();
  }
  if (locks) document.addEventListener("visibilitychange", () => (document.hidden ? giveAway() : insist()));
  run();
  return insist;
}

/// Does the body and keeps a place meanwhile; false when none is free.
export async function inPlace(body) {
  let isDone = !locks;
  if (!locks) await body();
  for (let number = 0; number < places && !isDone; number++) {
    await locks.request(`runar.place.${number}`, { ifAvailable: true }, async lock => {
      if (!lock) return;
      isDone = true;
      await body();
    });
  }
  return isDone;
}

/// False while the page is out of sight and another one shows the console: then it gives its places away.
export const isAwake = signal(true);
const presence = new BroadcastChannel("runar.presence");
presence.onmessage = ({ data }) => {
  if (data === "here" && document.hidden) isAwake.set(false);
  if (data === "gone") isAwake.set(true);
};

function showPresence() {
  if (document.hidden) return;
  presence.postMessage("here");
  isAwake.set(true);
}

document.addEventListener("visibilitychange", showPresence);
addEventListener("pagehide", () => presence.postMessage("gone"));
showPresence();
