// The conversation with a person or of a group: its thoughts, the search, and the field to write in.

import { h, signal, computed, effect, each, onEnd, untracked } from "../lib/dom.js";
import { get, post, part } from "../lib/api.js";
import { onActivity, onResume } from "../lib/activity.js";
import { bdi, button, note } from "../lib/parts.js";
import { tellFailure } from "../lib/dialog.js";
import { debounce } from "../lib/store.js";
import { clock, day } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { attachment, attachments, sendingNote } from "./attachments.js";
import { drops, keepAtEnd } from "./conversation.js";
import { longText } from "./data.js";
import { t } from "../texts.js";

const w = t.person;
const pageSize = 50, foundAtMost = 200;
const longest = 192 * 1024;
const drafts = new Map(), entries = new WeakMap();

/// The thoughts of a conversation by number, page by page; none are asked for while `isEnding`, since its deletion is a
/// change too.
function thoughtsOf(path, isEnding) {
  const known = new Map();
  const list = signal([]), hasMore = signal(false), error = signal(null);

  function take(thoughts) {
    for (const one of thoughts) known.set(one.number, one);
    list.set([...known.values()].sort((a, b) => a.number - b.number));
  }
  /// A thought that was just stored; its later state may be here already.
  function said(thought) {
    if (!known.has(thought.number)) take([thought]);
  }
  // A refresh that waits when the page ends has no conversation any longer, if that was deleted.
  let isOver = false;
  onEnd(() => { isOver = true; });
  async function refresh() {
    if (isOver || isEnding?.peek()) return;
    try {
      let { thoughts } = await get(`${path}/thoughts?limit=${pageSize}`);
      if (!known.size) hasMore.set(thoughts.length === pageSize);
      const all = [...thoughts], newest = list.peek().at(-1)?.number;
      // What came while the page slept may be more than a page.
      while (newest !== undefined && thoughts.length === pageSize && thoughts.at(-1).number > newest) {
        ({ thoughts } = await get(`${path}/thoughts?limit=${pageSize}&before=${thoughts.at(-1).number}`));
        all.push(...thoughts);
      }
      take(all);
      error.set(null);
    } catch (failure) { error.set(failure); }
  }
  async function earlier() {
    const { thoughts } = await get(`${path}/thoughts?limit=${pageSize}&before=${list.peek()[0].number}`);
    hasMore.set(thoughts.length === pageSize);
    take(thoughts);
  }
  onActivity(["changed:circle"], debounce(refresh, 60));
  onResume(refresh);
  refresh();
  return { list, hasMore, error, said, earlier, refresh };
}

/// A search of a conversation. An answer that ended early names the place to continue from; the search continues there
/// until enough is found, and `reached` is the day that it has come to.
function searchIn(path) {
  const found = signal(null), reached = signal(null), isRunning = signal(false);
  let running = null;
  const stop = () => { running?.abort(); isRunning.set(false); };
  async function run(text) {
    stop();
    reached.set(null);
    if (!text) return found.set(null);
    const mine = running = new AbortController();
    const ask = async rest => {
      const answer = await get(`${path}/thoughts?${rest}`, mine.signal);
      mine.signal.throwIfAborted();
      return answer;
    };
    isRunning.set(true);
    try {
      let all = [], before = "", next;
      do {
        next = undefined;
        const { thoughts, searchedTo } = await ask(
          `limit=${foundAtMost - all.length}${before}&search=${encodeURIComponent(text)}`);
        all = [...thoughts.reverse(), ...all];
        found.set(all);
        if (searchedTo !== undefined && all.length < foundAtMost) {
          before = `&before=${searchedTo}`;
          [next] = (await ask(`limit=1${before}`)).thoughts;
        }
        reached.set(next ? day(next.createdAt / 1000) : null);
      } while (next);
    } catch (failure) { tellFailure(failure); }
    if (running === mine) isRunning.set(false);
  }
  onEnd(stop);
  return { found, reached, continues: () => isRunning() && reached() !== null, run, stop };
}

