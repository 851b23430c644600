"""Writes `matrix.json` beside it: NanoTDFs made by another implementation than ours.

ECDH, HKDF, ECDSA and AES come from `cryptography`, the layout of docs/spec/nanotdf.md is put together by hand, and so is
Galois/Counter Mode, because the dialects have nonces of 3 bytes and shortened tags. Nothing here shares a line of code
with the Swift sources. Each file has other keys; what is drawn comes from a seed.

    python3 -m venv .venv && .venv/bin/pip install 'cryptography>=47'
    .venv/bin/python Tests/Vectors/NanoTDF/generate.py
"""

import hashlib
import json
import pathlib
import random

from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

HERE = pathlib.Path(__file__).parent
RANDOM = random.Random(12)
CURVES = [ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1()]
TAGS = [8, 12, 13, 14, 15, 16]
DIALECTS = {
    "sdk": lambda iv: bytes(9) + iv,
    "specification": lambda iv: iv,
    "kit": lambda iv: iv + bytes(9),
}


def private_key(curve):
    bits = curve.key_size
    return ec.derive_private_key(RANDOM.getrandbits(bits - 1) | 1, curve)


def width(curve):
    return (curve.key_size + 7) // 8


def point(key):
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)


def sign(key, message):
    r, s = utils.decode_dss_signature(key.sign(message, ec.ECDSA(SHA256())))
    size = width(key.curve)
    return r.to_bytes(size, "big") + s.to_bytes(size, "big")


def multiply(x, y):
    product = 0
    for bit in range(127, -1, -1):
        if x >> bit & 1:
            product ^= y
        y = y >> 1 ^ (0xE1 << 120 if y & 1 else 0)
    return product


def ghash(key, data):
    state = 0
    for start in range(0, len(data), 16):
        state = multiply(state ^ int.from_bytes(data[start : start + 16], "big"), key)
    return state.to_bytes(16, "big")


def padded(data):
    return data + bytes(-len(data) % 16)


def lengths(first, second):
    return (first * 8).to_bytes(8, "big") + (second * 8).to_bytes(8, "big")


def gcm(key, nonce, plaintext, associated=b""):
    encrypt = lambda block: Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)
    hash_key = int.from_bytes(encrypt(bytes(16)), "big")
    counter = nonce + b"\0\0\0\1" if len(nonce) == 12 else ghash(hash_key, padded(nonce) + lengths(0, len(nonce)))
    number = int.from_bytes(counter[12:], "big")
    stream = b"".join(
        encrypt(counter[:12] + ((number + 1 + index) % 2**32).to_bytes(4, "big"))
        for index in range((len(plaintext) + 15) // 16)
    )
    ciphertext = bytes(a ^ b for a, b in zip(plaintext, stream))
    hashed = ghash(hash_key, padded(associated) + padded(ciphertext) + lengths(len(associated), len(ciphertext)))
    return ciphertext, bytes(a ^ b for a, b in zip(hashed, encrypt(counter)))


def locator(protocol, body, identifier=b""):
    kind = {0: 0, 2: 1, 8: 2, 32: 3}[len(identifier)]
    return bytes([kind << 4 | protocol, len(body)]) + body + identifier


def content(policy):
    return len(policy).to_bytes(2, "big") + policy


def make(curve, cipher, policy_type, binding, creator, dialect, identifier_length, protocol=1):
    recipient, ephemeral = private_key(CURVES[curve]), private_key(CURVES[curve])
    secret = ephemeral.exchange(ec.ECDH(), recipient.public_key())
    salt = hashlib.sha256(b"L1L").digest()
    key = HKDF(SHA256(), 32, salt, b"").derive(secret)
    tag = TAGS[cipher]
    nonce = DIALECTS[dialect]

    policy = b'{"uuid":"%032x"}' % RANDOM.getrandbits(128)
    if policy_type == 0:
        policy = locator(1, b"kas.example.com/policy/%04x" % RANDOM.getrandbits(16))
        body = bound = policy
    elif policy_type == 1:
        bound, body = policy, content(policy)
    else:
        encrypted, full = gcm(key, nonce(bytes(3)), policy)
        bound, body = encrypted + full[:tag], content(encrypted + full[:tag])
    if binding == "ecdsa":
        bind = sign(ephemeral, bound)
    elif binding == "gmac":
        bind = gcm(key, bytes(12), b"", content(bound))[1][:8]
    else:
        bind = hashlib.sha256(bound).digest()[-8:]

    signer = None if creator is None else private_key(CURVES[creator])
    header = b"L1L" + locator(protocol, b"kas.example.com", RANDOM.randbytes(identifier_length))
    header += bytes([(0x80 if binding == "ecdsa" else 0) | curve])
    header += bytes([(0 if signer is None else 0x80 | creator << 4) | cipher])
    header += bytes([policy_type]) + body + bind + point(ephemeral)

    plaintext = RANDOM.randbytes(RANDOM.choice([0, 1, 15, 16, 17, 47]))
    iv = RANDOM.randrange(1, 2**24).to_bytes(3, "big")
    ciphertext, full = gcm(key, nonce(iv), plaintext)
    payload = iv + ciphertext + full[:tag]
    file = header + len(payload).to_bytes(3, "big") + payload
    if signer is not None:
        file += point(signer) + sign(signer, file)
    pem = recipient.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return {
        "id": f"curve{curve} cipher{cipher} policy{policy_type} {binding} creator{creator} {dialect} id{identifier_length}",
        "curve": curve,
        "cipher": cipher,
        "dialect": dialect,
        "binding": binding,
        "policy_type": policy_type,
        "policy": None if policy_type == 0 else policy.hex(),
        "creator": None if signer is None else point(signer).hex(),
        "recipient_private": recipient.private_numbers().private_value.to_bytes(width(CURVES[curve]), "big").hex(),
        "recipient_pem": pem,
        "plaintext": plaintext.hex(),
        "nanotdf": file.hex(),
    }


def cases():
    for dialect in DIALECTS:
        for curve in range(3):
            for policy_type in range(3):
                for binding in ["ecdsa", "hash"]:
                    cipher = RANDOM.randrange(6)
                    creator = RANDOM.choice([None, 0, 1, 2])
                    identifier = RANDOM.choice([0, 2, 8, 32])
                    yield make(curve, cipher, policy_type, binding, creator, dialect, identifier)
    for cipher in range(6):
        yield make(0, cipher, 1, "gmac", None, "kit", 32)
        yield make(0, cipher, 2, "ecdsa", 0, "sdk", 2, protocol=15)


if __name__ == "__main__":
    made = list(cases())
    (HERE / "matrix.json").write_text(json.dumps(made, indent=1) + "\n")
    print(f"{len(made)} files")
