// The frame of the pages of the identity server, and which view belongs to which address.

import { h } from "./lib/dom.js";
import { accountPage, isSignedIn, loadServer } from "./lib/api.js";
import { failureNote, linkButton, page, show } from "./lib/parts.js";
import { isCovered, rightPlace } from "./lib/passkeys.js";
import { icon } from "./lib/icons.js";
import { t } from "./texts.js";

// Each view is loaded when it is shown.
const routes = [
  [/^\/$/, () => import("./views/home.js")],
  [/^\/register$/, () => import("./views/register.js")],
  [/^\/sign-in$/, () => import("./views/sign-in.js")],
  [/^\/my-account$/, () => import("./views/account.js")],
  [/^\/ceremony\/([\w-]+)$/, () => import("./views/ceremony.js")],
];

function frame(main, server) {
  const isHome = location.pathname === "/";
  return [
    h("header", { class: "top" },
      h("a", { class: "brand", href: "/", "aria-current": isHome ? "page" : null },
        h("span", { class: "mark" }, icon("key", 22)), h("bdi", null, server.name)),
      isSignedIn() && location.pathname !== accountPage
        && h("nav", { "aria-label": t.app.main }, h("a", { href: accountPage }, t.app.account))),
    main,
  ];
}

/// Passkeys do not work at an address such as 127.0.0.1, although the pages do.
async function warning(server) {
  const { href, text } = await rightPlace(server);
  return h("div", { class: "banner", role: "status" }, icon("warning", 18), h("p", null, t.app.wrongPlace, " ",
    h("a", { href }, text)));
}

const nothing = () => page({ title: t.app.noPageTitle, lead: t.app.noPage },
  h("div", { class: "buttons" }, linkButton(t.app.start, "/")));

async function start() {
  const app = document.getElementById("app");
  const main = h("main", { id: "main" }, h("div", { class: "page narrow" },
    h("div", { class: "loading", role: "status" }, h("span", { class: "away" }, t.app.loading))));
  app.replaceChildren(main);
  try {
    const path = location.pathname;
    const [pattern, load] = routes.find(([one]) => one.test(path)) ?? [];
    const [server, view] = await Promise.all([loadServer(), load?.()]);
    app.replaceChildren(...frame(main, server));
    if (!isCovered(server)) app.querySelector("header").after(await warning(server));
    document.title = `${view?.title ?? t.app.noPageTitle} – ${server.name}`;
    if (view) await view.mount(main, server, path.match(pattern)[1]);
    else show(main, nothing());
  } catch (error) {
    show(main, page({ title: t.app.brokenTitle }, failureNote(error, () => location.reload())));
  }
}

// A page that comes back by the history may show an account that was signed out.
addEventListener("pageshow", event => { if (event.persisted) location.reload(); });

start();
