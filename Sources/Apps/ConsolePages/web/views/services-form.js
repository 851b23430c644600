// A form made of what an action says it takes, and what came back.

import { h, signal, untracked } from "../lib/dom.js";
import { post } from "../lib/api.js";
import { button, form, field, select, note, copy } from "../lib/parts.js";
import { longText, value } from "./data.js";
import { isOwn, clean, nameOf } from "./peers-store.js";
import { t } from "../texts.js";

const w = t.services;

export function actionForm(network, card, action) {
  const error = signal(""), answer = signal(null), provider = signal("");
  const parameters = [...action.name.matchAll(/\{(\w+)\}/g)].map(match => match[1]);
  const schema = schemaOf(action.input);
  const offers = untracked(() => card().offers);
  return form({ class: "form action", label: action.name, error, onSubmit: async (data, target) => {
    answer.set(null);
    const wrong = target.querySelector("[type=number]:invalid");
    if (wrong) throw new Error(w.wrongNumber(wrong.name.slice(3), wrong.validationMessage));
    const name = action.name.replace(/\{(\w+)\}/g, (_, one) => segment(data.get(`path.${one}`), one));
    const request = { path: `${card.peek().path}/${name}`, network: network.id, idempotent: action.isIdempotent };
    const payload = schema ? payloadOf(schema, data) : freePayload(data.get("payload"));
    if (payload !== undefined) request.payload = payload;
    if (provider.peek()) request.peer = provider.peek();
    answer.set(await post("/call", request));
  } },
  action.isStreaming && note("info", h("p", null, w.streaming)),
  parameters.map(one => field({ label: one }, p => h("input", { ...p, name: `path.${one}`, autocomplete: "off",
    required: true }))),
  schema ? schema.fields.map(one => schemaField(one))
    : field({ label: w.input, hint: action.input ? clean(action.input, 400) : w.inputHint }, p => h("textarea",
      { ...p, name: "payload",
      class: "mono", rows: 2, dir: "auto", spellcheck: "false" })),
  offers.length > 1 && field({ label: w.provider }, p => select([["", w.any], ...offers.map(offer => [offer.peerId,
    untracked(() => (isOwn(offer.peerId) ? t.app.thisDevice : nameOf(offer.peerId, offer.label)))])],
      { ...p, onChange: provider.set })),
  action.output && h("p", { class: "quiet" }, w.returns, " ", clean(action.output, 400)),
  h("p", { class: "field-error", role: "alert" }, () => error()),
  h("div", null, button(action.isIdempotent ? w.ask : w.run, { kind: "primary", type: "submit" })),
  h("div", { role: "status" }, () => answer() && answered(answer())));
}

function answered({ result, base64, text, milliseconds }) {
  const shown = result !== undefined ? JSON.stringify(result, null, 2) : text ?? "";
  return h("div", { class: "stack" },
    h("p", { class: "quiet" }, w.answered(milliseconds)),
    base64 !== undefined && text === undefined ? value({ base64, bytes: Math.floor(base64.length * 3 / 4) }, w.fileName)
      : shown === "" || shown === "null" ? h("p", null, w.nothing)
        : [h("div", { class: "answer" }, longText(shown, { mono: true })), h("div", null, button(t.app.copy,
          { icon: "copy", onPress: () => copy(shown) }))]);
}

/// The fields of a JSON Schema of an object; nil if the words are none.
function schemaOf(words) {
  let schema;
  try { schema = JSON.parse(words); } catch { return null; }
  if (!schema?.properties || typeof schema.properties !== "object") return null;
  const wanted = new Set(Array.isArray(schema.required) ? schema.required : []);
  return { fields: Object.entries(schema.properties).slice(0, 40).map(([name, one]) => ({ name, schema: one ?? {},
    isRequired: wanted.has(name) })) };
}

const typeOf = schema => (Array.isArray(schema.enum) ? "enum" : Array.isArray(schema.type) ? schema.type.find(one =>
  one !== "null") : schema.type);

function schemaField({ name, schema, isRequired }) {
  const label = [clean(String(schema.title ?? name), 80), !isRequired && h("span", { class: "quiet" },
    ` (${w.optional})`)];
  const hint = schema.description ? clean(String(schema.description), 300) : undefined;
  const input = `in.${name}`;
  const type = typeOf(schema);
  if (type === "boolean") {
    return h("label", { class: "check" }, h("input", { type: "checkbox", name: input,
      checked: schema.default === true }),
      h("span", null, label, hint && h("span", { class: "hint" }, hint)));
  }
  const start = schema.default === undefined ? "" : typeof schema.default === "string" ? schema.default
    : JSON.stringify(schema.default);
  return field({ label, hint }, p => {
    if (type === "enum") {
      return h("select", { ...p, name: input }, !isRequired && h("option", { value: "" }, "–"),
        schema.enum.map((one, index) => h("option", { value: String(index), selected: one === schema.default },
          clean(String(one)))));
    }
    if (type === "number" || type === "integer") {
      return h("input", { ...p, name: input, type: "number", step: type === "integer" ? 1 : "any", min: schema.minimum,
        max: schema.maximum, value: start });
    }
    if (type === "string") return h("input", { ...p, name: input, dir: "auto", autocomplete: "off",
      maxlength: schema.maxLength, value: start });
    return h("textarea", { ...p, name: input, class: "mono", rows: 2, spellcheck: "false", placeholder: w.json,
      value: start });
  });
}

function payloadOf({ fields }, data) {
  const payload = Object.create(null);
  for (const { name, schema, isRequired } of fields) {
    const type = typeOf(schema), text = data.get(`in.${name}`);
    if (type === "boolean") { payload[name] = text !== null; continue; }
    if (!text && (type !== "string" || !isRequired)) {
      if (isRequired) throw new Error(w.missing(name));
      continue;
    }
    if (type === "enum") payload[name] = schema.enum[Number(text)];
    else if (type === "number" || type === "integer") payload[name] = Number(text);
    else if (type === "string") payload[name] = text;
    else {
      try { payload[name] = JSON.parse(text); } catch { throw new Error(w.noJSON(name)); }
    }
  }
  return payload;
}

/// Parses the text as JSON; text that is not JSON is the payload as it is.
function freePayload(text) {
  if (!text?.trim()) return undefined;
  try { return JSON.parse(text); } catch { return text; }
}

/// A part of a path stands for itself: it has no slash and no colon.
function segment(text, name) {
  if (!text?.trim()) throw new Error(w.missing(name));
  if (/[/:]/.test(text)) throw new Error(w.noSegment(name));
  return text.trim();
}
