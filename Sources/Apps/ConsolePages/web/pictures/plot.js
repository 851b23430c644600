// Lines over the last two minutes, read by mouse, touch or arrow keys.

import { svg } from "../lib/dom.js";
import { set, followWidth, niceTop, clamp, grid } from "./draw.js";
import { span } from "./history.js";

/// One colour each.
export const tones = 6;
const edge = { left: 64, right: 12, top: 10, bottom: 26 };

/// Draws into `box`. `options`: `label`, `format(value)`, `ago(seconds)`, `least` (what the axis shows at least),
/// `isFilled`, and `onRead(second)`, told which second from 0 to 119 is under the hand, or null. `show(series)` of the
/// answer takes `[{name, tone, values}]`, each with 120 numbers or nulls, the newest last.
export function plot(box, options) {
  const back = svg("g");
  const curves = svg("g");
  const hand = svg("path", { class: "plot-hand" });
  const picture = svg("svg", {
    class: "plot", role: "slider", tabindex: 0, "aria-label": options.label, "aria-valuemin": 1 - span,
    "aria-valuemax": 0, onpointermove: under, onpointerdown: under, onpointerleave: () => hold(null),
    onblur: () => hold(null), onkeydown: key,
  }, back, curves, hand);
  let series = [], width = 0, height = 0, at = null;
  box.append(picture);

  const x = second => edge.left + ((width - edge.left - edge.right) * second) / (span - 1);

  function draw() {
    if (!width) return;
    const highest = Math.max(0, ...series.flatMap(one => one.values.map(value => value ?? 0)));
    const top = niceTop(highest, options.least);
    const floor = height - edge.bottom;
    const y = value => floor - ((floor - edge.top) * value) / top;
    set(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
    back.replaceChildren(grid({ left: edge.left, right: width - edge.right, bottom: floor },
      [0, top / 2, top].map(value => [y(value), options.format(value)]),
      [[120, "start"], [60, "middle"], [0, "end"]].map(([seconds, anchor]) =>
        [x(span - Math.max(seconds, 1)), options.ago(seconds), anchor])));
    curves.replaceChildren(...series.flatMap(one => {
      const runs = runsOf(one.values);
      const point = ([second, value]) => `${x(second).toFixed(1)} ${y(value).toFixed(1)}`;
      const line = runs.map(run => `M${run.map(point).join("L")}${run.length === 1 ? "h1" : ""}`).join("");
      const area = runs.map(run => `M${run.map(point).join("L")}V${floor}H${x(run[0][0])}Z`).join("");
      return [options.isFilled && svg("path", { class: `plot-area tone-${one.tone}`, d: area }),
        svg("path", { class: `plot-line tone-${one.tone}`, d: line })].filter(Boolean);
    }));
    point();
  }

  function point() {
    const second = at ?? span - 1;
    const said = series.filter(one => one.values[second] !== null)
      .map(one => `${one.name} ${options.format(one.values[second])}`);
    set(hand, { d: at === null ? null : `M${x(at).toFixed(1)} ${edge.top}V${height - edge.bottom}` });
    set(picture, { "aria-valuenow": second - span + 1,
      "aria-valuetext": [options.ago(span - 1 - second), ...said].join(", ") });
    options.onRead(at);
  }

  function hold(next) { at = next; point(); }

  function under(event) {
    const place = picture.getBoundingClientRect();
    const part = (event.clientX - place.left - edge.left) / (place.width - edge.left - edge.right);
    hold(Math.round(clamp(part, 0, 1) * (span - 1)));
  }

  function key(event) {
    const now = at ?? span - 1;
    const next = {
      ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1,
      PageDown: now - 10, PageUp: now + 10, Home: 0, End: span - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    hold(clamp(next, 0, span - 1));
  }

  followWidth(box, now => { width = now; height = now < 420 ? 170 : 200; draw(); });
  return { show(next) { series = next; draw(); } };
}

/// The stretches of seconds that have a value, as [second, value].
function runsOf(values) {
  const runs = [];
  values.forEach((value, second) => {
    if (value === null) return;
    if (second === 0 || values[second - 1] === null) runs.push([]);
    runs.at(-1).push([second, value]);
  });
  return runs;
}
