// Topics: what members tell all who want to hear it. Feeds go on while the page is open, whichever view is shown.

import { h, signal, each, effect, scope } from "../lib/dom.js";
import { post, lasting } from "../lib/api.js";
import { connection } from "../lib/activity.js";
import { isAwake } from "../lib/turns.js";
import { button, iconButton, form, field, note, checkbox, empty, badge } from "../lib/parts.js";
import { toast } from "../lib/dialog.js";
import { time, number } from "../lib/format.js";
import { name, clean, watchPeers } from "./peers-store.js";
import { dataPage, networkPath, value } from "./data.js";
import { t } from "../texts.js";

const w = t.topics;
export const title = w.title;

/// Each needs a place (lib/turns.js), and other views need some.
const mostFeeds = 3;
const keptEvents = 500;
const shownEvents = 100;
const keptNames = 5000;
const shortEvent = 400;

const feeds = signal([]);
const draft = { topic: "", text: "" };

export function mount(root) {
  watchPeers();
  dataPage(root, { place: "topics", title: w.title, lead: w.lead, body: network => [
    h("div", { class: "beside even" }, listen(network), publish(network)),
    h("div", { class: "stack wide-gap" },
      each(() => feeds().filter(feed => feed.network.id === network.id), feed => feed.id,
        feed => feedCard(feed.peek())),
      () => (feeds().some(feed => feed.network.id === network.id) ? null
        : empty({ icon: "bolt", title: w.emptyTitle, text: w.empty }))),
  ] });
}

function listen(network) {
  const error = signal("");
  let past = true;
  return form({ class: "form card", label: w.listen, error, onSubmit: async (data, node) => {
    const topic = data.get("topic").trim();
    if (!topic) throw new Error(w.topicMissing);
    if (feeds.peek().some(feed => feed.topic === topic && feed.network.id === network.id)) throw new Error(w.already);
    if (feeds.peek().length >= mostFeeds) throw new Error(w.tooMany(mostFeeds));
    draft.topic ||= topic;
    const feed = open(network, topic, past);
    node.elements.topic.value = "";
    requestAnimationFrame(() => document.getElementById(`feed-${feed.id}`)?.scrollIntoView({ block: "nearest" }));
  } },
  h("h2", null, w.listen),
  field({ label: w.topic, hint: w.patternHint, error }, p => h("input", { ...p, name: "topic", class: "mono",
    autocomplete: "off",
    autocapitalize: "off", spellcheck: "false", placeholder: w.topicExample, maxlength: 1024 })),
  checkbox(w.past, { checked: past, onChange: checked => { past = checked; } }),
  h("div", null, button(w.subscribe, { kind: "primary", type: "submit" })));
}

function publish(network) {
  const error = signal(""), isAlone = signal(false);
  return form({ class: "form card", label: w.publish, error, onSubmit: async data => {
    const topic = data.get("topic").trim();
    if (!topic) throw new Error(w.topicMissing);
    const answer = await post(`${networkPath(network.id)}/events`, { topic, text: data.get("text") });
    isAlone.set(answer.isIsolated);
    if (!answer.isIsolated) toast(w.published);
  } },
  h("h2", null, w.publish),
  field({ label: w.topic, error }, p => h("input", { ...p, name: "topic", class: "mono", autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false", placeholder: w.topicExample, maxlength: 1024, value: draft.topic,
    oninput: event => { draft.topic = event.target.value; } })),
  field({ label: w.text }, p => h("textarea", { ...p, name: "text", rows: 2, dir: "auto", value: draft.text,
    oninput: event => { draft.text = event.target.value; } })),
  () => (isAlone() ? note("warn", h("p", null, w.isolated)) : null),
  h("div", null, button(w.publishAction, { type: "submit" })));
}

// Feeds.

let lastFeed = 0;

function open(network, topic, past) {
  const stop = new AbortController();
  const feed = { id: ++lastFeed, network, topic, events: signal([]), state: signal("opening"), isAlone: signal(false),
    failure: signal(""),
    total: signal(0), seen: new Set(),
    from: past ? 0 : Date.now() / 1000 - 5, end: () => stop.abort() };
  feeds.update(list => [...list, feed]);
  follow(feed, past, stop.signal);
  return feed;
}

