// Pictures of the networks: who is connected to whom, how fast, whom the hash table knows, and what it does now.

import { h, signal, computed, effect, each, onEnd, untracked } from "../lib/dom.js";
import { resource, peerKinds } from "../lib/store.js";
import { section, field, select, button, row, bdi, badge, empty, loaded, note } from "../lib/parts.js";
import { link } from "../lib/router.js";
import { part } from "../lib/api.js";
import { ago, base64url, clean, milliseconds, short, shortOf, time } from "../lib/format.js";
import { networkMap } from "../pictures/map.js";
import { bucketPicture } from "../pictures/buckets.js";
import { operationStrip } from "../pictures/strip.js";
import { operations } from "../pictures/history.js";
import { dataPage } from "./data.js";
import { plots } from "./map-plots.js";
import { nameOf, peerPath, peers, peersState, refresh, roundTrips, watchPeers } from "./peers-store.js";
import { t } from "../texts.js";

const w = t.map;
export const title = w.title;

const tableReload = 15_000;
const tableLimit = 500;

const pageOf = peer => link(peerPath(peer.peerId));

export function mount(root) {
  const networks = resource("/networks", peerKinds);
  watchPeers();
  const chosen = signal("");
  const members = computed(() => (networks().value?.networks ?? []).filter(one => one.role !== "none"));
  const shown = computed(() => [...peers().values()].filter(one => !chosen() || one.networks.includes(chosen())));

  dataPage(root, { place: "map", title: w.title, lead: w.lead, content: [
    () => members().length > 1 && h("div", { class: "filter-grid" }, field({ label: w.network }, p => select(
      [["", w.all], ...members().map(one => [one.networkId, one.name ?? short(one.networkIdText)])],
      { ...p, value: untracked(chosen), onChange: chosen.set }))),
    section({ title: w.mapTitle }, () => (shown().length ? null : whyEmpty()), mapCard(shown)),
    plots(),
    liveOperations(members),
    section({ title: w.tableTitle, lead: w.tableLead },
      h("ul", { class: "legend" }, Object.entries(w.places).map(([kind, words]) =>
        h("li", null, h("span", { class: `swatch place is-${kind}` }), words))),
      each(() => members().filter(one => !chosen() || one.networkId === chosen()), one => one.networkId,
        network => table(untracked(network)))),
  ] });
}

const whyEmpty = () => (peersState().isLoaded ? nobody()
  : peersState().error ? note("bad", h("p", null, peersState().error.message),
    button(t.app.tryAgain, { onPress: () => refresh() }))
    : h("div", { class: "loading", role: "status" }, h("span", { class: "away" }, t.app.loading)));

const nobody = () => empty({ icon: "peers", title: w.emptyTitle, text: w.empty,
  actions: [button(w.invite, { href: "/networks", kind: "primary" })] });

function mapCard(shown) {
  const box = h("div", { class: "picture" });
  const way = peer => (!peer.connected ? w.away
    : peer.relayed ? w.over(peer.relay ? nameOf(peer.relay) : w.unknownRelay) : w.direct);
  const trip = peer => {
    const now = roundTrips()[peer.peerId] ?? peer.roundTripMicroseconds;
    return peer.connected && now ? milliseconds(now) : "";
  };
  const called = peer => nameOf(peer.peerId, peer.label);
  const seen = peer => (peer.connected ? w.now : peer.lastSeen ? ago(peer.lastSeen) : w.never);
  const hidden = signal(0);
  const map = networkMap(box, { open: pageOf, onHidden: hidden.set, words: {
    title: w.picture, self: w.self, name: peer => (peer.label ? clean(peer.label) : shortOf(peer.peerId)), detail: trip,
    describe: peer => w.describe(called(peer), way(peer), trip(peer)),
  } });
  effect(() => { const all = shown(); untracked(() => map.show(all)); });
  effect(() => { roundTrips(); untracked(map.retell); });
  const count = test => shown().filter(test).length;
  const isOpen = signal(false);
  return h("div", { class: "card", hidden: () => !shown().length },
    h("p", { class: "quiet" }, () => w.summary(count(one => one.connected && !one.relayed),
      count(one => one.connected && one.relayed), count(one => !one.connected))),
    box,
    h("p", { class: "hint", hidden: () => !hidden() }, () => w.hidden(hidden())),
    h("ul", { class: "legend" }, ["direct", "relayed", "away"].map(kind =>
      h("li", null, h("span", { class: `swatch is-${kind}` }), w[kind]))),
    h("details", { ontoggle: event => isOpen.set(event.target.open) }, h("summary", null, w.asTable),
      // The table may be long and is rendered only while it is open.
      () => isOpen() && h("div", { class: "scroll-x", tabindex: 0, role: "region", "aria-label": w.mapTitle },
        h("table", null,
          h("thead", null, h("tr", null,
            [w.device, w.way, w.roundTrip, w.seen].map(one => h("th", { scope: "col" }, one)))),
          h("tbody", null, each(() => shown().slice(0, tableLimit), one => one.peerId, peer => h("tr", null,
            h("th", { scope: "row" }, h("a", { href: pageOf(untracked(peer)) }, () => bdi(called(peer())))),
            [way, one => trip(one) || "–", seen].map(words => h("td", null, () => words(peer()))))))),
        () => shown().length > tableLimit && h("p", { class: "hint" }, w.hidden(shown().length - tableLimit)))));
}

