// The networks of this device, with how each stands.

import { h, each } from "../lib/dom.js";
import { resource, peerKinds } from "../lib/store.js";
import { page, button, row, badge, bdi, empty, loadedOnce } from "../lib/parts.js";
import { ago, day, base64url } from "../lib/format.js";
import { t } from "../texts.js";

const w = t.networks;
export const title = w.title;

export function mount(root) {
  const networks = resource("/networks", peerKinds);

  root.append(page({
    title: w.title, lead: w.lead,
    actions: [
      button(w.join, { icon: "scan", href: "/join" }),
      button(w.create, { icon: "plus", kind: "primary", href: "/networks/new" }),
    ],
  },
  loadedOnce(networks, value => () => (value().networks.length
    ? h("ul", { class: "rows", "aria-label": w.list }, each(() => value().networks, one => one.networkId,
      network => h("li", null, () => networkRow(network()))))
    : empty({
      icon: "networks", title: w.emptyTitle, text: w.empty,
      actions: [
        button(w.createFirst, { icon: "plus", kind: "primary", href: "/networks/new" }),
        button(w.joinFirst, { icon: "scan", href: "/join" }),
      ],
    })))));
}

function networkRow(network) {
  const role = roleIn(network);
  const end = network.expiration ? `${role}, ${w.until(day(network.expiration))}` : role;
  return row({
    href: `/networks/${base64url(network.networkId)}`, icon: "networks",
    title: network.name ? bdi(network.name) : w.unnamed,
    detail: network.isMember || network.role === "owner" ? [end, " · ", w.connected(network.connected ?? 0)] : end,
    end: state(network),
  });
}

/// The role of this device in a network.
export const roleIn = network => w.roles[network.isRevoked ? "removed" : network.role];

/// A badge with the state of a network.
export function state(network) {
  const now = Date.now() / 1000;
  if (network.isRevoked) return badge(w.revoked, "bad");
  if (network.role === "none") return badge(w.waiting, "warn");
  if (network.expiration && network.expiration < now) return badge(w.endedAgo(ago(network.expiration)), "bad");
  if (network.expiration && network.expiration < now + 7 * 86400) return badge(w.ends(ago(network.expiration)), "warn");
  return network.connected ? badge(w.online, "ok") : badge(w.alone);
}
