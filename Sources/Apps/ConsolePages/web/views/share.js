// Inviting another device: an invitation as a code and a link, then the six digits, then who came.

import { h, signal, onEnd } from "../lib/dom.js";
import { post, lasting, part } from "../lib/api.js";
import { query } from "../lib/router.js";
import { page, card, button, form, field, checkbox, note, bdi, loadedOnce, section } from "../lib/parts.js";
import { codeView } from "../lib/code.js";
import { showRecoveryPhrase } from "../lib/phrase.js";
import { say } from "../lib/dialog.js";
import { resource } from "../lib/store.js";
import { icon } from "../lib/icons.js";
import { base64url, within } from "../lib/format.js";
import { tokenFields } from "./member.js";
import { isOwner, nameIn } from "./network.js";
import { t } from "../texts.js";

const w = t.share;
export const title = w.title;

export function mount(root, { network: id }) {
  const network = resource(`/networks/${part(id)}`);
  const isNew = query.peek().has("new");
  const invitation = inviting(id);
  root.append(h("div", null, loadedOnce(network, value => page({
    title: w.headline, back: `/networks/${part(id)}`, lead: isNew ? w.created(nameIn(value())) : w.lead, isNarrow: true,
    backTitle: () => (value().name ? bdi(value().name) : t.network.title),
  },
  () => (isOwner(value()) ? invitation.view : note("info", h("p", null, w.ownerOnly))),
  query.peek().get("new") === "key" && keepPhrase(),
  section({ title: w.otherWay, lead: w.otherWayLead },
    h("div", { class: "buttons" }, button(w.otherWayGo, { icon: "code", href: `/networks/${part(id)}/admit` })))),
  { frame: { title: w.headline, back: "/networks", isNarrow: true } })));
  if (isNew) invitation.start({ lifeSeconds: 2592000 });
}

/// The reminder that a new master key needs a copy: below the code, which must be in sight whole to be scanned, and in
/// sight itself as soon as the first device is a member.
function keepPhrase() {
  const isKept = signal(false);
  return h("div", null, () => (isKept() ? null : note("warn", h("p", null, w.keepPhrase), h("div", { class: "buttons" },
    button(w.showPhrase, { icon: "key", onPress: async () => {
      if (await showRecoveryPhrase()) isKept.set(true);
    } })))));
}

function inviting(id) {
  // {step: "terms" | "asking" | "shown" | "request" | "admitted" | "failed", …}
  const now = signal({ step: "terms" });
  let ending = null;
  onEnd(() => ending?.abort());

  async function start(terms) {
    ending?.abort();
    const mine = ending = new AbortController();
    now.set({ step: "asking" });
    try {
      await lasting(`/networks/${part(id)}/invitations`, terms, line => {
        if (mine !== ending) return;
        if (line.event === "invited") now.set({ step: "shown", invitation: line });
        if (line.event === "joinRequested") {
          now.set({ step: "request", request: line, terms });
          say(w.somebodyCame(spoken(line.digits)));
        }
        if (line.event === "done") {
          now.set({ step: "admitted", admission: line.result, terms });
          say(w.admitted(line.result.label && within(line.result.label)));
        }
      }, mine.signal);
      if (mine === ending && now.peek().step !== "admitted") now.set({ step: "failed", words: w.ended });
    } catch (error) {
      if (mine === ending && error.name !== "AbortError") {
        now.set({ step: "failed", words: w.failures[error.code] ?? error.message });
      }
    }
  }

  const stop = () => { ending?.abort(); ending = null; now.set({ step: "terms" }); };
  return { start, view: h("div", { class: "stack" }, () => steps[now().step](now(), { start, stop, now })) };
}

