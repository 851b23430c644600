// The circle: the own profile, devices and homes, requests, the people whom this person trusts, groups, and who is blocked.

import { h, signal, computed, each, untracked } from "../lib/dom.js";
import { get, post, put, del, part } from "../lib/api.js";
import { badge, button, card, empty, field, findings, form, loadedOnce, page, section } from "../lib/parts.js";
import { openDialog, toast } from "../lib/dialog.js";
import { resource } from "../lib/store.js";
import { codeView } from "../lib/code.js";
import { scanner } from "../lib/scan.js";
import { icon } from "../lib/icons.js";
import { link } from "../lib/router.js";
import { date } from "../lib/format.js";
import { watchPeers, clean } from "./peers-store.js";
import { chooseDevice, expectButton, ownDevices } from "./circle-devices.js";
import { homes } from "./circle-homes.js";
import { groups } from "./groups.js";
import { t } from "../texts.js";

const w = t.circle;
export const title = w.title;

/// The circle as it is; people change with their devices as well.
export const circleResource = () => resource("/circle", ["changed:circle", "changed:keys", "peerJoined", "peerLeft"]);

export const personPath = person => `/circle/people/${part(person.personId)}`;

export async function accept(person) {
  await post(`${personPath(person)}/accept`);
  toast(person.trust === "requested" ? w.accepted(clean(person.name)) : w.asked);
}

export async function decline(person, ignoreDevices = false) {
  await post(`${personPath(person)}/decline`, { ignoreDevices });
  toast(ignoreDevices ? w.ignored(clean(person.name)) : w.declined(clean(person.name)));
}

export const blockPath = person => `/circle/blocked/${part(person.personId)}`;

export async function lift(person) {
  await del(blockPath(person));
  toast(w.lifted(clean(person.name)));
}

export function mount(root) {
  watchPeers();
  const circle = circleResource();
  root.append(h("div", null, loadedOnce(circle, value => {
    const hasProfile = computed(() => value().name !== undefined);
    return () => (hasProfile() ? untracked(() => whole(value)) : beginning(value));
  },
    { frame: { title: w.title } })));
}

const beginning = value => page({ title: w.title, lead: w.lead },
  card(h("h2", null, w.beginTitle), h("p", { class: "quiet" }, w.begin), profileForm("", "")),
  card(h("h2", null, w.otherTitle), h("p", { class: "quiet" }, w.other), h("div", null, expectButton(value))));

function profileForm(name, blurb, onDone = () => {}) {
  const error = signal("");
  return form({ error, label: w.you, onSubmit: async data => {
    const said = data.get("name").trim(), about = data.get("blurb").trim();
    if (!said) return error.set(w.nameMissing);
    await put("/circle/profile", about ? { name: said, blurb: about } : { name: said });
    toast(w.profileSaved);
    onDone();
  } },
  field({ label: w.name, error }, p => h("input", { ...p, name: "name", value: name, autocomplete: "name" })),
  field({ label: w.blurb, hint: w.blurbHint }, p => h("textarea", { ...p, name: "blurb", rows: 3, dir: "auto", value: blurb })),
  h("div", null, button(w.saveProfile, { kind: "primary", type: "submit" })));
}

function whole(value) {
  const people = trust => value().people.filter(one => trust.includes(one.trust));
  return page({ title: w.title, lead: w.lead, actions: [
    button(w.card, { icon: "code", onPress: showCard }),
    button(w.add, { kind: "primary", icon: "plus", onPress: add }),
  ] },
  () => (people(["requested"]).length ? section({ title: w.requests },
    findings(w.requests, "circle", () => people(["requested"]), one => one.personId, request)) : null),
  section({ title: w.people },
    h("ul", { class: "rows", "aria-label": w.people, hidden: () => !people(["trusted", "invited", "revoked"]).length },
      each(() => people(["trusted", "invited", "revoked"]), one => one.personId, one => h("li", null, () => row(one())))),
    () => (value().people.length ? null : empty({ icon: "circle", title: w.emptyTitle, text: w.empty }))),
  groups(value),
  section({ title: w.you, actions: [button(w.editProfile, { icon: "edit", onPress: () => edit(value.peek()) })] },
    card(() => h("p", null, h("bdi", { dir: "auto" }, clean(value().name))),
      () => value().blurb && h("p", { class: "quiet said", dir: "auto" }, value().blurb))),
  ownDevices(value),
  homes(value),
  () => (value().blocked.length ? section({ title: w.blocked },
    findings(w.blocked, "stop", () => value().blocked, one => one.personId, blocked)) : null));
}

const request = person => [
  h("p", null, w.requestFrom(clean(person.name))),
  person.blurb && h("p", { class: "quiet said", dir: "auto" }, person.blurb),
  h("div", { class: "buttons" },
    button(w.accept, { kind: "primary", label: `${w.accept}: ${clean(person.name)}`, onPress: () => accept(person) }),
    button(w.decline, { label: `${w.decline}: ${clean(person.name)}`, onPress: () => decline(person) }),
    button(w.ignore, { label: `${w.ignore}: ${clean(person.name)}`, onPress: () => decline(person, true) })),
];

const blocked = person => [
  h("p", null, h("bdi", { dir: "auto" }, clean(person.name))),
  h("p", { class: "quiet" }, [date(person.reportedAt),
    ...Object.entries(person.reasons).map(([reason, severity]) => w.reason(w.reasons[reason] ?? clean(reason), severity))]
    .join(" · ")),
  h("div", null, button(w.lift, { label: `${w.lift}: ${clean(person.name)}`, onPress: () => lift(person) })),
];

function row(person) {
  const isOnline = person.devices.some(one => one.connected);
  const state = { invited: badge(w.waiting), revoked: badge(w.revoked) }[person.trust]
    ?? (person.devices.some(one => one.low) ? badge(w.fewKeys, "warn")
      : person.verified ? badge(w.verified, "ok") : badge(w.notVerified, "warn"));
  return h("a", { class: "row", href: link(`/circle/${part(person.personId)}`) },
    h("span", { class: "row-icon" }, icon("circle")),
    h("span", { class: "row-main" }, h("bdi", { class: "row-title", dir: "auto" }, clean(person.name)),
      h("span", { class: "row-detail" }, person.trust === "trusted" ? isOnline ? w.online : w.offline : null)),
    h("span", { class: "row-end" }, state), icon("forward", 18));
}

function edit({ name, blurb }) {
  openDialog({ title: w.you }, close => profileForm(name, blurb ?? "", close));
}

async function showCard() {
  const { text } = await get("/circle/card");
  openDialog({ title: w.cardTitle, isWide: true }, () => [
    h("p", null, w.cardText),
    codeView(text, { label: w.cardLabel, name: "runar-person" }),
  ]);
}

function add() {
  const { close } = openDialog({ title: w.addTitle, isWide: true }, () => [
    h("h3", null, w.addDevice), byDevice(() => close()),
    h("h3", null, w.addCard), h("p", { class: "quiet" }, w.addCardText),
    scanner({ pasteLabel: w.paste, pasteHint: w.pasteHint, action: w.askCard, onText: async text => {
      if (!text.startsWith("runar://person/")) throw new Error(w.noCard);
      await post("/circle/people", { text });
      close();
      toast(w.asked);
    } }),
  ]);
}

const byDevice = close => chooseDevice({ label: w.addDevice, none: w.noDevice, action: w.ask, onChosen: async peer => {
  await post(`/peers/${part(peer)}/circle`);
  close();
  toast(w.asked);
} });
