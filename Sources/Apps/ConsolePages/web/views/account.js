// The account at an identity server: its state, the registration and the sign-in with a page of the server.

import { h, signal, onEnd } from "../lib/dom.js";
import { get, post, lasting, isAllowed } from "../lib/api.js";
import { badge, button, card, checkbox, facts, field, form, loadedOnce, note, section, asTyped } from "../lib/parts.js";
import { confirm, say, toast } from "../lib/dialog.js";
import { resource } from "../lib/store.js";
import { clean, date } from "../lib/format.js";
import { settingsPage, titleOf } from "./settings-page.js";
import { t } from "../texts.js";

const w = t.account;
export const title = titleOf("account");

/// Whether this screen may act: an account is made and used on the device itself alone.
const mayAct = () => isAllowed("GET /account/agreement") && isAllowed("POST /account/register")
  && isAllowed("POST /account/login") && isAllowed("POST /account/reconnect") && isAllowed("POST /account/logout");

export function mount(root) {
  const account = resource("/account", ["changed:circle", "changed:keys"]);
  // {step: "idle" | "agreement" | "page" | "waiting", …}
  const now = signal({ step: "idle" });
  let ending = null;
  onEnd(() => ending?.abort());
  const course = {
    now,
    stop: () => { ending?.abort(); now.set({ step: "idle" }); },
    perform: (path, body) => {
      ending = new AbortController();
      return perform(path, body, now, ending.signal, () => account.reload());
    },
  };
  root.append(settingsPage("account", w.lead, h("div", null, loadedOnce(account, value => [
    () => state(value()),
    () => (now().step === "idle" ? choices(value(), course) : steps[now().step](now(), course)),
  ]))));
}

const state = value => section({ title: w.state }, card(
  h("p", null, value.signedIn ? badge(w.signedIn, "ok") : value.offline ? badge(w.offline, "warn") : badge(w.signedOut)),
  facts([
    value.handle && [w.handle, h("span", { class: "mono" }, clean(value.handle))],
    value.did && [w.did, h("span", { class: "mono break" }, clean(value.did))],
    value.server && [w.server, h("span", { class: "mono" }, clean(value.server))],
    value.signedIn && value.expires && [w.until, date(value.expires)],
  ]),
  value.problemText && note("warn", clean(value.problemText, 1000)),
  h("ul", { class: "bullets" }, value.checks.map(one =>
    h("li", null, `${w.checks[one.item] ?? clean(one.item)}: ${one.passed ? w.there : w.missing}`))),
  value.signedIn && value.page && h("p", null, outside(value.page, w.passkeys))));

/// A link to the server's page in a new tab.
const outside = (address, words) => (/^https?:\/\//.test(address)
  ? h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, words) : null);

function choices(value, course) {
  if (!mayAct()) return note("info", w.onlyHere);
  if (value.busy) return note("info", w.busy);
  if (value.signedIn) return h("div", { class: "buttons" }, button(w.logout, { onPress: logout }));
  if (value.offline || !["agreement", "handle", "done"].includes(value.step)) {
    return card(h("p", null, value.offline ? w.offlineText : w.unfinished), begin(value, course, "/account/reconnect", w.reconnect));
  }
  return [
    value.step !== "done" && section({ title: w.registerTitle, lead: w.registerLead }, begin(value, course, "/account/register", w.register, true)),
    section({ title: w.loginTitle, lead: w.loginLead }, begin(value, course, "/account/login", w.login)),
  ];
}

/// A form that leads to the agreement first, unless it was accepted.
function begin(value, course, path, action, isNew = false) {
  const error = signal("");
  return card(form({ error, label: action, onSubmit: async data => {
    const body = {};
    const handle = data.get("handle")?.trim(), server = data.get("server")?.trim();
    if (isNew && !handle) return error.set(w.handleMissing);
    if (handle) body.handle = handle;
    if (server) body.server = server;
    if (value.step !== "agreement" && value.problem !== "agreement-changed") return course.perform(path, body);
    const agreement = await get(`/account/agreement${server ? `?server=${encodeURIComponent(server)}` : ""}`);
    course.now.set({ step: "agreement", agreement, path, body });
  } },
  isNew && field({ label: w.handle, hint: w.rules, error }, p => h("input", { ...p, ...asTyped, name: "handle", maxlength: 18,
    value: value.handle ?? "" })),
  !value.server && path !== "/account/reconnect" && field({ label: w.server, hint: w.serverHint, error: isNew ? null : error },
    p => h("input", { ...p, ...asTyped, name: "server", type: "url" })),
  h("div", null, button(action, { kind: "primary", type: "submit" }))));
}

const steps = {
  agreement: ({ agreement, path, body }, course) => {
    const isAccepted = signal(false), error = signal("");
    return card(h("h2", null, w.agreementTitle(clean(agreement.name))),
      h("p", { class: "said scroll-y", tabindex: 0, dir: "auto" }, agreement.text),
      form({ error, label: w.agreement, onSubmit: () => {
        if (!isAccepted.peek()) return error.set(w.notAccepted);
        return course.perform(path, { ...body, agreement: agreement.version });
      } },
      checkbox(w.accept, { onChange: isAccepted.set }),
      h("p", { class: "field-error", role: "alert" }, () => error() || ""),
      h("div", { class: "buttons" }, button(t.app.cancel, { onPress: course.stop }),
        button(w.go, { kind: "primary", type: "submit" }))));
  },
  waiting: (_, course) => card(h("p", { role: "status" }, w.waiting),
    h("div", null, button(t.app.cancel, { onPress: course.stop }))),
  page: ({ link, number, expires }, course) => card(h("h2", null, w.pageTitle), h("p", null, w.pageText),
    h("p", { class: "digits" }, clean(number)),
    h("p", null, outside(link, w.openPage)),
    h("p", { class: "quiet" }, w.pageUntil(date(expires))),
    h("div", null, button(t.app.cancel, { onPress: course.stop }))),
};

/// Registers, signs in or continues, and shows each step.
async function perform(path, body, now, signal, reload) {
  now.set({ step: "waiting" });
  try {
    await lasting(path, body, line => {
      if (line.event === "account" && line.link) {
        now.set({ step: "page", link: line.link, number: line.number, expires: line.expires });
        say(w.pageTitle);
      }
      if (line.event === "done") toast(w.done(clean(line.result.handle ?? "")));
    }, signal);
  } catch (error) {
    if (error.name !== "AbortError") toast(error.message, { kind: "bad" });
  }
  now.set({ step: "idle" });
  reload();
}

async function logout() {
  if (!await confirm({ title: w.logoutTitle, text: w.logoutText, action: w.logout })) return;
  const { reason } = await post("/account/logout", {});
  toast(reason ? w.loggedOutHere : w.loggedOut);
}
