// What is right and wrong with this device's ways to others, and what to do about it.

import { h, signal } from "../lib/dom.js";
import { get, part } from "../lib/api.js";
import { page, section, button, facts, note, loaded } from "../lib/parts.js";
import { icon } from "../lib/icons.js";
import { query } from "../lib/router.js";
import { resource } from "../lib/store.js";
import { peers, clean, watchPeers } from "./peers-store.js";
import { t } from "../texts.js";

const w = t.doctor;
export const title = w.title;

export function mount(root) {
  watchPeers();
  const peer = query.peek().get("peer");
  const report = resource(`/doctor${peer ? `?peer=${part(peer)}` : ""}`);
  root.append(page({
    title: w.title, lead: w.lead, back: "/peers", backTitle: t.peers.title, isNarrow: true,
    actions: [button(w.again, { icon: "renew", onPress: () => report.reload() })],
  }, h("div", { class: "stack wide-gap", role: "status" }, loaded(report, value => [
    findings(value),
    section({ title: w.device }, device(value)),
  ]))));
}

const kinds = { ok: ["check", "ok"], note: ["info", "info"], problem: ["warning", "bad"] };
const order = { problem: 0, note: 1, ok: 2 };

/// The findings, the worst first, under a sentence that sums them up.
export function findings(report) {
  const list = report.findings.toSorted((a, b) => order[a.level] - order[b.level]);
  const problems = list.filter(one => one.level === "problem").length;
  return [
    h("p", { class: `verdict ${problems ? "bad" : "ok"}` }, icon(problems ? "warning" : "check"),
      h("strong", null, problems ? w.problems(problems) : w.healthy)),
    h("ul", { class: "findings" }, list.map(one => h("li", { class: kinds[one.level]?.[1] },
      icon(kinds[one.level]?.[0] ?? "info"),
      h("div", null, h("span", { class: "away" }, `${w.levels[one.level] ?? one.level}: `),
        h("p", null, plainWords(one.message)),
        one.advice && h("p", { class: "quiet" }, w.advice, " ", plainWords(one.advice)))))),
  ];
}

/// What the node says, as a sentence: commands in back quotes as such, and peers by their names here.
export function plainWords(text) {
  // The first letter is made large unless it begins a name such as eth0.
  const sentence = /^\p{L}+\d/u.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return sentence.split("`").map((one, index) => (index % 2 ? h("code", null, one)
    : one.split(/\b([a-z2-7]{8})\b/).map((part, at) => (at % 2 && labelOf(part) ? h("bdi", { dir: "auto" }, labelOf(part)) : part))));
}

function labelOf(short) {
  for (const peer of peers().values()) if (peer.label && peer.peerIdText.startsWith(short)) return clean(peer.label);
  return null;
}

const device = report => facts([
  ...report.interfaces.filter(one => one.up && !one.loopback).map(one => [one.name, one.addresses.join(", ")]),
  report.observed?.length && [w.observed, report.observed.join(", ")],
  report.mapping && [w.mapping, w.mappings[report.mapping] ?? report.mapping],
  report.multicast.length && [w.multicast, w.multicastWords(report.multicast.some(one => one.outcome === "heard"))],
]);
