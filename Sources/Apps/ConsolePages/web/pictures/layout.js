// Where the devices of the network map stand. Plain numbers: the same peers always make the same map.

/// As many as fit with their names; the rest is counted in words.
const roomFor = width => (width < 560 ? { inner: 6, outer: 8 } : { inner: 12, outer: 16 });

const byId = (a, b) => (a.peerId < b.peerId ? -1 : 1);
const turn = 2 * Math.PI;

/// Sorts peers into the two rings.
///
/// Direct peers stand on the inner ring and the relayed ones beside whom they come over, further out; whoever is not
/// connected takes what is left of the outer ring. Order is by id: nobody moves because of somebody else's latency.
export function rings(peers, width) {
  const room = roomFor(width);
  const connected = peers.filter(peer => peer.connected);
  const relays = new Set(connected.map(peer => peer.relay).filter(Boolean));
  const direct = connected.filter(peer => !peer.relayed)
    .sort((a, b) => relays.has(b.peerId) - relays.has(a.peerId) || byId(a, b)).slice(0, room.inner).sort(byId);
  const relayed = connected.filter(peer => peer.relayed).sort(byId).slice(0, room.outer);
  const away = peers.filter(peer => !peer.connected)
    .sort((a, b) => (b.lastSeen ?? 0) - (a.lastSeen ?? 0) || byId(a, b))
    .slice(0, room.outer - relayed.length).sort(byId);
  return { direct, relayed, away, hidden: peers.length - direct.length - relayed.length - away.length };
}

/// Positions by peer id on a picture of this size: `{peer, angle, x, y}`.
export function places(peers, width, height) {
  const { direct, relayed, away, hidden } = rings(peers, width);
  const isNarrow = width < 560;
  const outerCount = relayed.length + away.length;
  const centre = { x: width / 2, y: height / 2 };
  const outer = { x: width / 2 - (isNarrow ? 38 : 110), y: height / 2 - 50 };
  const share = outerCount ? 0.58 : 0.85;
  const inner = { x: outer.x * share, y: outer.y * share };
  const placed = new Map();
  const put = (peer, angle, ring) => placed.set(peer.peerId,
    { peer, angle, x: centre.x + ring.x * Math.cos(angle), y: centre.y + ring.y * Math.sin(angle) });
  // Two side by side have more room for their names than one above the other; on a phone it is the other way round.
  const start = direct.length === 2 && !isNarrow ? 0 : -turn / 4;
  direct.forEach((peer, index) => put(peer, start + (turn * index) / direct.length, inner));
  // A relayed peer wants to stand behind its relay; the others begin evenly.
  const wish = (peer, index) => placed.get(peer.relay)?.angle ?? start + (turn * (index + 0.5)) / outerCount;
  const order = [...relayed, ...away].map((peer, index) => ({ peer, angle: wish(peer, index) }));
  spread(order.sort((a, b) => a.angle - b.angle || byId(a.peer, b.peer)), turn / Math.max(outerCount * 1.12, 5));
  for (const { peer, angle } of order) put(peer, angle, outer);
  return { centre, placed, hidden };
}

/// Pushes angles apart until each is `gap` from the next, round the circle.
function spread(items, gap) {
  for (let round = 0, moved = items.length > 1; moved && round < 80; round++) {
    moved = false;
    items.forEach((item, index) => {
      const next = items[(index + 1) % items.length];
      const distance = next.angle - item.angle + (index + 1 === items.length ? turn : 0);
      if (distance >= gap - 1e-6) return;
      item.angle -= (gap - distance) / 2;
      next.angle += (gap - distance) / 2;
      moved = true;
    });
  }
}
