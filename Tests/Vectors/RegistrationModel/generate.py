"""Writes tokens.json, recipient.pem and did-proof.json, without a line of the Swift sources.

Tokens are NanoTDFs that `cryptography` seals with fixed keys: the valid ones, and for each rule one that the issuer has
signed and that breaks this rule alone. New ephemeral keys make each run differ; the stored files are kept.

token.txt is a token with the same claims, which IdentityTokenSealer sealed in November 2026: each release must open it.

handles-valid.txt and handles-invalid.txt are the interoperability vectors of AT Protocol (bluesky-social/atproto).

    python3 -m venv .venv && .venv/bin/pip install 'cryptography>=47' base58
    .venv/bin/python Tests/Vectors/RegistrationModel/generate.py
"""

import base64
import hashlib
import json
import pathlib
import struct
import uuid

import base58
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

NOW = 1_800_000_000
ISSUER = "https://identity.arkavo.net"
AUDIENCE = "https://kas.arkavo.net"
USER = uuid.UUID("0b9f3c5e-7a41-4f0e-9d52-6c1a8e2b7f30")
TOKEN = uuid.UUID("5d1c2b3a-4f5e-4d6c-8b7a-9e0f1a2b3c4d")
SESSION = uuid.UUID("a1b2c3d4-e5f6-4789-8abc-def012345678")


def key(name):
    return ec.derive_private_key(int.from_bytes(hashlib.sha256(name.encode()).digest(), "big"), ec.SECP256R1())


def compressed(private):
    return private.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)


def scalar(private):
    return private.private_numbers().private_value.to_bytes(32, "big")


