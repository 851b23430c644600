// The frame of the console: the five tabs, the state of the line to the node, and which view is shown.

import { h, effect } from "./lib/dom.js";
import { startRouter, path, link } from "./lib/router.js";
import { isHere, openSession, session } from "./lib/api.js";
import { runActivity, connection, restarted } from "./lib/activity.js";
import { startHistory } from "./pictures/history.js";
import { icon } from "./lib/icons.js";
import { say, toast } from "./lib/dialog.js";
import { t } from "./texts.js";

const tabs = ["networks", "peers", "circle", "data", "settings"];

// The first that fits wins. A view is loaded when it is first shown.
const routes = [
  ["/networks", () => import("./views/networks.js")],
  ["/networks/new", () => import("./views/create.js")],
  ["/networks/:network", () => import("./views/network.js")],
  ["/networks/:network/admit", () => import("./views/admit.js")],
  ["/networks/:network/share", () => import("./views/share.js")],
  ["/join", () => import("./views/join.js")],
  ["/peers", () => import("./views/peers.js")],
  ["/peers/:peer", () => import("./views/peer.js")],
  ["/connect", () => import("./views/connect.js")],
  ["/doctor", () => import("./views/peers-doctor.js")],
  ["/circle", () => import("./views/circle.js")],
  ["/circle/:person", () => import("./views/person.js")],
  ["/data", () => import("./views/records.js")],
  ["/data/records", () => import("./views/records.js")],
  ["/data/topics", () => import("./views/topics.js")],
  ["/data/messages", () => import("./views/messages.js")],
  ["/data/services", () => import("./views/services.js")],
  ["/data/map", () => import("./views/map.js")],
  ["/settings", () => import("./views/settings.js")],
  ["/settings/device", () => import("./views/settings.js")],
  ["/settings/devices", () => import("./views/devices.js")],
  ["/settings/account", () => import("./views/account.js")],
  ["/settings/keys", () => import("./views/keys.js")],
  ["/settings/storage", () => import("./views/storage.js")],
  ["/settings/logs", () => import("./views/logs.js")],
  ["/settings/metrics", () => import("./views/metrics.js")],
];

function tabOf(at) {
  const first = at.split("/")[1];
  return { join: "networks", connect: "peers", doctor: "peers" }[first] ?? first;
}

const lineState = () => h("p", { class: () => `line ${connection()}` },
  h("span", { class: "dot" }),
  () => ({ live: t.app.live, connecting: t.app.connecting, lost: t.app.lost })[connection()]);

function frame(main, offers) {
  return [
    h("a", { class: "skip", href: "#main", onclick: event => {
      event.preventDefault();
      main.focus();
    } }, t.app.skip),
    h("header", { class: "side" },
      h("a", { class: "brand", href: link("/networks") }, h("span", { class: "mark" }, icon("networks", 22)), t.app.name),
      h("nav", { class: "tabs", "aria-label": t.app.mainNavigation }, tabs.map(tab =>
        h("a", { href: link("/" + tab), "aria-current": () => (tabOf(path()) === tab ? "page" : null) },
          icon(tab, 22), h("span", null, t.app[tab])))),
      lineState()),
    h("div", { class: "content" },
      () => (connection() === "lost" ? h("div", { class: "banner", role: "status" }, icon("warning", 18),
        isHere ? t.app.lostLong : t.app.lostThere)
        : null),
      offers,
      main),
  ];
}

function watchLine() {
  let was = "connecting";
  effect(() => {
    if (was === "lost" && connection() === "live" && !restarted()) say(t.app.live);
    was = connection();
  });
  effect(() => {
    if (!restarted()) return;
    restarted.set(false);
    toast(t.app.restarted);
  });
}

/// `runar console` may open its address in this tab, or in another one of this browser.
function watchSession() {
  addEventListener("hashchange", () => { if (location.hash.startsWith("#secret=")) location.reload(); });
  addEventListener("storage", () => { if (session.peek() === "out") location.reload(); });
}

async function start() {
  const app = document.getElementById("app");
  const main = h("main", { id: "main", tabindex: "-1" });
  const offers = h("div");
  watchSession();
  effect(() => {
    if (session() === "in") app.replaceChildren(...frame(main, offers));
    if (session() === "out") import("./views/sign-in.js").then(view => view.show(app));
  });
  try { await openSession(); } catch { session.set("out"); }
  if (session.peek() !== "in") return;
  startRouter(main, routes);
  watchLine();
  startHistory();
  runActivity();
  import("./views/peers-news.js").then(view => offers.append(view.news()));
  // So that every page is there also while the node is not.
  setTimeout(() => { for (const [, load] of routes) load().catch(() => {}); }, 1500);
}

start();
