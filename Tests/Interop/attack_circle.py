"""Attacks on the circle and the one-time keys of a node, by members that run no code of ours.

The layouts are those of docs/spec/circle.md and docs/spec/one-time-keys.md. `attack.py` runs the attacks and gives each the
functions that print a result.
"""

import asyncio
import base64
import contextlib
import hashlib
import os
import time

import cbor2
from aioquic.buffer import Buffer, BufferReadError, encode_uint_var
from aioquic.quic import events
from aioquic.quic.connection import QuicConnection
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, x25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import runar
from hostile_member import CONTROL_STREAM, INDEX, LONGEST, REQUEST, HostileMember, MemberConnection, prefixed

HOST = "127.0.0.1"
# The invented people of one device, and the pools that it announces before it confirms one.
PEOPLE, POOLS = 64, 100
# The kinds of messages of an exchange of keys, and the suite of the smaller keys.
ASK, OFFER, ACKNOWLEDGEMENT, COMMIT, KEY_SHARE, PULL, PART, RECEIVED = range(1, 9)
P256 = 1


def label(text):
    return bytes([len(text)]) + text.encode()


def sha256(data):
    return hashlib.sha256(data).digest()


def raw(key):
    public = key if hasattr(key, "public_bytes") else key.public_key()
    return public.public_bytes(Encoding.Raw, PublicFormat.Raw)


class Connection(MemberConnection):
    """An admitted connection that sends requests, and hands those of the node to `on_request`."""

    def __init__(self, quic):
        super().__init__(quic)
        self.streams, self.answers = {}, {}
        self.on_request = lambda path, body: None

    def quic_event_received(self, event):
        super().quic_event_received(event)
        if not isinstance(event, events.StreamDataReceived) or event.stream_id == CONTROL_STREAM:
            return
        data = self.streams[event.stream_id] = self.streams.get(event.stream_id, b"") + event.data
        if not event.end_stream:
            return
        if event.stream_id in self.answers:
            buffer = Buffer(data=data)
            buffer.pull_bytes(buffer.pull_uint_var())
            self.answers.pop(event.stream_id).set_result(data[buffer.tell():])
        elif event.stream_id % 4 == 1:
            self._quic.send_stream_data(event.stream_id, prefixed(bytes([0, 0])), True)
            with contextlib.suppress(BufferReadError):
                buffer = Buffer(data=data[2:])
                header = Buffer(data=buffer.pull_bytes(buffer.pull_uint_var()))
                header.pull_bytes(2)
                header.pull_uint_var()
                path = header.pull_bytes(header.pull_uint_var()).decode()
                self.on_request(path, data[2 + buffer.tell():])
            self.transmit()

    async def request(self, path, body):
        """Returns the body of the answer."""
        header = bytes([0, 0]) + encode_uint_var(LONGEST) + prefixed(path.encode()) + bytes([0])
        stream, self.next_stream = self.next_stream, self.next_stream + 4
        answer = self.answers[stream] = asyncio.get_running_loop().create_future()
        self._quic.send_stream_data(stream, bytes([REQUEST, INDEX]) + prefixed(header) + body, True)
        self.transmit()
        return await asyncio.wait_for(answer, 10)


class Member(HostileMember):
    """A device with a token and a person."""

    def __init__(self, sign):
        super().__init__(sign)
        self.settings.max_stream_data = self.settings.max_data = 4 << 20
        self.key = self.settings.private_key
        self.person = ed25519.Ed25519PrivateKey.generate()
        self.mail = raw(x25519.X25519PrivateKey.generate())

    @property
    def peer(self):
        return bytes.fromhex(self.settings.peer_id)

    def entry(self, person, seconds=0):
        """The statement of this device that it belongs to a person, at a time from now."""
        when = (int(time.time()) + seconds).to_bytes(8, "big")
        signature = self.key.sign(label("runar/card-device/v1") + raw(person) + self.mail + when)
        return raw(self.key) + self.mail + when + signature

    @contextlib.asynccontextmanager
    async def connect(self, host, port):
        transport, connection = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: Connection(QuicConnection(configuration=self.settings)), local_addr=(host, 0)
        )
        try:
            connection.connect((host, port))
            await asyncio.wait_for(connection.wait_connected(), 5)
            await connection.be_admitted(self.token, self.instance)
            yield connection
        finally:
            connection.transmit = lambda: None
            transport.close()