def sign(private, message):
    r, s = utils.decode_dss_signature(private.sign(message, ec.ECDSA(SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def did(private):
    return "did:key:z" + base58.b58encode(bytes.fromhex("8024") + compressed(private)).decode()


SIGNING, PREVIOUS, RECIPIENT, OTHER, OWNER = map(key, ("signing", "previous", "recipient", "other", "owner"))
DEFAULTS = {
    "user": USER.bytes, "flags": 0x43, "scopes": ["openid", "profile"], "attributes": [(1, 2), (9, 0xFFFFFFFF)],
    "jti": TOKEN.bytes, "iat": NOW, "exp": NOW + 900, "aud": AUDIENCE.encode(), "session": SESSION.bytes,
    "device": "Alice’s phone".encode(), "did": did(OWNER).encode(),
}


def optional(value, length):
    if value is None:
        return b"\0"
    return b"\1" + (struct.pack(length, len(value)) if length else b"") + value


def claims(**changes):
    value = DEFAULTS | changes
    data = value["user"] + struct.pack("<Q", value["flags"]) + struct.pack("<H", len(value["scopes"]))
    for scope in value["scopes"]:
        data += struct.pack("<B", len(scope.encode())) + scope.encode()
    data += struct.pack("<H", len(value["attributes"]))
    for kind, number in value["attributes"]:
        data += struct.pack("<BI", kind, number)
    data += optional(value["jti"], "") + struct.pack("<qq", value["iat"], value["exp"])
    data += struct.pack("<H", len(value["aud"])) + value["aud"]
    return data + optional(value["session"], "") + optional(value["device"], "<B") + optional(value["did"], "<H")


def policy(token=TOKEN, issuer=ISSUER, body='{"dataAttributes":[],"dissem":[]}', extra=""):
    return f'{{"uuid":"{token}","body":{body},"iss":"{issuer}"{extra}}}'.encode()


def seal(payload, content=None, *, creator=SIGNING, recipient=RECIPIENT, host="kas.arkavo.net", kind=2, tag=5,
         ecdsa=True, scheme=1, damage=None, nonce=lambda iv: bytes(9) + iv):
    content = policy() if content is None else content
    ephemeral = ec.generate_private_key(ec.SECP256R1())
    secret = ephemeral.exchange(ec.ECDH(), recipient.public_key())
    data_key = HKDF(SHA256(), 32, hashlib.sha256(b"L1L").digest(), b"").derive(secret)
    length = {5: 16, 1: 12}[tag]

    def encrypt(iv, plain):
        box = AESGCM(data_key).encrypt(nonce(iv), plain, None)
        if length == 16:
            return box
        # A shorter tag is the beginning of the longer one.
        return box[:len(plain)] + box[len(plain):len(plain) + length]

    if kind == 2:
        content = encrypt(bytes(3), content)
    header = b"L1L" + bytes([scheme, len(host)]) + host.encode() + bytes([0x80 if ecdsa else 0])
    header += bytes([(0x80 if creator else 0) | tag])
    header += bytes([kind])
    if kind == 0:
        bound = bytes([1, 4]) + b"host"
        header += bound
    else:
        bound = content
        header += struct.pack(">H", len(content)) + content
    header += sign(ephemeral, bound) if ecdsa else hashlib.sha256(bound).digest()[-8:]
    header += compressed(ephemeral)
    iv = bytes.fromhex("0a0b0c")
    box = encrypt(iv, payload)
    data = header + (3 + len(box)).to_bytes(3, "big") + iv + box
    if creator:
        signature = sign(creator, data)
        if damage:
            signature = signature[:damage] + bytes([signature[damage] ^ 1]) + signature[damage + 1:]
        data += compressed(creator) + signature
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def tokens():
    valid, none = claims(), {"session": None, "device": None, "did": None}
    alone = claims(**none, scopes=[], attributes=[], flags=0)
    restricted = '{"dataAttributes":["https://example.org/attr/a/value/b"],"dissem":[]}'
    widest = claims(
        scopes=["s" * 62 + "%02d" % index for index in range(32)], attributes=[(index, index) for index in range(32)],
        device=b"d" * 255,
    )
    return [
        ("whole", "valid", seal(valid)),
        ("no optional claim", "valid", seal(alone)),
        ("all bits of flags", "valid", seal(claims(flags=2**64 - 1))),
        ("longest lists", "valid", seal(widest)),
        ("previous key", "valid", seal(valid, creator=PREVIOUS)),
        ("at the end of the grace", "valid", seal(claims(iat=NOW - 960, exp=NOW - 60))),
        ("clock a minute ahead", "valid", seal(claims(iat=NOW + 60))),
        ("nonce of OpenTDFKit", "valid", seal(valid, nonce=lambda iv: iv + bytes(9))),
        ("expired", "expired", seal(claims(iat=NOW - 961, exp=NOW - 61))),
        ("clock more than a minute ahead", "notYetValid", seal(claims(iat=NOW + 61))),
        ("no signature", "invalidSignature", seal(valid, creator=None)),
        ("another creator", "invalidSignature", seal(valid, creator=OTHER)),
        ("damaged signature", "invalidSignature", seal(valid, damage=5)),
        ("another recipient", "decryptionFailed", seal(valid, recipient=OTHER)),
        ("another audience in the claims", "invalidAudience", seal(claims(aud=b"https://kas.example.org"))),
        ("audience with a slash", "invalidAudience", seal(claims(aud=b"https://kas.arkavo.net/"))),
        ("another host of key access", "invalidAudience", seal(valid, host="kas.example.org")),
        ("another scheme of key access", "invalidAudience", seal(valid, scheme=0)),
        ("another issuer", "wrongIssuer", seal(valid, policy(issuer="https://identity.example.org"))),
        ("claims in clear as policy", "policyViolation", seal(valid, valid, kind=1)),
        ("policy in clear", "policyViolation", seal(valid, kind=1)),
        ("remote policy", "policyViolation", seal(valid, kind=0)),
        ("id of another token", "policyViolation", seal(valid, policy(token=SESSION))),
        ("restrictions", "policyViolation", seal(valid, policy(body=restricted))),
        ("restricted receivers", "policyViolation", seal(valid, policy(body='{"dataAttributes":[],"dissem":["a"]}'))),
        ("empty body", "policyViolation", seal(valid, policy(body="{}"))),
        ("issuer twice", "policyViolation", seal(valid, policy(extra=',"iss":"https://identity.example.org"'))),
        ("another field", "policyViolation", seal(valid, policy(extra=',"exp":1'))),
        ("two forms of one name", "policyViolation", seal(valid, '{"\u00e9":1,"e\u0301":2,"uuid":""}'.encode())),
        ("no JSON", "policyViolation", seal(valid, b"policy")),
        ("short tag", "invalidFormat", seal(valid, tag=1)),
        ("binding without a key", "invalidFormat", seal(valid, ecdsa=False)),
        ("empty payload", "invalidFormat", seal(b"")),
        ("bytes after the claims", "invalidFormat", seal(valid + b"\0")),
        ("no id", "invalidFormat", seal(claims(jti=None))),
        ("presence of 2", "invalidFormat", seal(alone[:-1] + b"\2")),
        ("another version of UUID", "invalidFormat", seal(claims(user=bytes(16)))),
        ("33 scopes", "invalidFormat", seal(claims(scopes=[str(index) for index in range(33)]))),
        ("scope of 65 bytes", "invalidFormat", seal(claims(scopes=["s" * 65]))),
        ("empty scope", "invalidFormat", seal(claims(scopes=[""]))),
        ("scope with a space", "invalidFormat", seal(claims(scopes=["openid profile"]))),
        ("scope twice", "invalidFormat", seal(claims(scopes=["openid", "openid"]))),
        ("33 attributes", "invalidFormat", seal(claims(attributes=[(index, 0) for index in range(33)]))),
        ("attribute twice", "invalidFormat", seal(claims(attributes=[(1, 2), (1, 3)]))),
        ("negative time", "invalidFormat", seal(claims(iat=-1))),
        ("end before the beginning", "invalidFormat", seal(claims(iat=NOW, exp=NOW - 1))),
        ("end after the year 9999", "invalidFormat", seal(claims(exp=253_402_300_800))),
        ("empty audience", "invalidFormat", seal(claims(aud=b""))),
        ("audience of 513 bytes", "invalidFormat", seal(claims(aud=b"https://kas.arkavo.net/" + b"a" * 490))),
        ("empty device", "invalidFormat", seal(claims(device=b""))),
        ("device with an escape", "invalidFormat", seal(claims(device=b"\x1b[31m"))),
        ("device that is not UTF-8", "invalidFormat", seal(claims(device=b"\xff"))),
        ("Ed25519 key as DID", "invalidFormat",
         seal(claims(did=b"did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"))),
        ("padding", "invalidFormat", seal(valid) + "="),
        ("space", "invalidFormat", " " + seal(valid)),
        ("empty", "invalidFormat", ""),
        ("JWT", "invalidFormat", "eyJhbGciOiJFUzI1NiJ9.e30.c2ln"),
        ("cut", "invalidFormat", seal(valid)[:-4]),
    ]


def store(name, value):
    path = pathlib.Path(__file__).with_name(name)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(name)


def field(data):
    return struct.pack(">I", len(data)) + data


def did_proof():
    challenge, rp_id, handle = bytes(range(32)), "identity.arkavo.net", "alice"
    label = b"runar/did-proof/v1"
    signed = bytes([len(label)]) + label
    signed += field(challenge) + field(rp_id.encode()) + field(handle.encode()) + field(did(OWNER).encode())
    store("did-proof.json", {
        "private": scalar(OWNER).hex(), "did": did(OWNER), "challenge": challenge.hex(), "rp_id": rp_id,
        "handle": handle, "signed": signed.hex(),
        "proof": base64.urlsafe_b64encode(sign(OWNER, signed)).decode().rstrip("="),
    })


def main():
    store("tokens.json", {
        "now": NOW, "issuer": ISSUER, "audience": AUDIENCE, "signing": scalar(SIGNING).hex(),
        "previous": compressed(PREVIOUS).hex(), "recipient": scalar(RECIPIENT).hex(),
        "claims": {
            "encoded": claims().hex(), "user": str(USER), "flags": DEFAULTS["flags"], "scopes": DEFAULTS["scopes"],
            "attributes": DEFAULTS["attributes"], "token": str(TOKEN), "issued": NOW, "expires": NOW + 900,
            "session": str(SESSION), "device": DEFAULTS["device"].decode(), "did": did(OWNER),
        },
        "tokens": [{"name": name, "result": result, "text": text} for name, result, text in tokens()],
    })
    pem = RECIPIENT.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    pathlib.Path(__file__).with_name("recipient.pem").write_bytes(pem)
    did_proof()


main()
