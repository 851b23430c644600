// The agreement of the operator, and the box without which no account is created.

import { h, signal } from "./dom.js";
import { section } from "./parts.js";
import { t } from "../texts.js";

/// Returns the part of a page, and `isAccepted()`, which shows what is missing and takes the focus there.
export function makeAgreement({ agreement }) {
  const words = t.register;
  const error = signal("");
  let box;
  const place = section(words.agreementTitle,
    h("p", { class: "quiet" }, words.version(agreement.version)),
    h("div", { class: "agreement", tabindex: "0", role: "region", "aria-label": words.agreementTitle }, agreement.text),
    h("label", { class: "check" },
      h("input", { type: "checkbox", name: "agree", "aria-describedby": "agree-error",
        "aria-invalid": () => Boolean(error()), ref: node => { box = node; }, onchange: () => error.set("") }),
      h("span", null, words.agree(agreement.version))),
    h("p", { class: "field-error", id: "agree-error", role: "alert" }, () => error()));
  return {
    place,
    isAccepted() {
      error.set(box.checked ? "" : words.mustAgree);
      if (!box.checked) box.focus();
      return box.checked;
    },
  };
}
