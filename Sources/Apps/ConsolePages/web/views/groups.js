// Groups: those of the circle, making one, and the page of one. The API calls them streams.

import { h, signal, computed, each, effect } from "../lib/dom.js";
import { post, put, del, part } from "../lib/api.js";
import { badge, bdi, button, card, checkbox, field, findings, form, page, row, section, select } from "../lib/parts.js";
import { confirm, openDialog, tellFailure, toast } from "../lib/dialog.js";
import { go, setTitle } from "../lib/router.js";
import { clean, within } from "../lib/format.js";
import { conversation } from "./thoughts.js";
import { t } from "../texts.js";

const w = t.groups;
/// The names of the groups that the node makes for each person.
const defaults = new Set(["Video", "Post", "Inner circle"]);

const pathOf = group => `/circle/streams/${part(group.streamId)}`;
const pageOf = group => `/circle/${part(group.streamId)}`;
const memberPath = (group, person) => `${pathOf(group)}/members/${part(person.personId)}`;
const isUnused = group => group.own && !group.members.length && defaults.has(group.name);
const trusted = value => value.people.filter(one => one.trust === "trusted");
/// The members besides the creator.
const others = group => group.members.filter(one => one.personId !== group.creatorId);

/// The number of members and who writes; a member of a group in which only the creator writes does not see the others.
function about(group) {
  const count = w.members(1 + others(group).filter(one => one.joined).length);
  if (group.posting === "members") return count;
  return group.own ? `${count}, ${w.onlyYou}` : w.onlyOne(within(group.creator));
}

export function groups(value) {
  const used = () => value().streams.filter(one => one.participation !== "invited" && !isUnused(one));
  const unused = () => value().streams.filter(isUnused);
  return section({ title: w.title, lead: w.lead,
    actions: [button(w.make, { icon: "plus", onPress: () => make(value.peek()) })] },
  findings(w.invitations, "circle", () => value().streams.filter(one => one.participation === "invited"),
    one => one.streamId, invitation),
  h("ul", { class: "rows", "aria-label": w.title, hidden: () => !used().length },
    each(used, one => one.streamId, one => h("li", null, () => groupRow(one())))),
  () => unused().length > 0 && h("div", { class: "cluster small" }, h("span", { class: "quiet" }, w.unused),
    unused().map(one => button(clean(one.name), { kind: "quiet", href: pageOf(one) }))));
}

const groupRow = group => row({ href: pageOf(group), icon: "message", title: bdi(group.name),
  ...group.participation === "left" ? { end: badge(w.left) } : { detail: about(group) } });

function invitation(group) {
  const name = within(group.name);
  const answer = (verb, words) => async () => {
    await post(`${pathOf(group)}/${verb}`);
    toast(words(name));
  };
  return [
    h("p", null, w.invites(within(group.creator), name)),
    group.blurb && h("p", { class: "quiet said", dir: "auto" }, group.blurb),
    h("p", { class: "quiet" }, about(group)),
    group.posting === "members" && h("p", null, w.consent),
    h("div", { class: "buttons" },
      button(w.join, { kind: "primary", label: `${w.join}: ${name}`, onPress: answer("join", w.joinedNow) }),
      button(t.circle.decline, { label: `${t.circle.decline}: ${name}`, onPress: answer("leave", t.circle.declined) })),
  ];
}

// Making and inviting.

const checkboxes = (people, error) => (people.length
  ? h("fieldset", null, h("legend", null, w.invite), people.map(one => checkbox(bdi(one.name), { name: one.personId })),
    error && h("p", { class: "field-error", role: "alert" }, error))
  : h("p", { class: "quiet" }, w.noPeople));

function make(value) {
  const error = signal("");
  const people = trusted(value);
  openDialog({ title: w.make }, close => form({ error, label: w.make, onSubmit: async data => {
    const name = data.get("name").trim(), blurb = data.get("blurb").trim();
    if (!name) return error.set(w.nameMissing);
    const group = await post("/circle/streams", { name, posting: data.get("posting"), ...blurb && { blurb } });
    close();
    go(pageOf(group));
    toast(w.made(within(name)));
    // The group exists already: a failure is shown, and the person can be invited there.
    await inviteAll(group, people, data).catch(tellFailure);
  } },
  field({ label: w.name, error }, p => h("input", { ...p, name: "name", autocomplete: "off" })),
  field({ label: w.blurb }, p => h("textarea", { ...p, name: "blurb", rows: 2, dir: "auto" })),
  field({ label: w.posting }, p => select(Object.entries(w.writers), { ...p, name: "posting" })),
  checkboxes(people),
  h("div", null, button(w.makeAction, { kind: "primary", type: "submit" }))));
}

