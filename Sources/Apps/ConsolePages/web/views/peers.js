// Who is there, as it changes: how each was found and is reached, how fast it answers, when it was last here.

import { h, signal, computed, untracked } from "../lib/dom.js";
import { get } from "../lib/api.js";
import { onActivity } from "../lib/activity.js";
import { say } from "../lib/dialog.js";
import { longList } from "../lib/list.js";
import { page, button, empty, note, select } from "../lib/parts.js";
import { icon } from "../lib/icons.js";
import { link } from "../lib/router.js";
import { resource } from "../lib/store.js";
import { ago, milliseconds, number } from "../lib/format.js";
import { peers, peersState, peerPath, roundTrips, lastSeen, watchPeers, refresh, name, nameOf } from "./peers-store.js";
import { networkPath } from "./data.js";
import { unread, watchMessages } from "./messages-store.js";
import { t } from "../texts.js";

const w = t.peers;
export const title = w.title;

const collator = new Intl.Collator(t.language, { numeric: true, sensitivity: "base" });
/// The number of peers above which joins and leaves are no longer announced to screen readers.
const mostTold = 50;
// What was chosen stays while the page is open.
const show = signal("all");
const network = signal("");
const search = signal("");

const shows = {
  all: () => true,
  connected: peer => peer.connected,
  nearby: peer => peer.foundBy.includes("localNetwork"),
};

export function mount(root) {
  watchPeers();
  watchMessages();
  const networks = resource("/networks");
  // The list grows by those whom other members name; without an answer it stays as it is.
  get("/networks").then(({ networks: all }) => Promise.all(all.filter(one => one.connected > 0)
    .map(one => get(`${networkPath(one.networkId)}/discovered`))))
    .then(() => refresh(), () => {});
  const minute = signal(0);
  const found = computed(matching);

  root.append(page({
    title: w.title, lead: w.lead,
    actions: [
      button(w.doctor, { href: "/doctor" }),
      button(w.connect, { icon: "scan", kind: "primary", href: "/connect" }),
    ],
  },
  () => (peersState().error && !peersState().isLoaded
    ? note("bad", h("p", null, peersState().error.message), button(t.app.tryAgain, { onPress: () => refresh() }))
    : !peersState().isLoaded ? h("div", { class: "loading", role: "status" }, h("span", { class: "away" },
      t.app.loading))
      : null),
  h("div", { class: "stack", hidden: () => !peersState().isLoaded || !peers().size },
    filters(networks),
    h("div", { class: "peer-head", "aria-hidden": "true", hidden: () => !found().length },
      h("span"), h("span", null, w.device), h("span", null, w.way), h("span", null, w.answers), h("span", null,
        w.seen)),
    longList({ label: w.list, items: found, key: peer => peer.peerId, rowHeight: 68, render: peer => peerRow(peer,
      minute) }),
    () => (found().length ? null : nothing())),
  () => (peersState().isLoaded && !peers().size ? nobody() : null)));

  onActivity(["peerJoined", "peerLeft"], line => {
    if (peers.peek().size > mostTold) return;
    say((line.event === "peerJoined" ? w.came : w.went)(untracked(() => nameOf(line.peerId))));
  });
  // "5 minutes ago" grows older by itself.
  const timer = setInterval(() => minute.update(count => count + 1), 30_000);
  return () => clearInterval(timer);
}

function matching() {
  const wanted = search().trim().toLowerCase();
  const list = [];
  for (const peer of peers().values()) {
    if (!shows[show()](peer)) continue;
    if (network() && !peer.networks.includes(network())) continue;
    if (wanted && !(peer.label ?? "").toLowerCase().includes(wanted) && !peer.peerIdText.startsWith(wanted)) continue;
    // Those without a name come last.
    list.push([peer, peer.label || `\uffff${peer.peerIdText}`]);
  }
  list.sort(([a, nameA], [b, nameB]) => b.connected - a.connected || collator.compare(nameA, nameB)
    || (a.peerId < b.peerId ? -1 : 1));
  return list.map(([peer]) => peer);
}

