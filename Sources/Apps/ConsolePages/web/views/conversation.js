// What was said and sent between this device and a peer, and the line to say more.

import { h, signal, scope, effect, each, computed, onEnd, untracked } from "../lib/dom.js";
import { button, save, note } from "../lib/parts.js";
import { icon } from "../lib/icons.js";
import { tellFailure, say } from "../lib/dialog.js";
import { bytes, clock, day } from "../lib/format.js";
import { nameOf, clean } from "./peers-store.js";
import { messages, files, offers, transfers, watchMessages, sendMessage, sendFile, openFile, forgetTransfer, markRead,
  conversationInSight, filesDirectory } from "./messages-store.js";
import { offerCard } from "./peers-news.js";
import { plainWords } from "./peers-doctor.js";
import { sealing, chooseSealing } from "./sealing.js";
import { longText } from "./data.js";
import { t } from "../texts.js";

const w = t.conversation;
const shownAtOnce = 100;
/// The most that a message of a device may have, and a sealed one; the node says so as well.
const messageLimit = 1 << 20, sealedLimit = messageLimit - 4096;
const drafts = new Map();

/// `keys` are the one-time keys of this device and the peer.
export function conversation(peer, isConnected, keys) {
  watchMessages();
  const shown = signal(shownAtOnce);
  const all = computed(() => entries(peer));
  const visible = () => all().slice(-shown());
  const log = h("div", { class: "log", role: "log", "aria-label": w.title, tabindex: "0", hidden: () => !all().length },
    h("ol", null, each(visible, entry => entry.key, entry => h("li", { class: () => `entry ${entry().direction}` },
      () => draw(entry())))));
  keepAtEnd(log, all);
  inSight(peer, all);

  const place = h("section", { class: "conversation", "aria-label": w.title },
    h("h2", { class: "away" }, w.title),
    () => (all().length > shown() ? button(w.earlier, { kind: "quiet", onPress: () => shown.update(n =>
      n + shownAtOnce) })
      : null),
    () => (all().length ? null : h("div", { class: "log-empty" }, icon("message", 32),
      h("p", null, isConnected() ? w.empty(nameOf(peer)) : w.emptyOffline(nameOf(peer))))),
    log,
    each(() => offers().filter(one => one.peerId === peer), one => one.number, one => offerCard(one.peek())),
    composer(peer, keys));
  drops(place, dropped => {
    for (const file of dropped) sendFile(peer, file);
    say(w.preparing);
  });
  return place;
}

/// Messages, files and files on their way, in the order of time.
function entries(peer) {
  const list = [];
  for (const message of messages()) {
    if (message.peerId === peer) list.push({ key: `m${message.number}`, at: message.at, direction: message.direction,
      message });
  }
  for (const file of files()) {
    if (file.peerId === peer) list.push({ key: `f${file.id}`, at: file.at, direction: "in", file });
  }
  for (const transfer of transfers()) {
    if (transfer.peerId === peer) list.push({ key: transfer.id, at: transfer.at, direction: transfer.direction,
      transfer });
  }
  list.sort((a, b) => a.at - b.at);
  let last = "";
  for (const entry of list) {
    const today = day(entry.at / 1000);
    entry.day = today === last ? null : today;
    last = today;
  }
  return list;
}

function draw({ at, day, message, file, transfer }) {
  return [
    day && h("p", { class: "log-day" }, day),
    message ? messageBubble(message) : file ? fileBubble(file) : transferBubble(transfer),
    h("p", { class: "log-note" }, message?.sealed && [icon("lock", 12), " ", w.sealed, " · "], clock(at),
      message?.direction === "out" && message.state !== "delivered" && [" · ",
      h("span", { class: message.state === "failed" ? "bad-text" : null }, w.states[message.state])]),
  ];
}

function messageBubble(message) {
  return [
    h("span", { class: "away" }, message.direction === "in" ? w.theySaid : w.youSaid),
    h("div", { class: "bubble" }, message.text === undefined ? binary(message) : longText(message.text)),
    message.state === "failed" && h("p", { class: "log-note bad-text" }, plainWords(message.failure ?? ""), " ",
      message.text !== undefined && h("button", { type: "button", class: "link",
        onclick: () => sendMessage(message.peerId, message.text, message.sealed).catch(tellFailure) }, w.again)),
  ];
}

const binary = message => h("div", { class: "cluster" }, h("span", null, w.noText(bytes(message.bytes))),
  button(w.save, { icon: "download", kind: "quiet", onPress: () =>
    save(Uint8Array.from(atob(message.base64 ?? ""), one => one.charCodeAt(0)), w.binaryName(message.number)) }));

const fileBubble = file => h("div", { class: "bubble file" }, icon("file", 24),
  h("div", null, h("bdi", { dir: "auto", class: "file-name" }, clean(file.name)),
    h("p", { class: "quiet" }, bytes(file.bytes), () => filesDirectory() && [" · ", w.savedIn, " ",
      h("span", { class: "mono" }, filesDirectory())]),
    button(w.saveCopy, { icon: "download", onPress: async () =>
      save(await openFile(file), clean(file.name, 200)) })));

