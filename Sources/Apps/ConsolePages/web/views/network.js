// One network: who is in it, until when, and what its owner can do.

import { h, computed, effect } from "../lib/dom.js";
import { get, patch, del, part } from "../lib/api.js";
import { resource, membershipKinds } from "../lib/store.js";
import { go, setTitle } from "../lib/router.js";
import { confirm, openDialog, toast } from "../lib/dialog.js";
import { longList } from "../lib/list.js";
import { icon } from "../lib/icons.js";
import { page, section, card, button, facts, badge, bdi, note, copyable, field, form, loadedOnce } from "../lib/parts.js";
import { ago, clean, date, day, short, within } from "../lib/format.js";
import { roleIn, state } from "./networks.js";
import { openMember } from "./member.js";
import { t } from "../texts.js";

const w = t.network;
export const title = w.title;

export const isOwner = network => network.role === "owner" || network.role === "admin";

export function mount(root, { network: id }) {
  const network = resource(`/networks/${part(id)}`, membershipKinds);
  root.append(h("div", null, loadedOnce(network, value => {
    effect(() => setTitle(value().name ? clean(value().name) : w.title));
    return content(id, network, value);
  }, { frame: { title: w.title, back: "/networks", backTitle: t.networks.title } })));
}

function content(id, source, value) {
  return page({
    title: () => (value().name ? bdi(value().name) : t.networks.unnamed), back: "/networks", backTitle: t.networks.title,
    lead: () => [roleIn(value()), " · ", t.networks.connected(value().connected)],
    actions: () => actions(id, value()),
  },
  () => warnings(value(), id),
  section({ title: w.members, lead: () => (isOwner(value()) ? w.membersLead : w.membersLeadMember) },
    members(id, source, value)),
  section({ title: w.about }, card(() => about(value()))),
  section({ title: w.leaving }, () => h("div", { class: "buttons" },
    isOwner(value()) && button(w.rename, { icon: "edit", onPress: () => rename(id, value(), source) }),
    button(w.leave, { icon: "leave", onPress: () => leave(id, value(), source) }))));
}

function actions(id, network) {
  const to = `/networks/${part(id)}`;
  if (network.isRevoked) return null;
  if (network.role === "none") {
    return button(w.becomeMember, { icon: "scan", kind: "primary", href: `/join?network=${part(id)}` });
  }
  return [
    network.text && button(w.showCode, { icon: "code", href: `${to}/admit` }),
    isOwner(network) && button(w.invite, { icon: "plus", kind: "primary", href: `${to}/share` }),
  ];
}

function warnings(network, id) {
  const now = Date.now() / 1000;
  const notes = [];
  if (network.isRevoked) notes.push(note("bad", h("p", null, w.revoked)));
  else if (network.role === "none") notes.push(note("info", h("p", null, w.notMember)));
  else if (network.expiration && network.expiration < now) {
    notes.push(note("bad", h("p", null, w.expired(ago(network.expiration))),
      button(w.becomeMember, { icon: "scan", href: `/join?network=${part(id)}` })));
  } else if (network.expiration && network.expiration < now + 7 * 86400) {
    notes.push(note("warn", h("p", null, w.expiring(ago(network.expiration)))));
  }
  return notes;
}

function about(network) {
  return facts([
    [w.state, state(network)],
    [w.role, roleIn(network)],
    network.isMember && [w.membership, network.expiration ? w.until(date(network.expiration)) : w.noEnd],
    network.index !== undefined && [w.index, String(network.index)],
    [w.id, copyable(network.networkIdText, w.id)],
  ]);
}

function members(id, source, value) {
  const ordered = computed(() => [...value().members].sort((one, other) => rank(one) - rank(other)
    || byName.compare(one.label ?? "\uffff", other.label ?? "\uffff")
    || byName.compare(one.peerIdText, other.peerIdText)));
  return [
    longList({
      label: w.members, items: ordered, key: member => member.peerId, rowHeight: width => (width <= 760 ? 88 : 64),
      render: member => memberRow(member, value.peek(), () => openMember(id, member, value.peek(), source)),
    }),
    () => (value().members.length < 2 && isOwner(value()) ? h("p", { class: "quiet" }, w.alone) : null),
  ];
}

const byName = new Intl.Collator(t.language, { numeric: true });
const rank = member => (member.isThisDevice ? 0 : member.isRevoked ? 3 : member.connected ? 1 : 2);

const memberRow = (member, network, onPress) => h("button", { type: "button", class: "row row-button", onclick: onPress },
  h("span", { class: "row-icon" }, icon("peers")),
  h("span", { class: "row-main" },
    h("span", { class: "row-title" }, name(member)),
    h("span", { class: "row-detail" }, tokenWords(member, network))),
  h("span", { class: "row-end" }, presence(member)),
  icon("forward", 18));

export const name = member => [
  member.isThisDevice ? t.app.thisDevice : member.label ? bdi(member.label) : h("code", null, short(member.peerIdText)),
];

export function presence(member) {
  if (member.isRevoked) return badge(w.removed, "bad");
  if (member.isThisDevice) return badge(w.here, "ok");
  if (member.connected) return badge(w.connected, "ok");
  return badge(member.lastSeen ? w.seen(ago(member.lastSeen)) : w.neverSeen);
}

/// Describes until when a member's token is valid.
export function tokenWords(member, network) {
  if (member.isRevoked) return member.revokedAt ? w.removedAt(date(member.revokedAt)) : w.removed;
  if (member.isThisDevice && isOwner(network) && !member.expiration) return t.networks.roles[network.role];
  const now = Date.now() / 1000;
  const renews = member.renewable && member.expiration ? ` ${w.renews}` : "";
  if (member.expiration && member.expiration < now) return w.ended(ago(member.expiration));
  if (member.expiration) return w.memberUntil(day(member.expiration)) + renews;
  return member.hasToken || member.isThisDevice ? w.memberNoEnd : w.memberUnknown;
}

async function rename(id, network, source) {
  openDialog({ title: w.rename }, close => form({ onSubmit: async data => {
    const wanted = data.get("name").trim();
    if (wanted && wanted !== network.name) {
      await patch(`/networks/${part(id)}`, { name: wanted });
      toast(w.renamed);
      source.reload();
    }
    close();
  } },
  field({ label: w.name, hint: w.renameHint }, given => h("input", { ...given, name: "name", value: network.name ?? "",
    maxlength: 64, autocomplete: "off", autofocus: true, required: true })),
  h("div", { class: "buttons end" },
    button(t.app.cancel, { onPress: () => close() }),
    button(t.app.save, { kind: "primary", type: "submit" }))));
}

/// The name of a network within a sentence.
export const nameIn = network => (network.name ? within(network.name) : t.networks.unnamed);

async function leave(id, network, source) {
  const own = isOwner(network);
  const agreed = await confirm({
    title: w.leaveTitle(nameIn(network)), text: own ? w.leaveOwnerText : w.leaveText,
    // What cannot be typed is not asked for.
    action: w.leave, isDangerous: true, word: !own ? null : clean(network.name) === network.name ? network.name : w.leave,
  });
  if (!agreed) return;
  source.pause(true);
  try { await del(`/networks/${part(id)}`); } catch (error) { source.pause(false); throw error; }
  toast(w.left(nameIn(network)));
  go("/networks");
}

/// The networks in which this device may admit others.
export const ownedNetworks = async () => (await get("/networks")).networks.filter(isOwner);
