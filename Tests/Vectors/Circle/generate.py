"""Writes `vectors.json` beside it: ids, profile cards, thoughts, an envelope and a safety number, made by another
implementation than ours.

Ed25519, X25519, HKDF and HPKE come from `cryptography`, CBOR from `cbor2`; all layouts of docs/spec/circle.md are put together by hand.

    python3 -m venv .venv && .venv/bin/pip install 'cryptography>=47' cbor2
    .venv/bin/python Tests/Vectors/Circle/generate.py
"""

import hashlib
import json
import pathlib
import uuid

import cbor2
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HERE = pathlib.Path(__file__).parent
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
HOME = bytes([5]) * 32
SALT = bytes(range(16))
ISSUED = 1_800_000_000


def label(text):
    return bytes([len(text)]) + text.encode()


def sha256(data):
    return hashlib.sha256(data).digest()


def base58(data):
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = ALPHABET[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


def encode(fields):
    return cbor2.dumps(fields, canonical=True)


def raw(key):
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def version8(data):
    value = bytearray(sha256(data)[:16])
    value[6] = value[6] & 0x0F | 0x80
    value[8] = value[8] & 0x3F | 0x80
    return bytes(value)


def person_id(key):
    return version8(label("runar/person-id/v1") + key)


def card(key, fields):
    encoded = encode(fields)
    return key.sign(label("runar/profile-card/v1") + encoded) + encoded


PERSON = Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)


def device(number, person=PERSON, mail=None):
    key = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
    mail = mail or raw(X25519PrivateKey.from_private_bytes(bytes([number]) * 32))
    time = ISSUED.to_bytes(8, "big")
    return raw(key) + mail + time + key.sign(label("runar/card-device/v1") + raw(person) + mail + time)


DEVICES = sorted([device(number) for number in (3, 9)], key=lambda one: sha256(one[:32]))


def mail_key(device_key):
    """The key that a device derives from its own, as the other keys of docs/spec/identity.md."""
    secret = HKDF(SHA256(), 32, b"runar/key-derivation/v1", label("runar/mail-key/v1")).derive(device_key)
    return X25519PrivateKey.from_private_bytes(secret)


def envelope(letter, copy, recipient, key):
    plaintext = b"".join(len(block).to_bytes(4, "big") + block for block in (letter, copy))
    exponent = len(plaintext).bit_length() - 1
    mask = (1 << exponent - exponent.bit_length()) - 1
    padded = plaintext.ljust(max(1024, len(plaintext) + mask & ~mask), b"\0")
    suite = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)
    return suite.encrypt(padded, key.public_key(), info=label("runar/letter-envelope/v1") + recipient)


def safety_number(one, other):
    data = hashlib.sha512(label("runar/circle-safety-number/v1") + min(one, other) + max(one, other)).digest()
    groups = [int.from_bytes(data[n:n + 5], "big") % 100_000 for n in range(0, 60, 5)]
    return " ".join(f"{group:05}" for group in groups)


