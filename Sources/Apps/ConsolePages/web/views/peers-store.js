// The peers that this device knows, and their names.
//
// `peers()` maps ids (padded base64) to peers; `roundTrips()` has round-trip times by id, which sort no list.

import { h, signal, scope } from "../lib/dom.js";
import { get } from "../lib/api.js";
import { onActivity, onResume } from "../lib/activity.js";
import { resource, peerKinds } from "../lib/store.js";
import { base64url, clean, shortOf } from "../lib/format.js";
import { t } from "../texts.js";

export { clean };

export const peers = signal(new Map());
/// `{isLoaded, error}`.
export const peersState = signal({ isLoaded: false, error: null });
export const roundTrips = signal({});
export const peerPath = id => `/peers/${base64url(id)}`;

/// Up to this many are cheaper to fetch together than one by one.
const fewPeers = 200;

let own = null;
let isStarted = false;
const changed = new Set();
/// The times at which peers disconnected since the page was opened.
const leftAt = new Map();
let timer = null;
let running = false;
let all = false;

/// Begins to keep the peers fresh; called by every view that shows them.
export function watchPeers() {
  if (isStarted) return;
  isStarted = true;
  // A scope of its own: the peers outlive the view that asked first.
  scope(() => {
    own = resource("/node");
    onActivity(peerKinds, line => refresh(line.peerId));
    onActivity(["peerLeft"], line => leftAt.set(line.peerId, line.at / 1000));
    onActivity(["changed"], line => { if (line.what?.some(one => one === "peers" || one === "networks")) refresh(); });
    onActivity(["sample"], line => { if (line.roundTrips) roundTrips.set(line.roundTrips); });
    onResume(() => refresh());
  });
  refresh();
}

/// Returns the time at which a peer was last connected, in seconds since 1970; 0 for never.
export const lastSeen = peer => Math.max(peer.lastSeen ?? 0, leftAt.get(peer.peerId) ?? 0);

export function refresh(id) {
  if (id && peers.peek().size > fewPeers) changed.add(id); else all = true;
  timer ??= setTimeout(run, 0);
}

async function run() {
  timer = null;
  if (running) { timer = setTimeout(run, 50); return; }
  running = true;
  try {
    if (all || changed.size > fewPeers) await fetchAll(); else await fetchChanged();
  } catch (error) {
    // All is fetched again when the node is back.
    peersState.set({ isLoaded: peersState.peek().isLoaded, error });
  }
  running = false;
}

async function fetchAll() {
  all = false;
  changed.clear();
  const { peers: list } = await get("/peers?all=1");
  peers.set(new Map(list.map(peer => [peer.peerId, peer])));
  peersState.set({ isLoaded: true, error: null });
}

async function fetchChanged() {
  const ids = [...changed];
  changed.clear();
  const found = await Promise.all(ids.map(async id => {
    try { return [id, await get(peerPath(id))]; } catch (error) {
      if (error.status === 404) return [id, null];
      throw error;
    }
  }));
  const next = new Map(peers.peek());
  for (const [id, peer] of found) if (peer) next.set(id, peer); else next.delete(id);
  peers.set(next);
}

/// Returns the name of a device.
export function nameOf(id, label) {
  if (id && id === own?.()?.value?.peerId) return t.app.thisDevice;
  const known = label || (id && peers().get(id)?.label);
  return known ? clean(known) : id ? t.peers.unnamedDevice(shortOf(id)) : "?";
}

/// An element with the name of a device, updated when the name changes.
export const name = (id, label) => h("bdi", { dir: "auto" }, () => nameOf(id, label));

export const isOwn = id => Boolean(id) && id === own?.()?.value?.peerId;
