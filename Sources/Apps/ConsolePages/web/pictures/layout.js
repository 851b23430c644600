// Where the devices of the network map stand. Plain numbers: the same peers always make the same map.

const narrow = 560;
const turn = 2 * Math.PI;

/// The most peers shown, and the most `behind` one relay.
const roomFor = (width, isAllDirect) => (width < narrow
  ? { inner: isAllDirect ? 7 : 5, outer: 5, behind: 2 }
  : { inner: isAllDirect ? 14 : 10, outer: 12, behind: 4 });

const byId = (a, b) => (a.peerId < b.peerId ? -1 : 1);
/// Sorts peers that the person has named first.
const byName = (a, b) => Boolean(b.label) - Boolean(a.label) || byId(a, b);

/// Sorts peers into the two rings.
///
/// Direct peers are on the inner ring, relayed ones further out next to their relay, others on the rest of the outer
/// ring. They are ordered by id.
function rings(peers, width) {
  const connected = peers.filter(peer => peer.connected);
  const room = roomFor(width, connected.length === peers.length && !connected.some(peer => peer.relayed));
  const relays = new Set(connected.map(peer => peer.relay).filter(Boolean));
  const direct = connected.filter(peer => !peer.relayed)
    .sort((a, b) => relays.has(b.peerId) - relays.has(a.peerId) || byName(a, b)).slice(0, room.inner).sort(byId);
  const behind = new Map();
  const relayed = connected.filter(peer => peer.relayed).sort(byName).filter(peer => {
    const count = (behind.get(peer.relay) ?? 0) + 1;
    behind.set(peer.relay, count);
    return count <= room.behind;
  }).slice(0, room.outer).sort(byId);
  const away = peers.filter(peer => !peer.connected)
    .sort((a, b) => (b.lastSeen ?? 0) - (a.lastSeen ?? 0) || byId(a, b))
    .slice(0, room.outer - relayed.length).sort(byId);
  return { direct, relayed, away, hidden: peers.length - direct.length - relayed.length - away.length };
}

/// Positions by peer id on a picture of this size: `{peer, angle, x, y, isInner}`.
export function places(peers, width, height) {
  const { direct, relayed, away, hidden } = rings(peers, width);
  const isNarrow = width < narrow;
  const outerCount = relayed.length + away.length;
  const centre = { x: width / 2, y: height / 2 };
  const outer = { x: width / 2 - (isNarrow ? 40 : 132), y: height / 2 - 50 };
  const share = outerCount ? 0.6 : 0.9;
  const inner = { x: outer.x * share, y: outer.y * share };
  const placed = new Map();
  const put = (peer, angle, ring) => placed.set(peer.peerId, { peer, angle, isInner: ring === inner,
    x: centre.x + ring.x * Math.cos(angle), y: centre.y + ring.y * Math.sin(angle) });
  // Names need room; on a phone most is above and below.
  const start = direct.length <= 2 && !isNarrow ? 0 : -turn / 4;
  direct.forEach((peer, index) => put(peer, start + (turn * index) / direct.length, inner));
  // A relayed peer wants to stand behind its relay; the others begin evenly.
  const wish = (peer, index) => placed.get(peer.relay)?.angle ?? start + (turn * (index + 0.5)) / outerCount;
  const order = [...relayed, ...away].map((peer, index) => ({ peer, angle: wish(peer, index) }));
  spread(order.sort((a, b) => a.angle - b.angle || byId(a.peer, b.peer)), turn / Math.max(outerCount * 1.12, 5));
  for (const { peer, angle } of order) put(peer, angle, outer);
  return { centre, placed, hidden };
}

/// Pushes angles apart until each is `gap` from the next.
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
