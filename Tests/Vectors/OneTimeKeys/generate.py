"""Writes `vectors.json` beside it: pools, messages and an exchange, made by another implementation than ours.

ECDH, HKDF, Ed25519, X25519 and AES come from `cryptography`, ML-KEM-768 from `kyber-py`; X-Wing, HPKE, the tree of secrets and
all layouts of docs/spec/one-time-keys.md are put together by hand. Nothing here shares a line of code with the Swift
sources.

    python3 -m venv .venv && .venv/bin/pip install 'cryptography>=47' kyber-py
    .venv/bin/python Tests/Vectors/OneTimeKeys/generate.py
"""

import hashlib
import hmac
import json
import pathlib

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from kyber_py.ml_kem import ML_KEM_768

HERE = pathlib.Path(__file__).parent
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
SEED = bytes(range(32))


def sha256(data):
    return hashlib.sha256(data).digest()


def label(text):
    return bytes([len(text)]) + text.encode()


# Pools


def leaves(seed, depth):
    level = [seed]
    for _ in range(depth):
        level = [
            hmac.digest(node, f"runar/one-time-keys/{side}/v1".encode(), "sha256")
            for node in level
            for side in ("left", "right")
        ]
    return level


def expand(leaf, suite, attempt):
    info = b"runar/one-time-keys/private-key/v1" + bytes([suite, attempt])
    return HKDFExpand(SHA256(), 32, info).derive(leaf)


def p256_private(leaf):
    for attempt in range(256):
        scalar = int.from_bytes(expand(leaf, 1, attempt), "big")
        if 0 < scalar < ORDER:
            return ec.derive_private_key(scalar, ec.SECP256R1())
    raise ValueError("no scalar")


def compressed(public):
    return public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)


def public_pool(suite, generation, keys):
    body = b"RPK\1" + bytes([suite]) + generation.to_bytes(4, "big") + bytes(2) + len(keys).to_bytes(2, "big")
    body += b"".join(keys)
    return body + sha256(body)


# X-Wing (draft-connolly-cfrg-xwing-kem-06) and HPKE (RFC 9180)


def raw(key):
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def xwing_expand(seed):
    stream = hashlib.shake_256(seed).digest(96)
    encapsulation, decapsulation = ML_KEM_768._keygen_internal(stream[:32], stream[32:64])
    return encapsulation, decapsulation, X25519PrivateKey.from_private_bytes(stream[64:])


def xwing_public(seed):
    encapsulation, _, scalar = xwing_expand(seed)
    return encapsulation + raw(scalar.public_key())


def xwing_encapsulate(public, randomness):
    kem, point = public[:1184], public[1184:]
    first, ciphertext = ML_KEM_768._encaps_internal(kem, randomness[:32])
    ephemeral = X25519PrivateKey.from_private_bytes(randomness[32:])
    second = ephemeral.exchange(X25519PublicKey.from_public_bytes(point))
    sent = raw(ephemeral.public_key())
    shared = hashlib.sha3_256(first + second + sent + point + b"\\.//^\\").digest()
    return shared, ciphertext + sent


SUITE = b"HPKE" + bytes.fromhex("647a 0001 0002".replace(" ", ""))


def extract(salt, name, material):
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + SUITE + name + material, "sha256")


def hpke_expand(secret, name, info, length):
    return HKDFExpand(SHA256(), length, length.to_bytes(2, "big") + b"HPKE-v1" + SUITE + name + info).derive(secret)


def hpke_seal(public, info, plaintext, randomness):
    shared, encapsulated = xwing_encapsulate(public, randomness)
    context = b"\0" + extract(b"", b"psk_id_hash", b"") + extract(b"", b"info_hash", info)
    secret = extract(shared, b"secret", b"")
    key = hpke_expand(secret, b"key", context, 32)
    nonce = hpke_expand(secret, b"base_nonce", context, 12)
    return encapsulated + AESGCM(key).encrypt(nonce, plaintext, b"")


# Messages


