// The recovery phrase: asked for, shown, checked from paper, forgotten. And the way back from the words.
//
// `await showRecoveryPhrase()` is true when the person has typed two of the words from paper. The words are in this page
// only while the dialog is open, and hidden when the person leaves it.

import { h, signal, onEnd } from "./dom.js";
import { get, isAllowed, post } from "./api.js";
import { asTyped, button, checkbox, field, form, note } from "./parts.js";
import { openDialog, toast } from "./dialog.js";
import { onLeaving, secretField } from "./secret.js";
import { t } from "../texts.js";

const w = t.phrase;
const asked = 2;
/// The confirmation that the node requires if its vault has no passphrase.
const confirmation = "show";

/// `vault` is what opens the keys, as `/keys` says it; it is asked for if it is not given.
export async function showRecoveryPhrase(vault) {
  if (!isAllowed("POST /recovery-phrase")) return elsewhere(w.title);
  const kind = vault ?? (await get("/keys")).vault;
  const { closed } = openDialog({ title: w.title, isWide: true }, close => {
    const step = signal("ask");
    let words = [];
    onEnd(() => { words = []; });
    const steps = {
      ask: () => askStep(kind, all => { words = all; step.set("words"); }, close),
      words: () => wordsStep(words, () => step.set("check")),
      check: () => checkStep(words, () => step.set("words"), close),
    };
    return h("div", { class: "stack", id: "phrase-step" }, () => steps[step()]());
  });
  const isWritten = Boolean(await closed);
  if (isWritten) toast(w.good);
  return isWritten;
}

/// Explains on another screen that an operation belongs to the device itself: by default because it shows or takes keys.
export async function elsewhere(title, text = w.onlyThere) {
  await openDialog({ title }, close => [note("info", h("p", null, text)),
    h("div", { class: "buttons end" }, button(t.app.close, { onPress: () => close() }))]).closed;
  return false;
}

/// A field for what opens the vault; where a key file does, for a word.
export const vaultField = (kind, error, isFirst) => (kind === "passphrase"
  ? secretField({ label: w.passphrase, name: "vault", error, isFirst })
  : field({ label: w.word, error }, p => h("input", { ...p, ...asTyped, name: "vault", autofocus: isFirst })));

/// Returns the typed text if it may be right; without the field, the word.
export function confirmed(kind, data, error) {
  const isSecret = kind === "passphrase", given = data.get("vault") ?? confirmation;
  if (isSecret ? given : given.trim() === confirmation) return isSecret ? given : confirmation;
  error.set(isSecret ? t.keys.missing : w.wrongWord);
}

/// Calls `act(confirmation)` after the person has typed the passphrase of the vault, if it has one; false when cancelled.
export async function withConfirmation({ title, action }, act) {
  const kind = (await get("/keys")).vault;
  if (kind !== "passphrase") {
    await act(confirmation);
    return true;
  }
  const { closed } = openDialog({ title }, close => {
    const error = signal("");
    return form({ error, vaultError: error, onSubmit: async data => {
      const given = confirmed(kind, data, error);
      if (!given) return;
      await act(given);
      close(true);
    } },
    h("p", null, w.confirmLead), vaultField(kind, error, true),
    h("div", { class: "buttons end" }, button(t.app.cancel, { onPress: () => close(false) }),
      button(action, { kind: "primary", type: "submit" })));
  });
  return Boolean(await closed);
}

function askStep(kind, done, close) {
  const error = signal("");
  return form({ error, onSubmit: async data => {
    const given = confirmed(kind, data, error);
    if (given) done((await post("/recovery-phrase", { confirmation: given })).words);
  } },
  h("p", null, w.lead),
  h("ul", { class: "plain-list" }, w.rules.map(one => h("li", null, one))),
  vaultField(kind, error, true),
  h("div", { class: "buttons end" }, button(t.app.cancel, { onPress: () => close(false) }),
    button(w.next, { kind: "primary", type: "submit" })));
}

