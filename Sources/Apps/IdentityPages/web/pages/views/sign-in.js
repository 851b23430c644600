// Signing in: by a passkey in the autofill of the field, or with the dialog of the browser.

import { h } from "../lib/dom.js";
import { accountPage, get, isSignedIn, post } from "../lib/api.js";
import { canOffer, confirm, offer } from "../lib/passkeys.js";
import { asTyped, button, card, field, linkButton, makeTask, page, show } from "../lib/parts.js";
import { t } from "../texts.js";

const words = t.signIn;

export const title = words.title;

/// Challenges live for ten minutes, and an offer may wait for a person as long as the page is open.
const offerLife = 4 * 60_000;

export async function mount(root, server) {
  if (isSignedIn()) return location.replace(accountPage);
  const task = makeTask();
  let input;

  async function enter(assertion) {
    await post("/authenticate", assertion);
    location.assign(accountPage);
  }

  async function submit() {
    // The domain of the server may stand behind a handle, or not.
    const typed = input.value.trim(), domain = `.${server.handleDomain}`;
    const handle = typed.endsWith(domain) ? typed.slice(0, -domain.length) : typed;
    clearTimeout(renewal);
    try {
      const { publicKey } = await get(handle ? `/authenticate/${encodeURIComponent(handle)}` : "/authenticate");
      await enter(await confirm(publicKey, server));
    } catch (failure) {
      keepOffering();
      throw failure;
    }
  }

  let renewal = null;
  async function keepOffering() {
    if (!await canOffer(server)) return;
    try {
      const { publicKey } = await get("/authenticate");
      renewal = setTimeout(keepOffering, offerLife);
      const assertion = await offer(publicKey, server);
      clearTimeout(renewal);
      await task.run(() => enter(assertion).catch(failure => { keepOffering(); throw failure; }), submit);
    } catch {
      // The button works without the offer, and says what is wrong.
    }
  }

  show(root, page({ title, lead: words.lead },
    h("form", { class: "form", novalidate: true, onsubmit: event => { event.preventDefault(); task.run(submit); } },
      card(field({ label: words.label, hint: words.hint }, properties => h("input", { ...properties, ...asTyped,
        name: "username", autocomplete: "username webauthn", ref: node => { input = node; } }))),
      task.place(),
      h("div", { class: "buttons" }, button(words.submit, null, { kind: "primary", type: "submit", task }))),
    h("div", { class: "cluster" }, h("p", null, words.none), linkButton(t.app.register, "/register"))));
  keepOffering();
}
