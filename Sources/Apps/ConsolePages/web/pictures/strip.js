// Operations as dots over the last two minutes: across is when, up is how long it took.

import { svg } from "../lib/dom.js";
import { set, followWidth, clamp, grid } from "./draw.js";

const height = 128;
const edge = { left: 64, right: 12, top: 10, bottom: 26 };
const floor = height - edge.bottom;
const span = 120_000;

/// Draws into `box`. `words`: `title(count)`, `format(milliseconds)`, `ago(seconds)`. `show(operations, now)` of the
/// answer draws `[{at, milliseconds, outcome}]`, `outcome` being `good`, `empty` or `failed`.
export function operationStrip(box, words) {
  const picture = svg("svg", { class: "plot strip" });
  let width = 0, operations = [], now = 0;
  box.append(picture);

  function draw() {
    if (!width) return;
    // Logarithmic.
    const y = value => floor - ((floor - edge.top) * Math.log10(clamp(value, 1, 10_000))) / 4;
    const x = at => width - edge.right - ((width - edge.left - edge.right) * (now - at)) / span;
    const recent = operations.filter(one => one.milliseconds !== undefined && now - one.at < span);
    set(picture, { role: "img", viewBox: `0 0 ${width} ${height}`, width, height,
      "aria-label": words.title(recent.length) });
    picture.replaceChildren(
      grid({ left: edge.left, right: width - edge.right, bottom: floor },
        [1, 100, 10_000].map(value => [y(value), words.format(value)]),
        [[120, "start"], [60, "middle"], [0, "end"]].map(([seconds, anchor]) =>
          [x(now - seconds * 1000), words.ago(seconds), anchor])),
      ...recent.map(one => svg("circle", {
        class: `dot-${one.outcome}`, r: 4.5,
        cx: x(Math.min(one.at, now)).toFixed(1), cy: y(one.milliseconds).toFixed(1),
      })));
  }

  followWidth(box, next => { width = next; draw(); });
  return { show(next, time) { operations = next; now = time; draw(); } };
}