def base58(data):
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = ALPHABET[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


def p256_message(public, recipient, plaintext):
    ephemeral = ec.derive_private_key(0x1234567890ABCDEF, ec.SECP256R1())
    secret = ephemeral.exchange(ec.ECDH(), public)
    key = HKDF(SHA256(), 32, sha256(b"L1L"), b"").derive(secret)
    name = sha256(compressed(public))[:16].hex().encode()
    body = base58(recipient).encode()
    policy = b"runar/one-time-message/v1"
    header = b"L1L" + bytes([0x3F, len(body)]) + body + name + bytes([0x00, 0x05, 1]) + len(policy).to_bytes(2, "big")
    header += policy + sha256(policy)[-8:] + compressed(ephemeral.public_key())
    iv = b"\x0a\x0b\x0c"
    payload = iv + AESGCM(key).encrypt(bytes(9) + iv, plaintext, b"")
    return header + len(payload).to_bytes(3, "big") + payload


def xwing_message(public, recipient, plaintext):
    header = b"RXW\1" + recipient + sha256(public)[:16]
    return header + hpke_seal(public, header, plaintext, bytes(range(64)))


# The exchange


def exchange():
    initiator, responder = (Ed25519PrivateKey.from_private_bytes(bytes([byte] * 32)) for byte in (1, 2))
    keys = [raw(key.public_key()) for key in (initiator, responder)]
    peers = [sha256(key) for key in keys]
    identifier = bytes(range(16))
    head = lambda kind: bytes([1, kind]) + identifier
    request = head(1) + keys[0] + bytes([2, 2, 1])
    first = sha256(label("runar/key-exchange/v1") + peers[0] + peers[1] + request)
    offered = keys[1] + bytes([1]) + bytes([7] * 32)
    second = sha256(first + offered)
    offer = head(2) + offered + responder.sign(label("runar/key-exchange-offer/v1") + second)
    third = sha256(second + bytes([8] * 32))
    acknowledgement = head(3) + bytes([8] * 32)
    acknowledgement += initiator.sign(label("runar/key-exchange-acknowledgement/v1") + third)
    commit = head(4) + responder.sign(label("runar/key-exchange-commit/v1") + third)
    pool = public_pool(1, 1, [compressed(p256_private(leaf).public_key()) for leaf in leaves(SEED, 1)])
    share = bytes([1]) + (1).to_bytes(4, "big") + len(pool).to_bytes(4, "big") + sha256(pool)
    signed = label("runar/key-exchange-share/v1") + third + peers[1] + share
    key_share = head(5) + share + responder.sign(signed)
    digest = hashlib.sha512(label("runar/safety-number/v1") + min(peers) + max(peers) + third).digest()
    number = "".join(f"{int.from_bytes(digest[at : at + 5], 'big') % 100_000:05}" for at in range(0, 60, 5))
    return {
        "initiator_private": bytes([1] * 32).hex(),
        "responder_private": bytes([2] * 32).hex(),
        "request": request.hex(),
        "offer": offer.hex(),
        "acknowledgement": acknowledgement.hex(),
        "commit": commit.hex(),
        "binding": third.hex(),
        "key_share": key_share.hex(),
        "pool": pool.hex(),
        "safety_number": number,
    }


def pool(suite, depth, private, public, seal):
    recipient = sha256(b"a recipient")
    secrets = leaves(SEED, depth)
    keys = [public(private(leaf)) for leaf in secrets]
    plaintext = b"to the second key"
    return {
        "suite": suite,
        "generation": 5,
        "seed": SEED.hex(),
        "depth": depth,
        "leaves": [leaf.hex() for leaf in secrets],
        "names": [sha256(key)[:16].hex() for key in keys],
        "public_pool_sha256": sha256(public_pool(suite, 5, keys)).hex(),
        "recipient": recipient.hex(),
        "plaintext": plaintext.hex(),
        "message": seal(private(secrets[1]), recipient, plaintext).hex(),
    }


if __name__ == "__main__":
    made = {
        "pools": [
            pool(
                1,
                3,
                p256_private,
                lambda key: compressed(key.public_key()),
                lambda key, *rest: p256_message(key.public_key(), *rest),
            ),
            pool(2, 1, lambda leaf: expand(leaf, 2, 0), xwing_public, lambda seed, *rest: xwing_message(xwing_public(seed), *rest)),
        ],
        "exchange": exchange(),
    }
    (HERE / "vectors.json").write_text(json.dumps(made, indent=1) + "\n")
