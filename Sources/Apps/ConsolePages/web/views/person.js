// One person: the conversation, the devices with their keys, the safety number, the end of trust, and blocking. With the
// id of a group the same address is the page of that group.

import { h, computed, effect, untracked } from "../lib/dom.js";
import { del, put } from "../lib/api.js";
import { badge, button, card, field, form, loadedOnce, note, page, section, select } from "../lib/parts.js";
import { confirm, openDialog, toast } from "../lib/dialog.js";
import { setTitle } from "../lib/router.js";
import { shortOf } from "../lib/format.js";
import { clean } from "./peers-store.js";
import { compareNumbers } from "./sealing.js";
import { conversation } from "./thoughts.js";
import { groupPage } from "./groups.js";
import { accept, blockPath, circleResource, decline, lift, personPath } from "./circle.js";
import { t } from "../texts.js";

const w = t.person;
export const title = w.title;

const frame = { title: w.title, back: "/circle", backTitle: t.circle.title };

export function mount(root, { person: id }) {
  const circle = circleResource();
  root.append(h("div", null, loadedOnce(circle, value => {
    const person = computed(() => value().people.find(one => one.personId === id));
    const group = computed(() => value().streams.find(one => one.streamId === id));
    const kind = computed(() => (person() ? "person" : group() ? "group" : null));
    // Made once: the person changes with each key that is used.
    return () => {
      if (!kind()) return page(frame, note("warn", h("p", null, w.gone)));
      return untracked(() => (kind() === "person" ? whole(value, person) : groupPage(value, group)));
    };
  }, { frame })));
}

function whole(value, person) {
  effect(() => { if (person()) setTitle(clean(person().name)); });
  const isTrusted = computed(() => person()?.trust === "trusted");
  const isBlocked = computed(() => value().blocked.some(one => one.personId === person()?.personId));
  const { personId, name } = person.peek();
  return page({ ...frame, title: h("bdi", { dir: "auto" }, () => clean(person()?.name ?? "")),
    lead: [() => person() && (isBlocked() ? blockedState(person()) : state(person()))] },
  h("div", { class: "beside" },
    conversation({ id: personId, empty: () => w.empty(clean(name)), canWrite: isTrusted }),
    h("div", { class: "stack wide-gap" },
      () => (isTrusted() ? untracked(() => [devices(person), safety(person)]) : null),
      () => (isBlocked() ? null : ending(person, isTrusted())))));
}

const blockedState = person => h("span", { class: "cluster" }, h("span", null, w.isBlocked),
  button(t.circle.lift, { onPress: () => lift(person) }));

function state(person) {
  if (person.trust === "trusted") {
    return person.verified ? badge(t.circle.verified, "ok") : badge(t.circle.notVerified, "warn");
  }
  return h("span", { class: "cluster" }, h("span", null, w.noTrust[person.trust]),
    person.trust === "requested" && button(t.circle.accept, { kind: "primary", onPress: () => accept(person) }),
    person.trust === "requested" && button(t.circle.decline, { onPress: () => decline(person) }),
    person.trust === "requested" && button(t.circle.ignore, { onPress: () => decline(person, true) }),
    person.trust === "revoked" && button(w.askAgain, { onPress: () => accept(person) }));
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

const ending = (person, isTrusted) => section({ title: isTrusted ? w.end : w.block,
  lead: isTrusted ? w.revokeLead : w.blockLead },
h("div", { class: "buttons" },
  isTrusted && button(w.revoke, { kind: "danger", icon: "stop", onPress: () => revoke(person.peek()) }),
  button(w.block, { icon: "stop", onPress: () => block(person.peek()) })));

async function revoke(person) {
  const name = clean(person.name);
  if (!await confirm({ title: w.revokeTitle(name), text: w.revokeText, action: w.revoke, isDangerous: true })) return;
  await del(personPath(person));
  toast(w.revokedNow(name));
}

function block(person) {
  const name = clean(person.name);
  openDialog({ title: w.blockTitle(name) }, close => form({ label: w.blockTitle(name), onSubmit: async data => {
    const reasons = [...data].filter(([, severity]) => severity).map(([reason, severity]) => [reason, Number(severity)]);
    await put(blockPath(person), { reasons: Object.fromEntries(reasons) });
    close();
    toast(w.blockedNow(name));
  } },
  w.blockText.map(one => h("p", null, one)),
  Object.entries(t.circle.reasons).map(([reason, words]) =>
    field({ label: words }, p => select(w.severities.map((one, severity) => [severity || "", one]), { ...p, name: reason }))),
  h("div", { class: "buttons end" }, button(t.app.cancel, { onPress: () => close() }),
    button(w.block, { kind: "danger", type: "submit" }))));
}
