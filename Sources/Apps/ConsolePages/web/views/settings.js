// This device: who it is, how its node is set up, who may open this console, and the end of the node.

import { h, untracked } from "../lib/dom.js";
import { post, put, del, closeSession, isAllowed } from "../lib/api.js";
import { resource, peerKinds } from "../lib/store.js";
import { section, button, iconButton, facts, field, form, copyable, loaded, loadedOnce } from "../lib/parts.js";
import { confirm, openDialog, toast } from "../lib/dialog.js";
import { link } from "../lib/router.js";
import { duration } from "../lib/format.js";
import { settingsPage, titleOf } from "./settings-page.js";
import { lanSection } from "./settings-lan.js";
import { t } from "../texts.js";

const w = t.settings;
export const title = titleOf("device");

export function mount(root) {
  const status = resource("/status", [...peerKinds, "changed"], { every: 30_000 });
  const node = resource("/node");

  root.append(settingsPage("device", null,
    section({ title: w.node }, loaded(node, who => h("div", { class: "card" },
      loaded(status, how => nodeFacts(who, how))))),
    section({ title: w.idTitle, lead: w.idLead }, loaded(node, who => copyable(who.peerIdText, w.idLabel))),
    section({ title: w.setUp, lead: w.setUpLead },
      loadedOnce(status, how => settingsTable(() => how().configuration))),
    lanSection(),
    section({ title: w.access, lead: w.accessLead },
      h("div", { class: "buttons" }, button(w.signOut, { icon: "lock", onPress: signOut }))),
    section({ title: w.stop, lead: w.stopLead },
      h("div", { class: "buttons" }, button(w.stop, { icon: "stop", kind: "danger", onPress: stop })))));
}

function nodeFacts(who, how) {
  const nearby = how.discovery;
  return facts([
    [w.networks, h("a", { id: "to-networks", href: link("/networks") }, w.networkCount(how.networks ?? 0))],
    [w.peers, h("a", { id: "to-peers", href: link("/peers") }, w.peerCount(how.connectedPeers ?? 0))],
    [w.listens, h("span", { class: "mono" }, who.addresses.join(", "))],
    nearby && [w.nearby, nearby.running ? w.onInterfaces(nearby.interfaces) : w.off],
    [w.runningFor, duration(Date.now() / 1000 - who.startedAt)],
    [w.version, who.version],
    [w.home, h("span", { class: "mono" }, who.home)],
  ]);
}

const settingsTable = settings => h("div", { class: "table-card scroll-x", tabindex: 0, role: "region",
  "aria-label": w.setUp },
h("table", { class: "set-up" },
  h("thead", null, h("tr", null, [w.setting, w.value, w.source].map(one => h("th", { scope: "col" }, one)))),
  h("tbody", null, untracked(settings).map(({ key }, at) => {
    // Which settings there are does not change while the node runs; what they say may.
    const now = () => settings()[at];
    return h("tr", null,
      h("th", { scope: "row" }, w.names[key] ?? key),
      h("td", { class: "mono" }, () => (now().values.length ? now().values.join(", ") : w.none)),
      h("td", { class: () => (now().source === "default" ? "quiet" : null) },
        () => [w.sources[now().source] ?? now().source, " ", now().needsRestart && w.pending,
          isEditable(now()) && iconButton("edit", w.change(w.names[key] ?? key), () => edit(now()))]));
  }))));

const isEditable = ({ key, source }) => isAllowed("PUT /settings/{key}") && ["default", "file"].includes(source)
  && !["console", "consoleLan", "passphraseFile", "keyFile"].includes(key);

const edit = ({ key, values }) => openDialog({ title: w.names[key] ?? key }, close => form({ onSubmit: async data => {
  const text = data.get("value").trim();
  const isList = ["listen", "discoveryGroup", "stunServers", "identityPins"].includes(key);
  await put(`/settings/${key}`, { values: text ? isList ? text.split(/[\s,]+/) : [text] : [] });
  close();
} },
field({ label: w.value, hint: w.valueHint }, given => h("input", { ...given, name: "value", value: values.join(", "),
  autocomplete: "off", autofocus: true })),
h("div", { class: "buttons end" },
  button(t.app.cancel, { onPress: () => close() }),
  button(t.app.save, { kind: "primary", type: "submit" }))));

async function signOut() {
  if (!await confirm({ title: w.signOutTitle, text: w.signOutText, action: w.signOut, isDangerous: true })) return;
  await del("/session/all");
  closeSession();
}

async function stop() {
  if (!await confirm({ title: w.stopTitle, text: w.stopText, action: w.stop, isDangerous: true })) return;
  await post("/node/stop");
  toast(w.stopped, { seconds: 20 });
}
