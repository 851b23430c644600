"""Writes `vectors.json` beside it: ids, messages and a sealed deposit, made by another implementation than ours.

X25519 and ChaCha20-Poly1305 come from `cryptography`; HPKE and all layouts of docs/spec/mailbox.md are put together by hand.

    python3 -m venv .venv && .venv/bin/pip install 'cryptography>=47'
    .venv/bin/python Tests/Vectors/Mailbox/generate.py
"""

import hashlib
import hmac
import json
import pathlib
import struct

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HERE = pathlib.Path(__file__).parent
NETWORK, OWNER, HOLDER = (bytes([n]) * 32 for n in (1, 2, 3))
EXPIRATION = 1_800_000_000
BODY = b"sealed for the owner"
RECEIPT = bytes(range(16))


def label(text):
    return bytes([len(text)]) + text.encode()


def mailbox_id(network, owner):
    return hashlib.sha256(label("runar/mailbox/v1") + network + owner).digest()


def mail_id(mailbox, expiration, body):
    return hashlib.sha256(label("runar/mail/v1") + mailbox + struct.pack(">Q", expiration) + body).digest()[:16]


# HPKE, RFC 9180, base mode: DHKEM(X25519, HKDF-SHA256) 0x20, HKDF-SHA256 1, ChaCha20-Poly1305 3

KEM = b"KEM" + struct.pack(">H", 0x20)
SUITE = b"HPKE" + struct.pack(">HHH", 0x20, 1, 3)


def extract(salt, suite, name, secret):
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + name + secret, "sha256")


def expand(key, suite, name, info, length):
    info = struct.pack(">H", length) + b"HPKE-v1" + suite + name + info
    return hmac.digest(key, info + b"\x01", "sha256")[:length]


def raw(key):
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def seal(plaintext, recipient, info, ephemeral):
    encapsulated = raw(ephemeral.public_key())
    shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(recipient))
    secret = extract(b"", KEM, b"eae_prk", shared)
    secret = expand(secret, KEM, b"shared_secret", encapsulated + recipient, 32)
    context = b"\x00" + extract(b"", SUITE, b"psk_id_hash", b"") + extract(b"", SUITE, b"info_hash", info)
    secret = extract(secret, SUITE, b"secret", b"")
    key = expand(secret, SUITE, b"key", context, 32)
    nonce = expand(secret, SUITE, b"base_nonce", context, 12)
    return encapsulated + ChaCha20Poly1305(key).encrypt(nonce, plaintext, b"")


def main():
    mailbox = mailbox_id(NETWORK, OWNER)
    mail = mail_id(mailbox, EXPIRATION, BODY)
    # The key that a holder derives from its secret of 32 bytes 7, so that a test has the same one.
    secret = hmac.digest(bytes([7]) * 32, label("runar/mailbox-key/v1") + NETWORK, "sha256")
    holder_key = X25519PrivateKey.from_private_bytes(secret)
    ephemeral = X25519PrivateKey.from_private_bytes(bytes([9]) * 32)
    public = raw(holder_key.public_key())
    timed = struct.pack(">Q", EXPIRATION) + BODY
    deposit = RECEIPT + mailbox + timed
    sealed = seal(deposit, public, label("runar/mailbox-deposit/v1") + NETWORK + HOLDER, ephemeral)
    request = struct.pack(">I", 77)
    messages = {
        "key": bytes([1]) + public,
        "deliver": bytes([2]) + timed,
        "deposit": bytes([3]) + request + deposit,
        "relay": bytes([4]) + request + HOLDER + sealed,
        "relayed": bytes([5]) + request + sealed,
        "stored": bytes([6]) + request + bytes([0]) + RECEIPT,
        "mailbox full": bytes([6]) + request + bytes([1]) + bytes(16),
        "relay full": bytes([6]) + request + bytes([8]) + bytes(16),
        "holder unanswered": bytes([6]) + request + bytes([9]) + bytes(16),
        "notice": bytes([7]),
        "collect": bytes([8]),
        "mail": bytes([9]) + timed,
        "received": bytes([10, 0]) + struct.pack(">H", 1) + mail,
        "refused": bytes([10, 1]) + struct.pack(">H", 2) + mail + bytes(16),
    }
    malformed = {
        "empty": b"",
        "unknown kind": bytes([11]),
        "a key of small order": bytes([1]) + bytes(32),
        "a key that is too long": bytes([1]) + public + b"\0",
        "a mail without a body": bytes([9]) + struct.pack(">Q", EXPIRATION),
        "a deposit without a body": bytes([3]) + request + RECEIPT + mailbox + struct.pack(">Q", EXPIRATION),
        "an unknown status": bytes([6]) + request + bytes([10]) + bytes(16),
        "an unknown answer": bytes([10, 2]) + struct.pack(">H", 0),
        "a notice with a byte too many": bytes([7, 0]),
        "an id that ends early": bytes([10, 0]) + struct.pack(">H", 1) + mail[:-1],
    }
    vectors = {
        "network": NETWORK.hex(),
        "owner": OWNER.hex(),
        "holder": HOLDER.hex(),
        "expiration": EXPIRATION,
        "body": BODY.hex(),
        "receipt": RECEIPT.hex(),
        "mailboxId": mailbox.hex(),
        "mailId": mail.hex(),
        "messages": {name: value.hex() for name, value in messages.items()},
        "malformed": {name: value.hex() for name, value in malformed.items()},
    }
    (HERE / "vectors.json").write_text(json.dumps(vectors, indent=2) + "\n")


if __name__ == "__main__":
    main()
