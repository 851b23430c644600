"""A member of a network that runs no code of ours: docs/spec/admission.md over aioquic, as far as attacks need it."""

import asyncio
import base64
import contextlib
import json
import os
import ssl
import struct

from aioquic.asyncio import QuicConnectionProtocol
from aioquic.buffer import Buffer, BufferReadError, encode_uint_var
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection

from credentials import Credentials

# Streams and frames (admission.md, sections 2 and 3), and what a coordinator says (traversal.md, section 3).
CONTROL, REQUEST = 0, 3
CONTROL_STREAM = 0
HELLO, HELLO_REPLY, HELLO_ACKNOWLEDGEMENT, TRAVERSAL, SERVICES = 1, 2, 3, 34, 35
FORWARDED_OFFER = 3
RUNS = 1
VERSION, PROTOCOL, INDEX = 1, 2, 0
NO_CAPABILITIES = 0
JSON = 1
# A day in milliseconds, the longest time of a request.
LONGEST = 86_400_000
# The bytes of an answer that arrive before its stream is blocked.
WINDOW = 1024


def prefixed(data):
    return encode_uint_var(len(data)) + data


def token_of(text):
    """The 137 bytes of a token from its text (identity.md, section 5)."""
    fields = json.loads(text)
    peer, network, signature = (base64.b64decode(fields[name]) for name in ("peer_id", "network_id", "signature"))
    end = fields["expiration"]
    return bytes([VERSION]) + peer + network + struct.pack(">Q", (1 << 64) - 1 if end is None else end) + signature


def address_of(ip, port):
    return bytes([4]) + bytes(int(part) for part in ip.split(".")) + struct.pack(">H", port)


class StingyConnection(QuicConnection):
    """Gives no stream more credit than it begins with, the control stream excepted."""

    def _write_stream_limits(self, builder, space, stream):
        if stream.stream_id == CONTROL_STREAM:
            super()._write_stream_limits(builder, space, stream)


class MemberConnection(QuicConnectionProtocol):
    """One admitted connection."""

    def __init__(self, quic):
        super().__init__(quic)
        self.received = b""
        self.admission = asyncio.get_running_loop().create_future()
        # The first one is the control stream.
        self.next_stream = 4

    def quic_event_received(self, event):
        if isinstance(event, events.StreamDataReceived) and event.stream_id == CONTROL_STREAM:
            self.received += event.data
            self.read_reply()
        elif isinstance(event, events.ConnectionTerminated) and not self.admission.done():
            self.admission.set_exception(ConnectionError(f"closed with {event.error_code:#x}"))

    def read_reply(self):
        buffer = Buffer(data=self.received)
        with contextlib.suppress(BufferReadError):
            frame = buffer.pull_bytes(buffer.pull_uint_var())
            if not self.admission.done():
                self.admission.set_result(frame[0])

    def say(self, frame):
        self._quic.send_stream_data(CONTROL_STREAM, prefixed(frame))

    def frames(self):
        """The frames on the control stream that arrived completely."""
        buffer, frames = Buffer(data=self.received), []
        with contextlib.suppress(BufferReadError):
            while True:
                frames.append(buffer.pull_bytes(buffer.pull_uint_var()))
        return frames

    async def be_admitted(self, token, instance, capabilities=NO_CAPABILITIES):
        self._quic.send_stream_data(CONTROL_STREAM, bytes([CONTROL, 0]))
        self.say(bytes([HELLO, PROTOCOL]) + instance + bytes([capabilities, 1, INDEX]) + token)
        self.transmit()
        kind = await asyncio.wait_for(self.admission, 5)
        if kind != HELLO_REPLY:
            raise ConnectionError(f"a frame of type {kind} instead of a hello reply")
        self.say(bytes([HELLO_ACKNOWLEDGEMENT, 1, INDEX, 0, 0]))
        self.transmit()

    def announce(self, count, size, actions):
        """Offers `count` services (services.md, section 2) with names of `size` bytes and `actions` actions each."""
        offered = b"".join(prefixed(b"%d" % number) + bytes([0]) for number in range(actions))
        rest = prefixed(b"1") + bytes([RUNS]) + struct.pack(">H", actions) + offered
        services = [prefixed(b"%0*d" % (size, number)) + rest for number in range(count)]
        self.say(bytes([SERVICES, INDEX]) + struct.pack(">QH", 1, count) + b"".join(services))
        self.transmit()

    def ask(self, path, count):
        """Sends as many requests for an action as the node takes streams, at most `count`; returns how many."""
        asked = 0
        header = bytes([0, JSON]) + encode_uint_var(LONGEST) + prefixed(path.encode()) + bytes([0])
        while asked < count and self.next_stream // 4 < self._quic._remote_max_streams_bidi:
            self._quic.send_stream_data(self.next_stream, bytes([REQUEST, INDEX]) + prefixed(header), True)
            self.next_stream += 4
            asked += 1
        self.transmit()
        return asked

    def forward_offer(self, addresses):
        """Forwards the offer of a caller that does not exist, which is said to be at the addresses."""
        offer = bytes([1, len(addresses)]) + b"".join(addresses)
        introduction = bytes([1]) + addresses[0] + bytes([0])
        body = os.urandom(8) + os.urandom(32) + os.urandom(16) + offer + introduction
        self.say(bytes([TRAVERSAL, INDEX, FORWARDED_OFFER]) + body)
        self.transmit()


class HostileMember:
    """A device with a token."""

    def __init__(self, sign):
        """`sign` makes a token's text from the text of a peer id."""
        self.settings = QuicConfiguration(
            is_client=True, alpn_protocols=["runar-p2p-1"], verify_mode=ssl.CERT_NONE, max_stream_data=WINDOW
        )
        Credentials.make("ed25519").install(self.settings)
        self.token = token_of(sign(base64.b64encode(bytes.fromhex(self.settings.peer_id)).decode()))
        self.instance = os.urandom(16)

    @contextlib.asynccontextmanager
    async def connect(self, host, port, capabilities=NO_CAPABILITIES):
        transport, connection = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: MemberConnection(StingyConnection(configuration=self.settings)), local_addr=(host, 0)
        )
        try:
            connection.connect((host, port))
            await asyncio.wait_for(connection.wait_connected(), 5)
            await connection.be_admitted(self.token, self.instance, capabilities)
            yield connection
        finally:
            connection.transmit = lambda: None
            transport.close()
