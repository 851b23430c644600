"""Measures Runar beside iroh and the raw ceilings of this machine. `make bench` builds everything and calls this.

Every measurement uses a server process and a client process on loopback. The rounds are interleaved, so that noise hits
all alike; the table shows medians. A star marks a median during which others used more than a tenth of the machine.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time

import flood
import identities
import tokens
import tunnels
from harness import Failed, Server, Watch, run
from table import Results, Row, main_table, side_table

ROWS = [
    Row("bulk", "bulk, one stream, 64 KiB writes", "MB/s", at_least=3),
    Row("relay", "the same over a relay, all in one process", "MB/s", "transport", "direct"),
    Row("roundtrip", "64 B there and back, new stream, p50, two cores", "us", at_most=0.75),
    Row("roundtrip1", "the same, everything on one core", "us", at_most=0.75),
    Row("parallel", "the same, 64 in flight, two cores", "1/s", at_least=3),
    Row("handshake", "cold mutual handshake, one after the other", "1/s", subject="RunarNode", at_least=1.2),
    Row("handshake16", "the same, 16 in flight", "1/s", subject="RunarNode"),
    Row("token", "token verification, one core", "1/s", "RunarNode", "openssl", at_least=15_000, absolute=True),
    Row("seal", "seal and open 1 KiB, one-time keys on P-256, one core", "1/s", "RunarNode", "otdf-python", at_least=20),
    Row("seal-limit", "the same beside two ECDH of the cryptographic library", "1/s", "RunarNode", "two ECDH", at_least=0.6),
    Row("seal-xwing", "the same with X-Wing keys", "1/s", "RunarNode", "encapsulate + decapsulate", at_least=0.7),
    Row("seal-ecdsa", "a NanoTDF of 1 KiB with ECDSA binding", "1/s", "RunarNode", "two ECDH"),
    Row("keys-generate", "generate 8,192 one-time keys on P-256", "s", "RunarNode", at_most=1, absolute=True),
    Row("keys-oldest", "open a message to the oldest of them, from disk", "ms", "RunarNode", at_most=5, absolute=True),
    Row("sealed", "sealed message of 1 KiB to a connected device, p50", "us", "RunarNode", "unsealed", at_most=1.5),
    Row("sealed-memory", "the same with the pools in memory", "us", "RunarNode", "unsealed", at_most=1.5),
    Row("mail", "mails of 1 KiB collected from a mailbox of 10,000", "1/s", "RunarNode", at_least=5_000, absolute=True),
    Row("mail-start", "what these take more at the start of their holder", "ms", "RunarNode", at_most=50, absolute=True),
    Row("group", "seal 1 KiB for 20 devices of a group, p50", "us", "RunarNode", "one device", at_most=12),
    Row("history-open", "open a conversation of 100,000 thoughts: the newest 50", "ms", "RunarNode", "aim", at_most=1),
    Row("history-newest", "the 50 before these", "ms", "RunarNode", "aim", at_most=1),
    Row("history-middle", "50 in the middle", "ms", "RunarNode", "aim", at_most=1),
    Row("history-oldest", "the oldest 50", "ms", "RunarNode", "aim", at_most=1),
    Row("history-search", "the longest step of a search for a word of the oldest", "ms", "RunarNode", "aim", at_most=1),
    Row("history-search-all", "all steps of a search for a word that does not occur", "ms", "RunarNode"),
    Row("memory-server", "memory per idle connection, server's end", "KB", "RunarNode", at_most=90, absolute=True),
    Row("memory-client", "the same, client's end", "KB", at_most=90, absolute=True),
    Row("events64", "events of 64 B to one subscriber, batches of 256 KiB", "1/s", "RunarNode", "zenoh", at_least=1),
    Row("events1k", "events of 1 KiB, the same", "1/s", "RunarNode", "zenoh", at_least=1),
    Row("request", "typed JSON request to a remote service, p50, two cores", "us", "RunarNode", "NATS", at_most=0.7),
    Row("request-zenoh", "the same beside zenoh over QUIC (Python on both sides)", "us", "RunarNode", "zenoh", at_most=1),
    Row("request64", "the same, 64 in flight", "1/s", "RunarNode", "NATS", at_least=4),
    Row("request64-iroh", "the same beside iroh's bare streams", "1/s", "RunarNode", "iroh", at_least=1.5),
    Row("request-local", "typed request to a service of the same node", "1/s", "RunarNode", at_least=1_000_000, absolute=True),
    Row("request-allocations", "what one such request allocates, payload included", "", "RunarNode"),
    Row("request-c", "what a request by the C library takes more, p50", "us", "RunarNode", at_most=5, absolute=True),
    Row("start", "start() to ready, key file, 1 000 records", "ms", "RunarNode", at_most=150, absolute=True),
    Row("idle50", "memory of an idle node with 50 peers", "MiB", "RunarNode", "published", at_most=25, absolute=True),
    Row("lost-live", "published right after subscribe, 10 000 runs: lost", "", "RunarNode", at_most=0, absolute=True),
    Row("lost-replay", "the same where the two met only afterwards", "", "RunarNode", at_most=0, absolute=True),
    Row("get", "get of a 1 KiB record, 20 node processes, p50", "us", "RunarNode", "published", at_most=1000, absolute=True),
    Row("get-cached", "the same again, from the cache", "us", "RunarNode", "published", at_most=50, absolute=True),
    Row("idle-packets", "packets of an idle node with 20 peers", "1/s", "RunarNode", at_most=2, absolute=True),
    Row("idle-cpu", "processor of an idle node with 20 peers", "% core", "RunarNode", at_most=1, absolute=True),
    Row("flood", "memory after 500 000 junk Initials", "MB", at_most=32, absolute=True),
    Row("flood-peer", "a good peer connects during the flood (1 = yes)", "", at_least=1, absolute=True),
    *identities.LOAD,
    *tokens.ROWS,
    *tunnels.ROWS,
]

SIDE = [
    ("file", "RunarNode: a file of 256 MiB, checked and stored", "MB/s"),
    ("udp-gso", "raw: UDP with GSO and GRO", "MB/s"),
    ("udp-mmsg", "raw: UDP with sendmmsg and recvmmsg, 1200 B", "MB/s"),
    ("tcp", "raw: one TCP stream, 64 KiB writes", "MB/s"),
    ("udp-pingpong", "raw: 64 B by UDP there and back, two cores", "us"),
    ("udp-pingpong1", "raw: the same on one core", "us"),
    ("tcp-pingpong", "raw: 64 B by TCP there and back, two cores", "us"),
    ("openssl-sign", "openssl: Ed25519 signatures, one core", "1/s"),
    ("vault-create", "vault: create (scrypt)", "ms"),
    ("vault-open", "vault: open (scrypt)", "ms"),
    ("vault-store", "vault: store a key (durable)", "ms"),
    ("vault-sign", "vault: sign with a stored key", "us"),
    *identities.SIDE,
    *tokens.SIDE,
    *tunnels.SIDE,
]

# The kademlia package of PyPI, as published for 20 nodes on one machine.
PYTHON_KADEMLIA_MICROSECONDS = 360

# The longest time of one step in a conversation.
HISTORY_AIM_MILLISECONDS = 200

# The last core: the first one takes most interrupts.
ONE_CORE = os.cpu_count() - 1


class Bench:
    def __init__(self, options):
        self.options = options
        self.results = Results()
        self.log = open(options.output, "w")
        tools = options.tools
        self.peers = {
            "transport": [options.runar, "quic"],
            "RunarNode": [options.runar, "node"],
            "iroh": [os.path.join(tools, "iroh_driver")],
        }
        self.peers = {name: command for name, command in self.peers.items() if os.path.exists(command[0])}
        self.ceilings = os.path.join(tools, "ceilings")
        here = os.path.dirname(os.path.abspath(__file__))
        self.zenoh = [sys.executable, os.path.join(here, "drivers", "zenoh_driver.py")]
        self.nats = os.path.join(tools, "nats_driver")
        self.c_library = os.path.join(tools, "c_library")
        self.allocations = os.path.abspath(os.path.join(tools, "allocations.so"))
        self.nats_server = [sys.executable, os.path.join(here, "drivers", "nats_server.py"), self.nats]

    def scaled(self, count, least=16):
        return max(least, int(count * self.options.scale))

    def note(self, key, column, value, others, round_number):
        self.results.add(key, column, value, others)
        record = {"row": key, "column": column, "value": value, "othersShare": round(others, 3), "round": round_number}
        self.log.write(json.dumps(record) + "\n")
        self.log.flush()

    def attempt(self, key, column, measure, round_number, servers=()):
        """Runs `measure`, notes what it returns, and goes on without it when a driver fails."""
        print(f"   round {round_number}: {key}, {column}", file=sys.stderr, flush=True)
        try:
            with Watch(servers) as watch:
                value = measure()
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)
            return
        self.note(key, column, value, watch.others, round_number)

    def client(self, name, server, operation, count, argument, core=None):
        command = [*self.peers[name], "client", server.said["id"], server.said["address"]]
        return run([*command, operation, str(count), str(argument)], core=core)

    def streams(self, round_number):
        """Bulk, round trips and requests in flight, each peer in turn."""
        kinds = [
            ("bulk", "bulk", self.scaled(1024), 65536, "megabytesPerSecond"),
            ("roundtrip", "roundtrip", self.scaled(8000), 1, "p50Microseconds"),
            ("parallel", "parallel", self.scaled(40000, 640), 64, "perSecond"),
            ("handshake", "handshake", self.scaled(300), 1, "perSecond"),
            ("handshake16", "handshake", self.scaled(640, 32), 16, "perSecond"),
        ]
        for key, operation, count, argument, field in kinds:
            for name in self.peers:
                if (key, name) == ("bulk", "RunarNode"):
                    continue  # nodes send files: see there
                with Server([*self.peers[name], "server"]) as server:
                    measure = lambda: self.client(name, server, operation, count, argument)[field]
                    self.attempt(key, name, measure, round_number, [server])
        for name in self.peers:
            with Server([*self.peers[name], "server"], core=ONE_CORE) as server:
                count = self.scaled(8000)
                measure = lambda: self.client(name, server, "roundtrip", count, 1, ONE_CORE)["p50Microseconds"]
                self.attempt("roundtrip1", name, measure, round_number, [server])

    def files(self, round_number):
        """What a person sees of bulk: a file from one node's disk to the other's."""
        if "RunarNode" not in self.peers:
            return
        with Server([*self.peers["RunarNode"], "server"]) as server:
            measure = lambda: self.client("RunarNode", server, "file", self.scaled(256), 0)["megabytesPerSecond"]
            self.attempt("file", "value", measure, round_number, [server])

    def relay(self, round_number):
        """The same bytes directly and over a relay; all three ends are threads of one process."""
        try:
            with Watch(()) as watch:
                found = run([self.options.runar, "relay", str(self.scaled(512))])
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)
            return
        self.note("relay", "transport", found["relayed"], watch.others, round_number)
        self.note("relay", "direct", found["direct"], watch.others, round_number)

    def events(self, round_number):
        """One publisher and one subscriber; the clock stops when the subscriber has said that it has the last event."""
        for key, count, size in (("events64", 2_000_000, 64), ("events1k", 300_000, 1024)):
            if "RunarNode" in self.peers:
                with Server([*self.peers["RunarNode"], "server"]) as server:
                    measure = lambda: self.client("RunarNode", server, "publish", self.scaled(count), size)["perSecond"]
                    self.attempt(key, "RunarNode", measure, round_number, [server])
            if importlib.util.find_spec("zenoh"):
                with Server([*self.zenoh, "server"]) as server:
                    command = [*self.zenoh, "client", server.said["address"], str(self.scaled(count)), str(size)]
                    self.attempt(key, "zenoh", lambda: run(command)["perSecond"], round_number, [server])

    def requests(self, round_number):
        """Requests to a service of another process, of the same node, and over the C library."""
        kinds = [
            ("request", "roundtrip", self.scaled(8000), 1, "p50Microseconds"),
            ("request64", "parallel", self.scaled(40000, 640), 64, "perSecond"),
        ]
        for key, operation, count, argument, field in kinds:
            if "RunarNode" in self.peers:
                with Server([self.options.runar, "service", "server"]) as server:
                    command = [self.options.runar, "service", "client", server.said["id"], server.said["address"]]
                    measure = lambda: run([*command, operation, str(count), str(argument)])[field]
                    self.attempt(key, "RunarNode", measure, round_number, [server])
            if os.path.exists(self.nats):
                with Server(self.nats_server) as server:
                    command = [self.nats, "client", server.said["id"], server.said["address"]]
                    measure = lambda: run([*command, operation, str(count), str(argument)])[field]
                    self.attempt(key, "NATS", measure, round_number, [server])
        if importlib.util.find_spec("zenoh"):
            with Server([*self.zenoh, "server"]) as server:
                command = [*self.zenoh, "request", server.said["address"], str(self.scaled(3000))]
                self.attempt("request-zenoh", "zenoh", lambda: run(command)["p50Microseconds"], round_number, [server])
        if "iroh" in self.peers:
            with Server([*self.peers["iroh"], "server"]) as server:
                measure = lambda: self.client("iroh", server, "parallel", self.scaled(40000, 640), 64)["perSecond"]
                self.attempt("request64-iroh", "iroh", measure, round_number, [server])
        if "RunarNode" in self.peers:
            self.local_requests(round_number)
            measure = lambda: run([self.options.runar, "start", str(self.scaled(1000))])["milliseconds"]
            self.attempt("start", "RunarNode", measure, round_number)
            self.attempt("idle50", "RunarNode", self.idle_memory, round_number)
        for key, beside in (("request", "request-zenoh"), ("request64", "request64-iroh")):
            for value in self.results.values.get((key, "RunarNode"), [])[-1:]:
                self.results.add(beside, "RunarNode", value)

    def local_requests(self, round_number):
        """Requests to a service of the same node, and what they take more by way of the C library."""
        local = {}
        measure = lambda: local.update(run([self.options.runar, "local", str(self.scaled(500_000))])) or local["perSecond"]
        self.attempt("request-local", "RunarNode", measure, round_number)
        if local:
            self.attempt("request-allocations", "RunarNode", self.allocations_of_requests, round_number)
            measure = lambda: run([self.c_library])["p50Microseconds"] - local["rawP50Microseconds"]
            self.attempt("request-c", "RunarNode", measure, round_number)

    def allocations_of_requests(self):
        """How often memory is asked for in one request: twice as many requests, less what the rest of a run needs."""
        counts = []
        for requests in (40_000, 80_000):
            done = subprocess.run(
                [self.options.runar, "local", str(requests)],
                env={**os.environ, "LD_PRELOAD": self.allocations},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                timeout=120,
            )
            counts.append(int(done.stderr.split()[-1]))
        return round((counts[1] - counts[0]) / 40_000, 1)

    def idle_memory(self):
        """Resident memory of a node, with a hash table, to which 50 members are connected and silent."""
        with Server([self.options.runar, "family", "server"]) as server:
            command = [*self.peers["RunarNode"], "client", server.said["id"], server.said["address"]]
            with Server([*command, "idle", "50", "0"]):
                time.sleep(2)
                return server.resident_bytes() / 2**20

    def subscriptions(self, round_number):
        """Events that never come to a subscription made just before; one round says it all."""
        if round_number > 1 or "RunarNode" not in self.peers:
            return
        print(f"   round {round_number}: publish right after subscribe", file=sys.stderr, flush=True)
        try:
            lost = run([self.options.runar, "subscriptions", str(self.scaled(10_000))])
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)
            return
        self.note("lost-live", "RunarNode", lost["lostLive"], 0.0, round_number)
        self.note("lost-replay", "RunarNode", lost["lostReplay"], 0.0, round_number)

    def raw(self, round_number):
        limit = "1" if self.options.scale >= 1 else "0.3"
        for kind in ("udp-gso", "udp-mmsg", "tcp"):
            measure = lambda: run([self.ceilings, kind, limit])["megabytesPerSecond"]
            self.attempt(kind, "value", measure, round_number)
        for key, kind, core in (
            ("udp-pingpong", "udp-pingpong", None),
            ("udp-pingpong1", "udp-pingpong", ONE_CORE),
            ("tcp-pingpong", "tcp-pingpong", None),
        ):
            count = str(self.scaled(20000, 500))
            measure = lambda: run([self.ceilings, kind, count], core=core)["p50Microseconds"]
            self.attempt(key, "value", measure, round_number)

    def keys(self, round_number):
        """Token verification beside openssl, and the vault."""
        self.attempt("token", "openssl", lambda: openssl_ed25519()[1], round_number)
        self.attempt("openssl-sign", "value", lambda: openssl_ed25519()[0], round_number)
        count = self.scaled(20000)
        measure = lambda: run([self.options.runar, "tokens", str(count)])["perSecond"]
        self.attempt("token", "RunarNode", measure, round_number)
        try:
            vault = run([self.options.runar, "vault", str(self.scaled(50, 3))])
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)
            return
        for name, value in vault.items():
            self.note(f"vault-{name}", "value", value, 0.0, round_number)

    def sealing(self, round_number):
        """Sealed messages beside otdf-python, and beside the agreements that they need."""
        try:
            rates = run([self.options.runar, "seal", str(self.scaled(5000, 200))])
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)
            return
        values = {
            "seal": "p256",
            "seal-limit": "p256",
            "seal-xwing": "xWing",
            "seal-ecdsa": "ecdsa",
            "keys-generate": "generation",
            "keys-oldest": "oldest",
        }
        for row, value in values.items():
            self.note(row, "RunarNode", rates[value], 0.0, round_number)
        for row in ("seal-limit", "seal-ecdsa"):
            self.note(row, "two ECDH", rates["agreements"], 0.0, round_number)
        self.note("seal-xwing", "encapsulate + decapsulate", rates["encapsulations"], 0.0, round_number)
        try:
            middles = run([self.options.runar, "sealed", str(self.scaled(500, 50))])
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)
        else:
            for row, value in ("sealed", "sealed"), ("sealed-memory", "sealedInMemory"):
                self.note(row, "RunarNode", middles[value], 0.0, round_number)
                self.note(row, "unsealed", middles["plain"], 0.0, round_number)
        here = os.path.dirname(os.path.abspath(__file__))
        peer = [os.path.join(here, "../.venv-nanotdf/bin/python3"), os.path.join(here, "drivers/seal_otdf.py")]
        measure = lambda: run([*peer, str(self.scaled(1000, 50))])["perSecond"]
        self.attempt("seal", "otdf-python", measure, round_number)

    def mail(self, round_number):
        """A mailbox that is collected, and the start of its holder with and without it."""
        try:
            values = run([self.options.runar, "mail", str(self.scaled(10_000, 500))])
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)
            return
        self.note("mail", "RunarNode", values["perSecond"], 0.0, round_number)
        self.note("mail-start", "RunarNode", values["start"] - values["startEmpty"], 0.0, round_number)

    def identity(self, round_number):
        """The identity server under load."""
        print(f"   round {round_number}: identity server", file=sys.stderr, flush=True)
        note = lambda *values: self.note(*values, round_number)
        try:
            identities.IdentityLoad(self.options.runar, self.options.tools, self.scaled, note).measure()
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)

    def tokens(self, round_number):
        """Blind tokens: issuer, gateway, and the handshakes that they admit."""
        print(f"   round {round_number}: blind tokens", file=sys.stderr, flush=True)
        note = lambda *values: self.note(*values, round_number)
        unsynced = os.path.abspath(os.path.join(self.options.tools, "unsynced.so"))
        try:
            tokens.TokenLoad(self.options.runar, unsynced, self.scaled, note).measure()
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)

    def tunnel(self, round_number):
        """Tunnels between network namespaces; their runs alternate within the first round."""
        if round_number > 1:
            return
        reason = tunnels.obstacle(self.options.runar, self.options.tools)
        if reason:
            print(f"   without tunnels: {reason}", file=sys.stderr)
            return
        note = lambda *values: self.note(*values, round_number)
        tunnels.Tunnels(self.options.runar, self.options.tools, self.options.scale, note).measure()

    def circle(self, round_number):
        """Content sealed for the devices of a group, and steps in a long conversation beside their aim."""
        try:
            values = run([self.options.runar, "group", str(self.scaled(200, 20))])
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)
        else:
            self.note("group", "RunarNode", values["group"], 0.0, round_number)
            self.note("group", "one device", values["one"], 0.0, round_number)
        if round_number > 1:
            return  # the conversation takes minutes
        try:
            values = run([self.options.runar, "history", str(self.scaled(100_000, 1_000))], limit_seconds=900)
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)
            return
        for step, value in values.items():
            self.note(f"history-{step}", "RunarNode", value, 0.0, round_number)
            if step != "search-all":
                self.note(f"history-{step}", "aim", HISTORY_AIM_MILLISECONDS, 0.0, round_number)

    def memory(self, round_number):
        """Resident memory of both ends per idle connection."""
        count = self.scaled(1000)
        for name in self.peers:
            print(f"   round {round_number}: memory, {name}", file=sys.stderr, flush=True)
            try:
                with Server([*self.peers[name], "server"]) as server:
                    self.client(name, server, "idle", 8, 0)
                    before = server.resident_bytes()
                    command = [*self.peers[name], "client", server.said["id"], server.said["address"]]
                    with Server([*command, "idle", str(count), "0"]) as client:
                        time.sleep(1)
                        growth = (server.resident_bytes() - before) / client.said["connections"] / 1000
                        own = client.said["clientKibibytes"] * 1.024 / client.said["connections"]
            except Failed as failure:
                print(f"   failed: {failure}", file=sys.stderr)
                continue
            self.note("memory-server", name, growth, 0.0, round_number)
            if name != "RunarNode":  # its clients are whole nodes, not connections
                self.note("memory-client", name, own, 0.0, round_number)

    def family(self, round_number):
        """Reads in a hash table of 20 processes, and what a member with 20 peers costs while nobody does anything."""
        if "RunarNode" not in self.peers:
            return
        print(f"   round {round_number}: family of 20", file=sys.stderr, flush=True)
        records = self.scaled(400)
        try:
            with contextlib.ExitStack() as members:
                server = members.enter_context(Server([self.options.runar, "family", "server"]))
                start = [self.options.runar, "family", "member", server.said["id"], server.said["address"]]
                for others, count in [(0, 0)] * 17 + [(18, records)]:
                    members.enter_context(Server([*start, str(others), str(count)]))
                command = [self.options.runar, "family", "client", server.said["id"], server.said["address"]]
                read = run([*command, "get", str(records), "19"])
                self.note("get", "RunarNode", read["p50Microseconds"], 0.0, round_number)
                self.note("get-cached", "RunarNode", read["cachedP50Microseconds"], 0.0, round_number)
                for key in ("get", "get-cached"):
                    self.results.add(key, "published", PYTHON_KADEMLIA_MICROSECONDS)
                for _ in range(2):
                    members.enter_context(Server([*start, "0", "0"]))
                time.sleep(20)  # until nobody is busy with having met
                seconds = 10 if self.options.scale < 1 else 30
                packets, spent = received_datagrams(), server.cpu_seconds()
                time.sleep(seconds)
                packets, spent = received_datagrams() - packets, server.cpu_seconds() - spent
                # Each datagram is sent by one of the 21 and received by another.
                self.note("idle-packets", "RunarNode", 2 * packets / 21 / seconds, 0.0, round_number)
                self.note("idle-cpu", "RunarNode", 100 * spent / seconds, 0.0, round_number)
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)

    def junk(self, round_number):
        """Memory of a server under junk Initials, and whether a good peer gets through meanwhile."""
        count = self.scaled(500_000, 5000)
        for name in self.peers:
            print(f"   round {round_number}: flood, {name}", file=sys.stderr, flush=True)
            try:
                with Server([*self.peers[name], "server"]) as server:
                    self.client(name, server, "roundtrip", 100, 1)
                    before = server.resident_bytes()
                    with flood.Flood(server.said["address"], count) as sender:
                        most, connected = before, False
                        while sender.is_running():
                            connected = connected or self.reached(name, server)
                            most = max(most, server.resident_bytes())
                    connected = connected or self.reached(name, server)
                    most = max(most, server.resident_bytes())
            except Failed as failure:
                print(f"   failed: {failure}", file=sys.stderr)
                continue
            self.note("flood", name, (most - before) / 1e6, 0.0, round_number)
            self.note("flood-peer", name, 1.0 if connected else 0.0, 0.0, round_number)

    def reached(self, name, server):
        try:
            return self.client(name, server, "roundtrip", 16, 1) is not None
        except Failed:
            return False

    def measure(self):
        for round_number in range(1, self.options.rounds + 1):
            self.streams(round_number)
            self.files(round_number)
            self.relay(round_number)
            self.events(round_number)
            self.requests(round_number)
            self.subscriptions(round_number)
            self.raw(round_number)
            self.keys(round_number)
            self.sealing(round_number)
            self.mail(round_number)
            self.identity(round_number)
            self.tokens(round_number)
            self.tunnel(round_number)
            self.circle(round_number)
            self.memory(round_number)
            self.family(round_number)
            self.junk(round_number)

    def report(self):
        print(f"\n{machine()}; {self.options.rounds} rounds, medians; others used > 10 % of the machine: *")
        if self.options.scale != 1:
            print(f"SCALE {self.options.scale}: a quick look with {self.scaled(500_000, 5000)} junk Initials, not 500 000")
        print("ratio: transport beside iroh, handshakes RunarNode (with admission) beside iroh (which has none)\n")
        print(main_table(ROWS, self.results))
        print()
        print(side_table(self.results, SIDE))
        print(f"\nevery value: {self.options.output}")


def received_datagrams():
    """UDP datagrams over IPv4 that this machine has received."""
    with open("/proc/net/snmp") as file:
        names, values = [line.split()[1:] for line in file if line.startswith("Udp:")]
    return int(values[names.index("InDatagrams")])


def openssl_ed25519():
    """Signatures and verifications per second of one core."""
    done = subprocess.run(
        ["openssl", "speed", "-seconds", "1", "ed25519"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    found = re.search(r"EdDSA.*?([\d.]+)\s+([\d.]+)\s*$", done.stdout, re.MULTILINE)
    if not found:
        raise Failed("openssl speed said nothing about Ed25519")
    return float(found.group(1)), float(found.group(2))


def machine():
    model = platform.processor() or platform.machine()
    with open("/proc/cpuinfo") as file:
        found = re.search(r"model name\s*:\s*(.*)", file.read())
    return f"{found.group(1) if found else model}, {os.cpu_count()} cores, Linux {platform.release()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runar", required=True, help="the runar-bench executable")
    parser.add_argument("--tools", required=True, help="the folder of the C drivers")
    parser.add_argument("--output", help="where every value goes, as JSON lines")
    parser.add_argument("--rounds", type=int, default=int(os.environ.get("ROUNDS", "3")))
    parser.add_argument("--scale", type=float, default=float(os.environ.get("SCALE", "1")), help="< 1: a quick look")
    parser.add_argument("--only", default=os.environ.get("ONLY", ""), help="some of: streams files relay events requests subscriptions raw keys sealing mail identity tokens tunnel circle memory family junk")
    options = parser.parse_args()
    options.output = options.output or os.path.join(options.tools, time.strftime("results-%Y%m%d-%H%M%S.jsonl"))
    bench = Bench(options)
    for name in ("streams", "files", "relay", "events", "requests", "subscriptions", "raw", "keys", "sealing", "mail", "identity", "tokens", "tunnel", "circle", "memory", "family", "junk"):
        if options.only and name not in options.only.split():
            setattr(bench, name, lambda round_number: None)
    with tempfile.TemporaryDirectory(prefix="runar-bench-") as folder:
        os.environ["TMPDIR"] = folder
        bench.measure()
    bench.report()


if __name__ == "__main__":
    main()
