// Passkeys: the two ceremonies of the browser, and the signals to what keeps them.
//
// `create(options)` and `confirm(options)` take the options of the server in JSON and return the response in JSON.
// `offer(options)` waits until a passkey is chosen in the autofill of a field. A browser has one ceremony at once, so
// the others end the offer first. Every failure is a `Failure` in words, except the `AbortError` of an ended offer.

import { Failure, isSignedIn, loadOrigins } from "./api.js";
import { decode, encode } from "./bytes.js";
import { t } from "../texts.js";

let offered = null;

export const create = (options, server) => perform("create", { publicKey: creationOptions(options) }, server);
export const confirm = (options, server) => perform("get", { publicKey: requestOptions(options) }, server);

async function perform(method, options, server) {
  await endOffer();
  return ceremony(method, options, server);
}

/// Whether the browser can offer passkeys in the autofill of a field.
export const canOffer = async server =>
  isCovered(server)
  && Boolean(await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.().catch(() => false));

export async function offer(options, server) {
  await endOffer();
  const controller = new AbortController();
  const publicKey = requestOptions(options);
  const result = ceremony("get", { publicKey, mediation: "conditional", signal: controller.signal }, server);
  const mine = offered = { controller, ended: result.then(() => {}, () => {}) };
  try { return await result; } finally { if (offered === mine) offered = null; }
}

/// Ends the offer and waits until the browser has ended it: until then it refuses another ceremony.
async function endOffer() {
  offered?.controller.abort();
  await offered?.ended;
}

async function ceremony(method, options, server) {
  if (!globalThis.PublicKeyCredential || !navigator.credentials) {
    if (isSecureContext) throw new Failure("no-passkeys", t.failures.noPasskeys);
    throw new Failure("wrong-address", t.failures.notSecure, await rightPlace(server));
  }
  try { return asJSON(await navigator.credentials[method](options)); } catch (error) {
    if (error.name === "AbortError") throw error;
    throw await failureOf(error, server);
  }
}

/// A cancelled dialog, an existing passkey and a missing screen lock have different next steps.
async function failureOf(error, server) {
  switch (error.name) {
    case "NotAllowedError": return new Failure("cancelled", t.failures.cancelled);
    case "InvalidStateError":
      // Of all failures only this one means that a passkey exists.
      return isSignedIn() ? new Failure("exists", t.failures.existsHere)
        : new Failure("exists", t.failures.exists, { href: "/sign-in", text: t.app.signIn });
    case "SecurityError": return new Failure("wrong-address", t.app.wrongPlace, await rightPlace(server));
    case "ConstraintError":
    case "NotSupportedError": return new Failure("no-verification", t.failures.noVerification);
    case "TimeoutError": return new Failure("cancelled", t.failures.cancelled);
    default: return new Failure("authenticator", t.failures.authenticator);
  }
}

/// Whether passkeys of the server can work on this host.
export const isCovered = ({ rpId }) => location.hostname === rpId || location.hostname.endsWith(`.${rpId}`);

/// Returns the link to this page where the passkeys of the server work.
export async function rightPlace({ rpId }) {
  const origins = await loadOrigins().catch(() => []);
  const origin = origins[0] ?? `https://${rpId}`;
  return { href: origin + location.pathname, text: t.app.openThere(origin) };
}

const descriptors = list => list?.map(one => ({ ...one, id: decode(one.id) }));

function creationOptions(options) {
  return globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON?.(options) ?? {
    ...options,
    challenge: decode(options.challenge),
    user: { ...options.user, id: decode(options.user.id) },
    excludeCredentials: descriptors(options.excludeCredentials),
  };
}

function requestOptions(options) {
  return globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON?.(options) ?? {
    ...options, challenge: decode(options.challenge), allowCredentials: descriptors(options.allowCredentials),
  };
}

/// Programs that keep passwords put objects in the place of the browser's, whose `toJSON` is missing or fails.
function asJSON(credential) {
  try { return credential.toJSON(); } catch { /* made from its members below */ }
  const { id, rawId, type, response, authenticatorAttachment } = credential;
  const members = { clientDataJSON: encode(response.clientDataJSON) };
  for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (response[name]) members[name] = encode(response[name]);
  }
  if (response.attestationObject) members.transports = response.getTransports?.() ?? [];
  return { id, rawId: encode(rawId), type, response: members, authenticatorAttachment,
    clientExtensionResults: credential.getClientExtensionResults?.() ?? {} };
}

/// Names the passkeys that the account has, so that none that was removed is offered again. Ids are in base64url.
export async function signalPasskeys(rpId, userId, ids) {
  await signal("signalAllAcceptedCredentials", { rpId, userId, allAcceptedCredentialIds: ids });
}

/// Names a passkey that the server no longer has.
export async function signalRemoved(rpId, credentialId) {
  await signal("signalUnknownCredential", { rpId, credentialId });
}

async function signal(method, details) {
  // A browser that has no such method, or refuses it, loses no more than the hint.
  try { await globalThis.PublicKeyCredential?.[method]?.(details); } catch { /* see above */ }
}
