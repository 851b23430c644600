"""An independent QUIC peer (aioquic) that the tests of the QUIC transport talk to over 127.0.0.1.

peer.py serve [options]            answers streams until its standard input ends
peer.py dial PORT SCENARIO [options]   dials, goes through one scenario, and ends

Every observation is one line of JSON on standard output with the field "event". Requests on streams are text: "echo ..."
is sent back, the other words are in `Peer.answer`. Both sides understand the same words.
"""

import argparse
import asyncio
import contextlib
import json
import ssl
import sys

import aioquic.asyncio.client
import aioquic.asyncio.server
from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.buffer import Buffer
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection, QuicNetworkPath
from aioquic.quic.packet import (
    PARAMS,
    QuicTransportParameters,
    pull_quic_transport_parameters,
    push_quic_transport_parameters,
)
from aioquic.tls import CipherSuite, Epoch

from credentials import Credentials, peer_id_of

VERSION_1 = 0x00000001
VERSION_2 = 0x6B3343CF
# Of the form that RFC 9000, section 15 reserves for provoking version negotiation.
VERSION_UNKNOWN = 0x1A2A3A4A
# How much may be sent on a stream of ours.
WINDOW = 1 << 20


# aioquic skips the transport parameter that RFC 9287 added; here it is known, and not sent.
PARAMS[0x2AB2] = ("grease_quic_bit", bool)
QuicTransportParameters.grease_quic_bit = False


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


class Connection(QuicConnection):
    """A connection that remembers what the other side said of itself."""

    def _parse_transport_parameters(self, data, from_session_ticket=False):
        self.parameters = pull_quic_transport_parameters(Buffer(data=data))
        super()._parse_transport_parameters(data, from_session_ticket)


class PatientConnection(Connection):
    """Announces the longest delay of acknowledgements that there is: 16383 ms."""

    def _serialize_transport_parameters(self):
        parameters = pull_quic_transport_parameters(Buffer(data=super()._serialize_transport_parameters()))
        parameters.max_ack_delay = 16383
        room = Buffer(capacity=512)
        push_quic_transport_parameters(room, parameters)
        return room.data


class MutualConnection(Connection):
    """A server's connection that asks the client for its certificate."""

    def _initialize(self, peer_cid):
        super()._initialize(peer_cid)
        self.tls._request_client_certificate = True


