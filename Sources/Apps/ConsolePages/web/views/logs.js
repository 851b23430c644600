// The node's log, live, and how much it writes.

import { h, signal, computed, effect, each, onEnd, untracked } from "../lib/dom.js";
import { get, put } from "../lib/api.js";
import { onResume } from "../lib/activity.js";
import { resource } from "../lib/store.js";
import { section, button, field, select, loadedOnce, note, save } from "../lib/parts.js";
import { toast, tellFailure } from "../lib/dialog.js";
import { time, clean } from "../lib/format.js";
import { settingsPage, titleOf } from "./settings-page.js";
import { t } from "../texts.js";

const w = t.logs;
export const title = titleOf("logs");

const levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"];
const kept = 2000;
/// As many lines as are in the page at a time; the filters look at all that are kept.
const drawn = 500;
const every = 1000;
const longestText = 10_000;

export function mount(root) {
  const log = follow();
  const level = signal("trace"), part = signal(""), search = signal("");
  const fitting = computed(() => {
    const least = levels.indexOf(level()), wanted = search().trim().toLowerCase();
    return log.lines().filter(line => levels.indexOf(line.level) >= least && (!part() || line.subsystem === part())
      && (!wanted || textOf(line).toLowerCase().includes(wanted)));
  });
  root.append(settingsPage("logs", w.lead,
    h("div", { class: "filter-grid" },
      field({ label: w.level }, p => select(Object.entries(w.atLeast), { ...p, value: "trace", onChange: level.set })),
      field({ label: w.part }, p => select([["", w.allParts], ...Object.entries(w.parts)],
        { ...p, value: "", onChange: part.set })),
      field({ label: w.search }, p => h("input", { ...p, type: "search", placeholder: w.searchHint, autocomplete: "off",
        oninput: event => search.set(event.target.value) }))),
    () => (log.failure() ? note("bad", h("p", null, log.failure())) : null),
    () => (log.missed() ? note("info", h("p", null, w.missed)) : null),
    h("div", { class: "stack" }, h("div", { class: "section-head" },
      h("p", { class: "quiet" }, () => [w.shown(fitting().length, log.lines().length),
        log.isFollowing() ? "" : ` · ${w.paused}`]),
      h("div", { class: "buttons" },
        button(() => (log.isFollowing() ? w.pause : w.follow), { onPress: () => log.isFollowing.update(one => !one) }),
        button(w.save, { icon: "download", onPress: () => save(fitting.peek().map(plain).join("\n") + "\n",
          "runar-log.txt") }))),
    linesBox(fitting, log.lines)),
    section({ title: w.write, lead: w.writeLead }, levelForm())));
}

/// The lines so far and, while it follows, those to come.
function follow() {
  const lines = signal([]), missed = signal(false), isFollowing = signal(true), failure = signal("");
  let next = 0, isBusy = false, isEnded = false;
  async function ask() {
    if (isBusy || isEnded) return;
    isBusy = true;
    try {
      const answer = await get(`/logs?since=${next}&limit=${kept}`);
      if (answer.missed && next) missed.set(true);
      const fresh = answer.lines.filter(line => line.seq > (lines.peek().at(-1)?.seq ?? -1));
      if (fresh.length) lines.update(all => [...all, ...fresh].slice(-kept));
      next = answer.next;
      failure.set("");
    } catch (error) {
      // The shell says when the node is away; what was there stays.
      if (error.code !== "unreachable") failure.set(error.message);
    }
    isBusy = false;
  }
  const timer = setInterval(() => { if (isFollowing.peek() && !document.hidden) ask(); }, every);
  // Another run of the node counts its lines anew.
  onResume(isFirst => { if (!isFirst) { next = 0; lines.set([]); ask(); } });
  onEnd(() => { isEnded = true; clearInterval(timer); });
  ask();
  return { lines, missed, isFollowing, failure };
}

function linesBox(fitting, all) {
  const box = h("div", { class: "log-box", role: "log", "aria-live": "off", "aria-label": w.list, tabindex: 0 },
    each(() => fitting().slice(-drawn), line => line.seq, line => logLine(untracked(line))),
    () => (fitting().length ? null : h("p", { class: "quiet" }, all().length ? w.none : w.nothing)));
  let isAtEnd = true;
  box.addEventListener("scroll", () => { isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 24; },
    { passive: true });
  effect(() => {
    fitting();
    if (isAtEnd) requestAnimationFrame(() => { box.scrollTop = box.scrollHeight; });
  });
  return box;
}

const extras = line => Object.entries(line.metadata ?? {}).map(([name, value]) => `${name}=${value}`).join(" ");
const textOf = line => [line.message, extras(line)].filter(Boolean).join(" ");
const plain = line => [new Date(line.at).toISOString(), line.level, line.subsystem ?? "-", textOf(line)].join(" ");

const logLine = line => h("p", { class: `log-line is-${line.level}` },
  h("time", { datetime: new Date(line.at).toISOString() }, time(line.at)), " ",
  h("span", { class: "log-level" }, w.levels[line.level] ?? line.level), " ",
  line.subsystem && [h("span", { class: "log-part" }, w.parts[line.subsystem] ?? line.subsystem), " "],
  h("bdi", { dir: "auto" }, clean(line.message, longestText)), " ",
  extras(line) && h("bdi", { dir: "auto", class: "log-more" }, clean(extras(line), longestText)));

function levelForm() {
  const state = resource("/log-level", ["changed"]);
  const change = async body => {
    try {
      state.set(await put("/log-level", body));
      toast(w.changed);
    } catch (error) { tellFailure(error); state.reload(); }
  };
  const choice = (properties, all, current, onChange) => h("select", { ...properties,
    onchange: event => onChange(event.target.value) }, all.map(([id, words]) =>
    h("option", { value: id, selected: () => current() === id }, words)));
  const options = levels.map(one => [one, w.levels[one]]);
  const everywhere = value => field({ label: w.everywhere }, p => choice(p, options, () => value().level,
    level => change({ level })));
  const ofPart = (value, subsystem, words) => field({ label: words }, p => choice(p, [["", w.elsewhere], ...options],
    () => value().subsystems[subsystem] ?? "", level => change({ level: level || null, subsystem })));
  return loadedOnce(state, value => h("div", { class: "card" },
    h("div", { class: "filter-grid" }, everywhere(value)),
    h("details", { class: "stack" }, h("summary", null, w.byPart), h("div", { class: "filter-grid" },
      Object.entries(w.parts).map(([subsystem, words]) => ofPart(value, subsystem, words))))));
}
