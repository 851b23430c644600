// Dialogs, which close with a change of the page, and news.
//
// `await confirm({title, text, action, isDangerous, word})` is a Boolean; `word` must be typed.
// `openDialog({title, isWide}, close => [nodes])` returns {close, closed}: a promise of the value given to
// `close(value)`. `toast(text, {action, onAction, kind})` shows a result; `say(text)` is for
// screen readers only.

import { h, scope, signal, focusOn, twinOf } from "./dom.js";
import { t } from "../texts.js";
import { icon } from "./icons.js";

let number = 0;

export function openDialog({ title, isWide = false, isRequired = false }, content) {
  const id = `dialog-${++number}`;
  let settle, value;
  const closed = new Promise(resolve => { settle = resolve; });
  let node;
  const close = result => { value = result; node.close(); };
  const leave = () => close();
  const made = scope(() => {
    node = h("dialog", { class: isWide ? "dialog wide" : "dialog", "aria-labelledby": id, onclose: end },
      h("div", { class: "dialog-head" },
        h("h2", { id }, title),
        isRequired ? null : h("button", { class: "icon-button", type: "button", "aria-label": t.app.close,
          onclick: leave }, icon("close"))),
      content(close));
  });
  if (isRequired) node.addEventListener("cancel", event => event.preventDefault());
  else addEventListener("hashchange", leave);
  // A click outside acts as Escape does.
  node.addEventListener("mousedown", event => { if (!isRequired && event.target === node) close(); });
  const before = document.activeElement;
  function end() {
    removeEventListener("hashchange", leave);
    made.end();
    node.remove();
    if (before?.isConnected) before.focus({ preventScroll: true });
    else if (before) focusOn(twinOf(before) ?? document.querySelector("main h1"));
    settle(value);
  }
  document.body.append(node);
  node.showModal();
  // Screen readers begin with the title.
  if (document.activeElement?.closest(".dialog-head")) focusOn(node.querySelector("h2"));
  return { close, closed, node };
}

export async function confirm({ title, text, action, isDangerous = false, word = null }) {
  const typed = signal("");
  const { closed } = openDialog({ title }, close => h("form", {
    onsubmit: event => { event.preventDefault(); if (!word || typed().trim() === word) close(true); },
  },
  [text].flat().map(one => h("p", null, one)),
  word && h("label", { class: "field" }, h("span", { class: "label" }, t.app.typeWord(word)),
    h("input", { autocomplete: "off", autocapitalize: "off", spellcheck: "false",
      oninput: event => typed.set(event.target.value) })),
  h("div", { class: "buttons end" },
    h("button", { type: "button", class: "button", onclick: () => close(false), autofocus: isDangerous }, t.app.cancel),
    h("button", { type: "submit", class: isDangerous ? "button danger" : "button primary",
      disabled: () => Boolean(word) && typed().trim() !== word }, action))));
  return Boolean(await closed);
}

export function toast(text, { kind = "ok", action = null, onAction = null, seconds = 7 } = {}) {
  const place = document.getElementById("toasts");
  const node = h("div", { class: `toast ${kind}` },
    icon(kind === "bad" ? "warning" : "check"), h("span", null, text),
    action && h("button", { class: "button quiet", type: "button", onclick: () => { onAction(); gone(); } }, action),
    h("button", { class: "icon-button", type: "button", "aria-label": t.app.dismiss, onclick: gone }, icon("close")));
  let timer = null;
  const wait = () => { timer = setTimeout(gone, seconds * 1000); };
  function gone() { clearTimeout(timer); node.remove(); }
  // It stays while it is read.
  for (const on of ["mouseenter", "focusin"]) node.addEventListener(on, () => clearTimeout(timer));
  for (const on of ["mouseleave", "focusout"]) node.addEventListener(on, wait);
  for (const one of [...place.children]) if (one.querySelector("span").textContent === text) one.remove();
  while (place.childElementCount >= 3) place.firstElementChild.remove();
  place.append(node);
  say(text);
  // Above an open dialog, too.
  if (place.matches(":popover-open")) place.hidePopover();
  place.showPopover();
  wait();
  return gone;
}

export const tellFailure = error => {
  if (error?.name !== "AbortError") toast(error?.message ?? String(error), { kind: "bad", seconds: 12 });
};

export function say(text) {
  const place = document.getElementById("news");
  place.textContent = "";
  // Only a change of text is read out.
  requestAnimationFrame(() => { place.textContent = text; });
}
