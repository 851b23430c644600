"""Attacks a node with independent peers (aioquic) and prints what each attack costs it, next to the limit.

attack.py [ATTACK...]      runs the attacks that are named, or all: the keys of MEASURES below
attack.py victim MAX_PEERS is the attacked node: it prints one line of JSON and signs a token for each peer id that it reads
attack.py dial ATTACK PORT SECONDS CONNECTIONS is one process of an attacker

The nodes come from librunar over its Python binding, so `RUNAR_LIBRARY` names the library. Attackers use addresses of
127.0.0.0/8, of which each counts as a source of its own. The exit status is 1 if a limit was passed.
"""

import asyncio
import contextlib
import functools
import itertools
import json
import os
import random
import socket
import ssl
import subprocess
import sys
import threading
import time

from aioquic.asyncio import QuicConnectionProtocol
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import QuicPacketType
from aioquic.quic.packet_builder import QuicPacketBuilderStop
from aioquic.tls import Epoch

from credentials import Credentials
from hostile_member import HostileMember, address_of

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "Bindings", "python"))
sys.dont_write_bytecode = True
import attack_addresses  # noqa: E402
import attack_circle  # noqa: E402
import attack_keys  # noqa: E402
import attack_mailbox  # noqa: E402
import runar  # noqa: E402

HOST = "127.0.0.1"
# The connections without an admission that a node keeps.
CONNECTIONS = 256
# Attacking processes, so that the handshakes are not bounded by one of them.
PROCESSES = 2
# What ngtcp2 allocates for one byte that comes out of order.
PIECE = 8192
# Services, bytes of a name, actions of each: the list of them has nearly a mebibyte, the limit of an answer.
OFFERS = 256, 500, 27
# The connections that a node keeps with one peer.
MEMBER_CONNECTIONS = 4
# A device that has no part in it, and the most addresses that a member may name at once.
THIRD_PARTY, ADDRESSES = "127.9.9.9", 16


# The attacked node and the members.


def victim(max_peers):
    service = runar.Service("Echo", "echo", "1.0.0", "Says it again")
    service.action("back")(lambda payload, request: payload)
    with runar.Node(in_memory=True, listen=f"{HOST}:0", discovery=False, log_level=5, max_peers=max_peers) as node:
        peer = node.start()
        network = node.create_network("Home")
        node.add_service(service)
        print(json.dumps({"peer": peer, "port": node.port, "network": network}), flush=True)
        for line in sys.stdin:
            print(node.issue_token(network, line.strip()), flush=True)


