// Joining: whatever code or text there is, it is looked at first and then said what it does.

import { h, signal, onEnd } from "../lib/dom.js";
import { get, post, lasting, part } from "../lib/api.js";
import { query, go } from "../lib/router.js";
import { page, card, button, note, bdi, facts, section, copyable } from "../lib/parts.js";
import { codeView } from "../lib/code.js";
import { scanner, plain, looksLikeOurs } from "../lib/scan.js";
import { say } from "../lib/dialog.js";
import { icon } from "../lib/icons.js";
import { base64url, date, shortOf } from "../lib/format.js";
import { digitsView } from "./share.js";
import { deviceIn } from "./admit.js";
import { nameIn, ownedNetworks } from "./network.js";
import { t } from "../texts.js";

const w = t.join;
export const title = w.title;

/// The steps before a code was read: only there is one to be scanned.
const leading = new Set(["read", "looking"]);

export function mount(root) {
  const { text, network } = { text: query.peek().get("text"), network: query.peek().get("network") };
  // {step: "read" | "looking" | "invited" | "pending" | "needsToken" | "joined" | "device" | "connect" | "failed", …}
  const now = signal({ step: text || network ? "looking" : "read" });
  let ending = null;
  onEnd(() => ending?.abort());
  const course = {
    now, take: text => take(text, now),
    cancel: () => { ending?.abort(); now.set({ step: "read" }); },
    accept: text => { ending = new AbortController(); return accept(text, now, ending.signal); },
  };
  root.append(page({ title: w.title, lead: [() => (leading.has(now().step) ? w.lead : null)], back: "/networks", backTitle: t.networks.title, isNarrow: true },
    h("div", { class: "stack" }, () => steps[now().step](now(), course))));
  if (text) course.take(text).catch(error => now.set({ step: "failed", words: error.message }));
  else if (network) waitForToken(network, now);
}

/// Looks at a text; throws words for the person when it cannot be joined with.
async function take(given, now) {
  const text = plain(given);
  let found = await post("/inspect", { text }).catch(error => ({ kind: "unknown", problem: error.message }));
  // The texts of a network and of a token may come together.
  if (found.kind === "unknown" && /\}\s*\{/.test(text)) found = { kind: "network", valid: true };
  const device = deviceIn(found);
  if (device) return now.set({ step: "device", device, networks: await ownedNetworks() });
  if (found.kind === "peer") return now.set({ step: "connect", text });
  if (!["invitation", "network", "token"].includes(found.kind)) {
    const isDamaged = found.kind === "unknown" && looksLikeOurs(text);
    throw new Error(w.notForJoining[isDamaged ? "ours" : found.kind] ?? w.notForJoining.unknown);
  }
  if (!found.valid) throw new Error(problem(found));
  if (found.kind === "token" && found.peer_id !== (await get("/node")).peerId) throw new Error(w.otherDevice);
  if (found.kind === "invitation") return now.set({ step: "invited", text, found });
  const joined = await post("/join", { text, network: now.peek().known?.networkId });
  if (joined.isMember || joined.role === "owner") return now.set({ step: "joined", joined });
  await waitForToken(base64url(joined.networkId), now);
}

const problem = ({ kind, expiration, problem: words }) => (expiration && expiration < Date.now() / 1000
  ? w.expired[kind](date(expiration)) : w.damaged[kind] ?? words);

async function waitForToken(network, now) {
  try {
    const [known, node] = await Promise.all([get(`/networks/${part(network)}`), get("/node")]);
    now.set({ step: "needsToken", known, node });
  } catch (error) { now.set({ step: "failed", words: error.message }); }
}

async function accept(text, now, signal) {
  now.set({ step: "pending", digits: null });
  try {
    await lasting("/join/invitation", { text }, line => {
      if (line.event === "joinPending") {
        now.set({ step: "pending", digits: line.digits });
        say(w.compare);
      }
      if (line.event === "done") now.set({ step: "joined", joined: line.result });
    }, signal);
    if (now.peek().step === "pending") now.set({ step: "failed", words: w.brokenOff });
  } catch (error) {
    if (error.name !== "AbortError") now.set({ step: "failed", words: error.message });
  }
}