def card(person, entries, seconds=0):
    """A card of a person that was issued at a time from now."""
    fields = {
        "version": 1, "key": raw(person), "name": "Mallory", "interests": "", "location": "", "hasHighEncryption": False,
        "hasHighIdentityAssurance": False, "devices": sorted(entries, key=lambda one: sha256(one[:32])), "homes": [],
        "issued": int(time.time()) + seconds,
    }
    encoded = cbor2.dumps(fields, canonical=True)
    return person.sign(label("runar/profile-card/v1") + encoded) + encoded


def text_of(card):
    return "runar://person/" + base64.urlsafe_b64encode(card).decode().rstrip("=")


@contextlib.contextmanager
def victim():
    """A node with a circle; yields it, the circle, and the function that signs tokens."""
    with runar.Node(in_memory=True, listen=f"{HOST}:0", discovery=False, log_level=5) as node:
        circle = node.open_circle()
        node.start()
        network = node.create_network("Home")
        circle.set_profile("Ada")
        yield node, circle, lambda peer: node.issue_token(network, peer)


def trusts(circle):
    return [person["trust"] for person in circle.people]


def measure_requests(result):
    """How many requests of invented people one device makes wait, and whether another device is heard then."""

    async def attack(node, sign):
        member, other = Member(sign), Member(sign)
        async with member.connect(HOST, node.port) as connection, other.connect(HOST, node.port) as second:
            for _ in range(PEOPLE):
                person = ed25519.Ed25519PrivateKey.generate()
                await connection.request("$circle/request", card(person, [member.entry(person)]))
            return await second.request("$circle/request", card(other.person, [other.entry(other.person)]))

    with victim() as (node, circle, sign):
        taken = asyncio.run(attack(node, sign)) == b"\x01"
        waiting = trusts(circle).count("requested") - taken
        figure = f"{waiting} of {PEOPLE} wait, another: {'yes' if taken else 'no'}"
        result("requests of invented people by one device", figure, "4, another is heard", waiting == 4 and taken)


def measure_consents(result):
    """Whether a device consents for its person with a card that another one replaced."""

    async def attack(node, circle, sign):
        phone, removed = Member(sign), Member(sign)
        person = phone.person
        older = card(person, [phone.entry(person), removed.entry(person)], -60)
        circle.invite(text_of(card(person, [phone.entry(person)])))
        async with removed.connect(HOST, node.port) as connection:
            for action in ("accept", "request"):
                await connection.request(f"$circle/{action}", older)
        before = trusts(circle).count("trusted")
        async with phone.connect(HOST, node.port) as connection:
            await connection.request("$circle/accept", older)
        return before, trusts(circle).count("trusted")

    with victim() as (node, circle, sign):
        removed, present = asyncio.run(attack(node, circle, sign))
        figure = f"{removed} by the removed device, {present} by the other"
        result("a removed device that consents with an older card", figure, "0 and 1", (removed, present) == (0, 1))


