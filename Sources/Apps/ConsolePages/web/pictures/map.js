// The network map: this device, its peers and their relays.

import { svg, onEnd } from "../lib/dom.js";
import { set, followWidth, isStill } from "./draw.js";
import { places } from "./layout.js";

const glideMilliseconds = 350;
const narrow = 560;
const few = 8;

/// Draws into `box`. `words` has `title`, `self`, `name(peer)`, `detail(peer)` and `describe(peer)`; `open(peer)` is
/// the address of a peer's page, and `onHidden` gets the number of peers that do not fit. `show(peers)` of the result
/// draws them, gliding from where they were; `retell()` updates their words.
export function networkMap(box, { words, open, onHidden }) {
  const lines = svg("g");
  const nodes = svg("g");
  const self = selfNode(words.self);
  const picture = svg("svg", { class: "map", role: "group", "aria-label": words.title }, lines, nodes);
  const shown = new Map();
  let peers = [], width = 0, frame = 0;
  box.append(picture);

  function draw(mayGlide) {
    if (!width) return;
    const tall = Math.min(width * 0.56, peers.length > few ? 520 : peers.length > 2 ? 400 : 240);
    const height = Math.round(width < narrow ? width * 1.3 : tall);
    const { centre, placed, hidden } = places(peers, width, height);
    set(picture, { viewBox: `0 0 ${width} ${height}`, width, height });
    set(self, { transform: `translate(${centre.x} ${centre.y})` });
    const isDense = placed.size > (width < narrow ? 5 : 12);
    onHidden(hidden);
    for (const [id, item] of shown) if (!placed.has(id)) { item.remove(); shown.delete(id); }
    for (const [id, place] of placed) {
      let item = shown.get(id);
      if (!item) {
        item = peerItem(place.peer, lines, words, open);
        nodes.append(item.node);
        shown.set(id, item);
      }
      item.retell = () => item.update(place, width < narrow, isDense);
      item.retell();
      item.from = item.at ?? centre;
      item.to = { x: place.x, y: place.y };
    }
    if (!self.parentNode) nodes.append(self);
    glide(centre, mayGlide && !isStill());
  }

  function glide(centre, isGliding) {
    cancelAnimationFrame(frame);
    const start = performance.now();
    const step = now => {
      const part = isGliding ? Math.min(Math.max(now - start, 0) / glideMilliseconds, 1) : 1;
      const eased = 1 - (1 - part) ** 3;
      const between = (from, to) => from + (to - from) * eased;
      for (const item of shown.values()) {
        item.at = { x: between(item.from.x, item.to.x), y: between(item.from.y, item.to.y) };
      }
      for (const item of shown.values()) item.move(centre, shown);
      if (part < 1) frame = requestAnimationFrame(step);
    };
    if (isGliding) frame = requestAnimationFrame(step); else step(start);
  }

  followWidth(box, now => { width = now; draw(false); });
  onEnd(() => cancelAnimationFrame(frame));
  return {
    show(next) { peers = next; draw(shown.size > 0); },
    retell() { for (const item of shown.values()) item.retell(); },
  };
}

const selfNode = name => svg("g", { class: "map-self" },
  svg("circle", { r: 26 }),
  svg("path", { d: "M-10 -9h20v13h-20zM-5 10h10M0 4v6" }),
  svg("text", { y: 44, "text-anchor": "middle" }, name));

/// A peer with its line, which begins at its relay if that is shown.
function peerItem(first, lines, words, open) {
  const line = svg("path");
  const name = svg("text", { class: "map-name" });
  const detail = svg("text", { class: "map-detail" });
  const letter = svg("text", { class: "map-letter", "text-anchor": "middle", y: 5 });
  const node = svg("a", { href: open(first) },
    svg("circle", { class: "map-reach", r: 23 }), svg("circle", { class: "map-dot", r: 15 }), letter, name, detail);
  lines.append(line);
  let peer = first;
  return {
    node,
    remove() { node.remove(); line.remove(); },
    update(place, isNarrow, isDense) {
      peer = place.peer;
      const state = !peer.connected ? "away" : peer.relayed ? "relayed" : "direct";
      const text = words.name(peer);
      set(node, { class: `map-peer is-${state}`, "aria-label": words.describe(peer) });
      set(line, { class: `map-line is-${state}` });
      letter.textContent = [...text.replace(/[^\p{L}\p{N}]/gu, "")][0]?.toUpperCase() ?? "•";
      // The isolates keep a name that runs from right to left from turning what stands beside it.
      name.textContent = `\u2068${shorten(text, isNarrow ? 10 : place.isInner && isDense ? 11 : 14)}\u2069`;
      detail.textContent = isDense && (isNarrow || place.isInner) ? "" : words.detail(peer);
      // Where no line runs.
      const side = sideOf(place, isNarrow);
      const anchor = ["end", "middle", "start"][side + 1];
      const isAbove = !side && !place.isInner && Math.sin(place.angle) < -0.2;
      const y = side ? (detail.textContent ? -1 : 5) : isAbove ? (detail.textContent ? -36 : -22) : 31;
      set(name, { x: side * 23, y, "text-anchor": anchor });
      set(detail, { x: side * 23, y: y + 14, "text-anchor": anchor });
    },
    move(centre, items) {
      const start = (peer.relayed && items.get(peer.relay)?.at) || centre;
      const point = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
      set(node, { transform: `translate(${point(this.at)})` });
      set(line, { d: peer.connected ? `M${point(start)}L${point(this.at)}` : null });
    },
  };
}

function sideOf({ angle, isInner }, isNarrow) {
  if (isInner) return Math.abs(Math.sin(angle)) < 0.8 ? 0 : Math.cos(angle) < -0.1 ? -1 : 1;
  return !isNarrow && Math.abs(Math.cos(angle)) > 0.5 ? Math.sign(Math.cos(angle)) : 0;
}

function shorten(text, count) {
  const all = [...text];
  return all.length > count ? `${all.slice(0, count - 1).join("")}…` : text;
}
