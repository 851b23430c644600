// What every peer offers, and a form to ask for it.

import { h, signal, each } from "../lib/dom.js";
import { button, empty, note, loadedOnce, badge } from "../lib/parts.js";
import { icon } from "../lib/icons.js";
import { resource } from "../lib/store.js";
import { base64url } from "../lib/format.js";
import { name, isOwn, clean, watchPeers, nameOf } from "./peers-store.js";
import { dataPage } from "./data.js";
import { actionForm } from "./services-form.js";
import { t } from "../texts.js";

const w = t.services;
export const title = w.title;

const shownServices = 200;
const search = signal("");

export function mount(root) {
  watchPeers();
  dataPage(root, { place: "services", title: w.title, lead: w.lead, body: network => {
    const services = resource(`/services?network=${base64url(network.id)}`, ["servicesChanged", "peerJoined",
      "peerLeft", "changed"]);
    return h("div", { class: "stack" }, loadedOnce(services, value => list(network, value)));
  } });
}

/// Groups the offers by service path, one card each.
function grouped(value) {
  const cards = new Map();
  for (const offer of value.services) {
    const path = offer.service.servicePath;
    const card = cards.get(path) ?? { path, offers: [] };
    card.offers.push(offer);
    cards.set(path, card);
  }
  const wanted = search().trim().toLowerCase();
  return [...cards.values()].filter(card => !wanted || card.path.toLowerCase().includes(wanted)
    || card.offers.some(offer => offer.service.name.toLowerCase().includes(wanted) || nameOf(offer.peerId,
      offer.label).toLowerCase().includes(wanted)));
}

function list(network, value) {
  return [
    h("div", { class: "filters", hidden: () => value().services.length < 8 }, h("div", { class: "search" },
      icon("search", 18),
      h("input", { type: "search", "aria-label": w.search, placeholder: w.search, value: search.peek(),
        oninput: event => search.set(event.target.value) }))),
    () => (value().silent.length ? note("info", h("p", null, w.silent(value().silent.length), " ",
      value().silent.slice(0, 5).map((id, index) =>
      [index > 0 && ", ", name(id)]), value().silent.length > 5 && "…")) : null),
    () => (value().services.length ? null : empty({ icon: "bolt", title: w.emptyTitle, text: w.empty })),
    h("div", { class: "stack" }, each(() => grouped(value()).slice(0, shownServices), card => card.path,
      card => serviceCard(network, card))),
    () => (grouped(value()).length > shownServices ? h("p", { class: "quiet centered" }, w.more) : null),
  ];
}

const kinds = { running: "ok", paused: "warn", error: "bad" };

function serviceCard(network, card) {
  const first = () => card().offers[0].service;
  return h("section", { class: "card", "aria-label": card.peek().path },
    h("div", null,
      h("div", { class: "section-head" },
        h("h2", null, h("bdi", { dir: "auto" }, () => clean(first().name || card.peek().path)), " ",
          () => ((first().name || card.peek().path) === card.peek().path ? null
            : h("span", { class: "quiet mono small" }, clean(card.peek().path)))),
        () => badge(w.states[first().state] ?? first().state, kinds[first().state])),
      () => (first().description ? h("p", { class: "quiet", dir: "auto" }, clean(first().description, 500)) : null),
      h("p", { class: "quiet" }, w.offeredBy, " ", () => card().offers.slice(0, 12).map((offer, index) => [index > 0
        && ", ",
        isOwn(offer.peerId) ? t.app.thisDevice : name(offer.peerId, offer.label)]))),
    h("div", { class: "actions" }, each(() => first().actions, action => `${action.name} ${action.input}`,
      action => actionPart(network, card, action.peek()))),
    () => (first().actions.length ? null : h("p", { class: "quiet" }, w.noActions)));
}

/// An action; its form is made when it is opened.
function actionPart(network, card, action) {
  const isOpen = signal(false);
  return h("details", { ontoggle: event => { if (event.target.open) isOpen.set(true); } },
    h("summary", null, h("bdi", { class: "mono", dir: "auto" }, clean(action.name)),
      action.description && h("span", { class: "quiet", dir: "auto" }, ` ${clean(action.description, 200)}`)),
    () => isOpen() && actionForm(network, card, action));
}
