"""Attacks on mailboxes by members (docs/spec/mailbox.md): room, work, and what relays and holders can learn."""

import asyncio
import hashlib
import os
import struct
import time

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from hostile_member import INDEX, HostileMember

HOST = "127.0.0.1"
MAILBOX = 36
KEY, DEPOSIT, RELAY, RELAYED, REPLY = 1, 3, 4, 5, 6
STORED, UNREADABLE, UNAVAILABLE, UNANSWERED = 0, 5, 7, 9
# The statuses of relays, which a holder has no reason for.
OF_RELAYS = 6, 8, 9
# Takes part in the hash tables.
TABLE = 1
RECEIPT = 16
BODY_LIMIT = 1 << 18
LIFETIME = 3600


def label(text):
    return bytes([len(text)]) + text.encode()


def peer_of(member):
    return member.token[1:33]


def network_of(member):
    return member.token[33:65]


def mailbox_of(member):
    return hashlib.sha256(label("runar/mailbox/v1") + network_of(member) + peer_of(member)).digest()


def say(connection, message):
    connection.say(bytes([MAILBOX, INDEX]) + message)


def deposit(connection, request, mailbox, body):
    expiration = struct.pack(">Q", int(time.time()) + LIFETIME)
    say(connection, bytes([DEPOSIT]) + struct.pack(">I", request) + os.urandom(RECEIPT) + mailbox + expiration + body)


def messages(connection, kind):
    frames = connection.frames()
    return [frame[2:] for frame in frames if frame[0] == MAILBOX and frame[2] == kind]


def statuses(connection):
    """The status of each request that was answered."""
    return {struct.unpack(">I", message[1:5])[0]: message[5] for message in messages(connection, REPLY)}


async def answers(connection, count, seconds=30):
    """Waits for the answers to `count` requests, and returns their statuses."""
    end = time.monotonic() + seconds
    while len(statuses(connection)) < count and time.monotonic() < end and not connection._closed.is_set():
        connection.transmit()
        await asyncio.sleep(0.05)
    return statuses(connection)


async def invent_mailboxes(node):
    """Deposits in 500 invented mailboxes; then another member deposits in the mailbox of a member."""
    depositor, other = HostileMember(node.token), HostileMember(node.token)
    async with depositor.connect(HOST, node.port) as connection:
        for number in range(500):
            deposit(connection, number, os.urandom(32), b"x")
        stored = list((await answers(connection, 500)).values()).count(STORED)
    async with other.connect(HOST, node.port) as connection:
        deposit(connection, 0, mailbox_of(depositor), b"x")
        honest = (await answers(connection, 1)).get(0)
    return stored, honest


async def fill_mailbox(node):
    """Deposits 20 MiB in one mailbox."""
    depositor = HostileMember(node.token)
    mailbox, count = os.urandom(32), (20 << 20) // BODY_LIMIT
    async with depositor.connect(HOST, node.port) as connection:
        for number in range(count):
            deposit(connection, number, mailbox, os.urandom(BODY_LIMIT))
        stored = list((await answers(connection, count, 120)).values()).count(STORED)
    return stored * BODY_LIMIT / (1 << 20)


async def blame_relay(node):
    """A holder reports statuses of relays over the node, and then nothing; returns what the sender gets."""
    sender, holder = HostileMember(node.token), HostileMember(node.token)
    key = X25519PrivateKey.generate().public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    async with sender.connect(HOST, node.port) as one, holder.connect(HOST, node.port) as other:
        say(other, bytes([KEY]) + key)
        other.transmit()
        await asyncio.sleep(0.5)
        for number in range(len(OF_RELAYS) + 1):
            request = struct.pack(">I", number)
            say(one, bytes([RELAY]) + request + peer_of(holder) + os.urandom(200))
            one.transmit()
            for _ in range(100):
                if len(messages(other, RELAYED)) > number:
                    break
                await asyncio.sleep(0.05)
            if number < len(OF_RELAYS):
                request = messages(other, RELAYED)[number][1:5]
                say(other, bytes([REPLY]) + request + bytes([OF_RELAYS[number]]) + bytes(RECEIPT))
                other.transmit()
        found = await answers(one, len(OF_RELAYS) + 1)
    return [found.get(number) for number in range(len(OF_RELAYS) + 1)]


async def look_for_record(node):
    """Watches the requests of a holder to the hash table after a deposit; returns those that name the mailbox."""
    watcher, absent = HostileMember(node.token), HostileMember(node.token)
    mailbox = mailbox_of(absent)
    key = label("runar/mailbox-holder/v1") + mailbox
    location = hashlib.sha256(label("runar/dht-location/v1") + network_of(absent) + key).digest()
    async with watcher.connect(HOST, node.port, TABLE) as connection:
        deposit(connection, 0, mailbox, b"x")
        stored = (await answers(connection, 1)).get(0)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            connection.transmit()
            await asyncio.sleep(0.1)
        heard = [frame for frame in connection.frames() if frame[0] != MAILBOX]
        named = sum(any(needle in frame for needle in (mailbox, key, location)) for frame in heard)
    return stored, named, len(heard)


async def send_junk(node):
    """Sends 2,000 relayed deposits that cannot be opened; returns those that the node tried to open, and the seconds."""
    member, began = HostileMember(node.token), time.monotonic()
    async with member.connect(HOST, node.port) as connection:
        for number in range(2000):
            say(connection, bytes([RELAYED]) + struct.pack(">I", number) + os.urandom(130))
        found = list((await answers(connection, 2000)).values())
    return found.count(UNREADABLE), len(found), time.monotonic() - began


def measure(victim, result):
    """Runs all attacks, each on a new node."""
    with victim() as node:
        stored, honest = asyncio.run(invent_mailboxes(node))
        figure = f"{stored} of 500, then {'stored' if honest == STORED else f'status {honest}'}"
        result("a member that invents mailboxes; then mail of another one", figure, "64, stored", 0 < stored <= 64 and honest == STORED)
    with victim() as node:
        filled = asyncio.run(fill_mailbox(node))
        result("a member that fills one mailbox", f"{filled:.0f} of 20 MiB", "16 MiB", 0 < filled <= 16)
    with victim() as node:
        found = asyncio.run(blame_relay(node))
        expected = [UNAVAILABLE] * len(OF_RELAYS) + [UNANSWERED]
        result("a holder that blames the relay, and a silent one", f"statuses {found}", f"{expected}", found == expected)
    with victim() as node:
        stored, named, heard = asyncio.run(look_for_record(node))
        figure = f"{named} of {heard} frames"
        result("requests of a holder that name a mailbox with mail", figure, "0", stored == STORED and named == 0)
    with victim() as node:
        opened, answered, seconds = asyncio.run(send_junk(node))
        limit = 512 + 20 * (seconds + 1)
        figure = f"{opened} of {answered} in {seconds:.1f} s"
        result("sealed junk that a node opens", figure, f"{limit:.0f}", 0 < opened <= limit)
