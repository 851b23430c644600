// One member of a network, above the page: its token, a new one, another name, and its end.

import { h, signal } from "../lib/dom.js";
import { post, part } from "../lib/api.js";
import { go } from "../lib/router.js";
import { confirm, openDialog, toast } from "../lib/dialog.js";
import { button, facts, copyable, field, form, select, checkbox, note, bdi } from "../lib/parts.js";
import { codeView } from "../lib/code.js";
import { date, base64url, short, within } from "../lib/format.js";
import { isOwner, name, nameIn, presence, tokenWords } from "./network.js";
import { t } from "../texts.js";

const w = t.member;

/// The choices for the length of a membership; the empty value has no end.
const lives = [["86400", t.lives.day], ["604800", t.lives.week], ["2592000", t.lives.month],
  ["31557600", t.lives.year], ["", t.lives.ever]];

export function openMember(id, member, network, source) {
  const mayManage = isOwner(network) && !member.isThisDevice && !member.isRevoked;
  openDialog({ title: member.label ? bdi(member.label) : member.isThisDevice ? t.app.thisDevice : w.title, isWide: true },
    close => [
    facts([
      [w.state, presence(member)],
      [w.membership, tokenWords(member, network)],
      member.lastSeen && !member.connected && [w.lastSeen, date(member.lastSeen)],
      [w.id, copyable(member.peerIdText, w.id)],
    ]),
    h("div", { class: "buttons" },
      !member.isThisDevice && button(w.details, { icon: "peers",
        onPress: () => { close(); go(`/peers/${base64url(member.peerId)}`); } }),
      mayManage && button(w.renew, { icon: "renew", onPress: () => { close(); renew(id, member, source); } }),
      mayManage && button(w.remove, { icon: "trash", onPress: () => { close(); return remove(id, member, network, source); } })),
  ]);
}

function renew(id, member, source) {
  const token = signal(null);
  const isConnected = member.connected;
  openDialog({ title: w.renewTitle, isWide: true }, close => [() => (token()
    ? h("div", { class: "stack" },
      note("info", h("p", null, isConnected ? w.tokenConnected : w.tokenAway)),
      codeView(token().text, { label: w.tokenCode, name: "runar-token", caption: w.tokenHint }),
      h("div", { class: "buttons end" }, button(t.app.done, { kind: "primary", onPress: () => close() })))
    : form({ onSubmit: async data => {
      token.set(await issue(id, member.peerId, data));
      source.reload();
    } },
    h("p", null, w.renewLead),
    tokenFields(member.label ?? ""),
    h("div", { class: "buttons end" },
      button(t.app.cancel, { onPress: () => close() }),
      button(w.renewNow, { kind: "primary", type: "submit" }))))]);
}

/// Fields for the terms of a membership; `issue` takes what they hold.
export function tokenFields(label, { withRenewal = true } = {}) {
  return [
    field({ label: w.label, hint: w.labelHint }, given => h("input", { ...given, name: "label", value: label,
      maxlength: 64, autocomplete: "off" })),
    field({ label: w.life, hint: withRenewal ? w.lifeHint : w.lifeHintRenewed },
      given => select(lives, { ...given, name: "life", value: "2592000" })),
    withRenewal && h("div", null, checkbox(w.renewable, { name: "renewable", checked: true, hint: w.renewableHint })),
  ];
}

/// A token for a peer, by the fields above.
export async function issue(id, peer, data) {
  const body = { peer, renewable: data.get("renewable") === "on" };
  if (data.get("life")) body.lifeSeconds = Number(data.get("life"));
  if (data.get("label")?.trim()) body.label = data.get("label").trim();
  try { return await post(`/networks/${part(id)}/tokens`, body); } catch (error) {
    // It is refused only to a device that was removed.
    throw error.code === "bad-token" ? new Error(t.share.failures.revoked) : error;
  }
}

async function remove(id, member, network, source) {
  const who = member.label ? within(member.label) : short(member.peerIdText);
  const agreed = await confirm({
    title: w.removeTitle(who, nameIn(network)), text: w.removeText, action: w.remove,
    isDangerous: true,
  });
  if (!agreed) return;
  // Shown at once; what the node says replaces it.
  const now = source.peek().value;
  source.set({ ...now, members: now.members.map(one => (one.peerId === member.peerId
    ? { ...one, isRevoked: true, connected: false } : one)) });
  try {
    await post(`/networks/${part(id)}/revocations`, { peer: member.peerId });
    toast(w.removed(who));
  } catch (error) {
    const old = source.peek().value;
    source.set({ ...old, members: old.members.map(one => (one.peerId === member.peerId ? member : one)) });
    throw error;
  } finally { source.reload(); }
}