const steps = {
  terms: (_, { start }) => card(form({ onSubmit: data => {
    const terms = {};
    if (data.get("life")) terms.lifeSeconds = Number(data.get("life"));
    if (data.get("label").trim()) terms.label = data.get("label").trim();
    const addresses = data.get("addresses").split(/[\s,]+/).filter(Boolean);
    if (addresses.length) terms.addresses = addresses;
    if (data.get("preallowed")) terms.preallowed = true;
    start(terms);
  } },
  tokenFields("", { withRenewal: false }),
  h("details", null, h("summary", null, w.more), h("div", { class: "stack" },
    field({ label: w.addresses, hint: w.addressesHint }, given => h("input", { ...given, name: "addresses",
      autocomplete: "off", spellcheck: "false", placeholder: "192.168.1.2:4242" })),
    h("div", null, checkbox(w.preallowed, { name: "preallowed", hint: w.preallowedHint })))),
  h("div", { class: "buttons" }, button(w.show, { kind: "primary", icon: "code", type: "submit" })))),

  asking: () => h("div", { class: "loading", role: "status" }, h("span", { class: "away" }, t.app.loading)),

  shown: ({ invitation }, { stop }) => card(
    h("h2", null, w.scanThis),
    h("ol", { class: "how" }, w.how.map(one => h("li", null, one))),
    codeView(invitation.code, { label: w.codeLabel, name: `runar-invitation-${invitation.name ?? ""}`,
      copied: invitation.link, caption: rest(invitation.expiration) }),
    h("p", { class: "waiting", role: "status" }, h("span", { class: "spinner" }), w.waiting),
    h("p", { class: "hint" }, w.secret),
    h("div", { class: "buttons" }, button(w.stop, { onPress: stop }))),

  request: ({ request, terms, isAnswered }, { now }) => card(
    h("h2", null, w.compare),
    h("p", null, w.compareText),
    digitsView(request.digits),
    isAnswered || request.isPreallowed
      ? h("p", { class: "waiting", role: "status" }, h("span", { class: "spinner" }), w.admitting)
      : form({ onSubmit: async data => {
        await post(`/joins/${request.number}`, { allowed: true, label: data.get("label") });
        now.update(old => (old.step === "request" ? { ...old, isAnswered: true } : old));
      } },
      field({ label: w.callIt, hint: w.callItHint }, given => h("input", { ...given, name: "label", maxlength: 64,
        autocomplete: "off", placeholder: w.nameExample, value: terms.label ?? "" })),
      h("div", { class: "buttons" },
        button(w.same, { kind: "primary", icon: "check", id: "same-digits", type: "submit" }),
        button(w.different, { icon: "close", onPress: () => post(`/joins/${request.number}`, { allowed: false }) })))),

  admitted: ({ admission, terms }, { start, stop, now }) => card(
    h("div", { class: "success" }, icon("check", 34)),
    h("h2", null, admission.label ? [bdi(admission.label), w.isMember] : w.newMember),
    h("p", { class: "quiet" }, admission.isConnected ? w.connectedNow : w.notConnectedYet),
    !admission.label && naming(admission, terms, now),
    h("div", { class: "buttons" },
      button(w.toNetwork, { kind: "primary", href: `/networks/${base64url(admission.networkId)}` }),
      button(w.another, { icon: "plus", onPress: () => (terms.label ? stop() : start(terms)) }))),

  failed: ({ words }, { stop }) => h("div", { class: "stack" }, note("bad", h("p", null, words)),
    h("div", { class: "buttons" }, button(w.again, { kind: "primary", icon: "renew", onPress: stop }))),
};

/// A name belongs to a token, so a device that is named later gets another one of the same length.
const naming = (admission, terms, now) => form({ class: "form inline", onSubmit: async data => {
  const label = data.get("label").trim();
  if (!label) return;
  await post(`/networks/${base64url(admission.networkId)}/tokens`,
    { peer: admission.peerId, label, lifeSeconds: terms.lifeSeconds, renewable: true });
  now.set({ step: "admitted", admission: { ...admission, label }, terms });
} },
field({ label: w.nameIt }, given => h("input", { ...given, name: "label", maxlength: 64, autocomplete: "off",
  placeholder: w.nameExample })),
button(t.app.save, { type: "submit" }));

/// Six digits, large, and one by one for who listens.
export const digitsView = digits => h("p", { class: "digits", "aria-label": spoken(digits), role: "img" },
  grouped(digits));

const plain = digits => digits.replace(/\D/g, "");
const spoken = digits => [...plain(digits)].join(" ");
const grouped = digits => `${plain(digits).slice(0, 3)} ${plain(digits).slice(3)}`;

/// Counts down the minutes of an invitation.
function rest(expiration) {
  const words = signal("");
  const tick = () => {
    const seconds = Math.max(0, Math.round(expiration - Date.now() / 1000));
    words.set(w.rest(`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`));
  };
  tick();
  const timer = setInterval(tick, 1000);
  onEnd(() => clearInterval(timer));
  return () => words();
}