class Victim:
    """The attacked node, in a process of its own."""

    def __init__(self, max_peers=0):
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "victim", str(max_peers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        facts = json.loads(self.process.stdout.readline())
        self.peer, self.port, self.network = facts["peer"], facts["port"], facts["network"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def token(self, peer):
        self.process.stdin.write(peer + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def resident_mebibytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024

    @contextlib.contextmanager
    def member(self):
        """A connected member, which offers nothing."""
        with runar.Node(in_memory=True, listen=f"{HOST}:0", discovery=False, log_level=5) as node:
            node.start()
            node.join_network(self.token(node.peer_id))
            node.connect(self.peer, self.network, f"{HOST}:{self.port}")
            yield node


def round_trips(node, seconds):
    """The times of requests in milliseconds, sorted; one that fails counts with the whole of its time."""
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        with contextlib.suppress(runar.Error):
            node.request("Home:echo/back", 1, timeout=5)
        times.append((time.monotonic() - began) * 1000)
    return sorted(times)


def percentile(times, share):
    return times[min(len(times) - 1, int(len(times) * share))]


# The attackers.


def attackers(name, port, seconds, connections=CONNECTIONS):
    """Starts the attacking processes."""
    share = str(connections // PROCESSES)
    command = [sys.executable, os.path.abspath(__file__), "dial", name, str(port), str(seconds), share]
    return [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)]


def total(processes):
    """The connections that all attackers made, and the most that they had at one time."""
    facts = [json.loads(process.communicate()[0]) for process in processes]
    return sum(fact["made"] for fact in facts), sum(fact["peak"] for fact in facts)


# A STREAM frame with an offset and a length (RFC 9000, section 19.8), and the most that one with a single byte takes.
STREAM, STREAM_ROOM = 0x0E, 20


class HostileConnection(QuicConnection):
    """Sends single bytes of streams at any offset, and none of them again."""

    def __init__(self, **options):
        super().__init__(**options)
        self.places = []

    def fill(self, places):
        """Sends one byte at each place, a pair of stream and offset."""
        for stream, _ in places:
            # Otherwise what the node says about the stream would be an error.
            self._get_or_create_stream_for_send(stream)
        self.places = places[::-1]

    def _write_application(self, builder, network_path, now):
        while self._handshake_complete and self.places:
            builder.start_packet(QuicPacketType.ONE_RTT, self._cryptos[Epoch.ONE_RTT])
            with contextlib.suppress(QuicPacketBuilderStop):
                while self.places:
                    frame = builder.start_frame(STREAM, capacity=STREAM_ROOM)
                    stream, offset = self.places.pop()
                    for number in (stream, offset, 1):
                        frame.push_uint_var(number)
                    frame.push_bytes(b"\0")
            if builder.packet_is_empty:
                raise QuicPacketBuilderStop
        super()._write_application(builder, network_path, now)


class Attacker:
    """One process that keeps its share of connections, and makes a new one for each that ends."""

    def __init__(self, attack, port, seconds, share=1):
        self.share = share
        self.attack = attack
        self.port = port
        self.end = time.monotonic() + seconds
        self.open, self.made, self.peak = 0, 0, 0
        self.sources = itertools.count(random.randrange(1 << 22))
        self.settings = QuicConfiguration(is_client=True, alpn_protocols=["runar-p2p-1"], verify_mode=ssl.CERT_NONE)
        Credentials.make("ed25519").install(self.settings)

    async def run(self):
        await asyncio.gather(*(self.keep() for _ in range(self.share)))
        print(json.dumps({"made": self.made, "peak": self.peak}))

    async def keep(self):
        while time.monotonic() < self.end:
            with contextlib.suppress(ConnectionError, OSError, asyncio.TimeoutError):
                await self.visit()
            await asyncio.sleep(0.05)

    async def visit(self):
        quic = HostileConnection(configuration=self.settings)
        number = next(self.sources)
        source = f"127.{1 + (number >> 16) % 250}.{(number >> 8) & 255}.{1 + (number & 255) % 250}"
        transport, peer = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: QuicConnectionProtocol(quic), local_addr=(source, 0)
        )
        try:
            peer.connect((HOST, self.port))
            await asyncio.wait_for(peer.wait_connected(), 5)
            self.made += 1
            self.open += 1
            self.peak = max(self.peak, self.open)
            try:
                await ATTACKS[self.attack](peer, self.end)
            finally:
                self.open -= 1
        finally:
            # A timer of the connection may still run.
            peer.transmit = lambda: None
            transport.close()


async def stay(peer, end):
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(peer.wait_closed(), max(0.1, end - time.monotonic()))


async def windows(peer, end):
    """Fills reorder buffers: one byte in the middle of each piece of every window, never the first byte of a stream."""
    quic = peer._quic
    places, room = [], quic._remote_max_data
    for number in range(quic._remote_max_streams_bidi):
        # Against the window of the connection counts the highest offset of each stream.
        offsets = range(PIECE // 2, min(quic._remote_max_stream_data_bidi_remote, room), PIECE)
        if not offsets:
            break
        places += [(4 * number, offset) for offset in offsets]
        room -= offsets[-1] + 1
    quic.fill(places)
    await repeat(peer, end)


async def streams(peer, end):
    """Opens as many streams as it may, with one byte each."""
    peer._quic.fill([(4 * number, 0) for number in range(peer._quic._remote_max_streams_bidi)])
    await repeat(peer, end)


async def repeat(peer, end):
    """Sends what the congestion window holds back, until the node closes the connection."""
    while time.monotonic() < end and not peer._closed.is_set():
        peer.transmit()
        await asyncio.sleep(0.05)


async def closing(peer, end):
    """Ends the connection at once."""
    peer.close()
    await stay(peer, end)


ATTACKS = {"windows": windows, "streams": streams, "closing": closing, "places": stay}


# What is measured.

passed = []


def result(name, figure, limit, holds):
    passed.append(holds)
    print(f"{'  ok  ' if holds else 'MISSED'}  {name:<58} {figure:<28} limit: {limit}", flush=True)


def measure_memory(attack, name):
    with Victim() as node:
        time.sleep(1)
        before = peak = node.resident_mebibytes()
        processes = attackers(attack, node.port, 20)
        while any(process.poll() is None for process in processes):
            peak = max(peak, node.resident_mebibytes())
            time.sleep(0.1)
        made, most = total(processes)
        grown = peak - before
        figure = f"{grown:.0f} MiB, {made} made, {most} at once"
        result(name, figure, f"64 MiB with {CONNECTIONS} at once", grown <= 64 and most == CONNECTIONS)


def measure_junk():
    with Victim() as node, node.member() as member:
        round_trips(member, 2)
        quiet = percentile(round_trips(member, 10), 0.99)
        processes, made = [], 0
        while made < 4000:
            processes = attackers("closing", node.port, 10)
            made += total(processes)[0]
        stop = threading.Event()
        sender = threading.Thread(target=send_junk, args=(node.port, 2000, stop))
        sender.start()
        loud = percentile(round_trips(member, 10), 0.99)
        stop.set()
        sender.join()
        figure = f"{quiet:.1f} -> {loud:.1f} ms, {loud / quiet:.1f}x"
        result(f"p99 of a member, {made} closed, 2,000 junk packets/s", figure, "5x", loud <= 5 * quiet)


def send_junk(port, rate, stop):
    """Short packets of connections that do not exist."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        begun, sent = time.monotonic(), 0
        while not stop.is_set():
            while sent < (time.monotonic() - begun) * rate:
                with contextlib.suppress(OSError):
                    sender.sendto(b"\x40" + os.urandom(40), (HOST, port))
                sent += 1
            time.sleep(0.002)


def measure_closing():
    """Whether packets of a closed connection get a stateless reset, which only an unknown connection gets."""
    with Victim() as node:
        seconds = asyncio.run(time_until_forgotten(node.port))
        result("a closed connection is forgotten", f"{seconds:.1f} s", "5 s", seconds <= 5)


async def time_until_forgotten(port):
    quic = QuicConnection(configuration=Attacker("closing", port, 60).settings)
    loop = asyncio.get_running_loop()
    transport, peer = await loop.create_datagram_endpoint(
        lambda: QuicConnectionProtocol(quic), local_addr=(HOST, 0)
    )
    peer.connect((HOST, port))
    await asyncio.wait_for(peer.wait_connected(), 5)
    # The node closes it because no hello comes; aioquic itself reports that only after a while.
    while quic._close_event is None:
        await asyncio.sleep(0.01)
    began = time.monotonic()
    answers = []
    peer.datagram_received = lambda data, _: answers.append(data)
    packet = b"\x40" + quic._peer_cid.cid
    while time.monotonic() - began < 60:
        transport.sendto(packet + os.urandom(40), (HOST, port))
        await asyncio.sleep(0.05)
        if any(answer[1 : 1 + len(quic.host_cid)] != quic.host_cid for answer in answers):
            break
    transport.close()
    return time.monotonic() - began


def measure_places():
    with Victim(max_peers=100) as node:
        processes = attackers("places", node.port, 60, connections=100)
        time.sleep(3)
        times = []
        for _ in range(20):
            began = time.monotonic()
            try:
                with node.member():
                    times.append(time.monotonic() - began)
            except runar.Error as error:
                print(f"        not admitted: {error}", flush=True)
        for process in processes:
            process.kill()
        in_time = [each for each in times if each <= 2]
        figure = f"{len(in_time)} of 20, the last after {max(times, default=float('nan')):.2f} s"
        result("a member beside 100 hostile connections, maxPeers = 100", figure, "20 of 20 within 2 s", len(in_time) == 20)


def measure_answers():
    """How much a node keeps for a member that asks for much and reads nothing."""
    with Victim() as node:
        time.sleep(1)
        grown, asked, alive = asyncio.run(ask_and_never_read(node))
        figure = f"{grown:.0f} MiB, {asked} requests, {alive} connections"
        # Without its connections the attack would prove nothing.
        result("a member that reads no answer", figure, "128 MiB", grown <= 128 and alive == MEMBER_CONNECTIONS)


async def ask_and_never_read(node):
    before = peak = node.resident_mebibytes()
    member, asked = HostileMember(node.token), 0
    async with contextlib.AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(member.connect(HOST, node.port)) for _ in range(MEMBER_CONNECTIONS)
        ]
        for connection in connections:
            connection.announce(*OFFERS)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            for connection in connections:
                if not connection._closed.is_set():
                    asked += connection.ask("$registry/services/list", 64)
                    connection._quic.send_ping(0)
                    connection.transmit()
            await asyncio.sleep(0.1)
            peak = max(peak, node.resident_mebibytes())
        alive = sum(not connection._closed.is_set() for connection in connections)
    return peak - before, asked, alive


def measure_probes():
    """How many datagrams a coordinator can make a node send to a device that has no part in it."""
    with Victim() as node:
        forwarded, counted = asyncio.run(forward_offers(node))
        figure = f"{counted} in 40 s, {forwarded} offers"
        result("a member that names the addresses of others", figure, "100 datagrams", 0 < counted <= 100)


async def forward_offers(node):
    counter = Counter()
    loop = asyncio.get_running_loop()
    sinks = [await loop.create_datagram_endpoint(lambda: counter, local_addr=(THIRD_PARTY, 0)) for _ in range(ADDRESSES)]
    ports = [transport.get_extra_info("sockname")[1] for transport, _ in sinks]
    addresses = [address_of(THIRD_PARTY, port) for port in ports]
    forwarded = 0
    async with HostileMember(node.token).connect(HOST, node.port) as connection:
        end = time.monotonic() + 40
        while time.monotonic() < end and not connection._closed.is_set():
            connection.forward_offer(addresses)
            forwarded += 1
            await asyncio.sleep(0.1)
    for transport, _ in sinks:
        transport.close()
    return forwarded, counter.count


class Counter(asyncio.DatagramProtocol):
    count = 0

    def datagram_received(self, *_):
        self.count += 1


MEASURES = {
    "windows": lambda: measure_memory("windows", f"{CONNECTIONS} unadmitted connections that fill reorder buffers"),
    "streams": lambda: measure_memory("streams", f"{CONNECTIONS} unadmitted connections that open streams"),
    "junk": measure_junk,
    "closing": measure_closing,
    "places": measure_places,
    "answers": measure_answers,
    "probes": measure_probes,
    "addresses": lambda: attack_addresses.measure(result),
    "mailbox": lambda: attack_mailbox.measure(Victim, result),
    **attack_keys.measures(result),
    **{name: functools.partial(measure, result) for name, measure in attack_circle.MEASURES.items()},
}


def main(words):
    if words[:1] == ["victim"]:
        victim(int(words[1]))
    elif words[:1] == ["dial"]:
        asyncio.run(Attacker(words[1], int(words[2]), float(words[3]), int(words[4])).run())
    elif all(word in MEASURES for word in words):
        for name in words or MEASURES:
            MEASURES[name]()
        return 0 if all(passed) else 1
    else:
        print(__doc__)
        return 64
    return 0


sys.exit(main(sys.argv[1:]))
