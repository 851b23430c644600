// The last two minutes as lines: traffic, round-trip times, and how long requests took.

import { h, signal, computed, effect } from "../lib/dom.js";
import { bdi } from "../lib/parts.js";
import { bytes } from "../lib/format.js";
import { plot, tones } from "../pictures/plot.js";
import { samples, seconds, span } from "../pictures/history.js";
import { nameOf } from "./peers-store.js";
import { t } from "../texts.js";

const w = t.map;

export function plots() {
  const traffic = computed(() => [
    { name: w.received, tone: 0, values: seconds(samples(), one => one.receivedBytes) },
    { name: w.sent, tone: 1, values: seconds(samples(), one => one.sentBytes) },
  ]);
  const trips = computed(() => tripsOf(samples()));
  const answers = computed(() => {
    const lines = [
      { name: w.typical, tone: 0, values: seconds(samples(), one => middle(one.requestMilliseconds)) },
      { name: w.slowest, tone: 1, values: seconds(samples(), one => last(one.requestMilliseconds)) },
    ];
    return lines.some(line => line.values.some(value => value !== null)) ? lines : [];
  });
  return h("div", { class: "plots" },
    plotCard({ title: w.traffic, label: w.trafficLabel, series: traffic, isFilled: true, least: 1000,
      format: value => w.perSecond(value < 999.5 ? w.bytes(Math.round(value)) : bytes(value)) }),
    plotCard({ title: w.trips, label: w.tripsLabel, series: trips, least: 10, format: duration, none: w.tripsNone,
      more: () => (tripCount(samples()) > tones ? w.tripsMore(tones) : "") }),
    plotCard({ title: w.answers, label: w.answersLabel, series: answers, least: 10, format: duration,
      none: w.answersNone }));
}

const sorted = values => [...(values ?? [])].sort((a, b) => a - b);
const middle = values => sorted(values)[Math.floor((values?.length ?? 0) / 2)];
const last = values => sorted(values).at(-1);
const duration = value => (value < 1000 ? w.milliseconds(value < 9.95 ? Math.round(value * 10) / 10 : Math.round(value))
  : w.seconds(Math.round(value / 100) / 10));
const tripCount = all => Object.keys(all.at(-1)?.roundTrips ?? {}).length;

/// The slowest of those who are connected now; each keeps its place, so that colours do not jump.
function tripsOf(all) {
  const now = all.at(-1)?.roundTrips ?? {};
  const ids = Object.keys(now).sort((a, b) => now[b] - now[a]).slice(0, tones).sort();
  return ids.map((id, tone) => ({
    name: nameOf(id), tone,
    values: seconds(all, one => (one.roundTrips?.[id] === undefined ? null : one.roundTrips[id] / 1000)),
  }));
}

function plotCard({ title, label, series, format, least, isFilled, none, more }) {
  const box = h("div", { class: "picture" });
  const at = signal(null);
  const picture = plot(box, { label, format, least, isFilled, ago: w.secondsAgo, onRead: at.set });
  effect(() => picture.show(series()));
  const second = () => at() ?? span - 1;
  const words = value => (value === null || value === undefined ? "–" : format(value));
  const hasLines = () => !none || series().length > 0;
  return h("section", { class: "card plot-card" },
    h("h2", null, title),
    h("p", { class: "quiet", hidden: hasLines }, none),
    h("div", { hidden: () => !hasLines() }, box),
    h("div", { class: "scroll-x" }, h("table", { class: "plot-values", hidden: () => !hasLines() },
      h("thead", null, h("tr", null, h("td", null),
        h("th", { scope: "col" }, () => (at() === null ? w.current : w.secondsAgo(span - 1 - at()))),
        h("th", { scope: "col" }, w.average), h("th", { scope: "col" }, w.highest))),
      h("tbody", null, () => series().map(line => {
        const there = line.values.filter(value => value !== null);
        const sum = there.reduce((all, one) => all + one, 0);
        return h("tr", null,
          h("th", { scope: "row" }, h("span", { class: `swatch tone-${line.tone}` }), bdi(line.name)),
          h("td", null, () => words(line.values[second()])),
          h("td", null, words(there.length ? sum / there.length : null)),
          h("td", null, words(there.length ? Math.max(...there) : null)));
      })))),
    more && h("p", { class: "hint" }, more));
}
