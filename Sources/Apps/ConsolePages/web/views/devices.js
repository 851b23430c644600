// A person's devices: one that has the master key sets up another, by two codes and no connection between them.

import { h, signal } from "../lib/dom.js";
import { isAllowed, post } from "../lib/api.js";
import { resource } from "../lib/store.js";
import { section, card, button, note, form, checkbox, bdi, loaded } from "../lib/parts.js";
import { confirm } from "../lib/dialog.js";
import { codeView } from "../lib/code.js";
import { scanner, looksLikeOurs } from "../lib/scan.js";
import { day } from "../lib/format.js";
import { tokenFields } from "./member.js";
import { confirmed, elsewhere, vaultField, withConfirmation } from "../lib/phrase.js";
import { settingsPage, titleOf } from "./settings-page.js";
import { t } from "../texts.js";

const w = t.devices;
export const title = titleOf("devices");

export function mount(root) {
  const keys = resource("/keys", ["changed"]);
  const step = signal({ name: "choose" });
  root.append(settingsPage("devices", w.lead, h("div", { class: "stack", id: "device-steps" }, () => {
    const now = step();
    return now.name === "choose" ? loaded(keys, value => choose(value, step)) : steps[now.name](now, step);
  })));
}

const choose = (keys, step) => h("div", { class: "pair" },
  h("div", { class: "card deed" }, h("h2", null, w.addTitle),
    h("p", { class: "quiet" }, keys.keys.some(one => one.key === "root") ? w.addText : w.addNoRoot),
    h("div", { class: "buttons" }, button(w.add, { kind: "primary", icon: "scan",
      disabled: !keys.keys.some(one => one.key === "root"), onPress: () => (isAllowed("POST /device/add") ? step.set({ name: "read", vault: keys.vault }) : elsewhere(w.addTitle)) }))),
  h("div", { class: "card deed" }, h("h2", null, w.getTitle), h("p", { class: "quiet" }, w.getText),
    h("div", { class: "buttons" }, button(w.get, { icon: "code",
      onPress: async () => {
        if (!isAllowed("POST /device/request")) return elsewhere(w.getTitle);
        step.set({ name: "show", request: await post("/device/request", {}) });
      } }))));

const again = step => button(t.app.cancel, { onPress: () => step.set({ name: "choose" }) });

/// The code of a text of this kind; else words that say what is wanted here.
async function inspect(text, kind) {
  const found = await post("/inspect", { text });
  if (found.kind === kind && found.valid) return found.code;
  const isDamaged = found.kind === kind || (found.kind === "unknown" && looksLikeOurs(text));
  throw new Error(isDamaged ? t.join.notForJoining.ours : w.wanted[kind]);
}

/// The result of the answer's text; undefined when the person does not confirm it.
async function setUp(text) {
  let result;
  if (!isAllowed("POST /device/setup")) return elsewhere(w.getTitle);
  await withConfirmation({ title: w.getTitle, action: w.takeAction }, async confirmation => {
    try { result = await post("/device/setup", { text, confirmation }); } catch (error) {
      throw error.code === "bad-data" ? new Error(w.notTheAnswer) : error;
    }
  });
  return result;
}

async function compare(code, text) {
  if (!await confirm({ title: w.sameCode(code), text, action: w.isSame })) throw new Error(w.differ);
}

const steps = {
  read: ({ vault }, step) => section({ title: w.addTitle }, card(h("p", null, w.readText),
    scanner({ pasteLabel: w.pasteRequest, pasteHint: w.pasteRequestHint, onText: async text => {
      await compare(await inspect(text, "device-request"), w.sameCodeText);
      step.set({ name: "terms", text, vault });
    } })), h("div", { class: "buttons" }, again(step))),

  terms: ({ text, vault }, step) => {
    const isAdmin = signal(false), vaultError = signal("");
    return section({ title: w.termsTitle }, card(form({ vaultError, onSubmit: async data => {
      const label = data.get("label").trim(), life = data.get("life"), admin = isAdmin();
      const confirmation = confirmed(vault, data, vaultError);
      if (!confirmation) return;
      step.set({ name: "answer", answer: await post("/device/add", { request: text, admin, confirmation,
        ...(label && { label }), ...(life && { lifeSeconds: Number(life) }) }) });
    } },
    tokenFields("", { withRenewal: false }),
    h("div", null, checkbox(w.admin, { onChange: isAdmin.set, hint: w.adminHint })),
    vault === "passphrase" && vaultField(vault, vaultError),
    h("div", { class: "buttons" }, button(w.answer, { kind: "primary", type: "submit" }), again(step)))));
  },

  answer: ({ answer }, step) => section({ title: w.answerTitle }, card(h("p", null, w.answerText),
    codeView(answer.text, { label: w.answerLabel, name: "runar-device-answer" }), codeNote(answer.code),
    memberships(answer.networks)),
  h("div", { class: "buttons" }, button(t.app.done, { kind: "primary", onPress: () => step.set({ name: "choose" }) }))),

  show: ({ request }, step) => [
    section({ title: w.showTitle }, card(h("p", null, w.showText),
      codeView(request.link, { label: w.requestLabel, name: "runar-device" }), codeNote(request.code))),
    section({ title: w.takeTitle }, card(h("p", null, w.takeText),
      scanner({ pasteLabel: w.pasteAnswer, pasteHint: w.pasteAnswerHint, onText: async text => {
        await compare(await inspect(text, "device-answer"), w.sameAnswerText);
        const result = await setUp(text);
        if (result) step.set({ name: "ready", result });
      } })), h("div", { class: "buttons" }, again(step))),
  ],

  ready: ({ result }) => section({ title: w.readyTitle }, card(h("p", null, w.readyText), memberships(result.networks),
    h("div", { class: "buttons" }, button(w.toNetworks, { kind: "primary", href: "/networks" })))),
};

const codeNote = code => note("info", h("p", null, w.mustShow, " ", h("strong", { class: "mono" }, code)));

const memberships = networks => (networks.length
  ? h("ul", { class: "plain-list" }, networks.map(one => h("li", null, bdi(one.name), " ",
    h("span", { class: "quiet" }, one.expiration ? w.until(day(one.expiration)) : w.noEnd, one.isAdmin && w.withKey))))
  : h("p", { class: "quiet" }, w.noNetworks));
