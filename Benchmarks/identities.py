"""The identity server under load, beside what its work cannot do without and beside py_webauthn.

`bench.py` measures the load. By itself this prints how long a server with many accounts needs to start:
`identities.py --runar RUNAR-BENCH [--accounts N]`, which `run-long.sh` calls.
"""

import argparse
import os
import sys
import tempfile
import time
import urllib.request

from harness import Failed, Server, Watch, run
from table import Results, Row, main_table

HERE = os.path.dirname(os.path.abspath(__file__))
PEER = [os.path.join(HERE, ".venv-identity/bin/python3"), os.path.join(HERE, "drivers/webauthn_driver.py")]

# The longest answer at half load, besides the wait for the disk.
ANSWER_MILLISECONDS = 20
START_AIM_SECONDS = 1

LOAD = [
    Row("sign-ins", "sign-ins with passkeys, durable, 64 connections", "1/s", "RunarNode", "verifications", at_least=0.2),
    Row("sign-ins-peer", "the same beside py_webauthn, uvicorn and SQLite", "1/s", "RunarNode", "py_webauthn", at_least=5),
    Row("registrations", "registrations, durable, 64 connections", "1/s", "RunarNode", "bound", at_least=1),
    Row("registrations-unsynced", "the same beside a disk that needs no time", "1/s", "RunarNode", "unsynced"),
    Row("registrations-syncs", "the same beside synchronizations of the disk", "1/s", "RunarNode", "syncs"),
    Row("registrations-peer", "the same beside py_webauthn, uvicorn and SQLite", "1/s", "RunarNode", "py_webauthn"),
    Row("sign-in-p99", "a sign-in (two requests) at half load, p99", "ms", "RunarNode", "20 ms + sync", at_most=1),
    Row("registration-p99", "a registration (two requests) at half load, p99", "ms", "RunarNode", "20 ms + sync", at_most=1),
]
SIDE = [
    ("sign-in-p50", "identity server: a sign-in at half load, p50", "ms"),
    ("registration-p50", "identity server: a registration at half load, p50", "ms"),
    ("sign-in-client", "identity server: the client of the sign-ins, full load", "cores"),
    ("registration-client", "identity server: the client of the registrations, full load", "cores"),
    ("peer-client", "py_webauthn: the client of the sign-ins, full load", "cores"),
]
START = [
    Row("accounts-start", "start of an identity server, until it answers", "s", "RunarNode", at_most=START_AIM_SECONDS, absolute=True),
    Row("accounts-make", "registering the accounts in its database", "s", "RunarNode"),
]


class IdentityLoad:
    """Measures one round; `note(key, column, value, others)` receives each value."""

    def __init__(self, runar, tools, scaled, note):
        self.runar, self.scaled, self.note = runar, scaled, note
        self.unsynced = os.path.abspath(os.path.join(tools, "unsynced.so"))

    def measure(self):
        with tempfile.TemporaryDirectory() as folder:
            anchors = run([self.runar, "identity", "anchors", str(self.scaled(20_000)), folder])
        ours, others = self.load([self.runar, "identity", "server"], 10_000, 20_000)
        unsynced, others_unsynced = self.load([self.runar, "identity", "server"], 10_000, 1_000, self.unsynced)
        self.note("sign-ins", "RunarNode", ours["signIns"], others)
        self.note("sign-ins", "verifications", anchors["verifications"], others)
        for key in ("registrations", "registrations-unsynced", "registrations-syncs", "registrations-peer"):
            self.note(key, "RunarNode", ours["registrations"], others)
        self.note("registrations", "bound", min(8 * anchors["syncs"], unsynced["registrations"] / 2), others_unsynced)
        self.note("registrations-unsynced", "unsynced", unsynced["registrations"], others_unsynced)
        self.note("registrations-syncs", "syncs", anchors["syncs"], others)
        patience = ANSWER_MILLISECONDS + 1_000 / anchors["syncs"]
        for key, value in (("sign-in", "signIn"), ("registration", "registration")):
            self.note(f"{key}-p99", "RunarNode", ours[f"{value}P99"], others)
            self.note(f"{key}-p99", "20 ms + sync", patience, others)
            self.note(f"{key}-p50", "value", ours[f"{value}P50"], others)
            self.note(f"{key}-client", "value", ours[f"{value}Client"], others)
        self.note("sign-ins-peer", "RunarNode", ours["signIns"], others)
        if os.path.exists(PEER[0]):
            peer, others = self.load(PEER, 2_000, 2_000)
            self.note("sign-ins-peer", "py_webauthn", peer["signIns"], others)
            self.note("registrations-peer", "py_webauthn", peer["registrations"], others)
            self.note("peer-client", "value", peer["signInClient"], others)

    def load(self, command, registrations, sign_ins, preload=None):
        """A load on a new server, and the share of the machine that other processes used meanwhile."""
        with tempfile.TemporaryDirectory() as folder:
            with Server([*command, folder], preload=preload) as server, Watch([server]) as watch:
                counts = [str(self.scaled(count, 200)) for count in (registrations, sign_ins)]
                found = run([self.runar, "identity", "client", server.said["address"], *counts])
        return found, watch.others


def start_seconds(runar, folder):
    """From the start of the process to its first answer."""
    started = time.monotonic()
    with Server([runar, "identity", "server", folder]) as server:
        with urllib.request.urlopen(f"http://{server.said['address']}/health", timeout=30) as answer:
            if answer.status != 200:
                raise Failed(f"the server is not healthy: {answer.read()!r}")
        return time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runar", required=True, help="the runar-bench executable")
    parser.add_argument("--accounts", type=int, default=1_000_000)
    options = parser.parse_args()
    results = Results()
    with tempfile.TemporaryDirectory(prefix="runar-accounts-") as folder:
        print(f"   {options.accounts} accounts", file=sys.stderr, flush=True)
        made = run([options.runar, "identity", "accounts", str(options.accounts), folder], limit_seconds=3_600)
        results.add("accounts-make", "RunarNode", made["seconds"])
        for _ in range(5):
            results.add("accounts-start", "RunarNode", start_seconds(options.runar, folder))
        size = os.path.getsize(os.path.join(folder, "identity.sqlite")) / 2**20
    print(f"\n{options.accounts:,} accounts, a database of {size:,.0f} MiB; the middle of five starts, the file in memory\n")
    print(main_table(START, results))


if __name__ == "__main__":
    main()
