// Nodes and the little reactivity that the console needs.
//
// A signal is a value that is read by calling it: `const n = signal(0); n(); n.set(1); n.update(x => x + 1)`.
// `effect(body)` runs the body now and again after a signal that it read has changed. Whatever is made while a view
// is mounted (effects, cleanups) belongs to the view's scope and ends with it; no view needs to unsubscribe by hand.
//
// `h("p", {class: "quiet"}, "Hello ", () => n())` makes a node. A function as a child or as a property is live. Text
// only ever becomes text nodes: nothing in the console parses HTML.

let reader = null;
let owner = null;
const queue = new Set();

export function signal(value) {
  const readers = new Set();
  const read = () => {
    if (reader) { readers.add(reader); reader.sources.add(readers); }
    return value;
  };
  read.peek = () => value;
  read.set = next => {
    if (Object.is(next, value)) return;
    value = next;
    for (const one of readers) schedule(one);
  };
  read.update = change => read.set(change(value));
  return read;
}

function schedule(one) {
  if (!queue.size) queueMicrotask(flush);
  queue.add(one);
}

// A click needs press and release on the same node. So nothing is rendered during a press: changes appear after the
// release, or after this time, because the browser does not report every release.
const longestPress = 10_000;
const tapDelay = 400;
let pressed = null;

const pressable = "a, button, label, summary, input[type=checkbox]";

function keepStill(milliseconds) {
  clearTimeout(pressed);
  pressed = setTimeout(() => { pressed = null; flush(); }, milliseconds);
}

addEventListener("pointerdown", event => {
  if (event.button === 0 && event.target.closest?.(pressable)) keepStill(longestPress);
}, true);
addEventListener("keydown", event => {
  if (event.key === " " && !event.repeat && event.target.matches?.(pressable)) keepStill(longestPress);
}, true);
for (const kind of ["pointerup", "pointercancel", "dragend", "keyup", "click"]) {
  addEventListener(kind, event => {
    if (pressed === null) return;
    // What a press does, it does in the turn in which it ends; that of a finger comes a little later.
    keepStill(kind === "pointerup" && event.pointerType === "touch" ? tapDelay : 0);
  }, true);
}

function flush() {
  if (pressed !== null) return;
  // Effects may change signals; those that wake then run in the same turn, at most this often.
  for (let rounds = 0; queue.size && rounds < 100; rounds++) {
    const batch = [...queue];
    queue.clear();
    for (const one of batch) one.run();
  }
}

export function effect(body) {
  const self = { sources: new Set(), scope: null, run };
  function stop() {
    for (const readers of self.sources) readers.delete(self);
    self.sources.clear();
    self.scope?.end();
    queue.delete(self);
  }
  function run() {
    stop();
    self.scope = scope(() => {
      const before = reader;
      reader = self;
      try { body(); } finally { reader = before; }
    }, true);
  }
  run();
  onEnd(() => { stop(); self.run = () => {}; });
}

export function computed(body) {
  const result = signal(undefined);
  effect(() => result.set(body()));
  return result;
}

/// Runs a body whose effects end together; `end()` ends them.
export function scope(body, keepsReader = false) {
  const self = { endings: [], end() { for (const ending of self.endings.splice(0).reverse()) ending(); } };
  const before = [owner, reader];
  owner = self;
  if (!keepsReader) reader = null;
  try { self.result = body(); } finally { [owner, reader] = before; }
  return self;
}

/// Called when the view, row or effect in which it was said ends.
export function onEnd(ending) { owner?.endings.push(ending); }

/// Runs a body without becoming a reader of the signals that it reads.
export function untracked(body) {
  const before = reader;
  reader = null;
  try { return body(); } finally { reader = before; }
}

const asProperty = new Set(["value", "checked", "selected", "indeterminate", "srcObject", "muted"]);

function setProperty(node, name, value) {
  if (name === "style") for (const [key, one] of Object.entries(value)) node.style.setProperty(key, one);
  else if (asProperty.has(name)) node[name] = value;
  else if (name.startsWith("aria-") && typeof value === "boolean") node.setAttribute(name, String(value));
  else if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : String(value));
}

function build(node, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name === "ref") value(node);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2).toLowerCase(), value);
    else if (typeof value === "function") effect(() => setProperty(node, name, value()));
    else setProperty(node, name, value);
  }
  node.append(...nodes(children));
  return node;
}

export const h = (tag, properties, ...children) => build(document.createElement(tag), properties, children);

