#!/usr/bin/env python3
"""Writes issuer-keys.json: fixed keys for tests, in the stored form of TokenPrivateKey, made by an independent library.

Needs the package cryptography. A run replaces the keys; tests do not depend on their values.
"""
import base64
import hashlib
import json
import os
import textwrap

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

ALGORITHM = bytes.fromhex(
    "303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108300b0609608648"
    "016503040202a203020130"
)


def element(tag, content):
    if len(content) < 128:
        return bytes([tag, len(content)]) + content
    size = (len(content).bit_length() + 7) // 8
    return bytes([tag, 0x80 | size]) + len(content).to_bytes(size, "big") + content


def key():
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pkcs1 = private.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = private.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.PKCS1)
    general = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    der = element(0x30, element(2, b"\0") + ALGORITHM + element(4, pkcs1))
    lines = "\n".join(textwrap.wrap(base64.b64encode(der).decode(), 64))
    spki = element(0x30, ALGORITHM + element(3, b"\0" + public))
    return {
        "private_key": f"-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----\n",
        "general_use_key": general.decode(),
        "subject_public_key_info": spki.hex(),
        "key_id": hashlib.sha256(spki).hexdigest(),
    }


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "issuer-keys.json")
    with open(path, "w") as file:
        json.dump({"source": "generate_keys.py", "keys": [key() for _ in range(3)]}, file, indent=1)
        file.write("\n")


main()
