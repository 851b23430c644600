// The one-time keys of this device and a peer: how many are left, and whether the safety number was compared.

import { h, computed, effect, signal } from "../lib/dom.js";
import { post, del, part } from "../lib/api.js";
import { resource } from "../lib/store.js";
import { badge, button, card, facts, note, section } from "../lib/parts.js";
import { openDialog, confirm, toast } from "../lib/dialog.js";
import { codeView } from "../lib/code.js";
import { scanner } from "../lib/scan.js";
import { nameOf } from "./peers-store.js";
import { t } from "../texts.js";

const w = t.sealing;

/// The keys of this device and a peer as a signal: `isKnown` once the node has answered; `relationship` is missing before
/// any exchange.
export function keysOf(peer) {
  const all = resource("/one-time-keys", ["changed:keys"]);
  const keys = computed(() => {
    const { value, error } = all();
    return { isKnown: value !== undefined, error, retry: all.reload,
      relationship: value?.relationships.find(one => one.peerId === peer) };
  });
  // Once there are keys, messages are sealed until the person says otherwise, whatever becomes of the keys.
  effect(() => { if (keys().relationship?.suite && sealing(peer)() === null) chooseSealing(peer, "on"); });
  return keys;
}

const choices = new Map();
const choiceName = peer => `runar-sealing-${peer}`;

/// Whether messages to a peer are sealed, as a signal: "on", "off", or null while neither keys nor the person said so.
export function sealing(peer) {
  if (!choices.has(peer)) choices.set(peer, signal(localStorage.getItem(choiceName(peer))));
  return choices.get(peer);
}

export function chooseSealing(peer, choice) {
  if (choice) localStorage.setItem(choiceName(peer), choice); else localStorage.removeItem(choiceName(peer));
  sealing(peer).set(choice);
}

/// `peer` is the id in base64, `id` the one that the node takes.
export function oneTimeKeys(peer, id, isConnected, keys) {
  const path = `/peers/${part(id)}/one-time-keys`;
  const exchange = async () => {
    await post(path);
    toast(w.exchanged(nameOf(peer)));
  };
  const exchangeButton = (words, kind) => button(words, { kind, icon: "key", onPress: exchange,
    disabled: () => !isConnected() });
  return section({ title: w.title, lead: w.lead }, card(() => {
    const { isKnown, error, retry, relationship: now } = keys();
    if (!isKnown) {
      return error ? note("bad", h("p", null, error.message), button(t.app.tryAgain, { onPress: retry }))
        : h("div", { class: "loading", role: "status" }, h("span", { class: "away" }, t.app.loading));
    }
    if (!now?.suite) {
      return [h("p", null, now && now.state !== "failed" ? w.underWay : w.none),
        () => (isConnected() ? null : h("p", { class: "quiet" }, w.notConnected)),
        h("div", { class: "buttons" }, exchangeButton(w.exchange, "primary"))];
    }
    return [
      supply(now, isConnected),
      facts([
        [w.kind, w.suites[now.suite] ?? now.suite],
        [w.receiving, w.messages(now.receivingKeys)],
        [w.safetyNumber, h("span", { class: "cluster" },
          now.verified ? badge(w.verified, "ok") : badge(w.notVerified, "warn"))],
      ]),
      h("div", { class: "buttons" },
        now.safetyNumber && button(w.compare, { kind: now.verified ? "" : "primary", icon: "check",
          onPress: () => compareNumbers(nameOf(peer), path, now.safetyNumber) }),
        exchangeButton(w.exchangeAgain),
        button(w.remove, { icon: "trash", onPress: () => remove(peer, path) })),
    ];
  }));
}

function supply({ sendingKeys, sendingCapacity, low }, isConnected) {
  const words = w.supply(sendingKeys, sendingCapacity);
  return [
    h("div", { class: "stack tight" },
      h("p", null, words),
      h("progress", { class: low ? "low" : null, max: sendingCapacity, value: sendingKeys, "aria-label": w.supplyLabel })),
    low && note(sendingKeys ? "warn" : "bad", h("p", null, sendingKeys ? w.low : w.empty), " ",
      () => h("p", null, isConnected() ? w.renewedNow : w.renewedLater)),
  ];
}

async function remove(peer, path) {
  const name = nameOf(peer);
  if (!await confirm({ title: w.removeTitle(name), text: w.removeText, action: w.remove, isDangerous: true })) return;
  await del(path);
  chooseSealing(peer, null);
  toast(w.removed(name));
}

/// Compares a safety number; `path` is the resource that is then verified.
export function compareNumbers(name, path, digits) {
  const { close } = openDialog({ title: w.compareTitle(name), isWide: true }, () => [
    h("p", null, w.compareText),
    h("p", { class: "safety-number" }, digits.split(" ").map(group => h("span", null, group, " "))),
    h("p", null, w.differ),
    h("div", { class: "buttons" }, button(w.same, { kind: "primary", icon: "check", onPress: () => verify(digits) })),
    h("h3", null, w.scan),
    h("p", { class: "quiet" }, w.scanText),
    codeView(digits, { label: w.codeLabel, name: "safety-number" }),
    scanner({ onText: verify, pasteLabel: w.paste, pasteHint: w.pasteHint, action: w.compareAction }),
  ]);

  async function verify(text) {
    try {
      await post(`${path}/verify`, { text });
    } catch (error) {
      throw new Error(w.failures[error.code] ?? error.message);
    }
    close();
    toast(w.nowVerified(name));
  }
}
