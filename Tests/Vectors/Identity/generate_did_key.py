"""Writes did-key.json, from other implementations than ours.

The DIDs come from `didkit` (spruceid), the keys and signatures from `cryptography`, the wrong forms from `base58`. The
first DID is the example of the did:key specification (W3C Credentials Community Group), the first signature that of
RFC 6979, section A.2.5, whose s is the higher one.

    python3 -m venv .venv && .venv/bin/pip install didkit==0.3.3 cryptography base58
    .venv/bin/python Tests/Vectors/Identity/generate_did_key.py
"""

import base64
import hashlib
import json
import pathlib

import base58
import didkit
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
PRIME = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
EXAMPLE = "did:key:zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv"
CODEC = bytes.fromhex("8024")


def url64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def forms(public):
    return (
        public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint),
        public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint),
    )


def did(data):
    return "did:key:z" + base58.b58encode(data).decode()


def key_row(scalar):
    key = ec.derive_private_key(scalar, ec.SECP256R1())
    compressed, uncompressed = forms(key.public_key())
    jwk = {"kty": "EC", "crv": "P-256", "x": url64(uncompressed[1:33]), "y": url64(uncompressed[33:])}
    text = didkit.key_to_did("key", json.dumps(jwk))
    assert text == did(CODEC + compressed)
    return {
        "private": scalar.to_bytes(32, "big").hex(), "compressed": compressed.hex(), "x963": uncompressed.hex(),
        "did": text,
    }


def signature_row(row, message):
    key = ec.derive_private_key(int(row["private"], 16), ec.SECP256R1())
    der = key.sign(message, ec.ECDSA(SHA256(), deterministic_signing=True))
    r, s = decode_dss_signature(der)
    low, high = sorted([s, ORDER - s])
    raw = [r.to_bytes(32, "big") + value.to_bytes(32, "big") for value in (low, high)]
    return {
        "did": row["did"], "message": message.hex(), "low": raw[0].hex(), "high": raw[1].hex(),
        "der_low": encode_dss_signature(r, low).hex(), "der_high": encode_dss_signature(r, high).hex(),
    }


def x_off_the_curve():
    x = 1
    while pow(x**3 - 3 * x + B, (PRIME - 1) // 2, PRIME) == 1:
        x += 1
    return x.to_bytes(32, "big")


def main():
    example = base58.b58decode(EXAMPLE.removeprefix("did:key:z"))
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), example[2:])
    published = {"compressed": example[2:].hex(), "x963": forms(point)[1].hex(), "did": EXAMPLE}
    scalars = [0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721, 1, ORDER - 1]
    scalars += [int.from_bytes(hashlib.sha256(b"did:key %d" % index).digest(), "big") for index in range(5)]
    keys = [published] + [key_row(scalar) for scalar in scalars]

    signatures = [signature_row(keys[1], message) for message in (b"sample", b"test", b"")]
    assert signatures[0]["high"].endswith("f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8")
    signatures += [signature_row(key, b"a message of %d" % index) for index, key in enumerate(keys[4:])]

    compressed, uncompressed = bytes.fromhex(keys[4]["compressed"]), bytes.fromhex(keys[4]["x963"])
    secp256k1 = forms(ec.derive_private_key(7, ec.SECP256K1()).public_key())[0]
    p384 = forms(ec.derive_private_key(7, ec.SECP384R1()).public_key())[0]
    wrong = [
        ("ed25519", "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"),
        ("uncompressedPointWithoutCodec", did(uncompressed)),
        ("compressedPointWithoutCodec", did(compressed)),
        ("bigEndianCodec", did(bytes.fromhex("1200") + compressed)),
        ("bigEndianCodec", did(bytes.fromhex("1200") + uncompressed)),
        ("uncompressedPoint", did(CODEC + uncompressed)),
        ("wrongLength", did(CODEC + compressed[:-1])),
        ("wrongLength", did(CODEC + compressed + b"\0")),
        ("wrongLength", did(CODEC)),
        ("wrongLength", did(CODEC + uncompressed[1:])),
        ("otherCodec", did(bytes.fromhex("e701") + secp256k1)),
        ("otherCodec", did(bytes.fromhex("8124") + p384)),
        ("malformedCodec", did(bytes.fromhex("80a400") + compressed)),
        ("malformedCodec", did(b"\xff" * 35)),
        ("malformedCodec", "did:key:z"),
        ("notOnCurve", did(CODEC + b"\x02" + x_off_the_curve())),
        ("notOnCurve", did(CODEC + b"\x02" + b"\xff" * 32)),
        ("notOnCurve", did(CODEC + b"\x02" + PRIME.to_bytes(32, "big"))),
        ("notOnCurve", did(CODEC + b"\x04" + compressed[1:])),
        ("notOnCurve", did(CODEC + bytes(33))),
        ("notDIDKey", "did:web:example.org"),
        ("notDIDKey", keys[4]["did"].upper()),
        ("notDIDKey", " " + keys[4]["did"]),
        ("notDIDKey", keys[4]["did"].removeprefix("did:key:")),
        ("notDIDKey", ""),
        ("otherBase", "did:key:"),
        ("otherBase", "did:key:" + base58.b58encode(CODEC + compressed).decode()),
        ("otherBase", "did:key:u" + url64(CODEC + compressed)),
        ("otherBase", "did:key:f" + (CODEC + compressed).hex()),
        ("otherBase", "did:key:Z" + keys[4]["did"].removeprefix("did:key:z")),
        ("notBare", keys[4]["did"] + "#" + keys[4]["did"].removeprefix("did:key:")),
        ("notBare", keys[4]["did"] + "?versionId=1"),
        ("notBare", keys[4]["did"] + "/path"),
        ("invalidBase58", keys[4]["did"][:-1] + "0"),
        ("invalidBase58", keys[4]["did"] + "\n"),
        ("invalidBase58", keys[4]["did"] + "\u0301"),
        ("otherBase", "did:key:\u0301" + keys[4]["did"].removeprefix("did:key:")),
        ("tooLong", "did:key:z" + "1" * 248),
        ("tooLong", "x" * 257),
    ]
    rows = [{"error": error, "text": text} for error, text in wrong]
    path = pathlib.Path(__file__).with_name("did-key.json")
    value = {"keys": keys, "signatures": signatures, "wrong": rows}
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(path.name)


main()