async function follow(feed, past, stop) {
  for (let wait = 500; !stop.aborted; wait = Math.min(wait * 2, 8000)) {
    const turn = new AbortController();
    const watch = scope(() => effect(() => { if (!isAwake()) turn.abort(); }));
    try {
      await lasting(`${networkPath(feed.network.id)}/subscriptions`, { topic: feed.topic, past },
        line => { wait = 500; take(feed, line); },
        AbortSignal.any([stop, turn.signal]));
    } catch (error) {
      if (stop.aborted) break;
      // What the node refuses, it refuses again.
      const isFinal = error.status >= 400 && error.status < 500;
      if (isFinal || !turn.signal.aborted) feed.failure.set(error.message);
      if (isFinal) { feed.state.set("failed"); return; }
    } finally { watch.end(); }
    feed.state.set("waiting");
    // What comes meanwhile is asked for then; what was shown already is not shown again.
    past = true;
    do await pause(connection.peek() === "live" ? wait : 2000); while (!isAwake.peek());
  }
}

const pause = milliseconds => new Promise(resolve => { setTimeout(resolve, milliseconds); });

function take(feed, line) {
  if (line.event === "subscribed") {
    feed.state.set("live");
    feed.failure.set("");
    feed.isAlone.set(line.isIsolated);
  }
  if (line.event === "eventsIsolated") feed.isAlone.set(true);
  if (line.event === "eventsConnected") feed.isAlone.set(false);
  if (line.event !== "published") return;
  const same = `${line.peerId} ${line.publishedAt} ${line.number} ${line.topic}`;
  if (feed.seen.has(same) || line.publishedAt < feed.from) return;
  feed.seen.add(same);
  if (feed.seen.size > keptNames) feed.seen.delete(feed.seen.values().next().value);
  feed.isAlone.set(false);
  feed.total.update(count => count + 1);
  const entry = { ...line, id: feed.total.peek(), cameAt: Date.now() };
  feed.events.update(list => [entry, ...list].slice(0, keptEvents));
}

function close(feed) {
  feed.end();
  feeds.update(list => list.filter(one => one !== feed));
}

function feedCard(feed) {
  return h("section", { class: "card feed", id: `feed-${feed.id}`, "aria-label": w.feedOf(feed.topic) },
    h("div", { class: "section-head" },
      feed.topic === ">" ? h("h2", null, w.everything)
        : h("h2", { class: "mono" }, h("bdi", { dir: "auto" }, clean(feed.topic))),
      h("div", { class: "buttons" },
        () => badge(feed.state() === "live" && feed.isAlone() ? w.states.alone : w.states[feed.state()],
          { live: feed.isAlone() ? "warn" : "ok", failed: "bad" }[feed.state()] ?? "quiet"),
        iconButton("close", w.unsubscribe(feed.topic), () => close(feed)))),
    () => (feed.failure() ? h("p", { class: "bad-text", role: "alert" }, feed.failure()) : null),
    h("div", { class: "events", role: "log", "aria-label": w.feedOf(feed.topic), tabindex: "0",
      hidden: () => !feed.events().length },
    h("ol", { class: "plain" }, each(() => feed.events().slice(0, shownEvents), event => event.id,
      event => eventRow(event.peek())))),
    () => (feed.events().length
      ? h("p", { class: "quiet" }, w.count(feed.total()),
        feed.total() > shownEvents && ` ${w.newestShown(number(shownEvents))}`)
      : feed.state() === "live" ? h("p", { class: "quiet" }, w.quietSoFar) : null));
}

const eventRow = event => h("li", null,
  (event.dropped > 0 || event.missed > 0) && h("p", { class: "warn-text" },
    event.dropped > 0 && w.dropped(event.dropped), " ",
    event.missed > 0 && w.missed(event.missed)),
  h("p", { class: "event-head" }, name(event.peerId, event.label),
    h("bdi", { class: "mono quiet", dir: "auto" }, clean(event.topic)),
    h("time", { class: "quiet" }, time(event.publishedAt * 1000))),
  value(event, w.fileName, shortEvent));
