// Registration: the handle, the agreement, the key of the DID, and the first passkey.

import { h, signal } from "../lib/dom.js";
import { accountPage, Failure, get, isAvailable, post } from "../lib/api.js";
import { makeAgreement } from "../lib/agreement.js";
import { keepKey, proofBy, unusedKey } from "../lib/did-key.js";
import { brokenRule } from "../lib/handle.js";
import { create } from "../lib/passkeys.js";
import { asTyped, button, card, facts, field, linkButton, makeTask, note, page, section, show } from "../lib/parts.js";
import { t } from "../texts.js";

const words = t.register;

export const title = words.title;

/// A pause in typing before the server is asked.
const pause = 350;

export function mount(root, server) {
  const handle = handleField(server);
  const agreement = makeAgreement(server);
  const task = makeTask();
  const register = async () => welcome(root, await registered(handle.value(), server));
  show(root, page({ title, lead: words.lead(server.name) },
    h("form", { class: "form", novalidate: true, onsubmit: event => {
      event.preventDefault();
      if (handle.isGood() && agreement.isAccepted()) task.run(register);
    } },
    card(handle.place),
    section(words.didTitle, h("p", null, words.did), note("warn", h("p", null, words.didRisk))),
    agreement.place,
    task.place(),
    h("div", { class: "buttons" }, button(words.submit, null, { kind: "primary", type: "submit", task })))));
}

/// The field of the handle: the broken rule while it is typed, and then whether the handle is available.
function handleField({ handleDomain }) {
  const error = signal(""), state = signal(null);
  let input, timer, asking = null;
  const value = () => input.value;
  const full = () => `${value()}.${handleDomain}`;

  function typed() {
    clearTimeout(timer);
    asking?.abort();
    state.set(null);
    error.set(value() && brokenRule(value(), true));
    if (value() && !brokenRule(value())) timer = setTimeout(ask, pause);
  }

  async function ask() {
    asking = new AbortController();
    const name = full();
    state.set({ kind: "checking", text: t.handle.checking });
    try {
      const kind = { true: "available", false: "taken" }[await isAvailable(name, asking.signal)] ?? "unknown";
      state.set({ kind, text: t.handle[kind](name) });
    } catch (failure) {
      // Another character was typed.
      if (failure.name !== "AbortError") throw failure;
    }
  }

  function isGood() {
    error.set(brokenRule(value()));
    const isTaken = state()?.kind === "taken";
    if (error() || isTaken) input.focus();
    return !error() && !isTaken;
  }

  const status = h("p", { role: "status", class: () => `availability ${state()?.kind ?? ""}` },
    () => state()?.text ?? "");
  const place = field({ label: t.handle.label, hint: t.handle.hint, error, status }, properties =>
    h("div", { class: "with-suffix" },
      h("input", { ...properties, ...asTyped, name: "handle", autocomplete: "username", required: true,
        ref: node => { input = node; }, oninput: typed }),
      h("span", null, `.${handleDomain}`)));
  return { place, value, isGood };
}

async function registered(handle, server) {
  let key = await unusedKey();
  const options = did => get(`/register/${handle}?${new URLSearchParams({ handle, did })}`);
  const { publicKey } = await options(key.did).catch(async failure => {
    if (failure.code !== "did-taken") throw failure;
    // An earlier registration succeeded although its answer was lost: the key is that of an account.
    await keepKey(key, "");
    key = await unusedKey();
    return options(key.did);
  });
  const credential = await create(publicKey, server);
  const didProof = await proofBy(key, publicKey.challenge, publicKey.rp.id ?? server.rpId, handle);
  try {
    const account = await post("/register", { ...credential, handle, did: key.did, didProof });
    // It is stored already. Without the mark it is offered for another registration, which the server refuses.
    await keepKey(key, account.handle).catch(() => {});
    return account;
  } catch (failure) {
    if (failure.code !== "unreachable") throw failure;
    throw new Failure("unsure", words.unsure, { href: "/sign-in", text: t.app.signIn });
  }
}

function welcome(root, account) {
  show(root, page({ title: words.doneTitle(account.handle), lead: words.done },
    card(facts([
      [t.account.handle, account.handle],
      [t.account.did, h("code", { class: "did", dir: "ltr" }, account.did)],
    ])),
    note("warn", h("p", null, words.keyHere)),
    h("div", { class: "buttons" }, linkButton(words.toAccount, accountPage, "primary"))));
}
