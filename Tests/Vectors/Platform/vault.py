#!/usr/bin/env python3
"""Reads vaults of version 1 as docs/spec/vault.md describes them, without any of this package's code.

    vault.py                          checks the vectors in this directory, bit by bit
    vault.py open FILE                asks for the passphrase and lists what a vault holds, without the keys
    vault.py open FILE --key-file K   the same with a key file
    vault.py write                    makes the vectors anew (the released ones never change)

It needs the package `cryptography` (PyPI or Debian's python3-cryptography).
"""

import getpass
import hashlib
import hmac
import json
import pathlib
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

HERE = pathlib.Path(__file__).parent
MAGIC = b"RUNARVLT"
HEADER = struct.Struct(">8sHH4B32s16s12sI8s")
STATES = ["whenUnlocked", "whenUnlockedThisDeviceOnly", "afterFirstUnlock", "afterFirstUnlockThisDeviceOnly"]


def expand(root, salt, label, length):
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=label).derive(root)


def derive(root, salt):
    return expand(root, salt, b"runar/vault/v1/body", 32), expand(root, salt, b"runar/vault/v1/check", 16)


def root_of(secret, derivation, salt):
    if derivation["kind"] == "scrypt":
        return Scrypt(salt=salt, length=32, n=1 << derivation["log2Rounds"], r=8, p=1).derive(secret)
    return bytes.fromhex(secret.decode("ascii").rstrip("\n"))


def encode_body(entries):
    body = struct.pack(">H", len(entries))
    for entry in sorted(entries, key=lambda entry: entry["id"].encode()):
        name, key = entry["id"].encode(), bytes.fromhex(entry["key"])
        attributes = [(int(kind), bytes.fromhex(value)) for kind, value in entry.get("others", {}).items()]
        if entry.get("acceptsPassword"):
            attributes.append((0x7F, b""))
        attributes.append((0x81, bytes([STATES.index(entry["accessibleWhen"])])))
        if entry["requireBiometric"]:
            attributes.append((0x82, b""))
        if entry.get("accessGroup"):
            attributes.append((0x83, entry["accessGroup"].encode()))
        body += struct.pack(">B", len(name)) + name + struct.pack(">H", len(key)) + key
        body += struct.pack(">B", len(attributes))
        for kind, value in sorted(attributes):
            body += struct.pack(">BH", kind, len(value)) + value
    return body


def decode_body(body):
    position = 0

    def take(count):
        nonlocal position
        if position + count > len(body):
            raise ValueError("the body ends early")
        position += count
        return body[position - count : position]

    entries = []
    for _ in range(int.from_bytes(take(2), "big")):
        entry = {"id": take(take(1)[0]).decode("ascii")}
        entry["key"] = take(int.from_bytes(take(2), "big")).hex()
        entry["requireBiometric"] = False
        for _ in range(take(1)[0]):
            kind = take(1)[0]
            value = take(int.from_bytes(take(2), "big"))
            if kind == 0x7F:
                entry["acceptsPassword"] = True
            elif kind == 0x81:
                entry["accessibleWhen"] = STATES[value[0]]
            elif kind == 0x82:
                entry["requireBiometric"] = True
            elif kind == 0x83:
                entry["accessGroup"] = value.decode()
            elif kind >= 0x80:
                raise ValueError(f"unknown critical attribute {kind}")
            else:
                entry.setdefault("others", {})[str(kind)] = value.hex()
        entries.append(entry)
    if position != len(body):
        raise ValueError("bytes after the last key")
    return entries


def encode(vector, secret):
    salt, nonce = bytes.fromhex(vector["salt"]), bytes.fromhex(vector["nonce"])
    root = root_of(secret, vector["derivation"], salt)
    key, check = derive(root, salt)
    body = encode_body(vector["entries"])
    kind = vector["derivation"]
    fields = (1, kind["log2Rounds"], 8, 1) if kind["kind"] == "scrypt" else (2, 0, 0, 0)
    header = HEADER.pack(MAGIC, 1, HEADER.size, *fields, salt, check, nonce, len(body) + 16, bytes(8))[:-8]
    header += hashlib.sha256(header).digest()[:8]
    return header + AESGCM(key).encrypt(nonce, body, header), root, key, check, body


