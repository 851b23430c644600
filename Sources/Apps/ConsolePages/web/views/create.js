// A new network: the master key, a name, and then the code for the others.

import { h, signal, computed, effect } from "../lib/dom.js";
import { post } from "../lib/api.js";
import { go } from "../lib/router.js";
import { resource } from "../lib/store.js";
import { page, card, button, form, field, loadedOnce, note, section } from "../lib/parts.js";
import { base64url } from "../lib/format.js";
import { t } from "../texts.js";

const w = t.create;
export const title = w.title;

/// Above it a network's text alone would not bring it back.
const highestIndex = 1023;

export function mount(root) {
  const keys = resource("/keys", ["changed:keys"]);
  root.append(page({ title: w.title, lead: w.lead, back: "/networks", backTitle: t.networks.title, isNarrow: true },
    h("div", null, loadedOnce(keys, content))));
}

function content(keys) {
  const root = computed(() => keys().keys.find(one => one.key === "root"));
  const choice = signal("");
  effect(() => {
    const usual = root() ? "have" : "make";
    if (choice.peek() !== "restore") choice.set(usual);
  });
  const isRestoring = computed(() => choice() === "restore");
  const error = signal(""), wrongIndex = signal("");
  const more = h("details", null, h("summary", null, w.more),
    field({ label: w.index, hint: w.indexHint, error: wrongIndex }, given => h("input", { ...given, name: "index",
      type: "number", min: 0, max: highestIndex, step: 1, inputmode: "numeric", placeholder: w.indexPlaceholder })));
  effect(() => { if (wrongIndex()) more.open = true; });
  return form({ error, onSubmit: (data, node) => create(data, node.elements.index, wrongIndex, Boolean(root.peek())) },
    section({ title: w.keyTitle }, () => h("fieldset", null, h("legend", { class: "quiet" }, w.keyLead),
      root()
        ? option("have", choice, w.have, [w.haveHint, " ", h("code", null, root().publicKey.slice(0, 16), "…")])
        : option("make", choice, w.make, w.makeHint),
      option("restore", choice, root() ? w.other : w.restore, root() ? w.otherHint : w.restoreHint))),
    () => (isRestoring()
      ? note("info", h("p", null, w.restoreText), h("div", { class: "buttons" },
        button(w.toKeys, { kind: "primary", icon: "key", href: "/settings/keys" })))
      : [
        section({ title: w.nameTitle }, card(
          field({ label: w.name, hint: w.nameHint, error }, given => h("input", { ...given, name: "name", maxlength: 64,
            placeholder: w.namePlaceholder, autocomplete: "off", required: true })), more)),
        h("div", { class: "buttons" },
          button(w.create, { kind: "primary", icon: "plus", type: "submit" }),
          button(t.app.cancel, { href: "/networks" })),
      ]));
}

const option = (value, choice, words, hint) => h("label", { class: "choice" },
  h("input", { type: "radio", name: "key", value, checked: choice.peek() === value, onchange: () => choice.set(value) }),
  h("span", null, h("strong", null, words), h("span", { class: "hint" }, hint)));

async function create(data, index, wrongIndex, hadKey) {
  wrongIndex.set("");
  const name = data.get("name").trim();
  if (!name) throw new Error(w.nameMissing);
  if (!index.validity.valid) return wrongIndex.set(w.indexWrong(highestIndex));
  const body = { name };
  if (index.value) body.index = Number(index.value);
  try {
    const network = await post("/networks", body);
    go(`/networks/${base64url(network.networkId)}/share?new=${hadKey ? "" : "key"}`);
  } catch (failure) {
    if (!["index-needed", "bad-index"].includes(failure.code)) throw failure;
    wrongIndex.set(failure.message);
  }
}
