// What the places of the data tab share: the way between them, and the network whose data is shown.

import { h, signal, effect, computed } from "../lib/dom.js";
import { page, subnav, select, empty, button, save, loadedOnce } from "../lib/parts.js";
import { openDialog } from "../lib/dialog.js";
import { resource, membershipKinds } from "../lib/store.js";
import { base64url, bytes, number } from "../lib/format.js";
import { t } from "../texts.js";

const w = t.data;

const places = ["records", "topics", "messages", "services", "map"].map(one => [`/data/${one}`, w.places[one]]);

// Which network was looked at last stays while the page is open, and for the next time.
const key = "runar.network";
const chosen = signal(localStorage.getItem(key) ?? "");

export const networkPath = id => `/networks/${base64url(id)}`;

/// A page of the data tab. `body(network)` is made for each network that is chosen and gets `{id, name}`; `actions` may
/// be made of it as well. Without `body` nothing depends on a network; `content` never does, and stands above the choice.
export function dataPage(root, { place, title, lead, actions, content, body }) {
  const networks = resource("/networks", membershipKinds);
  const current = computed(() => {
    const list = usable(networks().value);
    return list.find(one => one.networkId === chosen())?.networkId ?? list[0]?.networkId ?? "";
  });
  const name = id => networks.peek().value?.networks.find(one => one.networkId === id)?.name ?? t.networks.unnamed;
  const network = () => current() && { id: current(), name: name(current()) };
  const choice = body && (() => picker(networks().value, current()));
  root.append(page({ title, lead, actions: actions && [() => network() && actions(network())] },
    h("div", { class: "data-nav" }, subnav(w.title, places, `/data/${place}`), !content && choice),
    content,
    content && choice && h("div", { class: "data-nav" }, choice),
    body && loadedOnce(networks, () => () => (current() ? body(network()) : noNetwork()))));
}

const usable = value => (value?.networks ?? []).filter(one => one.isMember || one.role === "owner");

function picker(value, current) {
  const list = usable(value);
  if (list.length < 2) return null;
  return select(list.map(one => [one.networkId, one.name ?? t.networks.unnamed]), { id: "data-network",
    "aria-label": w.network,
    value: current, onChange: id => { localStorage.setItem(key, id); chosen.set(id); } });
}

const noNetwork = () => empty({ icon: "networks", title: w.noNetworkTitle, text: w.noNetwork, actions: [
  button(t.networks.createFirst, { icon: "plus", kind: "primary", href: "/networks/new" }),
  button(t.networks.joinFirst, { icon: "scan", href: "/join" }),
] });

const shortText = 1500;
const longestText = 200_000;

/// A text of any length that another person wrote: its beginning, and the rest on demand.
export function longText(text, { mono = false, limit = shortText } = {}) {
  const kind = mono ? "said mono" : "said";
  if (text.length <= limit) return h("p", { class: kind, dir: "auto" }, text);
  return [h("p", { class: kind, dir: "auto" }, `${text.slice(0, limit)}…`),
    h("div", { class: "buttons" },
      button(w.showAll(number(text.length)), { kind: "quiet", onPress: () => showWhole(text) }),
      button(w.saveText, { kind: "quiet", icon: "download", onPress: () =>
        save(new Blob([text], { type: "text/plain" }), w.textName) }))];
}

const showWhole = text => void openDialog({ title: w.wholeText, isWide: true }, () => [
  text.length > longestText && h("p", { class: "quiet" }, w.cut(number(longestText))),
  h("pre", { dir: "auto", tabindex: "0" }, text.slice(0, longestText)),
]);

/// A value, which is a text or bytes in base64.
export const value = (one, name, limit) => (one.text !== undefined ? longText(one.text, { mono: true, limit })
  : h("div", { class: "cluster" }, h("span", null, w.noText(bytes(one.bytes))),
    button(w.saveBytes, { icon: "download", onPress: () => save(fromBase64(one.base64 ?? ""), name) })));

export const fromBase64 = text => Uint8Array.from(atob(text), one => one.charCodeAt(0));

export function toBase64(content) {
  let text = "";
  for (let at = 0; at < content.length; at += 8192) text += String.fromCharCode(...content.subarray(at, at + 8192));
  return btoa(text);
}