function table(network) {
  const report = resource(`/networks/${part(base64url(network.networkId))}/table`, peerKinds, { every: tableReload });
  const box = h("div", { class: "picture" });
  const count = (bucket, test) => bucket.members.filter(test).length;
  const picture = bucketPicture(box, {
    title: w.tableTitle, row: w.bucket,
    describe: bucket => w.bucketLong(bucket.sharedBits, bucket.members.length, count(bucket, one => one.connected),
      count(bucket, one => one.isSuspected)),
  });
  effect(() => { if (report().value) picture.show(report().value); });
  const isFilled = () => Boolean(report().value?.isRunning && report().value.buckets.length);
  return h("div", { class: "card" },
    h("h3", null, bdi(network.name ?? short(network.networkIdText))),
    loaded(report, value => h("p", { class: "quiet" }, !value.isRunning ? w.tableOff
      : [value.buckets.length ? w.contacts(value.contacts, value.connected) : w.tableNone, " · ",
        w.held(value.records, value.ownRecords)])),
    h("div", { hidden: () => !isFilled() }, box));
}

function liveOperations(members) {
  const box = h("div", { class: "picture" });
  const strip = operationStrip(box, { title: w.strip, format: duration, ago: w.secondsAgo });
  const draw = () => strip.show(untracked(operations).map(one => ({ ...one, outcome: kindOf(one) })), Date.now());
  effect(() => { operations(); draw(); });
  const timer = setInterval(() => { if (!document.hidden) draw(); }, 1000);
  onEnd(() => clearInterval(timer));
  return section({ title: w.operations, lead: w.operationsLead },
    h("div", { class: "card" }, box,
      () => (operations().length ? null : h("p", { class: "cluster" }, w.operationsNone,
        h("a", { href: link("/data/records") }, w.tryOne)))),
    h("ul", { class: "rows", "aria-label": w.operations, hidden: () => !operations().length },
      each(() => operations().slice(0, 30), one => one.number,
        one => h("li", null, () => operationRow(one(), members)))));
}

const kindOf = one => (one.failed ? "failed" : one.outcome === "nothing" ? "empty" : "good");
const duration = value => (value < 1000 ? w.milliseconds(value) : w.seconds(Math.round(value / 100) / 10));

function operationRow(one, members) {
  const network = members().find(other => other.networkId === one.networkId);
  const key = one.key ?? (one.keyHex && `${one.keyHex.slice(0, 12)}…`);
  const said = one.phase === "begun" ? badge(w.running) : badge(w.outcomes[one.outcome]?.(one.count) ?? one.outcome,
    { failed: "bad", empty: "warn", good: "ok" }[kindOf(one)]);
  return row({
    title: [w.verbs[one.operation] ?? one.operation, key && [" ", bdi(key, { class: "mono" })]],
    detail: [time(one.at), network?.name && [" · ", bdi(network.name)]],
    end: [said, one.milliseconds !== undefined && duration(one.milliseconds)],
  });
}
