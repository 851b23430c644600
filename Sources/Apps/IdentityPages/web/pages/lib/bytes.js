// Bytes as text: base64url without padding, in which the server writes and reads all bytes, and base58 of Bitcoin.
//
// These are the only conversions of ids, challenges and keys: a text is decoded once, where a browser needs bytes, and
// bytes are encoded once.

/// Returns the bytes of a base64url text.
export const decode = text =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), one => one.charCodeAt(0));

/// Returns the base64url text of an ArrayBuffer or of bytes.
export const encode = bytes => btoa(Array.from(new Uint8Array(bytes), one => String.fromCharCode(one)).join(""))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/// Returns the base64url text of the 16 bytes of a UUID: the id of an account is the user handle of its passkeys.
export const encodeUUID = text => encode(text.replaceAll("-", "").match(/../g).map(pair => parseInt(pair, 16)));

const base58Letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Returns the base58 text of bytes that do not begin with a zero.
export function encodeBase58(bytes) {
  let number = bytes.reduce((sum, one) => sum << 8n | BigInt(one), 0n), text = "";
  for (; number > 0n; number /= 58n) text = base58Letters[Number(number % 58n)] + text;
  return text;
}
