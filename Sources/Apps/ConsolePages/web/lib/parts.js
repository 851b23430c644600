// The pieces that views are built of. How each looks is in app.css; a view needs no style of its own.

import { h, signal, computed, each, effect, nodes, untracked } from "./dom.js";
import { icon } from "./icons.js";
import { clean } from "./format.js";
import { link } from "./router.js";
import { tellFailure, toast } from "./dialog.js";
import { t } from "../texts.js";

/// A whole page: `root.append(page({title, lead, back: "/networks", actions: [button(…)]}, …))`.
export const page = ({ title, lead, back, backTitle, actions, isNarrow }, ...children) =>
  h("div", { class: isNarrow ? "page narrow" : "page" },
    back && h("a", { class: "back", href: link(back) }, icon("back", 18), h("span", null, backTitle ?? t.app.back)),
    h("div", { class: "page-head" },
      h("div", null, h("h1", null, title), lead && h("p", { class: "lead" }, lead)),
      actions && h("div", { class: "buttons" }, actions)),
    children);

/// A headed part of a page.
export const section = ({ title, actions, lead }, ...children) =>
  h("section", { class: "section" },
    title && h("div", { class: "section-head" }, h("h2", null, title),
      actions && h("div", { class: "buttons" }, actions)),
    lead && h("p", { class: "quiet" }, lead),
    children);

export const card = (...children) => h("div", { class: "card" }, children);

/// A name that another person chose, without control characters and isolated from the direction of the text around it.
export const bdi = (text, properties) => h("bdi", { dir: "auto", ...properties }, clean(text));

/// `kind`: "" | primary | danger | quiet. `onPress` may be async: the button is busy until it is done, and a toast
/// shows a failure. With `href` it is a link.
export function button(text, options = {}) {
  const { kind = "", icon: name, onPress, href, type = "button", disabled, label, id, isWide } = options;
  const className = `button ${kind} ${isWide ? "wide" : ""}`.trim();
  const inside = [name && icon(name, 18), text && h("span", null, text)];
  if (href) return h("a", { class: className, href: href.startsWith("/") ? link(href) : href, id, "aria-label": label },
    inside);
  const busy = signal(false);
  return h("button", {
    class: className, type, id, "aria-label": label, "aria-busy": () => busy() || null,
    disabled: typeof disabled === "function" ? disabled : disabled ?? false,
    onclick: onPress && (async event => {
      if (busy.peek()) return;
      busy.set(true);
      try { await onPress(event); } catch (error) { tellFailure(error); } finally { busy.set(false); }
    }),
  }, inside);
}

export const iconButton = (name, label, onPress) =>
  h("button", { class: "icon-button", type: "button", "aria-label": label, title: label, onclick: onPress }, icon(name));

let fields = 0;

/// Attributes of an input whose text stays as it is typed.
export const asTyped = { autocomplete: "off", autocapitalize: "off", spellcheck: "false" };

/// A labelled input. `control` makes it: `field({label, hint}, p => h("input", {...p, name: "name"}))`; `error` may be a
/// signal of words.
export function field({ label, hint, error }, control) {
  const id = `field-${++fields}`;
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ") || null;
  return h("div", { class: "field" },
    h("label", { class: "label", for: id }, label),
    control({ id, "aria-describedby": described, "aria-invalid": error ? () => Boolean(error()) : null }),
    hint && h("p", { class: "hint", id: `${id}-hint` }, hint),
    error && h("p", { class: "field-error", id: `${id}-error`, role: "alert" }, () => error() || ""));
}

export const select = (options, { value, onChange, ...rest } = {}) =>
  h("select", { ...rest, onchange: event => onChange?.(event.target.value) },
    options.map(([id, words]) => h("option", { value: id, selected: id === value }, words)));

export const checkbox = (label, { checked, onChange, hint, name } = {}) =>
  h("label", { class: "check" },
    h("input", { type: "checkbox", name, checked: checked ?? false,
      onchange: event => onChange?.(event.target.checked) }),
    h("span", null, label, hint && h("span", { class: "hint" }, hint)));

/// A form whose submission may be async. `error` (a signal) gets the message of a failure; without it a toast shows it.
export function form({ onSubmit, error, vaultError, class: className = "form", label }, ...children) {
  let busy = false;
  return h("form", { class: className, novalidate: true, "aria-label": label, onsubmit: async event => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    const pressed = event.submitter;
    pressed?.setAttribute("aria-busy", "true");
    for (const one of [error, vaultError]) one?.set("");
    try { await onSubmit(new FormData(event.target), event.target); } catch (failure) {
      const place = (failure.code === "wrong-passphrase" && vaultError) || error;
      if (place) place.set(failure.message); else tellFailure(failure);
    } finally { busy = false; pressed?.removeAttribute("aria-busy"); }
  } }, children);
}

