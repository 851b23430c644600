// The way with codes alone: it needs no connection between the two devices. The owner shows the network's code, reads the
// code of the new device, and shows the token made for it. A member who is no owner can show the network's code.

import { h, signal } from "../lib/dom.js";
import { get, post, part } from "../lib/api.js";
import { tellFailure } from "../lib/dialog.js";
import { query } from "../lib/router.js";
import { resource } from "../lib/store.js";
import { page, card, button, form, note, bdi, loadedOnce, facts, section } from "../lib/parts.js";
import { codeView } from "../lib/code.js";
import { scanner, looksLikeOurs } from "../lib/scan.js";
import { short } from "../lib/format.js";
import { tokenFields, issue } from "./member.js";
import { isOwner, nameIn } from "./network.js";
import { t } from "../texts.js";

const w = t.admit;
export const title = w.title;

export function mount(root, { network: id }) {
  const network = resource(`/networks/${part(id)}`);
  root.append(h("div", null, loadedOnce(network, value => page({
    title: () => w.headline(nameIn(value())), back: `/networks/${part(id)}`,
    backTitle: () => (value().name ? bdi(value().name) : t.network.title), isNarrow: true,
    lead: isOwner(value()) ? w.leadOwner : w.leadMember,
  },
  section({ title: isOwner(value()) ? w.first : null }, card(h("p", null, w.networkCode),
    () => (value().text
      ? codeView(value().text, { label: w.networkCodeLabel, name: `runar-${value().name ?? "network"}` })
      : note("warn", h("p", null, w.noText))))),
  isOwner(value()) && admission(id)), { frame: { title: w.title, back: "/networks", isNarrow: true } })));
}

function admission(id) {
  const peer = signal(null);
  const token = signal(null);
  const given = query.peek().get("peer");
  const take = async text => peer.set(await peerOf(text));
  if (given) take(given).catch(tellFailure);
  return [
    section({ title: w.second }, card(() => (peer()
      ? [facts([[w.device, h("code", null, short(peer().text), "…")]]),
        button(w.otherDevice, { kind: "quiet", onPress: () => { peer.set(null); token.set(null); } })]
      : [h("p", null, w.readDevice),
        scanner({ onText: take, pasteLabel: w.pasteDevice, pasteHint: w.pasteDeviceHint })]))),
    () => (peer() ? section({ title: w.third }, card(() => (token()
      ? [h("p", null, w.showToken), codeView(token().text, { label: w.tokenLabel, name: "runar-token" }),
        note("info", h("p", null, w.tokenHint)),
        h("div", { class: "buttons" }, button(w.toNetwork, { kind: "primary", href: `/networks/${part(id)}` }))]
      : form({ onSubmit: async data => token.set(await issue(id, peer().id, data)) },
        tokenFields(""),
        h("div", { class: "buttons" }, button(w.makeToken, { kind: "primary", icon: "key", type: "submit" })))))) : null),
  ];
}

/// The device that a text names, or words that say what the text is instead.
async function peerOf(text) {
  const found = await post("/inspect", { text });
  if (found.kind === "unknown" && looksLikeOurs(text)) throw new Error(t.join.notForJoining.ours);
  const device = deviceIn(found);
  if (!device) throw new Error(w.notADevice[found.kind] ?? w.notADevice.unknown);
  // Ids of networks and of devices look alike.
  const { networks } = await get("/networks");
  if (networks.some(one => one.networkId === device.id)) throw new Error(w.notADevice.identifier);
  return device;
}

/// The device of what `inspect` answered, if it is about one: `{id, text}`.
export function deviceIn(found) {
  if (!["identifier", "device-request"].includes(found.kind)) return null;
  const text = found.peer_text ?? found.text;
  return text ? { id: found.peer_id ?? found.base64 ?? text, text } : null;
}
