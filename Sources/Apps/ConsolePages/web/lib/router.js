// Which view is shown is written in the fragment: `#/networks/ID`. A view is a module that exports
//   title            words for the tab and for screen readers (or `params => words`)
//   mount(root, params)   fills root; what it returns, if anything, is called when the view goes
// and effects, resources and listeners made while mounting end by themselves. `go("/networks")` moves on;
// `link("/networks/…")` is the text for an href. A part of a path is encoded with `part` of lib/api.js.

import { h, scope, signal, focusOn } from "./dom.js";
import { onResume } from "./activity.js";
import { t } from "../texts.js";

/// The path now, such as `/networks/abc`.
export const path = signal("/");
/// Questions and notes after the path (`#/join?text=…`), as a URLSearchParams.
export const query = signal(new URLSearchParams());

export const link = to => "#" + to;
export function go(to, { replace = false } = {}) {
  if (replace) history.replaceState(null, "", link(to)), follow();
  else location.hash = link(to);
}

let table = [];
let root = null;
let shown = null;
let turn = 0;

/// Routes: `["/networks/:network", () => import("./views/network.js")]`; the first that fits wins.
export function startRouter(place, routes) {
  root = place;
  table = routes.map(([template, load]) => ({ parts: template.split("/"), load }));
  addEventListener("hashchange", follow);
  follow();
}

function find(at) {
  const parts = at.split("/");
  for (const { parts: template, load } of table) {
    if (template.length !== parts.length) continue;
    const params = {};
    const fits = template.every((one, index) => {
      if (!one.startsWith(":")) return one === parts[index];
      params[one.slice(1)] = decoded(parts[index]);
      return parts[index] !== "";
    });
    if (fits) return { load, params };
  }
  return null;
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

async function follow() {
  // The way in (see app.js), not a page.
  if (location.hash.startsWith("#secret=")) return;
  const [at, rest = ""] = location.hash.replace(/^#/, "").split("?", 2);
  if (!at.startsWith("/")) return go("/networks", { replace: true });
  const mine = ++turn;
  const found = find(at);
  let view, params = found?.params ?? {};
  try { view = found ? await found.load() : missing; } catch { view = broken; }
  if (mine !== turn) return;
  path.set(at);
  query.set(new URLSearchParams(rest));
  const isFirst = shown === null;
  shown?.end();
  const place = h("div", { class: "view" });
  shown = scope(() => {
    const leave = view.mount(place, params);
    return leave;
  });
  const mounted = shown;
  if (typeof mounted.result === "function") mounted.endings.push(mounted.result);
  root.replaceChildren(place);
  setTitle(typeof view.title === "function" ? view.title(params) : view.title);
  if (isFirst) return;
  scrollTo(0, 0);
  // The heading takes the focus, so that a screen reader says where one is and Tab goes on from there.
  if (!focusHeading(place)) {
    const watcher = new MutationObserver(() => { if (focusHeading(place)) watcher.disconnect(); });
    watcher.observe(place, { childList: true, subtree: true });
    mounted.endings.push(() => watcher.disconnect());
  }
}

/// True when there is nothing left to do.
function focusHeading(place) {
  const now = document.activeElement;
  if (now && now !== document.body && now.isConnected && (place.contains(now) || now.closest("dialog"))) return true;
  const heading = place.querySelector("h1");
  focusOn(heading);
  return Boolean(heading);
}

export function setTitle(text) { document.title = text ? `${text} – ${t.app.name}` : t.app.name; }

const message = (title, text, onMount) => ({
  title,
  mount(place) {
    onMount?.();
    place.append(h("div", { class: "page" }, h("h1", null, title), h("p", null, text),
      h("p", null, h("a", { href: link("/networks") }, t.app.toNetworks))));
  },
});
const missing = message(t.errors.noPageTitle, t.errors.noPage);
const broken = message(t.errors.brokenTitle, t.errors.broken, () => onResume(isFirst => { if (!isFirst) location.reload(); }));
