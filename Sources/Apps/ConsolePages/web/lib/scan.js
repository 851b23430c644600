// Every way in which a code comes into the console: camera, picture (chosen, dropped or pasted), and text.
//
// `scanner({onText, pasteLabel, pasteHint, action})`: `onText(text)` is called with what was read, made `plain`, may be
// async, and throws an Error with words for the person when the text is not what is wanted here; the camera goes on.

import { h, signal, effect, onEnd } from "./dom.js";
import { post } from "./api.js";
import { asTyped, button, note, field, form } from "./parts.js";
import { say } from "./dialog.js";
import { icon } from "./icons.js";
import { t } from "../texts.js";

const w = t.scan;
// The node takes 4 MiB of grey bytes; a code on a screen is read at far less.
const cameraSide = 1280;
const pictureSides = [2000, 1200, 700];
const pause = 120;

/// A link that a mail program has broken into lines is whole without them; words of a recovery phrase go no further.
export function plain(given) {
  const text = given.trim();
  const words = text.replace(/\b\d+\b|[.,)]/g, " ").trim();
  if (/^([a-z]{3,8}\s+){11,}[a-z]{3,8}$/i.test(words)) throw new Error(w.secretWords);
  return /^runar:/i.test(text) ? text.replace(/\s+/g, "") : text;
}

/// Whether it looks as if it came from Runar, even if it cannot be read.
export const looksLikeOurs = text => /runar:\/\/|"(network_id|peer_id)"/i.test(text);

export function scanner({ onText, pasteLabel = w.paste, pasteHint = w.pasteHint, action = w.go, value = "" }) {
  const camera = signal("off");
  const problem = signal("");
  const isDragging = signal(false);
  const text = h("textarea", { ...asTyped, rows: 3, value });
  let stop = () => {};

  async function take(found, ending) {
    problem.set("");
    try { await onText(plain(found)); ending?.(); return true; } catch (error) {
      problem.set(error.message);
      return false;
    }
  }

  async function takePicture(file) {
    problem.set("");
    if (!file) return;
    const found = await readPicture(file).catch(() => null);
    if (found === null) problem.set(w.noPicture);
    else if (!found.length) problem.set(w.nothingInPicture);
    else await take(found[0]);
  }

  async function start() {
    problem.set("");
    if (!navigator.mediaDevices?.getUserMedia) return camera.set("impossible");
    camera.set("starting");
    const video = h("video", { class: "camera", muted: true, playsinline: true, "aria-label": w.cameraPicture });
    try {
      const source = await navigator.mediaDevices.getUserMedia({
        video: { facingMode: "environment", width: { ideal: 1280 }, height: { ideal: 720 } }, audio: false,
      });
      let isRunning = true;
      stop = () => { isRunning = false; for (const track of source.getTracks()) track.stop(); camera.set("off"); };
      if (camera.peek() !== "starting") return stop();
      video.srcObject = source;
      await video.play();
      if (!isRunning) return;
      camera.set(video);
      say(w.looking);
      watch(video, () => isRunning, found => take(found, stop), error => { problem.set(error.message); stop(); });
    } catch (error) {
      camera.set({ NotAllowedError: "denied", NotFoundError: "none", NotReadableError: "busy" }[error.name] ?? "failed");
    }
  }

  onEnd(() => { camera.set("off"); stop(); });

  const picture = h("input", { type: "file", accept: "image/*", class: "away", tabindex: "-1", "aria-hidden": true,
    onchange: async event => { await takePicture(event.target.files[0]); event.target.value = ""; } });

  const onPaste = event => {
    const file = [...event.clipboardData?.files ?? []].find(one => one.type.startsWith("image/"));
    if (file) { event.preventDefault(); takePicture(file); }
  };
  addEventListener("paste", onPaste);
  onEnd(() => removeEventListener("paste", onPaste));

  const told = h("div", null, () => (problem() ? note("bad", h("p", null, problem())) : null));
  effect(() => { if (problem()) requestAnimationFrame(() => told.scrollIntoView({ block: "nearest" })); });

  const isOpen = () => typeof camera() === "object" || camera() === "starting";
  return h("div", { class: () => `scanner stack ${isDragging() ? "dragging" : ""}`,
    ondragover: event => { event.preventDefault(); isDragging.set(true); },
    ondragleave: () => isDragging.set(false),
    ondrop: event => { event.preventDefault(); isDragging.set(false); takePicture(event.dataTransfer.files[0]); } },
  () => (isOpen()
    ? h("div", { class: "camera-box" }, typeof camera() === "object" ? camera() : h("div", { class: "camera" }),
      h("p", { class: "camera-text" }, typeof camera() === "object" ? w.looking : w.starting),
      button(w.stopCamera, { onPress: () => { camera.set("off"); stop(); } }))
    : h("div", { class: "ways" },
      h("button", { type: "button", class: "way", onclick: start }, icon("camera", 26),
        h("span", null, h("strong", null, w.camera), h("span", { class: "hint" }, w.cameraHint))),
      h("button", { type: "button", class: "way", onclick: () => picture.click() }, icon("picture", 26),
        h("span", null, h("strong", null, w.picture), h("span", { class: "hint" }, w.pictureHint))))),
  picture,
  () => (w.cameraProblems[camera()] ? note("warn", h("p", null, w.cameraProblems[camera()])) : null),
  form({ onSubmit: async () => {
    if (!text.value.trim()) { text.focus(); throw new Error(w.nothingPasted); }
    if (await take(text.value)) text.value = "";
  }, error: problem },
  field({ label: pasteLabel, hint: pasteHint }, given => { for (const [key, one] of Object.entries(given)) {
    if (one) text.setAttribute(key, one); } return text; }),
  h("div", { class: "buttons" }, button(action, { type: "submit", icon: "text" }))),
  told);
}

/// Reads frames until one holds a code that is taken. The same refused text is not offered again and again.
async function watch(video, isRunning, onFound, onError) {
  let refused = null;
  while (isRunning()) {
    try {
      const texts = video.videoWidth ? await readGrey(grey(video, video.videoWidth, video.videoHeight, cameraSide)) : [];
      const found = texts.find(one => one !== refused);
      if (found && isRunning()) {
        if (await onFound(found)) return;
        refused = found;
      }
    } catch (error) { return onError(error); }
    await new Promise(resolve => setTimeout(resolve, pause));
  }
}

async function readPicture(file) {
  const bitmap = await createImageBitmap(file);
  for (const side of pictureSides) {
    const texts = await readGrey(grey(bitmap, bitmap.width, bitmap.height, side));
    if (texts.length) return texts;
    if (Math.max(bitmap.width, bitmap.height) <= side / 2) break;
  }
  return [];
}

const readGrey = async ({ bytes, width, height }) =>
  (await post(`/read-code?width=${width}&height=${height}`, bytes)).texts;

let canvas = null;

function grey(source, fullWidth, fullHeight, side) {
  const factor = Math.min(1, side / Math.max(fullWidth, fullHeight));
  const width = Math.max(1, Math.round(fullWidth * factor)), height = Math.max(1, Math.round(fullHeight * factor));
  canvas ??= document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  context.drawImage(source, 0, 0, width, height);
  const { data } = context.getImageData(0, 0, width, height);
  const bytes = new Uint8Array(width * height);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = (77 * data[4 * at] + 150 * data[4 * at + 1] + 29 * data[4 * at + 2]) >> 8;
  }
  return { bytes, width, height };
}
