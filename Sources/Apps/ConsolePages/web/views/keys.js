// The keys of this device. Only their public parts are ever here; secret parts leave the node in encrypted files only.

import { h, signal } from "../lib/dom.js";
import { blob, isAllowed, post } from "../lib/api.js";
import { resource } from "../lib/store.js";
import { section, button, facts, copyable, empty, loaded, row, bdi, field, form, checkbox, save }
  from "../lib/parts.js";
import { openDialog, toast } from "../lib/dialog.js";
import { secretField } from "../lib/secret.js";
import { short } from "../lib/format.js";
import { toBase64 } from "./data.js";
import { settingsPage, titleOf } from "./settings-page.js";
import { confirmed, elsewhere, restoreFromWords, showRecoveryPhrase, vaultField } from "../lib/phrase.js";
import { t } from "../texts.js";

const w = t.keys;
export const title = titleOf("keys");
/// A megabyte is far more than any vault has.
const largestFile = 1 << 20;
const names = { peer: w.peerTitle, root: w.rootTitle };

export function mount(root) {
  const keys = resource("/keys", ["changed"]);
  root.append(settingsPage("keys", w.lead, loaded(keys, value => {
    const rootKey = value.keys.find(one => one.key === "root");
    const peerKey = value.keys.find(one => one.key === "peer");
    return [
      peerKey && section({ title: w.peerTitle, lead: w.peerText }, keyCard(peerKey, value)),
      rootKey
        ? section({ title: w.rootTitle, lead: w.rootText },
          keyCard(rootKey, value, () => showRecoveryPhrase(value.vault)))
        : noRoot(keys, value),
      section({ title: w.networksTitle, lead: value.networks.length ? w.networksLead : w.noNetworks },
        value.networks.length ? h("ul", { class: "rows" }, value.networks.map(networkKey)) : null),
      h("div", { class: "section-head" }, h("p", { class: "quiet" }, w.vault[value.vault]),
        button(w.import, { icon: "key", onPress: () => importKey(keys, Boolean(rootKey), value.vault) })),
    ];
  })));
}

const keyCard = (key, all, showPhrase) => h("div", { class: "card" },
  facts([
    [w.publicKey, copyable(key.publicKey, w.publicKeyOf(names[key.key]))],
    key.key === "peer" && [w.certificate, w.certificates[all.certificateStatus] ?? all.certificateStatus],
  ]),
  h("div", { class: "buttons" },
    showPhrase && button(w.phrase, { icon: "eye", onPress: showPhrase }),
    key.key === "peer" && button(w.renew, { onPress: () => renewKey(all.vault) }),
    button(w.export, { icon: "download", onPress: () => exportKey(key.key, all.vault), label: w.exportTitle(names[key.key]) })));

const networkKey = one => h("li", null, row({ icon: "key", title: one.name ? bdi(one.name) : short(one.networkId),
  detail: one.hasOwnKey || one.index === undefined ? w.ownKey : w.fromRoot(one.index) }));

const noRoot = (keys, value) => section({ title: w.rootTitle }, empty({ icon: "key", title: w.noRoot,
  text: w.noRootText, actions: [
    isAllowed("POST /keys/root") && button(w.makeRoot, { kind: "primary", icon: "plus", onPress: async () => {
      await post("/keys/root");
      keys.reload();
      toast(w.made, { action: w.phrase, onAction: () => showRecoveryPhrase(value.vault) });
    } }),
    button(w.words, { onPress: async () => { if (await restoreFromWords(false, value.vault)) keys.reload(); } }),
  ] }));

function exportKey(key, vault) {
  openSecretFile({ operation: "POST /keys/export", vault, title: w.exportTitle(names[key]), text: w.exportText[key], action: w.exportAction, done: w.exported,
    fetch: body => blob("/keys/export", { key, ...body }), name: `runar-${key}-key.vault` });
}

