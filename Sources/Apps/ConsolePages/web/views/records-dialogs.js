// A key and the values that members have stored under it; and storing one of this device's own.

import { h, signal } from "../lib/dom.js";
import { post, put } from "../lib/api.js";
import { button, form, field, note, select, checkbox } from "../lib/parts.js";
import { openDialog, confirm, toast } from "../lib/dialog.js";
import { ago, bytes, date } from "../lib/format.js";
import { name, isOwn, clean } from "./peers-store.js";
import { networkPath, value, toBase64 } from "./data.js";
import { t } from "../texts.js";

const w = t.records;
const valueLimit = 65_536;

/// Looks a key up among all members and shows what each has stored.
export function openRecord(network, key, { format, shown }) {
  const state = signal({ isLoading: true });
  const stop = new AbortController();
  const load = async cached => {
    try {
      const answer = await post(`${networkPath(network.id)}/records/get`, { key, format, all: true, cached },
        stop.signal);
      state.set({ records: answer.records });
    } catch (error) {
      if (error.name !== "AbortError") state.set(error.code === "not-found" ? { records: [] } : { error });
    }
  };
  load(true);
  const dialog = openDialog({ title: w.value, isWide: true }, close => [
    h("p", { class: "key-shown mono" }, h("bdi", { dir: "auto" }, clean(shown ?? key, 1024))),
    h("div", { class: "stack", role: "status" }, () => content(state())),
    h("div", { class: "buttons end" },
      button(w.again, { icon: "renew", onPress: () => load(false) }),
      () => ownButtons(state(), close)),
  ]);
  dialog.closed.then(() => stop.abort());

  function content({ isLoading, error, records }) {
    if (isLoading) return h("p", { class: "quiet" }, w.looking);
    if (error) return note("bad", h("p", null, error.message));
    if (!records.length) return note("info", h("p", null, w.notFound));
    return records.map((record, index) => h("article", { class: "record" },
      h("h3", null, isOwn(record.writer) ? t.app.thisDevice : name(record.writer), index === 0 && records.length > 1
        && h("span", { class: "quiet" }, ` · ${w.newest}`)),
      value(record, w.fileName),
      h("p", { class: "quiet" }, `${bytes(record.bytes)} · `,
        h("span", { title: date(record.version / 1e6) }, w.written(ago(record.version / 1e6))), " · ",
        h("span", { title: date(record.expiration) }, w.expires(ago(record.expiration))))));
  }

  function ownButtons({ records }, close) {
    const own = records?.find(one => isOwn(one.writer));
    if (!own) {
      return records && button(records.length ? w.storeOwn : w.store, { kind: "primary", onPress: () => {
        close();
        openPut(network, { key, format, shown });
      } });
    }
    return [
      button(w.remove, { icon: "trash", onPress: () => remove(close) }),
      own.text !== undefined && button(w.edit, { icon: "edit", kind: "primary", onPress: () => {
        close();
        openPut(network, { key, format, shown, text: own.text, version: records[0].version });
      } }),
    ];
  }

  async function remove(close) {
    if (!await confirm({ title: w.removeTitle, text: w.removeText, action: w.remove, isDangerous: true })) return;
    const answer = await post(`${networkPath(network.id)}/records/delete`, { key, format });
    toast(w.removed(answer.holders));
    close();
  }
}

/// Stores a value; with `version` only if the stored record still has this version.
export function openPut(network, { key = "", format = "text", shown, text = "", version } = {}) {
  const isKnown = key !== "";
  const error = signal(""), life = signal(""), file = signal(null);
  let isNew = !isKnown;
  openDialog({ title: version ? w.editTitle : w.storeTitle, isWide: true }, close =>
    form({ error, onSubmit: async data => {
    const content = file.peek() ? { base64: toBase64(new Uint8Array(await file.peek().arrayBuffer())) }
      : { text: data.get("value") };
    if (!(isKnown || data.get("key").trim())) throw new Error(w.keyMissing);
    const size = file.peek()?.size ?? new Blob([content.text]).size;
    if (size > valueLimit) throw new Error(w.tooLong(bytes(valueLimit)));
    const answer = await put(`${networkPath(network.id)}/records`, {
      key: isKnown ? key : data.get("key").trim(), format, ...content,
      ...(life.peek() && { lifeSeconds: Number(life.peek()) }),
      ...(version ? { condition: "ifVersion", version } : { condition: isNew ? "ifAbsent" : "any" }),
    }).catch(failure => { throw failure.code === "conflict" ? new Error(isNew ? w.taken : w.conflict) : failure; });
    toast(answer.holders ? w.stored(answer.holders, life.peek() && ago(answer.expiration)) : w.storedHere);
    close();
  } },
  isKnown ? h("p", { class: "key-shown mono" }, h("bdi", { dir: "auto" }, clean(shown ?? key, 1024)))
    : field({ label: w.key, hint: w.keyHint }, p => h("input", { ...p, name: "key", class: "mono", autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false", placeholder: w.keyExample, maxlength: 1024, autofocus: true })),
  () => (file() ? h("div", { class: "cluster" }, h("bdi", { dir: "auto" }, clean(file().name)),
    h("span", { class: "quiet" }, bytes(file().size)),
    button(w.noFile, { kind: "quiet", onPress: () => file.set(null) }))
    : field({ label: w.value, hint: w.valueHint(bytes(valueLimit)) }, p => h("textarea", { ...p, name: "value", rows: 5,
      dir: "auto", value: text,
      autofocus: isKnown }))),
  field({ label: w.fromFile }, p => h("input", { ...p, type: "file", onchange: event =>
    file.set(event.target.files[0] ?? null) })),
  field({ label: w.life, hint: w.lifeHint }, p => select(w.lives, { ...p, value: life.peek(), onChange: life.set })),
  !isKnown && checkbox(w.ifAbsent, { checked: true, onChange: checked => { isNew = checked; } }),
  h("p", { class: "field-error", role: "alert" }, () => error()),
  h("div", { class: "buttons end" }, button(t.app.cancel, { onPress: () => close() }), button(w.storeIt,
    { kind: "primary", type: "submit" }))));
}