def measure_owners(result):
    """What a person takes from another one by naming that one's device."""

    async def attack(node, circle, sign):
        ben, mallory = Member(sign), Member(sign)
        taken = []
        async with ben.connect(HOST, node.port) as friend, mallory.connect(HOST, node.port) as enemy:
            await friend.request("$circle/request", card(ben.person, [ben.entry(ben.person)]))
            # In a thread, because the node asks this device, which answers from here, before it returns.
            await asyncio.to_thread(circle.accept, circle.people[0]["personId"])
            friends = {person["personId"] for person in circle.people}
            for seconds in (60, -60):
                entries = [mallory.entry(mallory.person), ben.entry(mallory.person, seconds)]
                answer = await enemy.request("$circle/request", card(mallory.person, entries))
                taken.append(answer == b"\x01")
            other = next(person["personId"] for person in circle.people if person["personId"] not in friends)
            await asyncio.to_thread(circle.accept, other)
            await asyncio.to_thread(circle.revoke_trust, other)
            # Its answer comes after the closing of what the revocation ended.
            with contextlib.suppress(TimeoutError, ConnectionError):
                await friend.request("$circle/request", card(ben.person, [ben.entry(ben.person)], 1))
            return taken, friend._closed.is_set(), trusts(circle)

    with victim() as (node, circle, sign):
        taken, isClosed, trust = asyncio.run(attack(node, circle, sign))
        figure = f"later {taken[0]}, earlier {taken[1]}, friend {'gone' if isClosed else 'connected'}"
        holds = taken == [False, True] and not isClosed and sorted(trust) == ["revoked", "trusted"]
        result("a person whose card names a friend's device", figure, "refused, no effect", holds)


def pool(generation):
    """A public pool of two keys."""
    keys = b"".join(
        ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
        for _ in range(2)
    )
    fields = b"RPK\x01" + bytes([P256]) + generation.to_bytes(4, "big") + bytes(2) + (2).to_bytes(2, "big") + keys
    return fields + sha256(fields)


class Exchange:
    """An exchange of keys that this side never completes."""

    def __init__(self, member, node, connection):
        self.member, self.node, self.connection = member, node, connection
        self.id, self.stored, self.share, self.hash = os.urandom(16), set(), b"", b""
        self.is_proved = asyncio.Event()
        connection.on_request = self.received

    def message(self, kind, body):
        return bytes([1, kind]) + self.id + body

    async def send(self, kind, body):
        await self.connection.request("$keys/exchange", self.message(kind, body))

    def received(self, path, message):
        if not path.endswith("$keys/exchange"):
            return
        kind, body = message[1], message[18:]
        if kind == OFFER:
            nonce = os.urandom(32)
            self.hash = sha256(sha256(self.hash + body[:65]) + nonce)
            signature = self.member.key.sign(label("runar/key-exchange-acknowledgement/v1") + self.hash)
            asyncio.ensure_future(self.send(ACKNOWLEDGEMENT, nonce + signature))
        elif kind == COMMIT:
            self.is_proved.set()
        elif kind == PULL:
            asyncio.ensure_future(self.send(PART, body[:4] + self.share[int.from_bytes(body[:4], "big"):]))
        elif kind == RECEIVED:
            self.stored.add(body)

    async def run(self):
        request = self.message(ASK, raw(self.member.key) + bytes([1, P256]))
        self.hash = sha256(label("runar/key-exchange/v1") + self.member.peer + self.node + request)
        await self.connection.request("$keys/exchange", request)
        await asyncio.wait_for(self.is_proved.wait(), 10)
        for generation in range(1, POOLS + 1):
            self.share = pool(generation)
            fields = bytes([P256]) + generation.to_bytes(4, "big") + len(self.share).to_bytes(4, "big") + sha256(self.share)
            message = label("runar/key-exchange-share/v1") + self.hash + self.member.peer + fields
            await self.send(KEY_SHARE, fields + self.member.key.sign(message))
            await asyncio.sleep(0.05)
        return len(self.stored)


def measure_pools(result):
    """How many pools a node stores for a peer that never confirms the node's own."""

    async def attack(node, peer, sign):
        member = Member(sign)
        async with member.connect(HOST, node.port) as connection:
            return await Exchange(member, base64.b64decode(peer), connection).run()

    with victim() as (node, _, sign):
        stored = asyncio.run(attack(node, node.peer_id, sign))
        result("a peer that never confirms a pool", f"{stored} of {POOLS} pools stored", "1 pool", stored == 1)


MEASURES = {"requests": measure_requests, "consents": measure_consents, "owners": measure_owners, "pools": measure_pools}