function transferBubble(transfer) {
  const isMoving = transfer.state === "moving" || transfer.state === "preparing";
  const id = `progress-${transfer.id.replace(/[^\w-]/g, "")}`;
  return h("div", { class: "bubble file" }, icon("file", 24),
    h("div", null, h("bdi", { dir: "auto", class: "file-name", id }, clean(transfer.name)),
      // Without a value it shows that something goes on, and not how far.
      isMoving && h("progress", { "aria-labelledby": id, max: 1,
        ...(transfer.state === "moving" && transfer.total ? { value: transfer.count / transfer.total } : {}) }),
      h("p", { class: transfer.state === "failed" ? "bad-text" : "quiet" }, transferWords(transfer)),
      h("div", { class: "buttons" },
        transfer.cancel && isMoving && button(t.app.cancel, { onPress: transfer.cancel }),
        transfer.file && (transfer.state === "failed" || transfer.state === "stopped") && button(w.again, {
          icon: "renew", onPress: () => { forgetTransfer(transfer.id); sendFile(transfer.peerId,
            transfer.file); } }))));
}

function transferWords({ state, count, total, direction, failure }) {
  if (state === "moving") return w.moving(bytes(count), bytes(total));
  if (state === "preparing") return w.preparing;
  if (state === "failed") return failure;
  if (state === "stopped") return w.stopped;
  return direction === "out" ? w.sent(bytes(total)) : bytes(total);
}

/// The newest entry stays in sight unless the person reads further up.
export function keepAtEnd(log, all) {
  let isAtEnd = true, height = 0, room = 0;
  log.addEventListener("scroll", () => {
    // What moved because something came or the room changed was not moved by the person.
    if (log.scrollHeight !== height || log.clientHeight !== room) return;
    isAtEnd = log.scrollTop + log.clientHeight > log.scrollHeight - 40;
  }, { passive: true });
  const follow = () => {
    if (isAtEnd) log.scrollTop = log.scrollHeight;
    height = log.scrollHeight;
    room = log.clientHeight;
  };
  const watcher = new ResizeObserver(follow);
  watcher.observe(log);
  // An image that has been loaded makes the list longer.
  watcher.observe(log.firstElementChild);
  onEnd(() => watcher.disconnect());
  effect(() => { all(); requestAnimationFrame(follow); });
}

/// Marks the conversation as read while it is visible.
function inSight(peer, all) {
  const look = () => { if (!document.hidden) markRead(peer); };
  conversationInSight.set(peer);
  document.addEventListener("visibilitychange", look);
  effect(() => { all(); untracked(look); });
  onEnd(() => {
    document.removeEventListener("visibilitychange", look);
    if (conversationInSight.peek() === peer) conversationInSight.set(null);
  });
}

function composer(peer, keys) {
  const text = signal(drafts.get(peer) ?? "");
  const isSealed = () => sealing(peer)() === "on";
  // Before that is known nothing is sent: it would be sent unsealed by mistake.
  const isDecided = () => sealing(peer)() !== null || keys().isKnown;
  const words = () => (isSealed() ? w.writeSealed : w.write);
  const change = value => { text.set(value); drafts.set(peer, value); };
  let input, picker;

  /// Waits until it is known whether there are keys; false if that cannot be known now.
  async function decided() {
    let watch;
    await new Promise(resolve => {
      watch = scope(() => effect(() => { if (isDecided() || keys().error) resolve(); }));
    });
    watch.end();
    return untracked(isDecided);
  }

  let isWaiting = false;
  async function send() {
    if (isWaiting || !text.peek().trim()) return;
    isWaiting = true;
    const isKnown = await decided();
    isWaiting = false;
    const said = text.peek();
    if (!said.trim()) return;
    if (!isKnown) return tellFailure(new Error(w.notDecided));
    const seals = untracked(isSealed);
    if (new Blob([said]).size > (seals ? sealedLimit : messageLimit)) return tellFailure(new Error(w.tooLong));
    const known = messages.peek().at(-1)?.number ?? 0;
    change("");
    input.focus();
    try { await sendMessage(peer, said, seals); } catch (error) {
      // A message that failed on its way stands in the log with its reason; one that never left comes back here.
      if (messages.peek().some(one => one.number > known && one.direction === "out" && one.text === said)) return;
      if (!text.peek()) change(said);
      tellFailure(error);
    }
  }

  return h("form", { class: "composer", onsubmit: event => { event.preventDefault(); send(); } },
    h("input", { type: "file", class: "away", tabindex: "-1", "aria-hidden": "true", multiple: true,
      ref: node => { picker = node; },
      onchange: () => { for (const file of picker.files) sendFile(peer, file); picker.value = ""; } }),
    h("button", { type: "button", class: "icon-button", "aria-label": w.attach, title: w.attach, onclick: () =>
      picker.click() },
      icon("file")),
    () => ((keys().relationship?.suite || sealing(peer)() !== null || !keys().isKnown)
      && h("button", { type: "button", class: "icon-button", "aria-label": w.seal, title: w.seal,
        "aria-pressed": () => String(isSealed()),
        onclick: () => chooseSealing(peer, untracked(isSealed) ? "off" : "on") }, icon("lock"))),
    h("textarea", { rows: 1, "aria-label": words, placeholder: words, dir: "auto", value: text,
      ref: node => { input = node; },
      oninput: event => change(event.target.value),
      onkeydown: event => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        send();
      } }),
    button(w.send, { kind: "primary", type: "submit", disabled: () => !text().trim() }));
}

/// Files can be dropped onto the conversation.
export function drops(place, onFiles) {
  place.addEventListener("dragover", event => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    place.classList.add("dropping");
  });
  for (const end of ["dragleave", "drop"]) place.addEventListener(end, () => place.classList.remove("dropping"));
  place.addEventListener("drop", event => {
    event.preventDefault();
    if (event.dataTransfer.files.length) onFiles([...event.dataTransfer.files]);
  });
}
