// The routing table as rows of places: how well this device knows its network, far and near.

import { svg } from "../lib/dom.js";
import { set, followWidth } from "./draw.js";

const row = 36;
const most = 40;

/// Draws into `box`. `words`: `title`, `row(sharedBits)` (which part of the network it is), `describe(bucket)`.
/// `show(table)` of the result draws the node's report, which has no empty buckets.
export function bucketPicture(box, words) {
  const picture = svg("svg", { class: "buckets" });
  let table = null, width = 0;
  box.append(picture);

  function draw() {
    if (!width || !table) return;
    const { buckets } = table;
    const left = width < 420 ? 96 : 132;
    const places = Math.min(Math.max(table.bucketSize, ...buckets.map(bucket => bucket.members.length), 1), most);
    const step = Math.min((width - left) / places, 30);
    const height = Math.max(buckets.length, 1) * row;
    set(picture, { role: "img", viewBox: `0 0 ${width} ${height}`, width, height,
      "aria-label": [words.title, ...buckets.map(words.describe)].join(" ") });
    picture.replaceChildren(...buckets.flatMap((bucket, index) => {
      const middle = index * row + row / 2;
      const members = [...bucket.members].sort((a, b) => rank(a) - rank(b));
      return [svg("text", { x: 0, y: middle + 5 }, words.row(bucket.sharedBits)),
        ...Array.from({ length: places }, (_, place) => svg("rect", {
          class: stateOf(members[place]), x: (left + place * step + 1.5).toFixed(1), y: middle - 9.5, rx: 3,
          width: Math.max(step - 3, 2).toFixed(1), height: 19,
        }))];
    }));
  }

  followWidth(box, now => { width = now; draw(); });
  return { show(next) { table = next; draw(); } };
}

const rank = member => (member.connected ? 0 : member.isSuspected ? 2 : 1);
const stateOf = member =>
  (!member ? "is-free" : member.connected ? "is-connected" : member.isSuspected ? "is-silent" : "is-known");