const steps = {
  read: (_, { take }) => [
    card(scanner({ onText: take, pasteLabel: w.paste, pasteHint: w.pasteHint, action: w.go })),
    section({ title: w.whereTitle }, h("ul", { class: "bullets" }, w.where.map(one => h("li", null, one)))),
  ],

  looking: () => h("div", { class: "loading", role: "status" }, h("span", { class: "away" }, t.app.loading)),

  invited: ({ text, found }, { accept, cancel }) => card(
    h("h2", null, w.invitedTitle),
    h("p", null, w.invitedText),
    facts([
      [w.network, h("code", null, shortOf(found.network_id), "…")],
      [w.inviter, h("code", null, shortOf(found.inviter), "…")],
      [w.good, date(found.expiration)],
    ]),
    h("div", { class: "buttons" },
      button(w.accept, { kind: "primary", icon: "check", id: "accept-invitation", onPress: () => { accept(text); } }),
      button(t.app.cancel, { onPress: cancel }))),

  pending: ({ digits }, { cancel }) => card(
    h("h2", null, digits ? w.compare : w.reaching),
    digits ? [h("p", null, w.compareText), digitsView(digits)] : h("p", null, w.reachingText),
    h("p", { class: "waiting", role: "status" }, h("span", { class: "spinner" }), digits ? w.waiting : w.connecting),
    h("div", { class: "buttons" }, button(t.app.cancel, { onPress: cancel }))),

  needsToken: ({ known, node }, { take }) => [
    note("info", h("p", null, w.known(nameIn(known)))),
    section({ title: w.showTitle }, card(h("p", null, w.showText),
      codeView(node.peerId, { label: w.deviceCodeLabel, name: "runar-device" }),
      copyable(node.peerIdText, w.deviceId))),
    section({ title: w.tokenTitle }, card(h("p", null, w.tokenText),
      scanner({ onText: take, pasteLabel: w.pasteToken, pasteHint: w.pasteTokenHint, action: w.go }))),
  ],

  joined: ({ joined }) => card(
    h("div", { class: "success" }, icon("check", 34)),
    h("h2", null, [w.welcome, " ", bdi(joined.name ?? t.networks.unnamed)]),
    h("p", { class: "quiet" }, joined.expiration ? w.until(date(joined.expiration)) : w.noEnd),
    h("div", { class: "buttons" },
      button(w.toNetwork, { kind: "primary", href: `/networks/${base64url(joined.networkId)}`, id: "to-network" }))),

  device: ({ device, networks }, { cancel }) => card(
    h("h2", null, w.deviceTitle),
    h("p", null, networks.length ? w.deviceText : w.deviceNoNetwork),
    h("ul", { class: "rows" }, networks.map(one => h("li", null, h("a", { class: "row",
      href: `#/networks/${base64url(one.networkId)}/admit?peer=${part(device.text)}` },
    h("span", { class: "row-main" },
      h("span", { class: "row-title" }, w.admitTo, " ", bdi(one.name ?? t.networks.unnamed))),
    icon("forward", 18))))),
    h("div", { class: "buttons" }, button(w.readOther, { onPress: cancel }))),

  connect: ({ text }, { cancel }) => card(
    h("h2", null, w.connectTitle),
    h("p", null, w.connectText),
    h("div", { class: "buttons" },
      button(w.connectGo, { kind: "primary", onPress: () => go(`/connect?text=${part(text)}`) }),
      button(w.readOther, { onPress: cancel }))),

  failed: ({ words }, { cancel }) => h("div", { class: "stack" }, note("bad", h("p", null, words)),
    h("div", { class: "buttons" }, button(w.readOther, { kind: "primary", icon: "scan", onPress: cancel }))),
};
