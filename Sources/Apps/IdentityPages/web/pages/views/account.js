// The account: its passkeys, its sessions, and its end. Each change is confirmed with a passkey.

import { each, h, signal } from "../lib/dom.js";
import { forgetToken, get, isSignedIn, keepFresh, post } from "../lib/api.js";
import { encodeUUID } from "../lib/bytes.js";
import { confirm as ask, say } from "../lib/dialog.js";
import { deleteKey, hasKey } from "../lib/did-key.js";
import { confirm, create, signalPasskeys, signalRemoved } from "../lib/passkeys.js";
import { asTyped, button, card, date, facts, field, linkButton, makeTask, page, section, show } from "../lib/parts.js";
import { t } from "../texts.js";

const words = t.account;

export const title = words.title;

export async function mount(root, server) {
  if (!isSignedIn()) return location.replace("/sign-in");
  let account, list;
  try { [account, list] = await Promise.all([get("/account"), get("/passkeys")]); } catch (failure) {
    if (failure.code === "signed-out") return location.replace("/sign-in");
    throw failure;
  }
  keepFresh();
  const passkeys = makePasskeys(server, account, list);
  // The browser of a person without a store has no key, either.
  const isKeyHere = await hasKey(account.did).catch(() => false);
  show(root, page({ title },
    card(facts([
      [words.handle, h("bdi", null, account.handle)],
      [words.did, h("code", { class: "did", dir: "ltr" }, account.did)],
      [words.key, isKeyHere ? words.keyHere : words.keyElsewhere],
      [words.created, date(account.created)],
      [words.sessions, words.sessionCount(account.sessions)],
    ])),
    passkeysSection(passkeys),
    additionSection(passkeys),
    signOutSection(root),
    deletionSection(root, passkeys, isKeyHere)));
}

/// The passkeys of the account, and the requests that change them.
function makePasskeys(server, account, { passkeys }) {
  const list = signal(passkeys);
  const userId = encodeUUID(account.userId);
  const tell = () => signalPasskeys(server.rpId, userId, list().map(one => one.id));
  function take(report) {
    list.set(report.passkeys);
    tell();
  }
  const assertion = async action => confirm((await get(`/passkeys/confirm/${action}`)).publicKey, server);
  // Passkeys that were removed elsewhere are not offered in this browser, either.
  tell();
  return {
    list, account,
    additionOptions: async () => (await post("/passkeys/options", { assertion: await assertion("add") })).publicKey,
    async add(options, label) {
      const credential = await create(options, server);
      take(await post("/passkeys", label ? { ...credential, label } : credential));
    },
    async remove(id) {
      take(await post("/passkeys/remove", { id, assertion: await assertion("remove") }));
      signalRemoved(server.rpId, id);
    },
    async deleteAccount() {
      await post("/account/delete", { assertion: await assertion("delete") });
      forgetToken();
      await signalPasskeys(server.rpId, userId, []);
    },
  };
}

const kept = ({ isBackedUp, isBackupEligible }) =>
  (isBackedUp ? words.synced : isBackupEligible ? words.canSync : words.onOneDevice);

function passkeysSection(passkeys) {
  const task = makeTask();
  const details = one => [
    kept(one), words.createdOn(date(one.created)), one.lastUsed ? words.usedOn(date(one.lastUsed)) : words.unused,
  ].join(", ");
  async function remove(one) {
    const isSure = await ask({ title: words.removeTitle(one.label), text: words.removeText, action: words.remove,
      isDangerous: true });
    if (!isSure) return;
    await passkeys.remove(one.id);
    say(words.removed);
  }
  return section(words.passkeys,
    h("ul", { class: "rows", "aria-label": words.passkeys }, each(passkeys.list, one => one.id, one =>
      h("li", null, h("div", { class: "passkey" },
        h("div", null, h("h3", null, h("bdi", null, () => one().label)), h("p", null, () => details(one()))),
        () => passkeys.list().length > 1 && button(words.remove, () => remove(one.peek()), { task,
          label: words.removeLabel(one.peek().label) }))))),
    () => passkeys.list().length === 1 && h("p", { class: "quiet" }, words.only),
    task.place());
}

/// A new passkey takes two dialogs of the browser, and some browsers want a press of a button before each.
function additionSection(passkeys) {
  const task = makeTask();
  const options = signal(null);
  let input;
  const begin = async () => options.set(await passkeys.additionOptions());
  async function finish() {
    await passkeys.add(options.peek(), input.value.trim());
    input.value = "";
    options.set(null);
    say(words.added);
  }
  return section(words.addTitle, h("p", { class: "quiet" }, words.addText),
    h("form", { class: "form", novalidate: true, onsubmit: event => {
      event.preventDefault();
      task.run(options.peek() ? finish : begin);
    } },
    field({ label: words.label, hint: words.labelHint }, properties => h("input", { ...properties, ...asTyped,
      name: "label", autocomplete: "off", maxlength: 64, ref: node => { input = node; } })),
    h("div", { role: "status" }, () => options() && h("p", null, words.confirmed)),
    task.place(),
    h("div", { class: "buttons" }, h("button", { class: () => `button ${options() ? "primary" : ""}`, type: "submit",
      "aria-busy": () => task.isBusy() || null }, () => (options() ? words.create : words.add)))));
}

function signOutSection(root) {
  const task = makeTask();
  const leave = everywhere => async () => {
    await post("/token/revoke", { everywhere });
    forgetToken();
    show(root, page({ title: words.leftTitle, lead: everywhere ? words.leftEverywhere : words.left },
      h("div", { class: "buttons" }, linkButton(t.app.signIn, "/sign-in"))));
  };
  return section(words.leaveTitle,
    h("div", { class: "buttons" },
      button(words.leave, leave(false), { task }), button(words.leaveEverywhere, leave(true), { task })),
    task.place());
}

function deletionSection(root, passkeys, isKeyHere) {
  const task = makeTask();
  const { handle, did } = passkeys.account;
  async function end() {
    const isSure = await ask({ title: words.deleteAsk(handle), text: [words.deleteText, words.deleteLost],
      action: words.delete, isDangerous: true, word: handle.split(".")[0] });
    if (!isSure) return;
    await passkeys.deleteAccount();
    show(root, page({ title: words.deletedTitle, lead: words.deleted },
      isKeyHere && keySection(did), h("div", { class: "buttons" }, linkButton(t.app.start, "/"))));
  }
  return section(words.deleteTitle, h("p", { class: "quiet" }, words.deleteText),
    h("div", { class: "buttons" }, button(words.delete, end, { kind: "danger", task })), task.place());
}

/// The question whether the key of a DID goes with its account.
function keySection(did) {
  const task = makeTask();
  const isDeleted = signal(false);
  return h("div", { role: "status" }, () => (isDeleted() ? h("p", null, words.keyDeleted)
    : section(words.keyTitle, h("p", { class: "did" }, words.keyText(did)),
      h("div", { class: "buttons" }, button(words.keyDelete, async () => {
        await deleteKey(did);
        isDeleted.set(true);
      }, { kind: "danger", task })), task.place())));
}
