#!/usr/bin/env python3
"""Write handshake.json: a handshake of the WireGuard paper, computed without any code of this package.

The paper is "WireGuard: Next Generation Kernel Network Tunnel" (NDSS 2017); section numbers below are its own.
Needs python3 with the package `cryptography`. Run it in this folder; the output is the same each time.
"""
import hashlib, hmac, json, struct
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305


def seed(label, count=32):
    return hashlib.sha512(("runar wireguard vectors: " + label).encode()).digest()[:count]


def hash_(data):
    return hashlib.blake2s(data).digest()


def mac(key, data):
    return hashlib.blake2s(data, digest_size=16, key=key).digest()


def hmac_(key, data):
    return hmac.new(key, data, hashlib.blake2s).digest()


def kdf(count, key, data):
    base, out, last = hmac_(key, data), [], b""
    for number in range(1, count + 1):
        last = hmac_(base, last + bytes([number]))
        out.append(last)
    return out


def aead(key, counter, plain, ad):
    return ChaCha20Poly1305(key).encrypt(bytes(4) + struct.pack("<Q", counter), plain, ad)


def quarter(s, a, b, c, d):
    def rotate(value, bits):
        return ((value << bits) | (value >> (32 - bits))) & 0xFFFFFFFF
    s[a] = (s[a] + s[b]) & 0xFFFFFFFF
    s[d] = rotate(s[d] ^ s[a], 16)
    s[c] = (s[c] + s[d]) & 0xFFFFFFFF
    s[b] = rotate(s[b] ^ s[c], 12)
    s[a] = (s[a] + s[b]) & 0xFFFFFFFF
    s[d] = rotate(s[d] ^ s[a], 8)
    s[c] = (s[c] + s[d]) & 0xFFFFFFFF
    s[b] = rotate(s[b] ^ s[c], 7)


def hchacha20(key, nonce):
    s = list(struct.unpack("<4I", b"expand 32-byte k") + struct.unpack("<8I", key) + struct.unpack("<4I", nonce))
    for _ in range(10):
        for a, b, c, d in [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                           (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]:
            quarter(s, a, b, c, d)
    return struct.pack("<8I", *(s[:4] + s[12:]))


def xaead(key, nonce, plain, ad):
    return ChaCha20Poly1305(hchacha20(key, nonce[:16])).encrypt(bytes(4) + nonce[16:], plain, ad)


def public(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def dh(private, other):
    return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(other))


def tai64n(seconds, nanoseconds):
    # Whitened to 2^24 ns, as current implementations do.
    return struct.pack(">QI", 0x400000000000000A + seconds, nanoseconds // (1 << 24) * (1 << 24))


def codes(message, receiver, cookie=None):
    message += mac(hash_(b"mac1----" + receiver), message)
    return message + (mac(cookie, message) if cookie else bytes(16))


def initiation(local, remote, ephemeral, index, timestamp, cookie=None):
    """Section 5.4.2; returns the message, and the chaining key and hash after it."""
    c = hash_(b"Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s")
    h = hash_(hash_(c + b"WireGuard v1 zx2c4 Jason@zx2c4.com") + public(remote))
    e = public(ephemeral)
    (c,) = kdf(1, c, e)
    h = hash_(h + e)
    c, k = kdf(2, c, dh(ephemeral, public(remote)))
    sealed_static = aead(k, 0, public(local), h)
    h = hash_(h + sealed_static)
    c, k = kdf(2, c, dh(local, public(remote)))
    sealed_time = aead(k, 0, timestamp, h)
    h = hash_(h + sealed_time)
    message = struct.pack("<II", 1, index) + e + sealed_static + sealed_time
    return codes(message, public(remote), cookie), c, h


def response(c, h, initiator, initiator_ephemeral, ephemeral, psk, index, receiver):
    """Section 5.4.3; returns the message and both transport keys, the initiator's first."""
    e = public(ephemeral)
    (c,) = kdf(1, c, e)
    h = hash_(h + e)
    (c,) = kdf(1, c, dh(ephemeral, public(initiator_ephemeral)))
    (c,) = kdf(1, c, dh(ephemeral, public(initiator)))
    c, t, k = kdf(3, c, psk)
    h = hash_(h + t)
    message = struct.pack("<III", 2, index, receiver) + e + aead(k, 0, b"", h)
    return codes(message, public(initiator)), *kdf(2, c, b"")


def transport(key, receiver, counter, packet):
    packet += bytes(-len(packet) % 16)
    return struct.pack("<IIQ", 4, receiver, counter) + aead(key, counter, packet, b"")


def ipv4(source, destination, payload):
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0, 64, 17, 0, bytes(source), bytes(destination))
    return head + payload


def vector(name, psk, index_i, index_r, seconds, nanoseconds, sizes):
    local, remote = seed(name + " initiator"), seed(name + " responder")
    ephemeral_i, ephemeral_r = seed(name + " initiator ephemeral"), seed(name + " responder ephemeral")
    first, c, h = initiation(local, remote, ephemeral_i, index_i, tai64n(seconds, nanoseconds))
    second, key_i, key_r = response(c, h, local, ephemeral_i, ephemeral_r, psk, index_r, index_i)
    to_r = [ipv4([10, 0, 0, 1], [10, 0, 0, 2], seed(f"{name} there {n}", 64)[:n]) for n in sizes]
    to_i = [ipv4([10, 0, 0, 2], [10, 0, 0, 1], seed(f"{name} back {n}", 64)[:n]) for n in sizes]
    # A cookie reply to the first message, and the repetition that uses it.
    secret, nonce = seed(name + " cookie secret"), seed(name + " cookie nonce", 24)
    cookie = mac(secret, bytes([192, 0, 2, 1]) + struct.pack(">H", 51820))
    reply = struct.pack("<II", 3, index_i) + nonce + xaead(
        hash_(b"cookie--" + public(remote)), nonce, cookie, first[116:132])
    ephemeral_again, index_again = seed(name + " second ephemeral"), index_i ^ 0x5A5A5A5A
    again, _, _ = initiation(local, remote, ephemeral_again, index_again, tai64n(seconds + 6, nanoseconds), cookie)
    return {
        "name": name, "initiator": local.hex(), "responder": remote.hex(), "presharedKey": psk.hex(),
        "initiatorEphemeral": ephemeral_i.hex(), "responderEphemeral": ephemeral_r.hex(),
        "initiatorIndex": index_i, "responderIndex": index_r, "seconds": seconds, "nanoseconds": nanoseconds,
        "initiation": first.hex(), "response": second.hex(),
        "packetsToResponder": [p.hex() for p in to_r], "packetsToInitiator": [p.hex() for p in to_i],
        "messagesToResponder": [transport(key_i, index_r, n, p).hex() for n, p in enumerate(to_r)],
        "messagesToInitiator": [transport(key_r, index_i, n, p).hex() for n, p in enumerate(to_i)],
        "keepaliveToResponder": transport(key_i, index_r, len(to_r), b"").hex(),
        "cookieSecret": secret.hex(), "cookieNonce": nonce.hex(), "cookieReply": reply.hex(),
        "secondEphemeral": ephemeral_again.hex(), "secondIndex": index_again, "secondInitiation": again.hex(),
    }


vectors = [
    vector("preshared", seed("a preshared key"), 0x01020304, 0xF0E0D0C0, 1_764_460_800, 123_456_789, [0, 1, 12, 63]),
    vector("no preshared key", bytes(32), 0xFFFFFFFF, 0x00000000, 2_000_000_000, 999_999_999, [8, 28]),
]
json.dump({"handshakes": vectors}, open("handshake.json", "w"), indent=1)
