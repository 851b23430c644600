// One peer: how it is reached, what was said, and what happened on the way to it.

import { h, signal, effect, each, untracked } from "../lib/dom.js";
import { get, post, part } from "../lib/api.js";
import { onActivity } from "../lib/activity.js";
import { page, section, card, button, facts, badge, copyable, loadedOnce } from "../lib/parts.js";
import { toast, confirm } from "../lib/dialog.js";
import { resource } from "../lib/store.js";
import { setTitle } from "../lib/router.js";
import { ago, date, clock } from "../lib/format.js";
import { peers, watchPeers, lastSeen, name, nameOf, isOwn, clean } from "./peers-store.js";
import { way, foundWords, seen, roundTrip, presence, isApart } from "./peers.js";
import { conversation } from "./conversation.js";
import { findings, plainWords } from "./peers-doctor.js";
import { keysOf, oneTimeKeys } from "./sealing.js";
import { t } from "../texts.js";

const w = t.peer;
export const title = w.title;

/// Steps with a longer pause between them belong to different attempts.
const attemptPauseSeconds = 30;
const shownAttempts = 10;

export function mount(root, { peer: id }) {
  watchPeers();
  const path = `/peers/${part(id)}`;
  const detail = resource(path);
  onActivity(null, line => {
    if (line.kind === "event" && line.peerId && line.peerId === detail.peek().value?.peerId) detail.reload();
  });
  root.append(h("div", null, loadedOnce(detail, value => whole(value, detail),
    { frame: { title: w.title, back: "/peers", backTitle: t.peers.title } })));
}

function whole(peer, detail) {
  const id = peer.peek().peerId;
  effect(() => setTitle(nameOf(id, peer().label)));
  const isConnected = () => peer().connected;
  const keys = keysOf(id);
  return page({
    title: name(id), back: "/peers", backTitle: t.peers.title,
    lead: [() => state(peer())],
    actions: () => (isOwn(id) ? null
      : isConnected() ? button(w.disconnect, { onPress: () => disconnect(id, detail) })
        : button(w.connect, { kind: "primary", icon: "bolt", onPress: () => connect(peer.peek(), detail) })),
  },
  h("div", { class: "beside" },
    conversation(id, isConnected, keys),
    h("div", { class: "stack wide-gap" },
      section({ title: w.about }, card(() => about(peer()), h("div", { class: "stack tight" },
        h("p", { class: "quiet" }, w.id), copyable(peer.peek().peerIdText, w.id)))),
      isOwn(id) ? null : oneTimeKeys(id, peer.peek().peerIdText, isConnected, keys),
      section({ title: w.trouble, lead: w.troubleLead }, doctor(id)),
      section({ title: w.history, lead: w.historyLead }, history(() => peer().history, isConnected)))));
}

function state(peer) {
  const kind = { on: "ok", relayed: "warn", off: "quiet" }[presence(peer)];
  const words = isApart(peer) ? w.apart(peer.disconnected.byThisDevice, clock(peer.disconnected.until * 1000))
    : !peer.connected ? w.offline(lastSeen(peer) ? ago(lastSeen(peer)) : null)
    : peer.relayed ? w.relayed(peer.relay ? nameOf(peer.relay) : null) : w.direct;
  return h("span", { class: "cluster" }, badge(words, kind),
    h("span", null, () => { const value = roundTrip(peer); return value && w.answers(value); }));
}

const about = peer => facts([
  [w.networks, peer.networkNames.length ? peer.networkNames.map((one, index) => [index > 0 && ", ",
    h("bdi", { dir: "auto" }, clean(one))]) : w.noNetwork],
  [w.found, foundWords(peer)],
  peer.connected && [w.way, way(peer)],
  peer.address && [w.address, h("code", null, peer.address)],
  [w.seen, peer.connected ? t.peers.now : lastSeen(peer) ? `${seen(peer)} (${date(lastSeen(peer))})` : t.peers.never],
]);

// Connecting and disconnecting.

async function connect(peer, detail) {
  const network = peer.networks[0];
  if (!network) throw new Error(w.noSharedNetwork);
  try {
    await post(`/peers/${part(peer.peerIdText)}/connect`, { network });
    toast(w.connected(nameOf(peer.peerId)));
  } finally { detail.reload(); }
}

async function disconnect(id, detail) {
  if (!await confirm({ title: w.disconnectTitle(nameOf(id)), text: w.disconnectText, action: w.disconnect })) return;
  await post(`/peers/${part(detail.peek().value.peerIdText)}/disconnect`);
  detail.reload();
}

// What is wrong.

function doctor(id) {
  const report = signal(null);
  return h("div", { class: "stack" },
    h("div", null, button(w.check, { icon: "info", onPress: async () => {
      report.set(await get(`/doctor?peer=${part(peers.peek().get(id)?.peerIdText ?? id)}`));
    } })),
    h("div", { role: "status", class: "stack" }, () => report() && findings(report())));
}

// What happened on the way to it.

function attempts(steps) {
  const list = [];
  let last = null;
  for (const step of steps) {
    if (!last || step.time > last.at(-1).time + attemptPauseSeconds) list.push(last = []);
    last.push(step);
  }
  return list.reverse();
}

/// Returns the step with the outcome of an attempt, or its last step. While the peer is connected, addresses that did not
/// answer later than the one that did are no outcome.
function outcome(steps, isConnected) {
  const ends = steps.filter(step => w.outcomes[step.event]);
  return (isConnected && ends.findLast(step => step.event !== "notReached")) || ends.at(-1) || steps.at(-1);
}

/// The newest attempt first; while the peer is connected, the one that connected it.
function ordered(steps, isConnected) {
  const list = attempts(steps);
  const made = isConnected ? Math.max(0, list.findIndex(one => w.outcomes[outcome(one, true).event]?.[0] === "ok")) : 0;
  return [...list.slice(made, made + 1), ...list.filter((_, at) => at !== made)].slice(0, shownAttempts);
}

function history(steps, isConnected) {
  const list = () => ordered(steps(), isConnected());
  return [
    () => (steps().length ? null : h("p", { class: "quiet" }, w.noHistory)),
    h("ol", { class: "attempts" }, each(list, attempt => attempt[0].time, attempt => {
      const isNewest = attempt.peek()[0].time === untracked(() => list()[0][0].time);
      const end = () => outcome(attempt(), isConnected());
      const words = () => w.outcomes[end().event] ?? ["quiet", w.tried];
      return h("li", null, h("details", { open: isNewest },
        h("summary", null, () => badge(words()[1], words()[0]), " ",
          h("span", { class: "quiet" }, () => ago(end().time))),
        h("ol", { class: "steps" }, () => attempt().map(step => h("li", null,
          h("time", { class: "quiet" }, clock(step.time * 1000)), h("span", null, plainWords(step.text)))))));
    })),
  ];
}
