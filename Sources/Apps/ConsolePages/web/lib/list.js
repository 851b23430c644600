// Long lists. Only the rows in sight are in the page; the page itself scrolls.
//
// `longList({label, items: () => array, key, rowHeight, render})` makes an element. `render(item)` returns the inside of
// a row, best with one link or button first: the arrow keys, Page Up/Down, Home and End move between those. Row height is
// fixed in pixels (a number or a function of the width), which is what makes 100 000 rows cheap. Short lists need no
// windowing: use `each`.

import { h, effect, onEnd, scope, untracked } from "./dom.js";

const margin = 8;

export function longList({ label, items, key, rowHeight = 64, render }) {
  const list = h("ul", { class: "long-list", "aria-label": label });
  const rows = new Map();
  let all = [];
  const height = () => (typeof rowHeight === "function" ? rowHeight(innerWidth) : rowHeight);

  function draw() {
    const one = height();
    list.style.setProperty("height", `${all.length * one}px`);
    const top = -list.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / one) - margin);
    const last = Math.min(all.length, Math.ceil((top + innerHeight) / one) + margin);
    const wanted = new Map();
    for (let index = first; index < last; index++) wanted.set(key(all[index]), index);
    for (const [id, row] of rows) {
      const holdsFocus = row.node.contains(document.activeElement);
      if (!wanted.has(id) && !(holdsFocus && has(id))) { row.made.end(); row.node.remove(); rows.delete(id); }
      else if (!wanted.has(id)) {
        // What has the focus stays in the page, and stays true.
        const index = indexOf(id);
        if (row.item !== all[index]) fill(row, all[index]);
        place(row, index, one);
      }
    }
    let before = null;
    for (const [id, index] of wanted) {
      const item = all[index];
      let row = rows.get(id);
      if (row && row.item !== item) fill(row, item);
      if (!row) {
        row = { node: h("li", { class: "long-row" }), item: null, made: null };
        rows.set(id, row);
        fill(row, item);
      }
      place(row, index, one);
      // The order in the page is the order of Tab.
      const at = before ? before.nextSibling : list.firstChild;
      if (row.node !== at && !row.node.contains(document.activeElement)) list.insertBefore(row.node, at);
      before = row.node;
    }
  }

  const has = id => indexOf(id) >= 0;
  const indexOf = id => all.findIndex(item => key(item) === id);

  function fill(row, item) {
    const hadFocus = row.node.contains(document.activeElement);
    row.made?.end();
    row.item = item;
    row.made = scope(() => render(item));
    row.node.replaceChildren(...[row.made.result].flat());
    if (hadFocus) target(row.node)?.focus({ preventScroll: true });
  }

  function place(row, index, one) {
    row.node.style.setProperty("transform", `translateY(${index * one}px)`);
    row.node.style.setProperty("height", `${one}px`);
    row.node.setAttribute("aria-posinset", index + 1);
    row.node.setAttribute("aria-setsize", all.length);
    row.index = index;
  }

  const target = node => node.querySelector("a, button, [tabindex]");

  function reach(index) {
    if (index < 0 || index >= all.length) return;
    const one = height();
    const y = list.getBoundingClientRect().top + index * one;
    const edge = 90;
    if (y < edge) scrollBy(0, y - edge);
    else if (y + one > innerHeight - edge) scrollBy(0, y + one - innerHeight + edge);
    draw();
    target(rows.get(key(all[index]))?.node)?.focus({ preventScroll: true });
  }

  list.addEventListener("keydown", event => {
    const row = [...rows.values()].find(one => one.node.contains(event.target));
    if (!row || event.target !== target(row.node) || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(innerHeight / height()) - 2);
    const to = { ArrowDown: row.index + 1, ArrowUp: row.index - 1, Home: 0, End: all.length - 1,
      PageDown: Math.min(all.length - 1, row.index + page), PageUp: Math.max(0, row.index - page) }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    reach(to);
  });

  let frame = 0;
  const later = () => { frame ||= requestAnimationFrame(() => { frame = 0; draw(); }); };
  addEventListener("scroll", later, { passive: true });
  addEventListener("resize", later);
  onEnd(() => {
    removeEventListener("scroll", later);
    removeEventListener("resize", later);
    cancelAnimationFrame(frame);
    for (const row of rows.values()) row.made.end();
  });
  effect(() => {
    all = items() ?? [];
    untracked(() => (list.isConnected ? draw() : later()));
  });
  return list;
}
