// What the pages of the settings share: their places, and fields for secrets.

import { h, signal, onEnd } from "../lib/dom.js";
import { page, subnav, field, iconButton } from "../lib/parts.js";
import { t } from "../texts.js";

const w = t.settings;
const places = ["device", "keys", "storage", "logs", "metrics"];

export const titleOf = place => `${w.places[place]} – ${w.title}`;

/// A page of the settings; its heading says to screen readers which one.
export const settingsPage = (place, lead, ...children) => page(
  { title: [w.title, h("span", { class: "away" }, `: ${w.places[place]}`)] },
  subnav(w.title, places.map(one => [`/settings/${one}`, w.places[one]]), `/settings/${place}`),
  lead && h("p", { class: "lead" }, lead), children);

/// Calls the body when the person leaves: another tab, another program, or the end of the view.
export function onLeaving(body) {
  const onHidden = () => { if (document.hidden) body(); };
  addEventListener("blur", body);
  document.addEventListener("visibilitychange", onHidden);
  onEnd(() => {
    removeEventListener("blur", body);
    document.removeEventListener("visibilitychange", onHidden);
  });
}

/// A field for a passphrase. It shows what is typed only while it is asked to, and never after it was left.
export function secretField({ label, hint, error, name, isNew = false, isFirst = false }) {
  const isShown = signal(false);
  const hide = () => isShown.set(false);
  onLeaving(hide);
  const wrap = h("div", { onfocusout: event => { if (!wrap.contains(event.relatedTarget)) hide(); } },
    field({ label, hint, error }, p => h("div", { class: "secret" },
      h("input", { ...p, name, type: () => (isShown() ? "text" : "password"), autofocus: isFirst, spellcheck: "false",
        autocapitalize: "off", autocomplete: isNew ? "new-password" : "current-password", maxlength: 1024 }),
      () => iconButton("eye", isShown() ? t.keys.hide : t.keys.show, () => isShown.update(one => !one)))));
  return wrap;
}

/// The bytes of a chosen file in base64.
export async function base64Of(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}
