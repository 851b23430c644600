// What the pages of the settings share.

import { h } from "../lib/dom.js";
import { page, subnav } from "../lib/parts.js";
import { t } from "../texts.js";

const w = t.settings;
const places = ["device", "devices", "account", "keys", "storage", "logs", "metrics"];

export const titleOf = place => `${w.places[place]} – ${w.title}`;

/// A page of the settings; its heading says to screen readers which one.
export const settingsPage = (place, lead, ...children) => page(
  { title: [w.title, h("span", { class: "away" }, `: ${w.places[place]}`)] },
  subnav(w.title, places.map(one => [`/settings/${one}`, w.places[one]]), `/settings/${place}`),
  lead && h("p", { class: "lead" }, lead), children);
