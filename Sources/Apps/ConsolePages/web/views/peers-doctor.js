// What is right and wrong with this device's ways to others, and what to do about it.

import { h, signal } from "../lib/dom.js";
import { get, part } from "../lib/api.js";
import { page, section, button, facts, note, loaded } from "../lib/parts.js";
import { icon } from "../lib/icons.js";
import { query } from "../lib/router.js";
import { resource } from "../lib/store.js";
import { peers, nameOf, watchPeers } from "./peers-store.js";
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

/// The findings under a sentence that sums them up: the worst first, and what is fine folded away.
export function findings(report) {
  const problems = report.findings.filter(one => one.level === "problem");
  const fine = report.findings.filter(one => one.level === "ok");
  const notes = report.findings.filter(one => one.level !== "problem" && one.level !== "ok");
  return [
    h("p", { class: `verdict ${problems.length ? "bad" : "ok"}` }, icon(problems.length ? "warning" : "check"),
      h("strong", null, problems.length ? w.problems(problems.length) : w.healthy)),
    problems.length + notes.length > 0 && findingList([...problems, ...notes]),
    fine.length > 0 && h("details", null, h("summary", null, w.fine(fine.length)), findingList(fine)),
  ];
}

const findingList = list => h("ul", { class: "findings" }, list.map(one => h("li", { class: kinds[one.level]?.[1] },
  icon(kinds[one.level]?.[0] ?? "info"),
  h("div", null, h("span", { class: "away" }, `${w.levels[one.level] ?? one.level}: `),
    h("p", null, plainWords(one.message)),
    one.advice && h("p", { class: "quiet" }, w.advice, " ", plainWords(one.advice))))));

/// Formats a message of the node as a sentence: commands in backticks as code, and peers by their local names.
export function plainWords(text) {
  return sentence(text).split("`").map((one, index) => (index % 2 ? h("code", null, one)
    : one.split(shortId).map((part, at) => (at % 2 && peerOf(part) ? h("bdi", { dir: "auto" }, nameOf(peerOf(part).peerId))
      : part))));
}

/// The beginning of an id, as the node writes it for people; ordinary words look like it, too.
const shortId = /\b([a-z2-7]{8})\b/;

/// The first letter is made large unless it begins a name such as eth0, or the id or the label of a peer.
function sentence(text) {
  const isName = /^\p{L}+\d/u.test(text) || (text.search(shortId) === 0 && peerOf(text.slice(0, 8)))
    || [...peers().values()].some(one => one.label && text.startsWith(`${one.label} `));
  return isName ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

const peerOf = short => [...peers().values()].find(one => one.peerIdText.startsWith(short));

const device = report => facts([
  ...report.interfaces.filter(one => one.up && !one.loopback).map(one => [one.name, one.addresses.join(", ")]),
  report.observed?.length && [w.observed, report.observed.join(", ")],
  report.mapping && [w.mapping, w.mappings[report.mapping] ?? report.mapping],
  report.multicast.length && [w.multicast, w.multicastWords(report.multicast.some(one => one.outcome === "heard"))],
]);
