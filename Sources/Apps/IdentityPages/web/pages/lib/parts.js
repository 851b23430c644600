// The pieces of the pages. How each looks is in app.css of the console, and in identity.css.

import { Failure } from "./api.js";
import { h, signal } from "./dom.js";
import { icon } from "./icons.js";
import { t } from "../texts.js";

export const page = ({ title, lead }, ...children) => h("div", { class: "page narrow" },
  h("div", { class: "page-head" },
    h("div", null, h("h1", { tabindex: "-1" }, title), lead && h("p", { class: "lead" }, lead))),
  children);

export const section = (title, ...children) =>
  h("section", { class: "section" }, h("div", { class: "section-head" }, h("h2", null, title)), children);

export const card = (...children) => h("div", { class: "card" }, children);

export const linkButton = (text, href, kind = "") => h("a", { class: `button ${kind}`, href }, text);

/// A button whose action may take time: it is busy until then. `task` shows the failures.
export const button = (text, onPress, { kind = "", task = null, type = "button", label } = {}) => h("button", {
  class: `button ${kind}`, type, "aria-label": label,
  "aria-busy": task ? () => task.isBusy() || null : null,
  onclick: onPress && (() => (task ? task.run(onPress) : onPress())),
}, text);

/// A labelled input: `field({label, hint, error}, p => h("input", {...p, name: "n"}))`; `error` is a signal of words.
let fields = 0;
export function field({ label, hint, error, status }, control) {
  const id = `field-${++fields}`;
  const parts = [hint && `${id}-hint`, status && `${id}-status`, error && `${id}-error`];
  const described = parts.filter(Boolean).join(" ");
  return h("div", { class: "field" },
    h("label", { class: "label", for: id }, label),
    control({ id, "aria-describedby": described || null, "aria-invalid": error ? () => Boolean(error()) : null }),
    hint && h("p", { class: "hint", id: `${id}-hint` }, hint),
    status && h("div", { id: `${id}-status` }, status),
    error && h("p", { class: "field-error", id: `${id}-error`, role: "alert" }, () => error() || ""));
}

/// Attributes of an input whose text stays as it is typed.
export const asTyped = { autocapitalize: "off", autocorrect: "off", spellcheck: "false" };

/// `kind`: info | warn | bad.
export const note = (kind, ...children) => h("div", { class: `note ${kind}`, role: kind === "bad" ? "alert" : null },
  icon(kind === "info" ? "info" : "warning"), h("div", null, children));

export const facts = rows => h("dl", { class: "facts" }, rows.filter(Boolean).map(([name, ...value]) =>
  h("div", null, h("dt", null, name), h("dd", null, value))));

/// Returns an action in progress and its failure: `run(body, retry)` runs one body at once, and `place()` shows the
/// failure and its next step, which may be another attempt. An `AbortError` shows nothing.
export function makeTask() {
  const isBusy = signal(false), failure = signal(null);
  let again = null;
  async function run(body, retry = body) {
    if (isBusy.peek()) return;
    again = retry;
    isBusy.set(true);
    failure.set(null);
    try { await body(); } catch (error) { if (error.name !== "AbortError") failure.set(inWords(error)); } finally {
      isBusy.set(false);
    }
  }
  const place = () => h("div", { class: "stack" }, () => failure() && failureNote(failure(), () => run(again)));
  return { run, place, isBusy };
}

/// A fault of a page has no words of its own, but its trace in the console of the browser.
function inWords(error) {
  if (error instanceof Failure) return error;
  console.error(error);
  return new Failure("unexpected", t.failures.unexpected);
}

/// A failure, and the way to its next step: a link, or another attempt.
export const failureNote = (failure, retry) => note("bad", h("p", null, inWords(failure).message), failure.link
  ? linkButton(failure.link.text, failure.link.href)
  : retry && button(t.app.tryAgain, retry));

const day = new Intl.DateTimeFormat(t.language, { dateStyle: "medium" });

/// Formats a second since 1970.
export const date = seconds => day.format(new Date(seconds * 1000));

/// Replaces a view by its result, whose heading takes the focus.
export function show(root, ...children) {
  root.replaceChildren(...children);
  root.querySelector("h1")?.focus({ preventScroll: true });
}
