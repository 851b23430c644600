// The console on other screens of this home: switched on and off, and a phone or tablet paired by a code.

import { h, signal, onEnd } from "../lib/dom.js";
import { put, stream } from "../lib/api.js";
import { resource } from "../lib/store.js";
import { section, button, facts, note, field, select, copy, loadedOnce } from "../lib/parts.js";
import { codeView } from "../lib/code.js";
import { confirm, openDialog, toast } from "../lib/dialog.js";
import { day } from "../lib/format.js";
import { t } from "../texts.js";

const w = t.lan;
/// A link holds for a minute; the next one is shown before that.
const freshSeconds = 45;

export function lanSection() {
  const lan = resource("/lan", ["changed"]);
  return section({ title: w.title, lead: w.lead }, loadedOnce(lan, value => h("div", { class: "card", id: "lan" },
    h("p", { role: "status" }, () => (value().on ? w.isOn : w.isOff)),
    () => (value().on ? h("div", { class: "stack" }, details(value())) : null),
    () => (value().here && mayChange(value()) ? null
      : note("info", h("p", null, value().here ? w.decided(t.settings.sources[value().source]) : w.onlyThere))),
    h("div", { class: "buttons" },
      () => (value().on && value().here
        ? button(w.pair, { kind: "primary", icon: "code", onPress: () => pair(value.peek()) }) : null),
      () => (value().here && mayChange(value())
        ? button(value().on ? w.close : w.open, { icon: value().on ? "lock" : "share", id: "lan-switch",
          onPress: () => change(lan, value.peek()) }) : null)))));
}

const mayChange = ({ source }) => source === "file" || source === "default";

const details = ({ addresses, fingerprint, expires }) => [
  facts([
    [w.addresses, h("span", { class: "mono" }, addresses.join(" "))],
    [w.until, day(expires)],
  ]),
  fingerprintView(fingerprint),
];

/// In lines of eight pairs, as one reads two screens beside each other.
const fingerprintView = text => h("div", null,
  h("p", { class: "label" }, w.fingerprint),
  h("div", { class: "copyable" },
    h("code", { class: "fingerprint", dir: "ltr" }, text.match(/(..:?){1,8}/g).map(one =>
      h("span", null, one.replaceAll(":", " ")))),
    button(t.app.copy, { icon: "copy", label: `${t.app.copy}: ${w.fingerprint}`, onPress: () => copy(text) })));

async function change(lan, now) {
  const question = { title: w.openTitle, text: w.openText, action: w.open };
  if (!now.on && !await confirm(question)) return;
  lan.set(await put("/lan", { on: !now.on }));
  toast(now.on ? w.closed : w.opened);
}

/// Shows a code that is always fresh, until a device has come by one of them.
async function pair(lan) {
  const address = signal(lan.addresses[0]), shown = signal(null), failure = signal("");
  const { closed } = openDialog({ title: w.pairTitle, isWide: true }, close => {
    const open = new Set();
    let timer = null, isOver = false;
    onEnd(() => { isOver = true; clearTimeout(timer); for (const one of open) one.abort(); });

    // The previous code stays open until it expires, because a device may be using it.
    async function show() {
      clearTimeout(timer);
      timer = setTimeout(show, freshSeconds * 1000);
      const mine = new AbortController(), wanted = address.peek();
      open.add(mine);
      try {
        await stream("/lan/pairing", { address: wanted }, line => {
          if (line.event === "pairing" && wanted === address.peek()) shown.set(line);
          if (line.event === "done" && line.result.used) close(true);
        }, mine.signal);
      } catch (error) {
        if (!isOver && error.name !== "AbortError") failure.set(error.message);
      } finally { open.delete(mine); }
    }
    show();
    return [
      h("ol", { class: "how" }, w.how.map(one => h("li", null, one))),
      () => (failure() ? note("bad", h("p", null, failure())) : null),
      h("div", { class: "ways" },
        codeView(() => shown()?.link, { label: w.codeLabel, name: "runar-console", caption: w.secret }),
        h("div", null, h("div", { class: "stack" }, fingerprintView(lan.fingerprint),
          h("p", { class: "waiting", role: "status" }, h("span", { class: "spinner" }), w.waiting)))),
      lan.addresses.length > 1 && field({ label: w.address, hint: w.addressHint }, given => select(
        lan.addresses.map(one => [one, one]), { ...given, value: address.peek(), onChange: one => {
          address.set(one);
          shown.set(null);
          show();
        } })),
    ];
  });
  if (await closed) toast(w.paired);
}
