// The recovery phrase: shown once, after a confirmation and the passphrase, hidden when one looks elsewhere.
// `await showRecoveryPhrase()` is true if the person said that the words are written down.

import { h, signal, onEnd } from "./dom.js";
import { get, post } from "./api.js";
import { openDialog } from "./dialog.js";
import { button, checkbox, field, form, note } from "./parts.js";
import { t } from "../texts.js";

const w = t.phrase;

export async function showRecoveryPhrase() {
  const { vault } = await get("/keys");
  const words = signal(null);
  const { closed } = openDialog({ title: w.title, isWide: true }, close => {
    onEnd(() => words.set(null));
    return [() => (words() ? shown(words(), close) : asked(vault, words, close))];
  });
  return Boolean(await closed);
}

function asked(vault, words, close) {
  const error = signal("");
  const isPassphrase = vault === "passphrase";
  return form({ error, onSubmit: async data => {
    const answer = await post("/recovery-phrase", { passphrase: data.get("passphrase") });
    words.set(answer.words);
  } },
  h("p", null, w.what),
  note("warn", h("p", null, w.danger)),
  field({ label: isPassphrase ? w.passphrase : w.typeShow, hint: isPassphrase ? w.passphraseHint : null, error },
    given => h("input", { ...given, name: "passphrase", type: isPassphrase ? "password" : "text", autofocus: true,
      autocomplete: isPassphrase ? "current-password" : "off", autocapitalize: "off", spellcheck: "false" })),
  h("div", { class: "buttons end" },
    button(t.app.cancel, { onPress: () => close(false) }),
    button(w.show, { kind: "primary", type: "submit", icon: "eye" })));
}

function shown(words, close) {
  const isHidden = signal(false);
  const isWritten = signal(false);
  const hide = () => isHidden.set(true);
  const onVisibility = () => { if (document.hidden) hide(); };
  addEventListener("blur", hide);
  document.addEventListener("visibilitychange", onVisibility);
  onEnd(() => {
    removeEventListener("blur", hide);
    document.removeEventListener("visibilitychange", onVisibility);
  });
  return h("div", { class: "stack" },
    h("p", null, w.write),
    () => (isHidden()
      ? h("div", { class: "phrase hidden-words" }, h("p", null, w.hidden),
        button(w.showAgain, { icon: "eye", id: "show-words", onPress: () => isHidden.set(false) }))
      : h("ol", { class: "phrase", "aria-label": w.title, translate: "no" }, words.map(word => h("li", null, word)))),
    checkbox(w.written, { onChange: isWritten.set }),
    h("div", { class: "buttons end" },
      button(t.app.done, { kind: "primary", disabled: () => !isWritten(), onPress: () => close(true) })));
}