/// The conversation with the id of a person, or of a group, where bubbles name their creators. `canWrite` is a signal,
/// `otherwise` says why it is false, and `isEnding` is a signal of a page that deletes the conversation.
export function conversation({ id, empty, canWrite, otherwise, isGroup, isEnding }) {
  const path = `/circle/conversations/${part(id)}`;
  const all = thoughtsOf(path, isEnding), search = searchIn(path), { found } = search;
  const visible = computed(() => withDays(found() ?? all.list()));
  const log = h("div", { class: "log", role: "log", "aria-label": w.conversation, tabindex: "0",
    hidden: () => !visible().length },
  h("ol", null, each(visible, one => one.thought.number, one => entry(path, one, isGroup))));
  keepAtEnd(log, visible);
  noteSeen(path, all.list);
  const files = attachments(path, all.said);
  const place = h("section", { class: "conversation", "aria-label": w.conversation },
    h("h2", { class: "away" }, w.conversation),
    searchField(search),
    () => (all.error() ? note("bad", h("p", null, all.error().message), button(t.app.tryAgain, { onPress: all.refresh }))
      : null),
    () => (all.hasMore() && !found() ? button(w.earlier, { kind: "quiet", onPress: all.earlier }) : null),
    () => (visible().length ? null : h("div", { class: "log-empty" }, icon("message", 32),
      h("p", null, found() ? w.found(0, search.reached()) : empty()))),
    log,
    sendingNote(files),
    () => (canWrite() ? untracked(() => composer(path, id, all, files))
      : otherwise && h("p", { class: "composer quiet" }, otherwise)));
  drops(place, dropped => { if (canWrite.peek()) files.send(dropped); });
  return place;
}

function searchField({ found, reached, continues, run, stop }) {
  let timer = null;
  onEnd(() => clearTimeout(timer));
  const result = () => (found() ? w.found(found().length, reached()) : "");
  return h("div", { class: "composer finder" }, h("div", { class: "search" }, icon("search", 18),
    h("input", { type: "search", "aria-label": w.search, placeholder: w.search, autocomplete: "off",
      oninput: event => {
        const text = event.target.value.trim();
        clearTimeout(timer);
        timer = setTimeout(() => run(text), 150);
      } })),
    // Each step changes the result: a screen reader reads that the search continues, and then the last result.
    h("span", { class: "quiet" }, h("span", { role: "status" }, () => (continues() ? w.searching : result())),
      () => continues() && ` ${result()}`),
    () => continues() && button(w.stop, { kind: "quiet", label: w.stopSearch, onPress: stop }));
}

/// Entries of thoughts, each with its day if that begins there. An entry that did not change stays the same object, so
/// that a page of earlier thoughts draws no other one anew.
function withDays(thoughts) {
  let last = "";
  return thoughts.map(thought => {
    const today = day(thought.createdAt / 1000);
    const shown = today === last ? null : today;
    last = today;
    const known = entries.get(thought);
    if (known?.day === shown) return known;
    const entry = { thought, day: shown };
    entries.set(thought, entry);
    return entry;
  });
}

/// The content never changes, and is made once: audio plays on when the state does.
function entry(path, one, isGroup) {
  const { thought } = one.peek();
  return h("li", { class: `entry ${thought.own ? "out" : "in"}` },
    () => one().day && h("p", { class: "log-day" }, one().day),
    h("span", { class: isGroup && !thought.own ? "log-note" : "away" },
      thought.own ? w.youSaid : isGroup ? bdi(thought.creator) : w.theySaid),
    thought.text === undefined ? attachment(path, thought) : h("div", { class: "bubble" }, longText(thought.text)),
    () => noteOf(one().thought));
}

const noteOf = thought => h("p", { class: "log-note" }, icon("lock", 12), " ", clock(thought.createdAt),
  thought.state && [" · ", h("span", { class: ["refused", "expired"].includes(thought.state) ? "bad-text" : null },
    w.states[thought.state](thought.holders))]);

/// Tells the creators of thoughts that these were in sight.
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

function composer(path, id, all, { sending, send: sendFiles }) {
  const text = signal(drafts.get(id) ?? "");
  const change = value => { text.set(value); drafts.set(id, value); };
  let input, picker;
  async function send() {
    const said = text.peek();
    if (!said.trim()) return;
    if (new Blob([said]).size > longest) return tellFailure(new Error(w.tooLong));
    change("");
    input.focus();
    try { all.said(await post(`${path}/thoughts`, { text: said })); } catch (error) {
      change(text.peek() ? `${said}\n${text.peek()}` : said);
      tellFailure(error);
    }
  }
  return h("form", { class: "composer", onsubmit: event => { event.preventDefault(); send(); } },
    h("input", { type: "file", class: "away", tabindex: "-1", "aria-hidden": "true", accept: "image/*,audio/*,video/*",
      ref: node => { picker = node; },
      onchange: () => { sendFiles([...picker.files]); picker.value = ""; } }),
    h("button", { type: "button", class: "icon-button", "aria-label": w.attach, title: w.attach,
      "aria-busy": () => sending() !== null, "aria-disabled": () => sending() !== null,
      onclick: () => { if (sending.peek() === null) picker.click(); } }, icon("clip")),
    h("textarea", { rows: 1, "aria-label": w.write, placeholder: w.write, dir: "auto", value: text,
      ref: node => { input = node; }, oninput: event => change(event.target.value),
      onkeydown: event => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        send();
      } }),
    button(w.send, { kind: "primary", type: "submit", disabled: () => !text().trim() }));
}
