// What the node keeps on this device, and the backup of what could not be made again.

import { h } from "../lib/dom.js";
import { blob, part, post } from "../lib/api.js";
import { confirm, toast } from "../lib/dialog.js";
import { resource } from "../lib/store.js";
import { section, button, facts, loaded, note } from "../lib/parts.js";
import { base64url, bytes, short } from "../lib/format.js";
import { settingsPage, titleOf } from "./settings-page.js";
import { openFile, openSecretFile } from "./keys.js";
import { showRecoveryPhrase, restoreFromWords } from "../lib/phrase.js";
import { t } from "../texts.js";

const w = t.storage;
export const title = titleOf("storage");

export function mount(root) {
  const storage = resource("/storage", [], { every: 30_000 });
  const keys = resource("/keys", ["changed"]);
  root.append(settingsPage("storage", null,
    section({ title: w.backup, lead: w.backupLead }, loaded(keys, value => backup(keys, value))),
    section({ title: w.used }, loaded(storage, value => h("div", { class: "card" }, partsTable(value), facts([
      [w.values, bytes(value.recordBytes)],
      value.freeBytes !== undefined && [w.free, bytes(value.freeBytes)],
      [w.folder, h("span", { class: "mono" }, value.home)],
      [w.received, h("span", { class: "mono" }, value.filesDirectory)],
    ]))))));
}

function backup(keys, value) {
  const hasRoot = value.keys.some(one => one.key === "root");
  const offers = [
    [w.paper, w.paperText,
      button(t.keys.phrase, { icon: "eye", kind: "primary", onPress: () => showRecoveryPhrase(value.vault) })],
    [w.inFile, w.inFileText, button(w.save, { icon: "download", onPress: () => saveBackup(value.vault) })],
  ];
  const reload = isDone => { if (isDone) keys.reload(); };
  return [
    hasRoot ? h("div", { class: "pair" }, offers.map(([name, text, press]) => h("div", { class: "card deed" },
      h("h3", null, name), h("p", { class: "quiet" }, text), h("div", { class: "buttons" }, press))))
      : note("info", h("p", null, w.noRoot)),
    // Who has nothing to save may have come for this.
    h("details", { open: !hasRoot }, h("summary", null, w.restoreLost), h("div", { class: "buttons" },
      button(w.restore, { onPress: async () => {
        const report = await restore(hasRoot, value.vault);
        reload(report);
        if (report) await offerRevocation(report);
      } }),
      button(t.keys.words, { onPress: async () => reload(await restoreFromWords(hasRoot, value.vault)) }))),
  ];
}

function saveBackup(vault) {
  const day = new Date().toISOString().slice(0, 10);
  openSecretFile({ operation: "POST /backup", vault, title: w.saveTitle, text: w.saveText, action: t.keys.exportAction, done: w.saved,
    fetch: body => blob("/backup", body), name: `runar-backup-${day}.vault` });
}

async function restore(hasRoot, vault) {
  let report;
  const isDone = await openFile({ operation: "POST /backup/restore", vault, title: w.restoreTitle, text: w.restoreText,
    action: t.phrase.restore, hasOther: hasRoot, send: async body => {
      report = await post("/backup/restore", body);
      return t.phrase.restored(report.networks);
    } });
  return isDone && report;
}

/// The device that made the backup is a member until it is revoked.
async function offerRevocation({ formerPeerId, formerNetworks }) {
  if (!formerPeerId || !formerNetworks.length) return;
  if (!await confirm({ title: w.lostTitle, text: w.lostText(short(formerPeerId)), action: w.lostAction, isDangerous: true })) return;
  for (const network of formerNetworks) await post(`/networks/${part(base64url(network))}/revocations`, { peer: formerPeerId });
  toast(w.lostDone);
}

/// Files by what they are for, the largest first.
function kindsOf(files) {
  const sizes = new Map();
  for (const { name, bytes: size } of files) {
    const kind = Object.keys(w.parts).find(one => name.startsWith(one)) ?? "";
    sizes.set(kind, (sizes.get(kind) ?? 0) + size);
  }
  return [...sizes].sort((a, b) => b[1] - a[1]);
}

const partsTable = value => h("table", { class: "sizes" },
  h("thead", { class: "away" }, h("tr", null, h("th", { scope: "col" }, w.what), h("th", { scope: "col" }, w.size))),
  h("tbody", null, kindsOf(value.parts).map(([kind, size]) => h("tr", null,
    h("th", { scope: "row" }, w.parts[kind] ?? w.others,
      h("meter", { min: 0, max: Math.max(value.bytes, 1), value: size, "aria-hidden": "true" })),
    h("td", null, bytes(size))))),
  h("tfoot", null, h("tr", null, h("th", { scope: "row" }, w.total), h("td", null, bytes(value.bytes)))));