def decode(file, secret):
    magic, version, size, kind, log2_rounds, r, p, salt, check, nonce, count, checksum = HEADER.unpack_from(file)
    header = file[: HEADER.size]
    assert (magic, version, size) == (MAGIC, 1, HEADER.size), "no vault of version 1"
    assert hashlib.sha256(header[:-8]).digest()[:8] == checksum, "the header is damaged"
    assert count == len(file) - HEADER.size, "the file is incomplete"
    if kind == 1:
        assert 14 <= log2_rounds <= 20 and (r, p) == (8, 1), "parameters out of bounds"
        derivation = {"kind": "scrypt", "log2Rounds": log2_rounds}
    else:
        assert (kind, log2_rounds, r, p) == (2, 0, 0, 0), "unknown key derivation"
        derivation = {"kind": "keyFile"}
    key, expected = derive(root_of(secret, derivation, salt), salt)
    assert hmac.compare_digest(check, expected), "wrong passphrase or key file"
    try:
        body = AESGCM(key).decrypt(nonce, file[HEADER.size :], header)
    except InvalidTag:
        raise AssertionError("the body is damaged") from None
    return derivation, salt, nonce, body


def check():
    vectors = json.loads((HERE / "vault-1.json").read_text())
    for vector in vectors:
        secret, file = vector["secret"].encode(), (HERE / vector["file"]).read_bytes()
        derivation, salt, nonce, body = decode(file, secret)
        again, root, key, check, encoded = encode(vector, secret)
        assert derivation == vector["derivation"] and salt.hex() == vector["salt"] and nonce.hex() == vector["nonce"]
        assert decode_body(body) == vector["entries"], "the entries differ"
        assert again == file and encoded == body, "the encoding differs"
        assert [root.hex(), key.hex(), check.hex(), body.hex()] == [
            vector["root"], vector["bodyKey"], vector["keyCheck"], vector["body"],
        ], "a step between differs"
        print(f"{vector['file']}: {len(file)} bytes, {len(vector['entries'])} keys, as described")


def write():
    entries = [
        {
            "id": "network/0",
            "key": hashlib.sha256(b"network key").hexdigest(),
            "requireBiometric": False,
            "others": {"5": "010203"},
            "accessibleWhen": "afterFirstUnlock",
            "accessGroup": "group.example.runar",
        },
        {
            "id": "peer",
            "key": hashlib.sha256(b"peer key").hexdigest(),
            "requireBiometric": False,
            "accessibleWhen": "whenUnlockedThisDeviceOnly",
        },
        {
            "id": "root",
            "key": hashlib.sha256(b"root key").hexdigest(),
            "requireBiometric": True,
            "accessibleWhen": "whenUnlocked",
        },
    ]
    scrypt, key_file = {"kind": "scrypt", "log2Rounds": 17}, {"kind": "keyFile"}
    words = "correct horse battery staple"
    digits = hashlib.sha256(b"key file").hexdigest() + "\n"
    vectors = []
    for name, derivation, secret, content in [
        ("vault-1-passphrase.vault", scrypt, words, entries),
        ("vault-1-key-file.vault", key_file, digits, entries),
        ("vault-1-empty.vault", key_file, digits, []),
    ]:
        seed = hashlib.sha256(name.encode())
        vector = {
            "file": name,
            "derivation": derivation,
            "secret": secret,
            "salt": seed.hexdigest(),
            "nonce": hashlib.sha256(seed.digest()).hexdigest()[:24],
        }
        vector["entries"] = decode_body(encode_body(content))
        file, root, key, check, body = encode(vector, secret.encode())
        vector.update(root=root.hex(), bodyKey=key.hex(), keyCheck=check.hex(), body=body.hex())
        (HERE / name).write_bytes(file)
        vectors.append(vector)
    (HERE / "vault-1.json").write_text(json.dumps(vectors, indent=2) + "\n")


def show(arguments):
    if "--key-file" in arguments:
        secret = pathlib.Path(arguments[arguments.index("--key-file") + 1]).read_bytes()
    else:
        secret = getpass.getpass("Passphrase: ").encode()
    for entry in decode_body(decode(pathlib.Path(arguments[0]).read_bytes(), secret)[3]):
        print(f"{entry['id']}: {len(entry['key']) // 2} bytes, {entry['accessibleWhen']}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["open"]:
        show(sys.argv[2:])
    elif sys.argv[1:] == ["write"]:
        write()
    else:
        check()
