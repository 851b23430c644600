// The ceremony of a command: a person compares the number and completes it with a passkey. The command gets the token.

import { h } from "../lib/dom.js";
import { get, post } from "../lib/api.js";
import { makeAgreement } from "../lib/agreement.js";
import { confirm, create } from "../lib/passkeys.js";
import { button, card, facts, failureNote, makeTask, note, page, show } from "../lib/parts.js";
import { t } from "../texts.js";

const words = t.ceremony;

export const title = words.authenticate;

export async function mount(root, server, id) {
  const path = `/ceremonies/${id}`;
  const load = () => get(`${path}/options`, { isPublic: true });
  let ceremony, isFresh = true;
  try { ceremony = await load(); } catch (failure) {
    const canTry = failure.code === "unreachable";
    show(root, page({ title: words.endedTitle, lead: canTry ? null : words.again },
      failureNote(failure, canTry ? () => location.reload() : null)));
    return;
  }
  const isRegistration = ceremony.purpose === "register";
  const agreement = isRegistration ? makeAgreement(server) : null;
  const task = makeTask();
  const heading = isRegistration ? words.register : words.authenticate;
  document.title = `${heading} – ${server.name}`;

  const send = (part, body) => post(`${path}/${part}`, body, { isPublic: true });

  async function complete() {
    // A challenge serves one attempt.
    if (!isFresh) ceremony = await load();
    isFresh = false;
    const { handle, creation, request } = ceremony;
    if (isRegistration) await send("registration", await create(creation, server));
    else await send("authentication", await confirm(request, server));
    show(root, page({ title: words.doneTitle, lead: handle ? words.done(handle) : words.doneUnnamed },
      h("p", null, words.close)));
  }

  async function stop() {
    await send("stop", {});
    show(root, page({ title: words.stoppedTitle, lead: words.stopped }));
  }

  show(root, page({ title: heading },
    card(
      h("h2", null, words.question),
      h("p", { class: "digits", "aria-label": `${words.number}: ${[...ceremony.number].join(" ")}`, role: "img" },
        `${ceremony.number.slice(0, 3)} ${ceremony.number.slice(3)}`),
      facts([
        [words.handle, h("bdi", null, ceremony.handle ?? words.anyHandle)],
        [words.address, h("p", { class: "address", dir: "ltr" }, ceremony.address ?? words.unknownAddress),
          ceremony.isSameAddress && h("p", { class: "quiet" }, words.here)],
      ]),
      !ceremony.isSameAddress && note("warn", h("p", null, words.elsewhere)),
      note("warn", h("p", null, words.warning))),
    agreement?.place,
    task.place(),
    h("div", { class: "buttons" },
      button(words.same, () => { if (!agreement || agreement.isAccepted()) task.run(complete); }, { kind: "primary" }),
      button(words.other, () => task.run(stop)))));
}