class Peer(QuicConnectionProtocol):
    """One connection: says what happens on it and answers requests."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.requests = {}
        self.answers = {}
        self.resets = {}
        self.stops = {}
        self.changed = asyncio.Event()

    def quic_event_received(self, event):
        if isinstance(event, events.HandshakeCompleted):
            certificate = self._quic.tls._peer_certificate
            say(
                "handshake",
                alpn=event.alpn_protocol,
                grease=self._quic.parameters.grease_quic_bit,
                resumed=event.session_resumed,
                early=event.early_data_accepted,
                peer=peer_id_of(certificate) if certificate else None,
                version=self._quic._version,
            )
        elif isinstance(event, events.ConnectionTerminated):
            say(
                "terminated",
                code=event.error_code,
                reason=event.reason_phrase,
                application=event.frame_type is None,
            )
        elif isinstance(event, events.StreamReset):
            self.resets[event.stream_id] = event.error_code
            say("reset", code=event.error_code)
        elif isinstance(event, events.StopSendingReceived):
            self.stops[event.stream_id] = event.error_code
            say("stop", code=event.error_code)
        elif isinstance(event, events.StreamDataReceived):
            self.take(event)
        self.changed.set()

    def take(self, event):
        ours = event.stream_id % 2 == (0 if self._quic.configuration.is_client else 1)
        table = self.answers if ours else self.requests
        data, _ = table.get(event.stream_id, (b"", False))
        table[event.stream_id] = (data + event.data, event.end_stream)
        if not ours:
            self.answer(event.stream_id)

    def send(self, stream, data, final=True):
        self._quic.send_stream_data(stream, data, final)
        self.transmit()

    def answer(self, stream):
        """Does what the request on a stream of the other side asks for."""
        request, is_complete = self.requests[stream]
        words = request[:64].split()
        if words[:1] == [b"reset"] and len(words) == 2:
            self._quic.reset_stream(stream, int(words[1]))
            self._quic.stop_stream(stream, int(words[1]))
            self.transmit()
            return
        if not is_complete:
            return
        if words[:1] == [b"close"]:
            self.close(error_code=int(words[1]), reason_phrase=words[2].decode())
            return
        if words[:1] == [b"keys"]:
            self.request_key_update()
        if words[:1] == [b"id"]:
            self.change_connection_id()
        self.send(stream, request)

    async def until(self, condition):
        while not condition():
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 20)

    async def echo(self, payload):
        """Sends a request on a new stream and returns the answer."""
        stream = self._quic.get_next_available_stream_id()
        self.send(stream, payload)
        await self.until(lambda: self.answers.get(stream, (b"", False))[1])
        return self.answers[stream][0]


# The scenarios of a client, by name.


async def streams(peer, _):
    payloads = [bytes([n]) * (n * n * 997) for n in range(20)]
    answers = await asyncio.gather(*(peer.echo(b"echo " + payload) for payload in payloads))
    equal = all(answer == b"echo " + payload for answer, payload in zip(answers, payloads))
    say("echoes", count=len(answers), equal=equal)


async def resets(peer, _):
    """Gives up a stream of its own, then has the other side give up one, in both directions each."""
    first = peer._quic.get_next_available_stream_id()
    peer.send(first, b"unfinished", final=False)
    await peer.echo(b"echo sync")
    peer._quic.reset_stream(first, 7)
    peer._quic.stop_stream(first, 7)
    peer.transmit()
    second = peer._quic.get_next_available_stream_id()
    peer.send(second, b"reset 9", final=False)
    await peer.until(lambda: second in peer.resets and second in peer.stops)
    say("gave up", reset=peer.resets[second], stop=peer.stops[second])
    say("echoes", count=1, equal=await peer.echo(b"echo after") == b"echo after")


async def keys(peer, _):
    phases, equal = [], True
    for number in range(4):
        equal &= await peer.echo(b"echo %d" % number) == b"echo %d" % number
        phases.append(peer._quic._cryptos[Epoch.ONE_RTT].key_phase)
        peer.request_key_update()
    equal &= await peer.echo(b"echo last") == b"echo last"
    say("echoes", count=5, equal=equal)
    say("keys", phases=phases)


async def identifiers(peer, _):
    used, equal = [], True
    for number in range(4):
        equal &= await peer.echo(b"echo %d" % number) == b"echo %d" % number
        used.append(peer._quic._peer_cid.cid.hex())
        peer.change_connection_id()
    equal &= await peer.echo(b"echo last") == b"echo last"
    say("echoes", count=5, equal=equal)
    say("identifiers", count=len(set(used)))


async def rebind(peer, _):
    """Goes on from another port in the middle of a transfer, as when a NAT forgets its mapping."""
    payload = bytes(range(256)) * 4096
    transfer = asyncio.ensure_future(peer.echo(b"echo " + payload))
    await peer.until(lambda: len(next(iter(peer.answers.values()), (b"",))[0]) > 100_000)
    before = peer._transport
    loop = asyncio.get_running_loop()
    port = before.get_extra_info("sockname")[1]
    after, _ = await loop.create_datagram_endpoint(lambda: Relay(peer), local_addr=("::", 0))
    peer._transport = after
    before.close()
    # A peer that only receives must send something, or the other side does not learn the new port.
    ping = asyncio.ensure_future(peer.ping())
    moved = after.get_extra_info("sockname")[1]
    say("moved", differs=moved != port, port=moved)
    say("echoes", count=1, equal=await transfer == b"echo " + payload)
    await ping


class Relay(asyncio.DatagramProtocol):
    """Hands the datagrams of a second socket to the connection."""

    def __init__(self, peer):
        self.peer = peer

    def datagram_received(self, data, address):
        self.peer.datagram_received(data, address)


async def probe(peer, _):
    """Tries another path without moving to it: a PATH_CHALLENGE from another port, which must be answered there."""
    quic = peer._quic
    await peer.echo(b"echo first")
    loop = asyncio.get_running_loop()
    arrived = asyncio.Queue()
    transport, _ = await loop.create_datagram_endpoint(lambda: Inbox(arrived), local_addr=("::", 0))
    path = QuicNetworkPath(quic._network_paths[0].addr)
    path.peer_cid = quic._peer_cid_available.pop(0)
    for data, address in quic._send_probing_frames(network_path=path, now=loop.time()):
        transport.sendto(data, address)
    data = await asyncio.wait_for(arrived.get(), 20)
    transport.close()
    # The first frame of what came; aioquic's connection ids have eight bytes.
    crypto = quic._cryptos[Epoch.ONE_RTT].recv
    _, payload, _, _ = crypto.decrypt_packet(data, 9, quic._spaces[Epoch.ONE_RTT].expected_packet_number)
    expected = bytes([0x1B]) + path.local_challenges[0]
    say("probed", equal=expected in payload)
    say("echoes", count=1, equal=await peer.echo(b"echo last") == b"echo last")


class Inbox(asyncio.DatagramProtocol):
    """Keeps the datagrams of a socket."""

    def __init__(self, queue):
        self.queue = queue

    def datagram_received(self, data, address):
        self.queue.put_nowait(data)


async def stop(peer, _):
    """Gives no credit on a stream, and wants no more of it once all that was given is used up."""
    peer._quic._write_stream_limits = lambda *_, **__: None
    stream = peer._quic.get_next_available_stream_id()
    peer.send(stream, b"hold", final=False)
    await peer.until(lambda: len(peer.answers.get(stream, (b"",))[0]) >= WINDOW)
    peer._quic.stop_stream(stream, 7)
    peer.transmit()
    await peer.until(lambda: stream in peer.resets)
    await peer.wait_closed()


async def stop_first(peer, _):
    """Wants no more of a stream before anything came on it, and never says a word again."""
    stream = peer._quic.get_next_available_stream_id()
    peer.send(stream, b"hold", final=False)
    await peer.echo(b"echo sync")
    peer._quic.stop_stream(stream, 7)
    peer.transmit()
    await peer.until(lambda: stream in peer.resets)
    # Afterwards everything is acknowledged, both ways, and no timer runs.
    for _ in range(3):
        await peer.ping()
    peer.transmit = lambda: None
    say("silent")
    await peer.wait_closed()


async def close(peer, _):
    await peer.echo(b"echo first")
    peer.close(error_code=77, reason_phrase="interop")


async def closed(peer, _):
    stream = peer._quic.get_next_available_stream_id()
    peer.send(stream, b"close 78 enough")
    await peer.wait_closed()


async def wait(peer, _):
    """Does nothing but stay until the other side ends the connection."""
    await peer.wait_closed()


async def late(peer, _):
    """Is closed by the other side; then sends late packets for each line that it is given until something comes back: only
    the first, second, fourth, eighth and so on are answered."""
    await peer.wait_closed()
    answers = asyncio.Queue()
    peer.datagram_received = lambda data, _: answers.put_nowait(data)
    packet = b"\x40" + peer._quic._peer_cid.cid + bytes(40)
    own = peer._quic.host_cid
    say("closed")
    while await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline):
        answer = None
        while answer is None:
            peer._transport.sendto(packet, peer._quic._network_paths[0].addr)
            with contextlib.suppress(asyncio.TimeoutError):
                answer = await asyncio.wait_for(answers.get(), 0.1)
        # A stateless reset names no connection.
        say("answer", equal=answer[1 : 1 + len(own)] == own)


async def tickets(peer, received):
    """Stays long enough for a session ticket to arrive with the answers, if one were sent."""
    equal = True
    for number in range(5):
        equal &= await peer.echo(b"echo %d" % number) == b"echo %d" % number
    say("echoes", count=5, equal=equal)
    say("tickets", count=len(received))


SCENARIOS = {
    "streams": streams,
    "resets": resets,
    "keys": keys,
    "identifiers": identifiers,
    "rebind": rebind,
    "probe": probe,
    "stop": stop,
    "stop-first": stop_first,
    "close": close,
    "closed": closed,
    "wait": wait,
    "late": late,
    "tickets": tickets,
}


def configuration(options, is_client):
    settings = QuicConfiguration(
        is_client=is_client,
        alpn_protocols=[options.alpn],
        verify_mode=ssl.CERT_NONE,
        server_name="localhost" if is_client else None,
        max_stream_data=WINDOW,
    )
    if options.suites:
        settings.cipher_suites = [CipherSuite[name] for name in options.suites.split(",")]
    Credentials.make(options.certificate).install(settings)
    if options.version == "unknown":
        settings.original_version = VERSION_UNKNOWN
        settings.supported_versions = [VERSION_UNKNOWN, VERSION_1]
    elif options.version == "2":
        settings.supported_versions = [VERSION_2]
    else:
        settings.supported_versions = [VERSION_1]
    return settings


async def foreign_ticket(options):
    """Gets a session ticket with early data from a server of its own."""
    issued = {}
    received = []
    server = await serve(
        "127.0.0.1",
        0,
        configuration=configuration(options, False),
        create_protocol=QuicConnectionProtocol,
        session_ticket_fetcher=lambda label: issued.get(label),
        session_ticket_handler=lambda ticket: issued.__setitem__(ticket.ticket, ticket),
    )
    port = server._transport.get_extra_info("sockname")[1]
    arrived = asyncio.Event()

    def keep(ticket):
        received.append(ticket)
        arrived.set()

    async with connect(
        "127.0.0.1", port, configuration=configuration(options, True), session_ticket_handler=keep
    ) as client:
        await client.ping()
        await asyncio.wait_for(arrived.wait(), 20)
    server.close()
    return received[0]


async def dial(options):
    settings = configuration(options, True)
    kind = PatientConnection if options.patient else Connection
    aioquic.asyncio.client.QuicConnection = aioquic.asyncio.server.QuicConnection = kind
    say("ready", peer=settings.peer_id)
    if options.offer_ticket:
        settings.session_ticket = await foreign_ticket(options)
        say("offering", limit=settings.session_ticket.max_early_data_size)
    received = []
    try:
        async with connect(
            "127.0.0.1",
            options.port,
            configuration=settings,
            create_protocol=Peer,
            session_ticket_handler=received.append,
        ) as peer:
            say(
                "connected",
                negotiated=peer._quic._version_negotiated_incompatible,
                version=peer._quic._version,
                suite=peer._quic.tls.key_schedule.cipher_suite.name,
            )
            await SCENARIOS[options.scenario](peer, received)
    except ConnectionError:
        say("refused")


async def accept(options):
    settings = configuration(options, False)
    tickets = {}
    aioquic.asyncio.server.QuicConnection = Connection if options.anonymous else MutualConnection
    server = await serve(
        "127.0.0.1",
        0,
        configuration=settings,
        create_protocol=Peer,
        retry=options.retry,
        session_ticket_fetcher=(lambda label: tickets.get(label)) if options.tickets else None,
        session_ticket_handler=(lambda t: tickets.__setitem__(t.ticket, t)) if options.tickets else None,
    )
    port = server._transport.get_extra_info("sockname")[1]
    say("ready", peer=settings.peer_id, port=port)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    say("tickets", count=len(tickets))
    server.close()


def main():
    parser = argparse.ArgumentParser()
    roles = parser.add_subparsers(dest="role", required=True)
    client = roles.add_parser("dial")
    client.add_argument("port", type=int)
    client.add_argument("scenario", choices=sorted(SCENARIOS))
    client.add_argument("--offer-ticket", action="store_true")
    client.add_argument("--patient", action="store_true", help="announce the longest delay of acknowledgements")
    server = roles.add_parser("serve")
    server.add_argument("--retry", action="store_true")
    server.add_argument("--tickets", action="store_true")
    server.add_argument("--anonymous", action="store_true", help="do not ask the client for a certificate")
    for role in (client, server):
        role.add_argument("--alpn", default="runar-p2p-1")
        role.add_argument("--certificate", default="ed25519", choices=Credentials.kinds)
        role.add_argument("--suites", help="the cipher suites in the order of preference, with commas between them")
        role.add_argument("--version", default="1", choices=["1", "2", "unknown"])
    options = parser.parse_args()
    asyncio.run(dial(options) if options.role == "dial" else accept(options))


main()
