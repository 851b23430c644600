// A QR code on the page, drawn on a canvas from the node's rows. `codeView(text, {label, name, secret})`: `text` is words
// or a signal of them; below it stand ways to save it as a picture and to copy the text (`copied` instead, if given).

import { h, effect, signal } from "./dom.js";
import { post } from "./api.js";
import { button, copy, note, save } from "./parts.js";
import { t } from "../texts.js";

const quiet = 4;
/// Longer texts make symbols so fine that less correction and a larger picture read better.
const longText = 700;

export function codeView(text, { label, name = "runar-code", copied = null, caption = null } = {}) {
  const read = typeof text === "function" ? text : () => text;
  const failure = signal(null);
  const canvas = h("canvas", { class: "code", role: "img", "aria-label": label, width: 1, height: 1 });
  let latest = null;
  effect(() => {
    const now = latest = read();
    if (!now) return;
    // Before the code is there, so that nothing below moves when it comes.
    canvas.classList.toggle("large", now.length > longText);
    post("/code", { text: now, level: now.length > longText ? "L" : "M" }).then(code => {
      if (now !== latest) return;
      failure.set(null);
      draw(canvas, code);
    },
    error => { if (now === latest) failure.set(error.message); });
  });
  return h("figure", { class: "code-box" },
    () => (failure() ? note("warn", h("p", null, failure())) : canvas),
    caption && h("figcaption", null, caption),
    h("div", { class: "buttons" },
      button(t.code.copy, { icon: "copy", kind: "quiet", onPress: () => copy(copied ?? read()) }),
      button(t.code.save, { icon: "download", kind: "quiet", onPress: () => canvas.toBlob(png =>
        save(png, `${name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60)}.png`)) })));
}

/// Dark on light also in the dark: many readers need that, and the quiet zone belongs to the code.
function draw(canvas, { size, rows }) {
  const side = size + 2 * quiet;
  const scale = Math.max(4, Math.floor(1000 / side));
  canvas.width = canvas.height = side * scale;
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = "#000";
  rows.forEach((row, y) => {
    // Neighbours become one rectangle, so that no hairline stays between them.
    for (const run of row.matchAll(/1+/g)) {
      context.fillRect((run.index + quiet) * scale, (y + quiet) * scale, run[0].length * scale, scale);
    }
  });
}