async function inviteAll(group, people, data) {
  let failure = null;
  for (const one of people.filter(one => data.has(one.personId))) {
    await put(memberPath(group, one)).catch(error => { failure ??= error; });
  }
  if (failure) throw failure;
}

function invite(value, group) {
  const error = signal("");
  const people = trusted(value).filter(one => !group.members.some(({ personId }) => personId === one.personId));
  openDialog({ title: w.invite }, close => form({ error, label: w.invite, onSubmit: async data => {
    if (!people.some(one => data.has(one.personId))) return error.set(w.choose);
    await inviteAll(group, people, data);
    close();
    toast(w.invitedNow);
  } },
  checkboxes(people, error),
  people.length > 0 && h("div", null, button(w.invite, { kind: "primary", type: "submit" }))));
}

// The page of a group.

export function groupPage(value, group) {
  effect(() => { if (group()) setTitle(clean(group().name)); });
  const { streamId, own, creator, posting } = group.peek();
  const isOpen = own || posting === "members";
  const participation = computed(() => group()?.participation), isEnding = signal(false);
  return page({ title: h("bdi", { dir: "auto" }, () => clean(group()?.name ?? "")), back: "/circle",
    backTitle: t.circle.title, lead: [
      () => group()?.blurb && h("span", { class: "said", dir: "auto" }, group().blurb)] },
  () => group()?.participation === "invited" && card(invitation(group())),
  h("div", { class: "beside" },
    conversation({ id: streamId, isGroup: true, isEnding, empty: () => w.empty,
      canWrite: computed(() => participation() === "joined" && isOpen),
      otherwise: () => (participation() === "joined" ? w.onlyOne(within(creator)) : w.notJoined) }),
    h("div", { class: "stack wide-gap" },
      section({ title: w.membersTitle, lead: isOpen ? null : w.hidden, actions: own
        && [button(w.invite, { icon: "plus", onPress: () => invite(value.peek(), group.peek()) })] },
      findings(w.membersTitle, "circle", () => (group()
        ? [{ personId: group().creatorId, name: creator }, ...others(group())] : []),
      one => one.personId, one => member(value.peek(), group.peek(), one))),
      () => group() && group().participation !== "invited" && ending(group(), isEnding))));
}

function member({ personId }, group, one) {
  const isCreator = one.personId === group.creatorId, isYou = one.personId === personId;
  const hasTrust = isCreator || isYou || one.trust === "trusted";
  return [
    h("p", null, bdi(isYou ? w.you : one.name), " ", isCreator ? badge(w.creator) : !one.joined ? badge(w.invited)
      : hasTrust ? badge(w.joined, "ok") : badge(w.noTrust, "warn")),
    !hasTrust && one.joined && h("p", { class: "quiet" }, w.noTrustText),
    group.own && !isCreator && h("div", null, button(w.remove, { kind: "quiet", label: `${w.remove}: ${within(one.name)}`,
      onPress: () => remove(group, one) })),
  ];
}

async function remove(group, one) {
  const name = within(one.name);
  if (!await confirm({ title: w.removeTitle(name), text: w.removeText, action: w.remove, isDangerous: true })) return;
  await del(memberPath(group, one));
  toast(w.removed(name));
}

function ending(group, isEnding) {
  const name = within(group.name);
  const isLeaving = !group.own && group.participation === "joined";
  const words = isLeaving ? w.leaving : group.own ? w.deleting : w.clearing;
  return section({ title: words.action }, h("div", null, button(words.action, { kind: "danger", onPress: async () => {
    if (!await confirm({ title: words.title(name), text: words.text, action: words.action, isDangerous: true })) return;
    if (isLeaving) await post(`${pathOf(group)}/leave`);
    else {
      isEnding.set(true);
      try { await del(pathOf(group)); } catch (error) { isEnding.set(false); throw error; }
      go("/circle");
    }
    toast(words.done(name));
  } })));
}
