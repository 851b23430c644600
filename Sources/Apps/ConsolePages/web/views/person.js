// One person: the conversation, the devices with their keys, the safety number, and the end of trust.

import { h, signal, computed, effect, each, onEnd, untracked } from "../lib/dom.js";
import { get, post, del } from "../lib/api.js";
import { onActivity, onResume } from "../lib/activity.js";
import { badge, button, card, loadedOnce, note, page, section } from "../lib/parts.js";
import { confirm, tellFailure, toast } from "../lib/dialog.js";
import { debounce } from "../lib/store.js";
import { setTitle } from "../lib/router.js";
import { clock, day, shortOf } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { clean } from "./peers-store.js";
import { keepAtEnd } from "./conversation.js";
import { compareNumbers } from "./sealing.js";
import { longText } from "./data.js";
import { accept, circleResource, decline, personPath } from "./circle.js";
import { t } from "../texts.js";

const w = t.person;
export const title = w.title;

const pageSize = 50;
const longest = 192 * 1024;
const drafts = new Map();

export function mount(root, { person: id }) {
  const circle = circleResource();
  root.append(h("div", null, loadedOnce(circle, value => {
    const person = computed(() => value().people.find(one => one.personId === id));
    const isThere = computed(() => person() !== undefined);
    // Made once: the person changes with each key that is used.
    return () => (!isThere()
      ? page({ title: w.title, back: "/circle", backTitle: t.circle.title }, note("warn", h("p", null, w.gone)))
      : untracked(() => whole(person)));
  }, { frame: { title: w.title, back: "/circle", backTitle: t.circle.title } })));
}

function whole(person) {
  const now = () => person() ?? person.peek();
  effect(() => { if (person()) setTitle(clean(person().name)); });
  const isTrusted = computed(() => person()?.trust === "trusted");
  return page({ title: h("bdi", { dir: "auto" }, () => clean(now()?.name ?? "")), back: "/circle",
    backTitle: t.circle.title, lead: [() => person() && state(person())] },
  h("div", { class: "beside" },
    conversation(person, isTrusted),
    h("div", { class: "stack wide-gap" }, () => (isTrusted() ? untracked(() => [devices(person), safety(person), ending(person)])
      : null))));
}

function state(person) {
  if (person.trust === "trusted") {
    return person.verified ? badge(t.circle.verified, "ok") : badge(t.circle.notVerified, "warn");
  }
  return h("span", { class: "cluster" }, h("span", null, w.noTrust[person.trust]),
    person.trust === "requested" && button(t.circle.accept, { kind: "primary", onPress: () => accept(person) }),
    person.trust === "requested" && button(t.circle.decline, { onPress: () => decline(person) }),
    person.trust === "revoked" && button(w.askAgain, { onPress: () => accept(person) }));
}

// The conversation.

/// The thoughts of a conversation by number, page by page, and those that a search found.
function thoughtsOf(path) {
  const known = new Map();
  const list = signal([]), hasMore = signal(false), found = signal(null), error = signal(null);
  let asked = "";

  function take(thoughts) {
    for (const one of thoughts) known.set(one.number, one);
    list.set([...known.values()].sort((a, b) => a.number - b.number));
  }
  /// A thought that was just stored; its later state may be here already.
  function said(thought) {
    if (!known.has(thought.number)) take([thought]);
  }
  async function refresh() {
    try {
      const { thoughts } = await get(`${path}/thoughts?limit=${pageSize}`);
      if (!known.size) hasMore.set(thoughts.length === pageSize);
      take(thoughts);
      error.set(null);
    } catch (failure) { error.set(failure); }
  }
  async function earlier() {
    const { thoughts } = await get(`${path}/thoughts?limit=${pageSize}&before=${list.peek()[0].number}`);
    hasMore.set(thoughts.length === pageSize);
    take(thoughts);
  }
  async function search(text) {
    asked = text;
    if (!text) return found.set(null);
    try {
      const { thoughts } = await get(`${path}/thoughts?limit=200&search=${encodeURIComponent(text)}`);
      if (asked === text) found.set(thoughts.reverse());
    } catch (failure) { tellFailure(failure); }
  }
  onActivity(["changed:circle"], debounce(refresh, 60));
  onResume(refresh);
  refresh();
  return { list, hasMore, found, error, said, earlier, search, refresh };
}

function conversation(person, isTrusted) {
  const path = personPath(person.peek());
  const all = thoughtsOf(path);
  const visible = computed(() => withDays(all.found() ?? all.list()));
  const log = h("div", { class: "log", role: "log", "aria-label": w.conversation, tabindex: "0",
    hidden: () => !visible().length },
  h("ol", null, each(visible, one => one.thought.number, one => h("li", {
    class: () => `entry ${one().thought.own ? "out" : "in"}` }, () => draw(one())))));
  keepAtEnd(log, visible);
  noteSeen(path, all.list);
  return h("section", { class: "conversation", "aria-label": w.conversation },
    h("h2", { class: "away" }, w.conversation),
    searchField(all),
    () => (all.error() ? note("bad", h("p", null, all.error().message), button(t.app.tryAgain, { onPress: all.refresh }))
      : null),
    () => (all.hasMore() && !all.found() ? button(w.earlier, { kind: "quiet", onPress: all.earlier }) : null),
    () => (visible().length ? null : h("div", { class: "log-empty" }, icon("message", 32),
      h("p", null, all.found() ? w.found(0) : w.empty(clean(person.peek().name))))),
    log,
    () => (isTrusted() ? untracked(() => composer(path, person.peek().personId, all)) : null));
}

