// What asks for the person's attention wherever they are: files that are offered, and new messages.

import { h, each, signal, onEnd } from "../lib/dom.js";
import { button } from "../lib/parts.js";
import { icon } from "../lib/icons.js";
import { toast } from "../lib/dialog.js";
import { go } from "../lib/router.js";
import { bytes } from "../lib/format.js";
import { name, nameOf, clean, peerPath, watchPeers } from "./peers-store.js";
import { offers, watchMessages, newsListeners, answerOffer, conversationInSight } from "./messages-store.js";
import { t } from "../texts.js";

const w = t.news;
/// The node takes silence for a no after this time.
const patienceMilliseconds = 120_000;

/// The place above every view where offers are answered.
export function news() {
  watchPeers();
  watchMessages();
  newsListeners.add(({ peerId, message, file }) => {
    const who = nameOf(peerId, message?.label ?? file?.label);
    const what = file ? w.fileArrived(clean(file.name, 60)) : message.text === undefined ? w.bytesArrived
      : clean(message.text, 80);
    toast(w.from(who, what), { action: w.open, onAction: () => go(peerPath(peerId)) });
  });
  return h("div", { class: "offers", role: "region", "aria-label": w.offers, "aria-live": "polite" },
    each(() => offers().filter(one => one.peerId !== conversationInSight()), one => one.number, one =>
      offerCard(one.peek())));
}

/// A file that a peer wants to send: nothing is stored before the person accepts.
export function offerCard(offer) {
  const seconds = signal(left(offer));
  const timer = setInterval(() => seconds.set(left(offer)), 1000);
  onEnd(() => clearInterval(timer));
  return h("div", { class: "offer" }, icon("file", 24),
    h("div", { class: "offer-text" },
      h("p", null, name(offer.peerId, offer.label), " ", w.wantsToSend),
      h("p", null, h("bdi", { dir: "auto", class: "file-name" }, clean(offer.name)), h("span", { class: "quiet" },
        ` · ${bytes(offer.bytes)}`)),
      h("p", { class: "quiet", "aria-live": "off" }, () => w.secondsLeft(seconds()))),
    h("div", { class: "buttons" },
      button(w.refuse, { onPress: () => answerOffer(offer, false) }),
      button(w.accept, { kind: "primary", icon: "download", onPress: () => answerOffer(offer, true) })));
}

const left = offer => Math.max(0, Math.round((offer.at + patienceMilliseconds - Date.now()) / 1000));
