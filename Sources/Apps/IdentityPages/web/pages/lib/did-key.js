// The DID key of an account: a key pair on P-256 that this browser creates and keeps in IndexedDB, where no script can
// read the private key. `did:key:z` has the compressed public key behind the code of P-256 in base58.

import { Failure } from "./api.js";
import { decode, encode, encodeBase58 } from "./bytes.js";
import { t } from "../texts.js";

const store = "keys";
const algorithm = { name: "ECDSA", namedCurve: "P-256" };
const label = "runar/did-proof/v1";
/// The multicodec of P-256 public keys, 0x1200, as a varint.
const keyCode = [0x80, 0x24];

const promised = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/// Runs one operation on the store, and waits until it is on the disk.
async function withStore(mode, body) {
  try {
    const opening = indexedDB.open("runar-identity", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(store, { keyPath: "did" });
    const database = await promised(opening);
    try {
      const transaction = database.transaction(store, mode);
      const ended = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      const [result] = await Promise.all([promised(body(transaction.objectStore(store))), ended]);
      return result;
    } finally { database.close(); }
  } catch { throw new Failure("no-store", t.failures.noStore); }
}

/// Returns the key that a registration of this browser has left without an account, or a new one that is stored.
export async function unusedKey() {
  const known = (await withStore("readonly", keys => keys.getAll())).find(one => one.handle === null);
  return known ?? newKey();
}

async function newKey() {
  if (!globalThis.crypto?.subtle) throw new Failure("no-store", t.failures.noStore);
  const { publicKey, privateKey } = await crypto.subtle.generateKey(algorithm, false, ["sign", "verify"]);
  const point = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
  // 04, x, y becomes 02 or 03, by the last bit of y, and x.
  const compressed = [2 + (point[64] & 1), ...point.subarray(1, 33)];
  const key = { did: `did:key:z${encodeBase58([...keyCode, ...compressed])}`, handle: null, privateKey };
  await withStore("readwrite", keys => keys.put(key));
  return key;
}

/// Marks a key as that of an account, and asks the browser not to delete it when storage is low.
export async function keepKey(key, handle) {
  await withStore("readwrite", keys => keys.put({ ...key, handle }));
  navigator.storage?.persist?.().catch(() => {});
}

/// Whether this browser has the private key of a DID.
export const hasKey = async did => Boolean(await withStore("readonly", keys => keys.get(did)));

export const deleteKey = did => withStore("readwrite", keys => keys.delete(did));

/// Returns the proof that the key belongs to a registration: r and s over the label behind its length in one byte, and
/// the values, each behind its length in four bytes.
export async function proofBy(key, challenge, rpId, handle) {
  const text = new TextEncoder();
  const parts = [Uint8Array.of(label.length), text.encode(label)];
  for (const value of [decode(challenge), ...[rpId, handle, key.did].map(one => text.encode(one))]) {
    const length = new DataView(new ArrayBuffer(4));
    length.setUint32(0, value.length);
    parts.push(new Uint8Array(length.buffer), value);
  }
  const message = await new Blob(parts).arrayBuffer();
  return encode(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key.privateKey, message));
}
