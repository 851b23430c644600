// Messages, files and offers of all peers. The node keeps the last thousand messages; those since the page was opened
// are unread until their conversation is seen.

import { signal, scope } from "../lib/dom.js";
import { get, post, del, lasting, blob, part } from "../lib/api.js";
import { onActivity, onResume } from "../lib/activity.js";
import { toast } from "../lib/dialog.js";
import { base64url } from "../lib/format.js";
import { clean, nameOf } from "./peers-store.js";
import { t } from "../texts.js";

export const messages = signal([]);
export const offers = signal([]);
export const files = signal([]);
/// The directory in which the node stores received files.
export const filesDirectory = signal("");
/// Transfers since the page was opened.
export const transfers = signal([]);
/// The number of unread messages by peer.
export const unread = signal(new Map());
/// The peer whose conversation is visible.
export const conversationInSight = signal(null);
export const messagesState = signal({ isLoaded: false, error: null });
/// Called with each new message or file of a peer whose conversation is not in sight.
export const newsListeners = new Set();

const keptMessages = 1000;
const stallMilliseconds = 20_000;
const patienceMilliseconds = 8000;
let isStarted = false;
let lastTransfer = 0;

export function watchMessages() {
  if (isStarted) return;
  isStarted = true;
  scope(() => {
    onActivity(["message"], line => take(line.message));
    onActivity(["fileOffered"], line => offers.update(list =>
      [...list.filter(one => one.number !== line.offer.number), line.offer]));
    onActivity(["offerEnded"], line => offers.update(list => list.filter(one => one.number !== line.number)));
    onActivity(["fileProgress"], arriving);
    onActivity(["fileArrived"], arrived);
    onActivity(["fileFailed"], notStored);
    onActivity(["changed"], line => { if (line.what?.some(one => one === "messages" || one === "files")) load(); });
    onActivity(["message", "fileOffered", "offerEnded", "fileArrived"], () => arrivals++);
    onResume(load);
  });
  load();
}

let turn = 0, arrivals = 0;
const again = 300;

export async function load() {
  const mine = ++turn, known = arrivals;
  try {
    const [said, offered, stored] = await Promise.all([get("/messages"), get("/offers"), get("/files")]);
    if (mine !== turn) return;
    // What came meanwhile may be missing in them.
    if (known !== arrivals) { setTimeout(load, again); return; }
    messages.set(said.messages);
    offers.set(offered.offers);
    files.set(stored.files);
    filesDirectory.set(stored.directory);
    messagesState.set({ isLoaded: true, error: null });
  } catch (error) {
    if (mine === turn) messagesState.set({ isLoaded: messagesState.peek().isLoaded, error });
  }
}

function take(message) {
  const list = messages.peek();
  const at = list.findIndex(one => one.number === message.number);
  if (at >= 0) { messages.set(list.with(at, message)); return; }
  messages.set([...list, message].slice(-keptMessages));
  if (message.direction === "in" && message.peerId) tell(message.peerId, { message });
}

function tell(peerId, news) {
  if (conversationInSight.peek() === peerId && !document.hidden) return;
  unread.update(counts => new Map(counts).set(peerId, (counts.get(peerId) ?? 0) + 1));
  for (const listener of newsListeners) listener({ peerId, ...news });
}

export function markRead(peerId) {
  if (!unread.peek().has(peerId)) return;
  unread.update(counts => { const next = new Map(counts); next.delete(peerId); return next; });
}

export const sendMessage = (peerId, text, isSealed) =>
  post(`/peers/${base64url(peerId)}/${isSealed ? "sealed-messages" : "messages"}`, { text });

// Files.

function change(id, values) {
  transfers.update(list => list.map(one => (one.id === id ? { ...one, ...values } : one)));
}

/// Sends a file; `transfers` has its state.
export async function sendFile(peerId, file) {
  const id = `out-${++lastTransfer}`;
  const stop = new AbortController();
  transfers.update(list => [...list, { id, peerId, direction: "out", name: file.name, total: file.size, count: 0,
    state: "preparing", at: Date.now(), file, cancel: () => stop.abort() }]);
  try {
    let result = null;
    await lasting(`/peers/${base64url(peerId)}/files?name=${part(file.name)}`, file, line => {
      if (line.event === "transferred") change(id, { state: "moving", count: line.count, total: line.total });
      if (line.event === "done") result = line.result;
    }, stop.signal, { waits: true });
    if (!result) throw new Error(t.conversation.broken);
    change(id, { state: "done", count: file.size, name: result.name });
  } catch (error) {
    const isStopped = error.name === "AbortError";
    change(id, { state: isStopped ? "stopped" : "failed", failure: isStopped ? null : error.message });
  }
}

export const openFile = file => blob(`/files/${part(file.id)}`);

export const forgetTransfer = id => transfers.update(list => list.filter(one => one.id !== id));

function arriving(line) {
  const id = `in-${line.peerId}-${line.name}`;
  const old = transfers.peek().find(one => one.id === id);
  clearTimeout(old?.timer);
  const timer = setTimeout(() => change(id, { state: "failed", failure: t.conversation.stalled }), stallMilliseconds);
  const values = { count: line.count, total: line.total, state: "moving", failure: null, timer };
  if (old) return change(id, values);
  transfers.update(list => [...list, { id, peerId: line.peerId, direction: "in", name: line.name, at: line.at,
    ...values }]);
}

function arrived({ file, offeredName }) {
  const id = `in-${file.peerId}-${offeredName}`;
  clearTimeout(transfers.peek().find(one => one.id === id)?.timer);
  forgetTransfer(id);
  files.update(list => [file, ...list.filter(one => one.id !== file.id)]);
  if (file.peerId) tell(file.peerId, { file });
}

/// Shows an accepted file that this device could not store, with the reason.
function notStored({ peerId, label, name, total, reason, at }) {
  const id = `in-${peerId}-${name}`;
  clearTimeout(transfers.peek().find(one => one.id === id)?.timer);
  forgetTransfer(id);
  transfers.update(list => [...list, { id, peerId, direction: "in", name, at, count: 0, total, state: "failed",
    failure: reason }]);
  toast(t.news.notStored(nameOf(peerId, label), clean(name, 60), reason), { kind: "bad" });
}

export async function removeFile(file) {
  await del(`/files/${part(file.id)}`);
  files.update(list => list.filter(one => one.id !== file.id));
}

/// Accepts or declines an offered file.
export async function answerOffer(offer, accept) {
  const others = list => list.filter(one => one.number !== offer.number);
  const begun = Date.now() - 1000;
  try { await post(`/offers/${offer.number}`, { accept }); } finally { offers.update(others); }
  if (!accept) return;
  // The sender may have disconnected or cancelled; no event reports that.
  setTimeout(() => {
    const isComing = transfers.peek().some(one => one.id === `in-${offer.peerId}-${offer.name}`)
      || files.peek().some(one => one.peerId === offer.peerId && one.at >= begun);
    if (!isComing) toast(t.news.nothingCame, { kind: "bad" });
  }, patienceMilliseconds);
}
