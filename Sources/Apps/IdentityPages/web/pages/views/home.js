// The first page: what this server is, and the two ways on.

import { h } from "../lib/dom.js";
import { card, linkButton, page, show } from "../lib/parts.js";
import { t } from "../texts.js";

export const title = t.app.account;

export function mount(root, server) {
  const words = t.home;
  const way = (heading, text, action, href, kind) => card(h("h2", null, heading), h("p", { class: "quiet" }, text),
    h("div", { class: "buttons" }, linkButton(action, href, kind)));
  show(root, page({ title: server.name, lead: words.lead(server.name, server.handleDomain) },
    h("div", { class: "grid" },
      way(words.backTitle, words.backText, t.app.signIn, "/sign-in", "primary"),
      way(words.newTitle, words.newText, t.app.register, "/register", "primary"))));
}