function searchField(all) {
  let timer = null;
  onEnd(() => clearTimeout(timer));
  return h("div", { class: "composer finder" }, h("div", { class: "search" }, icon("search", 18),
    h("input", { type: "search", "aria-label": w.search, placeholder: w.search, autocomplete: "off",
      oninput: event => {
        const text = event.target.value.trim();
        clearTimeout(timer);
        timer = setTimeout(() => all.search(text), 150);
      } })),
    h("span", { class: "quiet", role: "status" }, () => (all.found() ? w.found(all.found().length) : "")));
}

function withDays(thoughts) {
  let last = "";
  return thoughts.map(thought => {
    const today = day(thought.createdAt / 1000);
    const isNew = today !== last;
    last = today;
    return { thought, day: isNew ? today : null };
  });
}

const draw = ({ thought, day: heading }) => [
  heading && h("p", { class: "log-day" }, heading),
  h("span", { class: "away" }, thought.own ? w.youSaid : w.theySaid),
  h("div", { class: "bubble" }, thought.text === undefined
    ? h("p", null, w.media(thought.mediaType, thought.fileName && clean(thought.fileName))) : longText(thought.text)),
  h("p", { class: "log-note" }, icon("lock", 12), " ", clock(thought.createdAt),
    thought.state && [" · ", h("span", { class: ["refused", "expired"].includes(thought.state) ? "bad-text" : null },
      w.states[thought.state](thought.holders))]),
];

/// The other person learns of thoughts that were in sight.
function noteSeen(path, list) {
  let last = 0;
  const look = () => {
    if (document.hidden) return;
    const unseen = untracked(list).filter(one => !one.own && one.number > last);
    if (!unseen.length) return;
    last = unseen.at(-1).number;
    // After a failure they are noted again the next time.
    post(`${path}/opened`, { first: unseen[0].number, last }).catch(() => { last = 0; });
  };
  document.addEventListener("visibilitychange", look);
  onEnd(() => document.removeEventListener("visibilitychange", look));
  effect(() => { list(); look(); });
}

function composer(path, id, all) {
  const text = signal(drafts.get(id) ?? "");
  const change = value => { text.set(value); drafts.set(id, value); };
  let input;
  async function send() {
    const said = text.peek();
    if (!said.trim()) return;
    if (new Blob([said]).size > longest) return tellFailure(new Error(w.tooLong));
    change("");
    input.focus();
    try { all.said(await post(`${path}/thoughts`, { text: said })); } catch (error) {
      if (!text.peek()) change(said);
      tellFailure(error);
    }
  }
  return h("form", { class: "composer", onsubmit: event => { event.preventDefault(); send(); } },
    h("textarea", { rows: 1, "aria-label": w.write, placeholder: w.write, dir: "auto", value: text,
      ref: node => { input = node; }, oninput: event => change(event.target.value),
      onkeydown: event => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        send();
      } }),
    button(w.send, { kind: "primary", type: "submit", disabled: () => !text().trim() }));
}

// Devices, the safety number, and the end of trust.

const devices = person => section({ title: w.devices, lead: w.devicesLead },
  card(() => (person()?.devices ?? []).map(device => h("div", { class: "stack tight" },
    h("p", null, h("code", null, shortOf(device.peerId)), " ",
      device.connected ? badge(t.circle.online, "ok") : badge(t.circle.offline)),
    h("p", { class: "quiet" }, w.keysLeft(device.sendingKeys)),
    h("progress", { class: device.low ? "low" : null, max: Math.max(1024, device.sendingKeys), value: device.sendingKeys,
      "aria-label": w.supplyLabel(shortOf(device.peerId)) }),
    device.low && note("warn", h("p", null, w.low))))));

const safety = person => section({ title: w.safety, lead: w.safetyLead }, card(
  () => person() && (person().verified ? badge(t.circle.verified, "ok") : badge(t.circle.notVerified, "warn")),
  h("div", { class: "buttons" }, button(w.compare, { icon: "check", onPress: () => {
    const now = person.peek();
    compareNumbers(clean(now.name), personPath(now), now.safetyNumber);
  } }))));

const ending = person => section({ title: w.revoke, lead: w.revokeLead },
  h("div", null, button(w.revoke, { kind: "danger", icon: "stop", onPress: () => revoke(person.peek()) })));

async function revoke(person) {
  const name = clean(person.name);
  if (!await confirm({ title: w.revokeTitle(name), text: w.revokeText, action: w.revoke, isDangerous: true })) return;
  await del(personPath(person));
  toast(w.revokedNow(name));
}
