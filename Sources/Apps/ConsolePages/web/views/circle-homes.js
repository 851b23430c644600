// The homes: members that hold this person's mail while the devices are offline.

import { h } from "../lib/dom.js";
import { put } from "../lib/api.js";
import { badge, bdi, button, findings, section } from "../lib/parts.js";
import { openDialog, toast } from "../lib/dialog.js";
import { within } from "../lib/format.js";
import { chooseDevice } from "./circle-devices.js";
import { nameOf } from "./peers-store.js";
import { t } from "../texts.js";

const w = t.homes;
const label = home => (home.local ? t.app.thisDevice : nameOf(home.peerId, home.label));
const set = peers => put("/circle/homes", { peers });
const ids = value => value.peek().homes.map(one => one.peerId);

export const homes = value => section({ title: w.title, lead: w.lead,
  actions: [button(w.add, { icon: "plus", onPress: () => add(value) })] },
findings(w.title, "message", () => value().homes, one => one.peerId, one => home(value, one)),
() => (value().homes.length ? null : h("p", { class: "quiet" }, w.nearest)));

const home = (value, one) => [
  h("p", null, bdi(label(one)), " ",
    !one.local && (one.connected ? badge(t.circle.online, "ok") : badge(t.circle.offline))),
  h("div", null, button(w.remove, { icon: "trash", label: `${w.remove}: ${label(one)}`,
    onPress: () => remove(value, one) })),
];

function add(value) {
  const taken = new Set(ids(value));
  const local = value.peek().devices.filter(one => one.local && !taken.has(one.peerId));
  openDialog({ title: w.add }, close => [
    h("p", null, w.addText),
    chooseDevice({ label: w.add, none: w.none, action: w.addAction,
      shows: one => one.networks.length > 0 && !taken.has(one.peerId),
      others: local.map(one => [one.peerId, t.app.thisDevice]),
      onChosen: async (peer, name) => {
        await set([...ids(value), peer]);
        close();
        toast(w.added(within(name)));
      } }),
  ]);
}

async function remove(value, one) {
  const name = within(label(one));
  await set(ids(value).filter(id => id !== one.peerId));
  toast(w.removed(name));
}