def main():
    key, friend = (Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32) for n in (1, 2))
    small = {
        "version": 1, "key": raw(key), "name": "Ada", "interests": "", "location": "", "hasHighEncryption": False,
        "hasHighIdentityAssurance": False, "devices": [device(3)], "homes": [], "issued": ISSUED,
    }
    full = small | {
        "blurb": "Counts.\nAnd weaves.", "interests": "engines", "location": "London", "hasHighEncryption": True,
        "hasHighIdentityAssurance": True, "did": "did:key:z6Mk", "handle": "ada.example", "devices": DEVICES,
        "homes": [HOME],
    }
    creator, stream = sha256(person_id(raw(key))), sha256(uuid.UUID(int=7).bytes)
    say = {
        "version": 1, "creatorPublicID": creator, "streamPublicID": stream, "mediaType": "say",
        "createdAt": 1_800_000_000_123, "content": "Grüße".encode(), "salt": SALT,
    }
    image = say | {
        "mediaType": "image", "content": bytes(range(256)), "contentType": "image/png", "fileName": "engine.png",
    }
    thoughts = {"say": encode(say), "image": encode(image)}
    cards = {"small": card(key, small), "full": card(key, full)}
    forged = bytearray(cards["small"])
    forged[-1] ^= 1
    friend_card = card(friend, small | {"key": raw(friend), "name": "Ben", "devices": [device(9, friend)]})
    group = {
        "version": 1, "id": uuid.UUID(int=7).bytes, "creatorPublicID": creator, "name": "Friends", "posting": "members",
        "isInnerCircle": False, "revision": 2, "members": [cards["small"]], "invited": [friend_card],
    }
    inner = group | {
        "id": version8(label("runar/default-stream/v1") + creator + b"inner-circle"), "name": "Inner circle", "blurb": "Of old.",
        "isInnerCircle": True, "sourcePublicID": stream, "members": [], "invited": [],
    }
    streams = {"group": group, "inner": inner}
    vectors = {
        "uuid": "00000000-0000-4000-8000-000000000000",
        "uuidPublicID": sha256(uuid.UUID("00000000-0000-4000-8000-000000000000").bytes).hex(),
        "uuidPublicIDText": base58(sha256(uuid.UUID("00000000-0000-4000-8000-000000000000").bytes)),
        "privateKey": (bytes([1]) * 32).hex(),
        "friendKey": raw(friend).hex(),
        "personID": str(uuid.UUID(bytes=person_id(raw(key)))),
        "personPublicID": creator.hex(),
        "cards": {name: value.hex() for name, value in cards.items()},
        "refusedCards": {
            "a signature of other bytes": bytes(forged).hex(),
            "another version": card(key, small | {"version": 2}).hex(),
            "another key": card(friend, small).hex(),
            "another field": card(key, small | {"rank": 1}).hex(),
            "no name": card(key, small | {"name": ""}).hex(),
            "a name that does not show": card(key, small | {"name": "A\u202eB"}).hex(),
            "a name that is too long": card(key, small | {"name": "x" * 129}).hex(),
            "no device": card(key, small | {"devices": []}).hex(),
            "devices in another order": card(key, small | {"devices": DEVICES[::-1]}).hex(),
            "one device twice": card(key, small | {"devices": [DEVICES[0]] * 2}).hex(),
            "seventeen devices": card(key, small | {"devices": [device(n) for n in range(1, 18)]}).hex(),
            "five homes": card(key, small | {"homes": [HOME] * 5}).hex(),
            "a time after the year 9999": card(key, small | {"issued": 253_402_300_800}).hex(),
            "a device of 135 bytes": card(key, small | {"devices": [DEVICES[0][:-1]]}).hex(),
            "a device of another person": card(key, small | {"devices": [device(3, friend)]}).hex(),
            "a mail key of small order": card(key, small | {"devices": [device(3, mail=bytes(32))]}).hex(),
            "an end that is missing": cards["small"][:-1].hex(),
            "nothing": "",
        },
        "thoughts": {name: value.hex() for name, value in thoughts.items()},
        "thoughtPublicIDs": {
            name: sha256(label("runar/thought/v1") + value).hex() for name, value in thoughts.items()
        },
        "refusedThoughts": {
            "another version": encode(say | {"version": 2}).hex(),
            "another field": encode(say | {"rating": 1}).hex(),
            "an unknown media type": encode(say | {"mediaType": "smell"}).hex(),
            "a text that is no UTF-8": encode(say | {"content": b"\xff"}).hex(),
            "a short salt": encode(say | {"salt": SALT[:-1]}).hex(),
            "a short id": encode(say | {"streamPublicID": stream[:-1]}).hex(),
            "a time after the year 9999": encode(say | {"createdAt": 253_402_300_800_000}).hex(),
            "a file name that does not show": encode(image | {"fileName": "a\nb"}).hex(),
            "keys in another order": cbor2.dumps(dict(reversed(say.items()))).hex(),
            "no map": encode([1]).hex(),
            "nothing": "",
        },
        "friendCard": friend_card.hex(),
        "streams": {name: encode(value).hex() for name, value in streams.items()},
        "refusedStreams": {
            "another version": encode(group | {"version": 2}).hex(),
            "another field": encode(group | {"rank": 1}).hex(),
            "a short id": encode(group | {"id": bytes(15)}).hex(),
            "no name": encode(group | {"name": ""}).hex(),
            "an unknown rule": encode(group | {"posting": "nobody"}).hex(),
            "a member twice": encode(group | {"members": [cards["small"], cards["full"]]}).hex(),
            "an invited member": encode(group | {"invited": [cards["small"]]}).hex(),
            "a forged card": encode(group | {"members": [bytes(forged)]}).hex(),
            "too many members": encode(group | {"members": [cards["small"]] * 66}).hex(),
            "a revision above 2^63": encode(group | {"revision": 2**63}).hex(),
            "nothing": "",
        },
        "conversationID": str(uuid.UUID(bytes=version8(label("runar/conversation/v1") + b"".join(sorted([creator, stream]))))),
        "participation": encode({"stream": stream, "participation": "joined"}).hex(),
        "trust": encode({"card": cards["small"], "trust": "trusted", "changed": ISSUED}).hex(),
        "mailKey": raw(mail_key(bytes([4]) * 32)).hex(),
        "envelopes": [
            {
                "letter": letter.hex(), "copy": copy.hex(),
                "sealed": envelope(letter, copy, bytes([8]) * 32, mail_key(bytes([4]) * 32)).hex(),
            }
            for letter, copy in [(b"letter", b""), (bytes([7]) * 700, bytes([6]) * 2_000)]
        ],
        "safetyNumber": safety_number(raw(key), raw(friend)),
    }
    (HERE / "vectors.json").write_text(json.dumps(vectors, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
