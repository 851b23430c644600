// All conversations, the one with the newest message first, and a message to everybody who is connected.

import { h, signal, each } from "../lib/dom.js";
import { post } from "../lib/api.js";
import { button, iconButton, empty, form, field, note, section, save } from "../lib/parts.js";
import { icon } from "../lib/icons.js";
import { link } from "../lib/router.js";
import { toast, confirm, tellFailure } from "../lib/dialog.js";
import { ago, bytes, number } from "../lib/format.js";
import { name, clean, peerPath, watchPeers } from "./peers-store.js";
import { messages, files, filesDirectory, openFile, removeFile, messagesState, unread, watchMessages,
  load } from "./messages-store.js";
import { dataPage, networkPath, longText } from "./data.js";
import { t } from "../texts.js";

const w = t.messages;
export const title = w.title;

const shownBroadcasts = 5;
const shownFiles = 10;
const shownFailures = 20;

export function mount(root) {
  watchPeers();
  watchMessages();
  dataPage(root, {
    place: "messages", title: w.title, lead: w.lead,
    content: [conversations(), arrivals()],
    body: network => section({ title: w.everybody, lead: w.everybodyLead }, broadcast(network), sentToAll(network)),
  });
}

/// Returns the newest message or file of each peer, the newest first.
function newest() {
  const latest = new Map();
  for (const message of messages()) {
    if (message.peerId) latest.set(message.peerId, { at: message.at, message, id: message.peerId });
  }
  for (const file of files()) {
    if (!file.peerId || latest.get(file.peerId)?.at > file.at) continue;
    latest.set(file.peerId, { at: file.at, file, id: file.peerId });
  }
  return [...latest.values()].sort((a, b) => b.at - a.at);
}

const conversations = () => h("div", { class: "stack" },
  () => (messagesState().error && !messagesState().isLoaded
    ? note("bad", h("p", null, messagesState().error.message), button(t.app.tryAgain, { onPress: load })) : null),
  h("ul", { class: "rows", "aria-label": w.list, hidden: () => !newest().length },
    each(newest, one => one.id, one => h("li", null, () => row(one())))),
  () => (messagesState().isLoaded && !newest().length
    ? empty({ icon: "message", title: w.emptyTitle, text: w.empty,
      actions: [button(w.toPeers, { kind: "primary", icon: "peers", href: "/peers" })] })
    : null));

function row({ id, at, message, file }) {
  const count = unread().get(id);
  return h("a", { class: "row", href: link(peerPath(id)) },
    h("span", { class: "row-icon" }, icon(file ? "file" : "message")),
    h("span", { class: "row-main one-line" },
      h("span", { class: "row-title" }, name(id, (message ?? file).label),
        count && h("span", { class: "unread" }, number(count), h("span", { class: "away" }, ` ${t.peers.unread}`))),
      h("span", { class: "row-detail" }, message?.direction === "out" && `${w.you} `,
        message?.state === "failed" && h("span", { class: "bad-text" }, `${w.notDelivered} `),
        h("bdi", { dir: "auto" }, file ? clean(file.name) : message.text === undefined ? w.noText(bytes(message.bytes))
          : clean(message.text, 160)))),
    h("span", { class: "row-end" }, ago(at / 1000)));
}

function arrivals() {
  const shown = signal(shownFiles);
  return () => (files().length ? section({ title: w.files, lead: w.filesLead(filesDirectory()) },
    h("ul", { class: "rows", "aria-label": w.files },
      each(() => files().slice(0, shown()), one => one.id, one => h("li", null, fileRow(one.peek())))),
    files().length > shown()
      && button(w.allFiles(number(files().length)), { kind: "quiet", onPress: () => shown.set(Infinity) })) : null);
}

const fileRow = file => h("div", { class: "row" }, h("span", { class: "row-icon" }, icon("file")),
  h("span", { class: "row-main" }, h("bdi", { class: "row-title", dir: "auto" }, clean(file.name)),
    h("span", { class: "row-detail" }, bytes(file.bytes), " · ",
      file.peerId ? name(file.peerId, file.label) : w.fromUnknown, " · ", ago(file.at / 1000))),
  h("span", { class: "row-end" },
    button(w.save, { icon: "download", kind: "quiet", label: `${w.save}: ${clean(file.name)}`,
      onPress: async () => save(await openFile(file), clean(file.name, 200)) }),
    iconButton("trash", w.remove(clean(file.name)), () => remove(file).catch(tellFailure))));

async function remove(file) {
  const isSure = await confirm({ title: w.removeTitle(clean(file.name)), text: w.removeText, action: w.removeAction,
    isDangerous: true });
  if (isSure) await removeFile(file);
}

function broadcast(network) {
  const error = signal(""), result = signal(null);
  return form({ label: w.everybody, class: "form card", error, onSubmit: async (data, node) => {
    const text = data.get("text");
    if (!text.trim()) throw new Error(w.textMissing);
    result.set(null);
    const answer = await post(`${networkPath(network.id)}/broadcast`, { text });
    result.set(answer);
    if (answer.failures.length) return;
    node.reset();
    toast(w.delivered(answer.peerIds.length));
  } },
  field({ label: w.textFor(clean(network.name)), error },
    p => h("textarea", { ...p, name: "text", rows: 2, dir: "auto" })),
  () => (result()?.failures.length ? undelivered(result()) : null),
  h("div", null, button(w.sendAll, { type: "submit", icon: "share" })));
}

const undelivered = ({ peerIds, failures }) => note("warn", h("p", null, w.partly(peerIds.length, failures.length)),
  h("ul", { class: "plain" }, failures.slice(0, shownFailures).map(one =>
    h("li", null, name(one.peerId), `: ${one.message}`))));

const sentToAll = network => h("ul", { class: "plain stack" },
  each(() => messages().filter(one => !one.peerId && one.networkId === network.id).slice(-shownBroadcasts).reverse(),
    one => one.number,
    one => h("li", { class: "said-to-all" }, longText(one.peek().text ?? ""), h("p", { class: "quiet" }, () =>
      [ago(one().at / 1000), one().state !== "delivered" && ` · ${t.conversation.states[one().state]}`]))));