function wordsStep(words, next) {
  const isShown = signal(false), wasLeft = signal(false), isWritten = signal(false);
  onLeaving(() => { if (isShown.peek()) { isShown.set(false); wasLeft.set(true); } });
  return [
    note("warn", h("p", null, w.rules[2])),
    h("ol", { class: "words", "aria-label": w.title }, words.map((word, index) => h("li", null,
      h("span", { class: "words-number", "aria-hidden": "true" }, index + 1),
      // What is covered is not in the page at all.
      () => (isShown() ? h("span", { class: "mono", translate: "no" }, word)
        : h("span", { class: "words-cover" }, h("span", { class: "away" }, w.hidden)))))),
    h("p", { class: "hint", role: "status" }, () => (isShown() ? "" : wasLeft() ? w.coveredAgain : w.covered)),
    h("div", { class: "section-head" },
      checkbox(w.written, { onChange: isWritten.set }),
      h("div", { class: "buttons" },
        button(() => (isShown() ? w.cover : w.show), { icon: "eye", onPress: () => isShown.update(one => !one) }),
        button(w.next, { kind: "primary", disabled: () => !isWritten(), onPress: next }))),
  ];
}

function checkStep(words, back, close) {
  const numbers = pick(words.length, asked).map(index => ({ index, error: signal("") }));
  return form({ onSubmit: async data => {
    let isRight = true;
    for (const { index, error } of numbers) {
      const fits = data.get(`word-${index}`).trim().toLowerCase() === words[index];
      error.set(fits ? "" : w.wrong(index + 1));
      isRight &&= fits;
    }
    if (isRight) close(true);
  } },
  h("p", null, w.checkLead),
  numbers.map(({ index, error }, at) => field({ label: w.nth(index + 1), error }, p => h("input", { ...p, ...asTyped,
    name: `word-${index}`, autofocus: at === 0 }))),
  h("div", { class: "buttons end" }, button(w.look, { onPress: back }),
    button(w.check, { kind: "primary", type: "submit" })));
}

/// Different positions, in order.
function pick(count, wanted) {
  const left = Array.from({ length: count }, (_, index) => index);
  const random = () => crypto.getRandomValues(new Uint32Array(1))[0];
  return Array.from({ length: Math.min(wanted, count) }, () => left.splice(random() % left.length, 1)[0])
    .sort((a, b) => a - b);
}

/// The root key from its words; true when it is back. `hasOther` says that another one would be lost.
export async function restoreFromWords(hasOther, vault) {
  if (!isAllowed("POST /recovery-phrase/restore")) return elsewhere(w.restoreTitle);
  const { closed } = openDialog({ title: w.restoreTitle }, close => {
    const error = signal(""), vaultError = signal(""), count = signal(0), isCovered = signal(false);
    let area;
    onLeaving(() => isCovered.set(true));
    return form({ error, vaultError, onSubmit: async data => {
      const words = area.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length !== 24) return error.set(w.count(words.length));
      const confirmation = confirmed(vault, data, vaultError);
      if (!confirmation) return;
      const answer = await post("/recovery-phrase/restore", { words: words.join(" "), confirmation,
        replace: data.get("replace") === "on" });
      close(true);
      toast(w.restored(answer?.networks ?? 0));
    } },
    h("p", null, w.restoreLead),
    field({ label: w.restoreField, error }, p => (area = h("textarea", { ...p, ...asTyped, rows: 4,
      autofocus: true, translate: "no",
      class: () => (isCovered() ? "mono covered" : "mono"),
      onfocus: () => isCovered.set(false), onblur: () => isCovered.set(true),
      oninput: () => count.set(area.value.trim().split(/\s+/).filter(Boolean).length) }))),
    h("p", { class: "hint", role: "status" }, () => (count() > 0 && isCovered()
      ? `${w.count(count())}. ${w.coveredField}` : w.count(count()))),
    vault === "passphrase" && vaultField(vault, vaultError),
    hasOther && h("div", null, checkbox(t.keys.replace, { hint: t.keys.replaceHint, name: "replace" })),
    h("div", { class: "buttons end" }, button(t.app.cancel, { onPress: () => close(false) }),
      button(w.restore, { kind: "primary", type: "submit" })));
  });
  return Boolean(await closed);
}