export const svg = (tag, properties, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

/// Flattens strings, numbers, nodes, arrays, live functions and nothing into nodes.
export function nodes(children) {
  return children.flat(Infinity).flatMap(child => {
    if (child === null || child === undefined || child === false || child === true) return [];
    if (typeof child === "function") return [live(child)];
    return [child instanceof Node ? child : document.createTextNode(String(child))];
  });
}

function live(body) {
  const begin = document.createComment(""), end = document.createComment("");
  const place = document.createDocumentFragment();
  let isOwed = false;
  place.append(begin, end);
  // Looked up each time: what is live inside changes by itself.
  const inside = () => {
    const found = [];
    for (let node = begin.nextSibling; node && node !== end; node = node.nextSibling) found.push(node);
    return found;
  };
  effect(() => {
    const result = body();
    let shown = inside();
    if (isText(result) && shown.length === 1 && shown[0].nodeType === Node.TEXT_NODE) {
      shown[0].data = String(result);
      return;
    }
    const next = document.createDocumentFragment();
    next.append(...nodes([result]));
    const focused = shown.some(one => one.contains?.(document.activeElement)) ? nameOf(document.activeElement) : null;
    for (const one of shown) one.remove();
    shown = [...next.childNodes];
    end.before(next);
    // What had the focus and is there again, by its id or its words, keeps it; else the next heading that comes gets it.
    if (focused !== null) isOwed = true;
    if (!isOwed || (focused === null && document.activeElement !== document.body)) { isOwed = false; return; }
    const target = (focused ? candidates(shown).find(one => nameOf(one) === focused) : null) ?? headingIn(shown)
      ?? end.parentElement?.closest("dialog")?.querySelector("h2");
    focusOn(target);
    isOwed = !target;
  });
  return place;
}

/// Finds the heading or alert that takes the focus when the focused node was removed.
function headingIn(shown) {
  for (const one of shown) {
    const found = one.matches?.("h1, h2, h3") ? one : one.querySelector?.("h1, h2, h3, [role=alert]");
    if (found) return found;
  }
  return null;
}

export function focusOn(node) {
  if (!node) return;
  if (node.tabIndex < 0) node.setAttribute("tabindex", "-1");
  // The others of this turn are put into the page first.
  if (node.isConnected) node.focus({ preventScroll: true });
  else queueMicrotask(() => node.focus({ preventScroll: true }));
}

/// Returns the node that replaced a node when it was rendered again.
export function twinOf(node) {
  const name = nameOf(node);
  return name ? candidates([document.body]).find(one => nameOf(one) === name) : undefined;
}

/// By what a node is known again. The ids of fields are numbered anew each time.
const nameOf = node => (/^field-\d+$/.test(node.id) ? "" : node.id)
  || (node.type === "radio" ? `${node.name} ${node.value}` : node.name)
  || node.getAttribute("aria-label") || node.labels?.[0]?.textContent || node.textContent;
const candidates = shown => shown.flatMap(one => (one.querySelectorAll
  ? [one, ...one.querySelectorAll("a, button, input, select, textarea, summary, [tabindex]")] : []));

const isText = value => typeof value === "string" || typeof value === "number";

/// A list that keeps the nodes of items which stay: `each(() => items, item => item.id, item => h("li", null,
/// () => item().name))`. The render function gets a signal of its item.
export function each(items, key, render) {
  const end = document.createComment("");
  const place = document.createDocumentFragment();
  let rows = new Map();
  place.append(end);
  effect(() => {
    const list = items() ?? [];
    const next = new Map();
    for (const item of list) {
      const id = key(item);
      if (next.has(id)) continue;
      const row = rows.get(id);
      if (row) { row.item.set(item); rows.delete(id); next.set(id, row); continue; }
      const value = signal(item);
      const made = detached(() => nodes([render(value)]));
      next.set(id, { item: value, scope: made, nodes: made.result });
    }
    for (const row of rows.values()) endRow(row);
    rows = next;
    let at = end;
    for (const row of [...next.values()].reverse()) {
      for (const node of [...row.nodes].reverse()) {
        if (node.nextSibling !== at || !node.parentNode) at.before(node);
        at = node;
      }
    }
  });
  onEnd(() => rows.forEach(endRow));
  return place;
}

function endRow(row) {
  row.scope.end();
  for (const node of row.nodes) node.remove();
}

/// A scope that the current one does not end by itself: rows outlive the run of the effect that made them.
function detached(body) {
  const before = owner;
  owner = null;
  try { return scope(body); } finally { owner = before; }
}
