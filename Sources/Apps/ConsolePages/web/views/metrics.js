// What the node counts, as tables that can be read.

import { h, signal, each, onEnd, untracked } from "../lib/dom.js";
import { metricsText } from "../lib/api.js";
import { resource } from "../lib/store.js";
import { section, button, bdi, note } from "../lib/parts.js";
import { bytes, number, short } from "../lib/format.js";
import { parseMetrics, quantile } from "./metrics-text.js";
import { settingsPage, titleOf } from "./settings-page.js";
import { t } from "../texts.js";

const w = t.metrics;
export const title = titleOf("metrics");
const every = 3000;

/// The metrics that only a collector can use; the page omits them.
const left = new Set(["runar_peers_per_network"]);

const parts = [
  ["connections", /connections|networks$|active_peers|peers_per/], ["traffic", /bytes_total|bandwidth/],
  ["messages", /message|peer_latency/], ["dht", /dht/], ["tokens", /token/], ["discovery", /discovery/], ["other", /./],
];

export function mount(root) {
  const networks = resource("/networks");
  const families = signal(null), failure = signal("");
  const ask = async () => {
    try {
      families.set(parseMetrics(await metricsText()));
      failure.set("");
    } catch (error) { failure.set(error.message); }
  };
  const timer = setInterval(() => { if (!document.hidden) ask(); }, every);
  onEnd(() => clearInterval(timer));
  ask();
  const nameOf = text => {
    const network = networks().value?.networks.find(one => [one.networkId, one.networkIdText].includes(text)
      || one.networkIdText.startsWith(text));
    return network ? network.name ?? short(network.networkIdText) : short(text);
  };
  root.append(settingsPage("metrics", w.lead,
    h("div", { class: "buttons" }, button(w.pictures, { icon: "map", href: "/data/map" })),
    () => (failure() && !families() ? note("bad", h("p", null, failure())) : null),
    () => (families() || failure() ? null
      : h("div", { class: "loading", role: "status" }, h("span", { class: "away" }, t.app.loading))),
    each(() => partsOf(families() ?? []), ([part]) => part, one => partSection(one, nameOf)),
    h("p", { class: "hint" }, w.rawLead)));
}

/// Each family stands in the first part that it fits.
function partsOf(families) {
  const rest = new Set(families.filter(one => !left.has(one.name)));
  return parts.map(([part, pattern]) => {
    const mine = [...rest].filter(one => pattern.test(one.name));
    mine.forEach(one => rest.delete(one));
    return [part, mine];
  }).filter(([, mine]) => mine.some(one => one.series.length));
}

function partSection(one, nameOf) {
  const [part] = untracked(one);
  const rows = isSpread => one()[1].filter(family => (family.kind === "histogram") === isSpread)
    .flatMap(family => family.series.map(series =>
      ({ family, series, id: family.name + JSON.stringify(series.labels) })));
  return section({ title: w.parts[part] },
    table([w.what, w.value], w.parts[part], () => rows(false), ({ family, series }) => [format(family, series.value)],
      nameOf),
    table([w.what, w.typical, w.slow, w.average, w.times], w.parts[part], () => rows(true), ({ family, series }) =>
      [bound(family, series, 0.5), bound(family, series, 0.95),
        series.count ? format(family, series.sum / series.count) : w.nothing, number(series.count)], nameOf));
}

/// Rows stay while their values change, so that the focus and a selection stay, too.
const table = (columns, label, rows, values, nameOf) => h("div", { class: "table-card scroll-x", tabindex: 0,
  role: "region", "aria-label": `${label}: ${columns.at(-1)}`, hidden: () => !rows().length },
h("table", { class: "numbers" },
  h("thead", null, h("tr", null, columns.map(one => h("th", { scope: "col" }, one)))),
  h("tbody", null, each(rows, one => one.id, row => h("tr", null, rowHead(row, nameOf),
    columns.slice(1).map((_, at) => h("td", null, () => values(row())[at])))))));

function rowHead(row, nameOf) {
  const { family, series } = untracked(row);
  return h("th", { scope: "row", title: family.help }, w.names[family.name] ?? family.help ?? family.name,
    () => { const labels = labelsOf(series, nameOf); return labels && h("span", { class: "quiet" }, " ", labels); });
}

const labelsOf = (one, nameOf) => {
  const values = Object.entries(one.labels).map(([name, value]) =>
    (name === "network" ? nameOf(value) : t.map.verbs[value] ?? value));
  return values.length ? values.map((value, at) => [at ? ", " : "", bdi(value)]) : null;
};

function bound(family, one, share) {
  const value = quantile(one, share);
  if (value === null) return w.nothing;
  return value === Infinity ? w.over(format(family, one.buckets.at(-2)?.[0] ?? 0)) : w.atMost(format(family, value));
}

const tenths = value => Math.round(value * 10) / 10;

function format({ name }, value) {
  if (/bytes_per_second/.test(name)) return w.perSecond(bytes(Math.round(value)));
  if (/per_second/.test(name)) return w.perSecond(number(tenths(value)));
  if (/bytes/.test(name)) return bytes(Math.round(value));
  if (!/seconds/.test(name)) return number(tenths(value));
  const milli = value * 1000;
  return milli < 1000 ? w.milliseconds(milli < 9.95 ? tenths(milli) : Math.round(milli))
    : w.seconds(tenths(value));
}
