// Secrets on the screen: fields that hide again, and the detection that the person left.

import { h, signal, onEnd } from "./dom.js";
import { field, iconButton } from "./parts.js";
import { t } from "../texts.js";

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
      // The same button before and after: one in its place would take the focus, and what is typed would hide at once.
      iconButton("eye", () => (isShown() ? t.keys.hide : t.keys.show), () => isShown.update(one => !one)))));
  return wrap;
}
