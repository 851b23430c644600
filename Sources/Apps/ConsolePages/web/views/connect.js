// Connecting two members face to face: one shows a code, the other reads it.

import { h, signal, computed, effect, untracked } from "../lib/dom.js";
import { get, post, part } from "../lib/api.js";
import { page, card, button, note, field, select, empty, loadedOnce } from "../lib/parts.js";
import { openDialog, toast } from "../lib/dialog.js";
import { go, query } from "../lib/router.js";
import { resource, membershipKinds } from "../lib/store.js";
import { codeView } from "../lib/code.js";
import { scanner, looksLikeOurs } from "../lib/scan.js";
import { date } from "../lib/format.js";
import { networkPath } from "./data.js";
import { watchPeers, nameOf, peerPath } from "./peers-store.js";
import { t } from "../texts.js";

const w = t.connect;
export const title = w.title;

export function mount(root) {
  watchPeers();
  const networks = resource("/networks", membershipKinds);
  root.append(page({ title: w.title, lead: w.lead, back: "/peers", backTitle: t.peers.title },
    loadedOnce(networks, value => {
      // Connections change while the person types or scans; that must not render the form again.
      const members = computed(() => JSON.stringify(value().networks.filter(one => one.isMember)
        .map(({ networkId, name }) => ({ networkId, name }))));
      return () => content(JSON.parse(members()));
    })));
}

const content = list => (list.length
  ? untracked(() => sides(list))
  : empty({ icon: "networks", title: w.noNetworkTitle, text: w.noNetwork, actions: [
    button(t.networks.joinFirst, { icon: "scan", kind: "primary", href: "/join" }),
    button(t.networks.createFirst, { icon: "plus", href: "/networks/new" }),
  ] }));

const sides = list => h("div", { class: "beside even" },
  card(h("h2", null, w.read), h("p", { class: "quiet" }, w.readLead),
    scanner({ onText: text => read(text, list), pasteHint: w.pasteHint, action: w.connect,
      value: query.peek().get("text") ?? "" })),
  card(h("h2", null, w.show), h("p", { class: "quiet" }, w.showLead), own(list)));

// Reading.

async function read(text, list) {
  const found = await post("/inspect", { text });
  if (found.kind === "unknown" && looksLikeOurs(text)) throw new Error(t.join.notForJoining.ours);
  if (found.kind !== "peer") throw new Error(w.other[found.kind] ?? w.unknown);
  const end = found.token_expiration;
  if (!found.valid) throw new Error(end && end < Date.now() / 1000 ? w.ended(date(end)) : w.damaged);
  const network = list.find(one => one.networkId === found.network_id);
  if (!network) throw new Error(w.foreign);
  const dialog = openDialog({ title: w.connecting, isRequired: true }, () => [
    h("p", { role: "status" }, w.reaching(nameOf(found.peer_id), found.address)),
    h("progress", { "aria-label": w.connecting }),
  ]);
  let reached;
  try { reached = await post("/connect", { text }); } finally { dialog.close(); }
  await dialog.closed;
  toast(w.connected(nameOf(reached.peerId)));
  go(peerPath(reached.peerId));
}

// Showing.

function own(list) {
  const network = signal(list[0].networkId), address = signal(""), text = signal(""), error = signal(""),
    places = signal([]);
  findPlaces().then(found => {
    places.set(found);
    address.set(found[0]?.address ?? "own");
    return get("/status");
  }).then(how => how.configuration.some(one => one.key === "stunServers") ? get("/public-address") : {})
    .then(({ address: one }) => one && places.update(list => [...list.filter(place => place.address !== one),
    { kind: "internet", address: one }]), () => {});
  let turn = 0;
  effect(() => {
    const asked = address(), mine = ++turn;
    if (!asked) return;
    const query = asked === "own" ? "" : `?address=${part(asked)}`;
    get(`${networkPath(network())}/connection-text${query}`).then(
      answer => { if (mine === turn) { error.set(""); text.set(answer.text); } },
      failure => { if (mine === turn) { text.set(""); error.set(failure.message); } });
  });
  return h("div", { class: "stack" },
    list.length > 1 && field({ label: w.network }, p => select(list.map(one => [one.networkId,
      one.name ?? t.networks.unnamed]),
      { ...p, value: network.peek(), onChange: network.set })),
    () => (places().length > 1 ? field({ label: w.where, hint: w.whereHint },
      p => select(places().map(one => [one.address,
      w.places[one.kind](one.address)]), { ...p, value: address.peek(), onChange: address.set })) : null),
    () => (error() ? note("warn", h("p", null, error())) : text() ? codeView(text, { label: w.codeLabel,
      name: "runar-connect" })
      : h("div", { class: "loading", role: "status" }, h("span", { class: "away" }, t.app.loading))),
    h("p", { class: "quiet" }, w.codeLasts));
}

/// Finds the addresses at which another member can dial this device: local ones first, then those seen from outside.
async function findPlaces() {
  try {
    const [node, report] = await Promise.all([get("/node"), get("/doctor")]);
    const port = one => /:(\d+)$/.exec(one)?.[1];
    const bound = node.addresses.map(one => ({ host: one.slice(0, one.lastIndexOf(":")), port: port(one),
      whole: one }));
    const found = [];
    for (const { host, port, whole } of bound) {
      const isAny = host === "0.0.0.0" || host === "[::]";
      if (!isAny) { found.push({ kind: "local", address: whole }); continue; }
      const six = host === "[::]";
      for (const one of report.interfaces.filter(face => face.up && !face.loopback).flatMap(face => face.addresses)) {
        const isSix = one.includes(":");
        if (isSix && (!six || one.startsWith("fe80"))) continue;
        found.push({ kind: "local", address: isSix ? `[${one}]:${port}` : `${one}:${port}` });
      }
    }
    for (const one of report.observed ?? []) found.push({ kind: "internet", address: one });
    return found.filter((one, index) => found.findIndex(other => other.address === one.address) === index).slice(0, 12);
  } catch {
    // The node then chooses itself.
    return [];
  }
}