/// Names and values: `facts([["Device", "…"], …])`; a row of null is left out.
export const facts = rows => h("dl", { class: "facts" }, rows.filter(Boolean).map(([name, value]) =>
  h("div", null, h("dt", null, name), h("dd", null, value))));

/// `kind`: ok | warn | bad | quiet. The word says it; the colour only helps.
export const badge = (text, kind = "quiet") => h("span", { class: `badge ${kind}` }, h("span", { class: "dot" }), text);

/// Something to know here: `kind` info | warn | bad.
export const note = (kind, ...children) => h("div", { class: `note ${kind}`, role: kind === "bad" ? "alert" : null },
  icon(kind === "info" ? "info" : "warning"), h("div", null, children));

/// An empty state that teaches: what this place is for, and what to press next.
export const empty = ({ icon: name, title, text, actions }) => h("div", { class: "empty" },
  icon(name, 40), h("h2", null, title), [text].flat().map(one => h("p", null, one)),
  actions && h("div", { class: "buttons" }, actions));

/// A list of things that say something and have buttons below it.
export const findings = (label, name, items, key, render) =>
  h("ul", { class: "findings", "aria-label": label, hidden: () => !items().length }, each(items, key, one =>
    h("li", null, icon(name), h("div", { class: "stack tight" }, () => render(one())))));

/// A row that leads somewhere: `row({href, icon, title, detail, end})`.
export const row = ({ href, icon: name, title, detail, end, label }) => {
  const inside = [
    name && h("span", { class: "row-icon" }, icon(name)),
    h("span", { class: "row-main" }, h("span", { class: "row-title" }, title),
      detail && h("span", { class: "row-detail" }, detail)),
    end && h("span", { class: "row-end" }, end),
  ];
  return href
    ? h("a", { class: "row", href: link(href), "aria-label": label }, inside, icon("forward", 18))
    : h("div", { class: "row" }, inside);
};

/// Places within a tab: `subnav("Data", [["/data/records", "Values"], …], "/data/records")`.
export const subnav = (label, places, current) => h("nav", { class: "subnav", "aria-label": label },
  places.map(([to, words]) => h("a", { href: link(to), "aria-current": to === current ? "page" : null, ref: node => {
    // On a phone the one that is shown may be beyond the edge.
    if (to === current) requestAnimationFrame(() => node.scrollIntoView({ inline: "center", block: "nearest" }));
  } }, words)));

export async function copy(text, words = t.app.copied) {
  try { await navigator.clipboard.writeText(text); } catch {
    const area = h("textarea", { value: text, class: "away", readonly: true });
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(words);
}

/// A long text of the machine (an id, a link), shown to be copied.
export const copyable = (text, label) => h("div", { class: "copyable" },
  h("code", { dir: "ltr" }, text), button(t.app.copy, { icon: "copy", label: `${t.app.copy}: ${label}`,
    onPress: () => copy(text) }));

/// Shows a resource: `loaded(peers, value => …)` is the loading state, the error, or the value.
export function loaded(resource, body) {
  const value = computed(() => resource().value);
  return () => (value() !== undefined ? body(value()) : unloaded(resource));
}

function unloaded(resource) {
  const { error, isLoading } = resource();
  if (error) return note("bad", h("p", null, error.message),
    button(t.app.tryAgain, { onPress: () => resource.reload() }));
  return isLoading ? h("div", { class: "loading", role: "status" }, h("span", { class: "away" }, t.app.loading)) : null;
}

/// As `loaded`, but the body is made once and gets a signal of the value, so that nothing in it is made anew (a list
/// keeps its place, a form what was typed).
///
/// `frame` goes around what stands there before and instead of it: `frame: { title, back: "/peers" }` is a page, so
/// that the heading and the way back are there from the beginning.
export function loadedOnce(resource, body, { frame = null } = {}) {
  const value = signal(undefined), state = signal("loading");
  effect(() => {
    const now = resource();
    if (now.value !== undefined) value.set(now.value);
    state.set(now.value !== undefined ? "there" : now.error ? "failed" : "loading");
  });
  const otherwise = () => unloaded(resource);
  return () => {
    if (state() === "there") return untracked(() => nodes([body(value)]));
    return frame ? page(frame, otherwise) : otherwise();
  };
}

/// Saves bytes or a Blob under a name.
export function save(content, name) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content]));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
