// The page without a session: how to sign in.

import { h } from "../lib/dom.js";
import { isHere } from "../lib/api.js";
import { icon } from "../lib/icons.js";
import { copyable } from "../lib/parts.js";
import { t } from "../texts.js";

export function show(app) {
  document.title = `${t.signIn.title} – ${t.app.name}`;
  app.replaceChildren(h("main", { class: "sign-in" },
    h("span", { class: "mark large" }, icon("networks", 34)),
    h("h1", null, t.signIn.title),
    h("p", { class: "lead" }, isHere ? t.signIn.lead : t.signIn.leadThere),
    h("p", null, isHere ? t.signIn.how : t.signIn.howThere),
    isHere && copyable(t.signIn.command, t.signIn.how),
    isHere && h("p", null, t.signIn.then),
    h("p", { class: "quiet" }, isHere ? t.signIn.expired : t.signIn.expiredThere)));
}
