// Shared by all pictures: they are drawn in pixels of the page, styled by classes, and end with the view's scope.

import { svg, onEnd } from "../lib/dom.js";

/// Sets attributes of a node; null removes one.
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
  }
}

/// Calls `draw(width)` for each width of the box.
export function followWidth(box, draw) {
  let last = 0;
  const observer = new ResizeObserver(() => {
    const width = Math.floor(box.clientWidth);
    if (!width || width === last) return;
    last = width;
    draw(width);
  });
  observer.observe(box);
  onEnd(() => observer.disconnect());
}

/// Whether the person asked for things to stay still.
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/// A round number at or above `value`.
export function niceTop(value, least) {
  const wanted = Math.max(value, least);
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 3, 4, 6, 8, 10].map(step => step * power).find(top => top >= wanted * 0.999);
}

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/// The lines and words of both axes: `rows` are [y, words], `columns` [x, words, anchor].
export function grid(edges, rows, columns) {
  return svg("g", { class: "plot-grid" },
    rows.map(([y, words]) => [
      svg("path", { d: `M${edges.left} ${Math.round(y)}.5H${edges.right}` }),
      svg("text", { x: edges.left - 8, y: y + 4, "text-anchor": "end" }, words),
    ]),
    columns.map(([x, words, anchor]) => svg("text", { x, y: edges.bottom + 18, "text-anchor": anchor }, words)));
}
