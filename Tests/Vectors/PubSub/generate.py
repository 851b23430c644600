"""Writes `events.json` beside it with another implementation than ours.

The file proves that our batches and messages are what docs/spec/events.md says, because nothing here shares a line of
code with the Swift sources: Ed25519 comes from `cryptography`, the layouts are put together by hand.

    python3 -m venv .venv && .venv/bin/pip install cryptography
    .venv/bin/python Tests/Vectors/PubSub/generate.py
"""

import hashlib
import json
import pathlib
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HERE = pathlib.Path(__file__).parent
NEVER = 2**64 - 1
NOW = 1_800_000_000


def label(text):
    return bytes([len(text)]) + text.encode()


def varint(number):
    if number < 64:
        return struct.pack(">B", number)
    if number < 16384:
        return struct.pack(">H", number | 0x4000)
    return struct.pack(">I", number | 0x8000_0000)


class Key:
    def __init__(self, byte):
        self.key = Ed25519PrivateKey.from_private_bytes(bytes([byte]) * 32)
        self.public = self.key.public_key().public_bytes_raw()
        self.peer_id = hashlib.sha256(self.public).digest()


network = Key(1)
publishers = [Key(2), Key(3)]
instances = [bytes(range(16)), b"\xff" * 16]


def batch(who, events, topic, first=1, published=NOW, expiration=None, tampered=False, stranger=False):
    end = NEVER if expiration is None else expiration
    publisher = publishers[who]
    owner = publishers[0] if stranger else network
    token = label("runar/access-token/v1") + publisher.peer_id + network.public + struct.pack(">Q", end)
    content = b"".join(varint(len(event)) + event for event in events)
    signed = (
        label("runar/event-batch/v1")
        + network.public
        + publisher.peer_id
        + instances[who]
        + struct.pack(">QIQH", first, len(events), published, len(topic.encode()))
        + topic.encode()
        + hashlib.sha256(content).digest()
    )
    signature = publisher.key.sign(signed)
    if tampered:
        signature = signature[:20] + bytes([signature[20] ^ 1]) + signature[21:]
    body = (
        publisher.public
        + instances[who]
        + struct.pack(">Q", end)
        + owner.key.sign(token)
        + struct.pack(">QIQH", first, len(events), published, len(topic.encode()))
        + topic.encode()
        + struct.pack(">I", len(content))
        + content
        + signature
    )
    return {
        "publisher": publisher.peer_id.hex(),
        "instance": instances[who].hex(),
        "topic": topic,
        "first": first,
        "published": published,
        "expiration": expiration,
        "events": [event.hex() for event in events],
        "signed": signed.hex(),
        "batch": body.hex(),
    }


good = [
    batch(0, [b"hello"], "news"),
    batch(1, [b"", b"x" * 63, b"y" * 64, b"z" * 16384], "home/kitchen/lamp", first=2**40, expiration=NOW + 86400),
    batch(0, [bytes([number]) for number in range(100)], "Küche/光", first=2),
]
refused = [
    ("a signature that is not the publisher's", batch(0, [b"hello"], "news", tampered=True)),
    ("a token that the network's key did not sign", batch(1, [b"hello"], "news", stranger=True)),
]


def stream(who, end, hops):
    return publishers[who].peer_id + instances[who] + struct.pack(">QB", end, hops)


def question(who, start):
    return publishers[who].peer_id + instances[who] + struct.pack(">Q", start)


first = bytes.fromhex(good[0]["batch"])
messages = {
    "neighbour request, urgent": bytes([1, 1]),
    "neighbour request": bytes([1, 0]),
    "neighbour answer, agreed": bytes([2, 1]),
    "neighbour answer, declined": bytes([2, 0]),
    "neighbour end": bytes([3]),
    "push": bytes([4, 3]) + struct.pack(">I", 77) + first,
    "answer": bytes([5, 255]) + struct.pack(">I", 2**32 - 1) + first,
    "have": bytes([6]) + stream(0, 9, 1) + stream(1, 2**64 - 1, 0),
    "have nothing": bytes([6]),
    "want, graft": bytes([7, 1]) + question(0, 0),
    "want": bytes([7, 0]) + question(1, 2**64 - 1),
    "prune": bytes([8]),
}
malformed = {
    "no byte at all": b"",
    "an unknown kind": bytes([9]),
    "neither yes nor no": bytes([1, 2]),
    "a byte too many": bytes([8, 0]),
    "a batch cut short": messages["push"][:-1],
    "a batch of no events": bytes.fromhex(batch(0, [], "news")["batch"]).join([bytes([4, 1, 0, 0, 0, 0]), b""]),
    "257 streams": bytes([6]) + stream(0, 1, 1) * 257,
}
result = {
    "network": network.public.hex(),
    "now": NOW,
    "batches": good,
    "refused": [{"name": name, "batch": one["batch"]} for name, one in refused],
    "messages": [{"name": name, "message": message.hex()} for name, message in messages.items()],
    "malformed": [{"name": name, "message": message.hex()} for name, message in malformed.items()],
}
(HERE / "events.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
