// The devices of this device's person: their list, setting up one from another, and removing one.

import { h, effect, signal } from "../lib/dom.js";
import { post, del, isAllowed, part } from "../lib/api.js";
import { badge, bdi, button, field, findings, form, note, section, select } from "../lib/parts.js";
import { confirm, openDialog, toast } from "../lib/dialog.js";
import { elsewhere, withConfirmation } from "../lib/phrase.js";
import { base64url, within } from "../lib/format.js";
import { peers, nameOf } from "./peers-store.js";
import { t } from "../texts.js";

const w = t.ownDevices;
const path = peer => `/circle/devices/${part(peer)}`;
const label = device => (device.local ? t.app.thisDevice : nameOf(device.peerId));

/// A form that chooses one of the connected devices, or of those that `shows` accepts, or of `others`, pairs of id and name.
///
/// `none` is shown if there are none.
export function chooseDevice({ label: words, none, action, shows = one => one.connected, others = [], onChosen }) {
  const error = signal("");
  // The list is made anew with each change of a peer: the choice stays, and never moves to another device by itself.
  let chosen = null;
  return () => {
    const shown = [...peers().values()].filter(shows);
    const names = [...shown.map(one => [one.peerIdText, nameOf(one.peerId, one.label)]), ...others];
    if (!names.length) return note("info", h("p", null, none));
    chosen ??= names[0][0];
    const isThere = names.some(([id]) => id === chosen);
    const choose = data => {
      const peer = data.get("peer");
      return peer ? onChosen(peer, new Map(names).get(peer)) : error.set(t.circle.chooseDevice);
    };
    return form({ error, label: words, onSubmit: choose },
      field({ label: t.circle.device, error }, p => select(isThere ? names : [["", ""], ...names],
        { ...p, name: "peer", value: isThere ? chosen : "", onChange: id => { if (id) chosen = id; } })),
      h("div", null, button(action, { kind: "primary", type: "submit" })));
  };
}

export const ownDevices = value => section({ title: w.title, lead: w.lead,
  actions: [button(w.add, { icon: "plus", onPress: () => add(value.peek()) })] },
findings(w.title, "peers", () => value().devices, one => one.peerId, device),
() => (value().people.length || value().devices.length > 1 ? null : h("div", null, expectButton(value))));

const device = one => [
  h("p", null, bdi(label(one)), " ",
    !one.local && (one.connected ? badge(t.circle.online, "ok") : badge(t.circle.offline))),
  !one.local && [h("p", { class: one.low ? "warn-text" : "quiet" }, one.low ? t.person.low
    : t.person.keysLeft(one.sendingKeys)),
  h("div", null, button(w.remove, { icon: "trash", label: `${w.remove}: ${label(one)}`, onPress: () => remove(one) }))],
];

export const expectButton = value => button(w.expect, { icon: "renew", onPress: () => {
  if (!isAllowed("POST /circle/devices/{peer}/expect")) return elsewhere(w.expect);
  const expected = signal(null);
  openDialog({ title: w.expect }, close => {
    effect(() => {
      if (!expected() || value().devices.length < 2) return;
      close();
      toast(w.isSetUp);
    });
    return () => (expected()
      ? [h("p", null, w.expected(within(expected()))),
        h("div", { class: "buttons end" }, button(t.app.close, { onPress: () => close() }))]
      : [h("p", null, w.expectText), chooseDevice({ label: w.expect, none: w.none, action: w.expectAction,
        onChosen: async (peer, name) => {
          await withConfirmation({ title: w.expect, action: w.expectAction }, async confirmation => {
            await post(`${path(peer)}/expect`, { confirmation });
            expected.set(name);
          });
        } })]);
  });
} });

function add({ people, devices }) {
  if (!isAllowed("POST /circle/devices/{peer}")) return elsewhere(w.add);
  const taken = new Set([devices, ...people.map(one => one.devices)].flat().map(one => one.peerId));
  openDialog({ title: w.add }, close => [
    w.addText.map(one => h("p", null, one)),
    chooseDevice({ label: w.add, none: w.none, action: w.addAction, shows: one => one.connected && !taken.has(one.peerId),
      onChosen: async (peer, name) => {
        await withConfirmation({ title: w.add, action: w.addAction }, async confirmation => {
          await post(path(peer), { confirmation });
          close();
          toast(w.added(within(name)));
        });
      } }),
  ]);
}

async function remove(one) {
  if (!isAllowed("DELETE /circle/devices/{peer}")) return elsewhere(w.remove, t.failures["only-here"]);
  const name = within(label(one));
  if (!await confirm({ title: w.removeTitle(name), text: w.removeText, action: w.remove, isDangerous: true })) return;
  await del(path(base64url(one.peerId)));
  toast(w.removed(name));
}