function count(kind) {
  let sum = 0;
  for (const peer of peers().values()) if (shows[kind](peer)) sum++;
  return sum;
}

function filters(networks) {
  return h("div", { class: "filters" },
    h("fieldset", { class: "segments" }, h("legend", { class: "away" }, w.which),
      Object.keys(shows).map(kind => h("label", null,
        h("input", { type: "radio", name: "which", value: kind, checked: () => show() === kind,
          onchange: () => show.set(kind) }),
        h("span", null, w.shows[kind], h("span", { class: "count" }, () => number(count(kind))))))),
    () => {
      const list = networks().value?.networks ?? [];
      return list.length > 1 && select([["", w.everyNetwork], ...list.map(one => [one.networkId,
        one.name ?? w.unnamed])],
        { value: network.peek(), onChange: network.set, "aria-label": w.network, id: "peer-network" });
    },
    h("div", { class: "search" }, icon("search", 18),
      h("input", { type: "search", "aria-label": w.search, placeholder: w.search, value: search.peek(),
        autocomplete: "off", spellcheck: "false", oninput: event => search.set(event.target.value) })));
}

/// Whether a person keeps the two devices apart for now.
export const isApart = peer => !peer.connected && peer.disconnected?.until > Date.now() / 1000;

/// Describes a peer's path: direct, relayed or none.
export function way(peer) {
  if (isApart(peer)) return peer.disconnected.byThisDevice ? w.disconnectedHere : w.disconnectedThere;
  if (!peer.connected) return w.notConnected;
  if (!peer.relayed) return w.direct;
  return peer.relay ? w.over(nameOf(peer.relay)) : w.relayed;
}

export const foundWords = peer => (peer.foundBy.length ? peer.foundBy : ["before"]).map(one =>
  w.found[one] ?? one).join(", ");

export const seen = peer => (peer.connected ? w.now : lastSeen(peer) ? ago(lastSeen(peer)) : w.never);

/// The newest round-trip time, or nothing.
export const roundTrip = peer => {
  const value = roundTrips()[peer.peerId] ?? peer.roundTripMicroseconds;
  return peer.connected && value !== undefined ? milliseconds(value) : "";
};

export const presence = peer => (!peer.connected ? "off" : peer.relayed ? "relayed" : "on");

function peerRow(peer, minute) {
  return h("a", { class: "row peer-row", href: link(peerPath(peer.peerId)) },
    h("span", { class: `presence ${presence(peer)}` }, icon("peers")),
    h("span", { class: "row-main" },
      h("span", { class: "row-title" }, name(peer.peerId, peer.label), () => {
        const count = unread().get(peer.peerId);
        return count ? h("span", { class: "unread" }, number(count), h("span", { class: "away" }, ` ${w.unread}`))
          : null;
      }),
      h("span", { class: "row-detail" }, peer.networkNames.map((one, index) => [index > 0 && ", ",
        h("bdi", { dir: "auto" }, one.slice(0, 64))]))),
    h("span", { class: "peer-way" }, h("span", null, () => way(peer)), h("span", { class: "quiet" }, foundWords(peer))),
    h("span", { class: "peer-time" }, () => roundTrip(peer)),
    h("span", { class: "peer-seen" }, () => { minute(); return seen(peer); }), icon("forward", 18));
}

const nothing = () => h("p", { class: "quiet centered" }, search() || network() ? w.noMatch : w.noneOf[show()]);

const nobody = () => empty({
  icon: "peers", title: w.emptyTitle, text: w.empty,
  actions: [
    button(w.invite, { icon: "share", kind: "primary", href: "/networks" }),
    button(w.connect, { icon: "scan", href: "/connect" }),
    button(w.doctor, { icon: "info", kind: "quiet", href: "/doctor" }),
  ],
});
