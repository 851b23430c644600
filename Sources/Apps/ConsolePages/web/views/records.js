// The values of a network's hash table: those that this device holds, looking one up, storing and deleting.

import { h, signal, effect, onEnd, untracked } from "../lib/dom.js";
import { get } from "../lib/api.js";
import { longList } from "../lib/list.js";
import { button, empty, form, note } from "../lib/parts.js";
import { icon } from "../lib/icons.js";
import { query } from "../lib/router.js";
import { onActivity, onResume } from "../lib/activity.js";
import { ago, bytes } from "../lib/format.js";
import { debounce } from "../lib/store.js";
import { name, clean, watchPeers } from "./peers-store.js";
import { dataPage, networkPath } from "./data.js";
import { openRecord, openPut } from "./records-dialogs.js";
import { t } from "../texts.js";

const w = t.records;
export const title = w.title;

const pageSize = 200;
const whose = signal("held");

export function mount(root) {
  watchPeers();
  dataPage(root, {
    place: "records", title: w.title, lead: w.lead,
    actions: network => button(w.store, { icon: "plus", kind: "primary", onPress: () => openPut(network) }),
    body: network => browser(network),
  });
}

function browser(network) {
  const search = signal("");
  const table = paged(network, search);
  const wanted = query.peek().get("key");
  if (wanted) openRecord(network, wanted, { format: "hex" });

  return h("div", { class: "stack" },
    form({ class: "stack tight", label: w.lookUp, onSubmit: async (data, node) => {
      const key = data.get("key").trim();
      if (key) openRecord(network, key, { format: "text" }); else node.elements.key.focus();
    } },
    h("div", { class: "filters" },
      h("fieldset", { class: "segments" }, h("legend", { class: "away" }, w.which),
        ["held", "own"].map(kind => h("label", null,
          h("input", { type: "radio", name: "whose", value: kind, checked: () => whose() === kind, onchange: () =>
            whose.set(kind) }),
          h("span", null, w.whose[kind])))),
      h("div", { class: "search" }, icon("search", 18),
        h("input", { type: "search", name: "key", "aria-label": w.search, placeholder: w.search, autocomplete: "off",
          spellcheck: "false",
          autocapitalize: "off", maxlength: 1024, oninput: event => search.set(event.target.value.trim()) })),
      button(w.lookUp, { type: "submit" })),
    h("p", { class: "hint" }, w.searchHint)),
    h("p", { class: "quiet", role: "status" }, () => (table.error() ? null : table.total() === null ? t.app.loading
      : w.count(table.total()))),
    () => (table.error() ? note("bad", h("p", null, table.error()), button(t.app.tryAgain, { onPress: table.reload }))
      : null),
    longList({ label: w.list, items: table.rows, key: row => row.index, rowHeight: 68, render: row => recordRow(row,
      network, table) }),
    () => (table.total() === 0 ? nothing(search(), network) : null));
}

/// Rows that are fetched in pages when they come into sight; a hundred thousand of them are as many small objects.
function paged(network, search) {
  const rows = signal([]), total = signal(null), error = signal("");
  let asked = new Set(), turn = 0;

  async function load(page, mine) {
    asked.add(page);
    const parameters = new URLSearchParams({ whose: whose.peek(), offset: page * pageSize, limit: pageSize });
    if (search.peek()) parameters.set("search", search.peek());
    try {
      const answer = await get(`${networkPath(network.id)}/records?${parameters}`);
      if (mine !== turn) return;
      error.set("");
      const list = rows.peek().length === answer.total ? [...rows.peek()]
        : Array.from({ length: answer.total }, (_, index) => rows.peek()[index] ?? { index });
      answer.records.forEach((record, at) => { list[page * pageSize + at] = { index: page * pageSize + at, record }; });
      rows.set(list);
      total.set(answer.total);
    } catch (failure) {
      asked.delete(page);
      if (mine === turn) error.set(failure.message);
    }
  }

  // What was in sight last is fetched anew at once; the rest when it comes into sight again.
  function reload() {
    turn++;
    const pages = [...asked].slice(-2);
    asked = new Set();
    if (!pages.includes(0)) pages.push(0);
    for (const page of pages) load(page, turn);
  }

  const need = index => {
    const page = Math.floor(index / pageSize);
    if (!asked.has(page)) queueMicrotask(() => { if (!asked.has(page)) load(page, turn); });
  };
  const soon = debounce(reload, 120);
  const start = () => { asked = new Set(); rows.set([]); total.set(null); reload(); };
  effect(() => { whose(); untracked(start); });
  let typed = null, before = "";
  effect(() => {
    if (search() === before) return;
    before = search();
    clearTimeout(typed);
    typed = setTimeout(start, 180);
  });
  onEnd(() => clearTimeout(typed));
  onActivity(["dht"], line => {
    if (line.phase === "ended" && line.networkId === network.id && (line.operation === "put"
      || line.operation === "delete")) soon();
  });
  onActivity(["changed"], line => { if (line.what?.includes("records")) soon(); });
  onResume(reload);
  return { rows, total, error, need, reload };
}

function recordRow({ index, record }, network, table) {
  table.need(index);
  if (!record) {
    return h("div", { class: "row", tabindex: "-1" }, h("span", { class: "row-main quiet" }, t.app.loading));
  }
  const isOver = record.expiration * 1000 < Date.now();
  return h("button", { type: "button", class: "row record-row", onclick: () => openRecord(network, record.keyHex,
    { format: "hex", shown: record.key }) },
    h("span", { class: "row-main" },
      h("bdi", { class: "row-title mono", dir: "auto" }, record.key === undefined ? record.keyHex.slice(0, 80)
        : clean(record.key, 120)),
      h("span", { class: "row-detail" }, record.isOwn ? t.app.thisDevice : name(record.writer, record.label))),
    h("span", { class: "record-size" }, record.isDeleted ? w.deleted : bytes(record.bytes)),
    h("span", { class: "record-when" }, h("span", null, w.written(ago(record.version / 1e6))),
      h("span", { class: "quiet" }, isOver ? w.over : w.expires(ago(record.expiration)))));
}

const nothing = (search, network) => (search ? h("p", { class: "quiet centered" }, w.noMatch) : empty({
  icon: "data", title: w.emptyTitle[whose()], text: w.empty,
  actions: [button(w.store, { icon: "plus", kind: "primary", onPress: () => openPut(network) })],
}));