/// Gives this device a new key; what is shown changes by itself.
function renewKey(vault) {
  if (!isAllowed("POST /device/renew")) return elsewhere(w.renewTitle);
  openDialog({ title: w.renewTitle }, close => {
    const error = signal("");
    return form({ error, onSubmit: async data => {
      const confirmation = confirmed(vault, data, error);
      if (!confirmation) return;
      await post("/device/renew", { confirmation });
      close();
      toast(w.renewed);
    } },
    w.renewText.map(one => h("p", null, one)),
    vaultField(vault, error, true),
    h("div", { class: "buttons end" }, button(t.app.cancel, { onPress: () => close() }),
      button(w.renewAction, { kind: "danger", type: "submit" })));
  });
}

/// Asks twice for a new passphrase, once for the vault's, and saves what the node encrypts.
export function openSecretFile({ operation, title: heading, text, action, done, fetch, name, vault }) {
  if (!isAllowed(operation)) return elsewhere(heading);
  openDialog({ title: heading }, close => {
    const error = signal(""), againError = signal(""), vaultError = signal("");
    return form({ error, vaultError, onSubmit: async data => {
      const passphrase = data.get("passphrase");
      againError.set("");
      if ([...passphrase].length < 8) return error.set(w.tooShort);
      if (passphrase !== data.get("again")) return againError.set(w.differ);
      const confirmation = confirmed(vault, data, vaultError);
      if (!confirmation) return;
      save(await fetch({ passphrase, confirmation }), name);
      close(true);
      toast(done);
    } },
    [text].flat().map(one => h("p", null, one)),
    secretField({ label: w.passphrase, hint: w.passphraseHint, name: "passphrase", error, isNew: true, isFirst: true }),
    secretField({ label: w.again, name: "again", error: againError, isNew: true }),
    vaultField(vault, vaultError),
    h("div", { class: "buttons end" }, button(t.app.cancel, { onPress: () => close(false) }),
      button(action, { kind: "primary", type: "submit", icon: "download" })));
  });
}

/// Asks for a file and its passphrase; `send({file, passphrase, replace, confirmation})` is the request, and its answer
/// the notice.
export async function openFile({ operation, title: heading, text, action, hasOther, vault, send }) {
  if (!isAllowed(operation)) return elsewhere(heading);
  const { closed } = openDialog({ title: heading }, close => {
    const error = signal(""), fileError = signal(""), vaultError = signal("");
    return form({ vaultError, onSubmit: async (data, node) => {
      error.set("");
      fileError.set("");
      const file = node.elements.file.files[0];
      if (!file) return fileError.set(w.chooseFile);
      if (file.size > largestFile) return fileError.set(w.fileFailures["bad-file"]);
      if (!data.get("passphrase")) return error.set(w.missing);
      const confirmation = confirmed(vault, data, vaultError);
      if (!confirmation) return;
      try {
        const words = await send({ confirmation, file: toBase64(new Uint8Array(await file.arrayBuffer())),
          passphrase: data.get("passphrase"), replace: data.get("replace") === "on" });
        close(true);
        toast(words);
      } catch (failure) {
        if (failure.code === "wrong-passphrase") throw failure;
        const isOfFile = ["bad-file", "no-key", "bad-backup"].includes(failure.code);
        (isOfFile ? fileError : error).set(w.fileFailures[failure.code] ?? failure.message);
      }
    } },
    h("p", null, text),
    field({ label: w.file, error: fileError }, p => h("input", { ...p, type: "file", name: "file" })),
    secretField({ label: w.filePassphrase, name: "passphrase", error }),
    vault === "passphrase" && vaultField(vault, vaultError),
    hasOther && h("div", null, checkbox(w.replace, { hint: w.replaceHint, name: "replace" })),
    h("div", { class: "buttons end" }, button(t.app.cancel, { onPress: () => close(false) }),
      button(action, { kind: "primary", type: "submit" })));
  });
  return closed;
}

/// The key of a device stays with it: a running node cannot become another device.
async function importKey(keys, hasOther, vault) {
  const isDone = await openFile({ operation: "POST /keys/import", title: w.importTitle, text: w.importLead, action: w.importAction, hasOther, vault,
    send: async body => { await post("/keys/import", { key: "root", ...body }); return w.imported; } });
  if (isDone) keys.reload();
}
