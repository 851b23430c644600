#!/usr/bin/env python3
"""Writes reach.json: messages and sealed probes of docs/spec/traversal.md, made with nothing of Runar's own code.

Run it in this folder; it needs Python's standard library only.
"""

import hashlib
import hmac
import ipaddress
import json
import struct
import zlib


def address(text):
    host, port = text.rsplit(":", 1)
    ip = ipaddress.ip_address(host.strip("[]"))
    return bytes([ip.version]) + ip.packed + struct.pack(">H", int(port))


def offer(mapping, addresses):
    return bytes([mapping, len(addresses)]) + b"".join(address(one) for one in addresses)


def introduction(observed, channel):
    seen = b"\x00" if observed is None else b"\x01" + address(observed)
    return seen + (b"\x00" if channel is None else b"\x01" + channel)


CALL = bytes.fromhex("0123456789abcdef")
KEY = bytes(range(16, 32))
TARGET = hashlib.sha256(b"target").digest()
CALLER = hashlib.sha256(b"caller").digest()
CHANNEL = bytes.fromhex("a1a2a3a4a5a6a7")
HOSTS = ["[2001:db8::5]:4433", "203.0.113.7:50001", "192.168.1.20:4433"]

MESSAGES = [
    ("observed IPv4", b"\x01" + address("203.0.113.7:50001")),
    ("observed IPv6", b"\x01" + address("[2001:db8::5]:4433")),
    ("call", b"\x02" + CALL + TARGET + KEY + offer(1, HOSTS)),
    ("call without addresses", b"\x02" + CALL + TARGET + KEY + offer(0, [])),
    ("ring", b"\x03" + CALL + CALLER + KEY + offer(2, HOSTS) + introduction(HOSTS[1], CHANNEL)),
    ("ring without relay", b"\x03" + CALL + CALLER + KEY + offer(0, HOSTS[:1]) + introduction(None, None)),
    ("answer", b"\x04" + CALL + offer(1, HOSTS)),
    ("decline", b"\x05" + CALL + b"\x02"),
    ("answered", b"\x06" + CALL + offer(1, HOSTS) + introduction(HOSTS[0], CHANNEL)),
    ("failed", b"\x07" + CALL + b"\x01"),
    ("hang up", b"\x08" + CALL),
]

MALFORMED = [
    ("nothing", b""),
    ("an unknown kind", b"\x09" + CALL),
    ("an address of no family", b"\x01\x05" + bytes(6)),
    ("a short key", b"\x02" + CALL + TARGET + KEY[:15]),
    ("seventeen addresses", b"\x04" + CALL + offer(0, ["192.0.2.1:1"] * 17)),
    ("an unknown mapping", b"\x04" + CALL + b"\x03\x00"),
    ("an unknown reason", b"\x07" + CALL + b"\x04"),
    ("a flag of two", b"\x06" + CALL + offer(0, []) + b"\x02\x00"),
    ("something behind", b"\x08" + CALL + b"\x00"),
]

COOKIE = bytes.fromhex("2112a442")


def attribute(kind, value):
    return struct.pack(">HH", kind, len(value)) + value + bytes(-len(value) % 4)


def sealed(kind, transaction, attributes):
    def header(length):
        return struct.pack(">HH", kind, length) + COOKIE + transaction

    code = hmac.new(KEY, header(len(attributes) + 36) + attributes, hashlib.sha256).digest()
    attributes += attribute(0x001C, code)
    whole = header(len(attributes) + 8) + attributes
    return whole + attribute(0x8028, struct.pack(">I", zlib.crc32(whole) ^ 0x5354554E))


def mapped(text, transaction):
    host, port = text.rsplit(":", 1)
    ip = ipaddress.ip_address(host.strip("[]"))
    mask = COOKIE + transaction
    masked = bytes(a ^ b for a, b in zip(ip.packed, mask))
    return struct.pack(">HH", 1 if ip.version == 4 else 2, int(port) ^ 0x2112) + masked


PROBES = []
for number, (sender, source) in enumerate([(0, "203.0.113.7:50001"), (1, "[2001:db8::5]:4433")]):
    transaction = hashlib.sha256(b"transaction %d" % number).digest()[:12]
    name = ("%s.%d" % (CALL.hex(), sender)).encode()
    PROBES.append(
        {
            "sender": sender,
            "source": source,
            "transaction": transaction.hex(),
            "request": sealed(0x0001, transaction, attribute(0x0006, name)).hex(),
            "answer": sealed(0x0101, transaction, attribute(0x0020, mapped(source, transaction))).hex(),
        }
    )

with open("reach.json", "w") as file:
    json.dump(
        {
            "call": CALL.hex(),
            "key": KEY.hex(),
            "target": TARGET.hex(),
            "caller": CALLER.hex(),
            "channel": CHANNEL.hex(),
            "addresses": HOSTS,
            "messages": [{"name": name, "bytes": data.hex()} for name, data in MESSAGES],
            "malformed": [{"name": name, "bytes": data.hex()} for name, data in MALFORMED],
            "probes": PROBES,
        },
        file,
        indent=2,
    )
    file.write("\n")
