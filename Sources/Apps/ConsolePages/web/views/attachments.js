// Images, audio and video in the conversation with a person: sending, showing and saving them.

import { h, signal, onEnd } from "../lib/dom.js";
import { get, post, part } from "../lib/api.js";
import { button, save } from "../lib/parts.js";
import { tellFailure } from "../lib/dialog.js";
import { bytes, clean, within } from "../lib/format.js";
import { fromBase64, toBase64 } from "./data.js";
import { t } from "../texts.js";

const w = t.attachments;
const longest = 192 * 1024, longestName = 255;

/// The content types that are shown in the page, and how. SVG is a document that may hold scripts: it is only saved.
const shownAs = {
  "image/png": "img", "image/jpeg": "img", "image/gif": "img", "image/webp": "img",
  "audio/mpeg": "audio", "audio/mp4": "audio", "audio/ogg": "audio", "audio/wav": "audio",
  "audio/x-m4a": "audio", "audio/x-wav": "audio",
  "video/mp4": "video", "video/webm": "video",
};

/// Sends files one after another; `sending` is the name of the one that is sent now.
export function attachments(path, onSent) {
  const sending = signal(null), waiting = [];
  async function send(files) {
    waiting.push(...files);
    if (sending.peek() !== null) return;
    for (let file; (file = waiting.shift());) {
      sending.set(clean(file.name));
      try { onSent(await post(`${path}/thoughts`, await formOf(file))); } catch (error) { tellFailure(error); }
    }
    sending.set(null);
  }
  return { sending, send };
}

async function formOf(file) {
  const mediaType = file.type.split("/")[0];
  if (!Object.hasOwn(w.kinds, mediaType) || file.type.startsWith("image/svg")) throw new Error(w.wrongKind);
  if (file.size > longest) throw new Error(w.tooLarge(bytes(file.size)));
  if (!file.size) throw new Error(w.noContent);
  // Characters that show nothing, which the node refuses in a name.
  const name = clean(file.name, longestName)
    .replace(/[\u00ad\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0\ufff0-\uffff\u{e0000}-\u{e007f}]/gu, "");
  const fileName = name && new Blob([name]).size <= longestName ? name : undefined;
  return { mediaType, contentType: file.type, fileName, base64: toBase64(new Uint8Array(await file.arrayBuffer())) };
}

/// The bubble of a thought that is no text. What can be shown is loaded when it comes into sight.
export function attachment(path, { thoughtId, mediaType, contentType, fileName, byteCount }) {
  const name = clean(fileName || w.kinds[mediaType] || mediaType, 200);
  const tag = Object.hasOwn(shownAs, contentType ?? "") ? shownAs[contentType] : null;
  const content = async options =>
    new Blob([fromBase64((await get(`${path}/thoughts/${part(thoughtId)}`)).base64)], options);
  const address = signal(null), failure = signal(null);
  let isOver = false;
  async function load() {
    failure.set(null);
    try {
      const blob = await content({ type: contentType });
      if (!isOver) address.set(URL.createObjectURL(blob));
    } catch (error) { failure.set(error.message); }
  }
  // What cannot be shown can still be saved.
  const forget = () => { URL.revokeObjectURL(address.peek()); address.set(null); };
  const bubble = h("div", { class: "bubble attachment" },
    () => address() && (tag === "img" ? h("img", { src: address(), alt: name, onerror: forget })
      : h(tag, { src: address(), controls: true, "aria-label": name, onerror: forget })),
    () => failure() && [h("p", { class: "bad-text" }, failure()), button(t.app.tryAgain, { onPress: load })],
    h("div", null, h("bdi", { dir: "auto", class: "file-name" }, name), " ",
      h("span", { class: "quiet" }, bytes(byteCount))),
    button(w.save, { icon: "download", kind: "quiet", label: `${w.save}: ${name}`, onPress: async () =>
      save(await content(), name) }));
  const watcher = new IntersectionObserver(places => {
    if (!places.some(one => one.isIntersecting)) return;
    watcher.disconnect();
    load();
  });
  if (tag) watcher.observe(bubble);
  onEnd(() => {
    isOver = true;
    watcher.disconnect();
    forget();
  });
  return bubble;
}

/// Tells what is being sent, to screen readers too.
export const sendingNote = ({ sending }) => h("p", { class: "log-note", role: "status" },
  () => sending() !== null && w.sending(within(sending())));
