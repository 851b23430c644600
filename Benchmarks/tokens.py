"""Blind tokens from their issue over their redemption to the handshakes that they admit. `bench.py` calls this.

Rates per core are operations for each second of processor time of the measured process, so that the client's share of the
machine does not count.
"""

import tempfile

from harness import Server, Watch, run
from table import Row

# The tokens of a request: the most that an issuer accepts, and one.
BATCH = 128

ROWS = [
    Row("tokens-batched", "tokens issued over HTTP per core, 128 in a request", "1/s", "RunarNode", "blind signatures", at_least=0.85),
    Row("tokens-single", "the same, one in a request, 64 connections", "1/s", "RunarNode", "blind signatures", at_least=0.85),
    Row("tokens-verified", "tokens verified, one core", "1/s", "RunarNode", "verifications", at_least=0.9),
    Row("redemptions", "redemptions over TLS, durable, 64 connections", "1/s", "RunarNode", "bound", at_least=1),
    Row("redemptions-unsynced", "the same beside a disk that needs no time", "1/s", "RunarNode", "unsynced"),
    Row("redemptions-syncs", "the same beside synchronizations of the disk", "1/s", "RunarNode", "syncs"),
    Row("token-cpu", "processor time of a token: issuer, client, gateway", "ms", "RunarNode", at_most=5, absolute=True),
    Row("wireguard-handshakes", "WireGuard responses to new peers, one core", "1/s", "RunarNode", "a fifth of X25519", at_least=0.6),
    Row("wireguard-renewals", "the same to known peers", "1/s", "RunarNode", "a quarter of X25519", at_least=0.6),
    Row("wireguard-configured", "memory per idle WireGuard peer of 10,000", "KB", "RunarNode", at_most=4, absolute=True),
    Row("wireguard-connected", "the same, each with a session", "KB", "RunarNode", at_most=4, absolute=True),
]
SIDE = [
    ("token-issuer", "tokens: the issuer's processor time of one, 128 in a request", "ms"),
    ("token-issuer-single", "tokens: the same, one in a request", "ms"),
    ("token-client", "tokens: the client's for blinding and unblinding", "ms"),
    ("token-gateway", "tokens: the gateway's for the redemption", "ms"),
    ("token-verify", "tokens: of that, the verification", "ms"),
    ("token-machine", "tokens issued by all cores, 128 in a request", "1/s"),
    ("redemption-client", "redemptions: the client", "cores"),
]


class TokenLoad:
    """Measures one round; `note(key, column, value, others)` receives each value."""

    def __init__(self, runar, unsynced, scaled, note):
        self.runar, self.unsynced, self.scaled, self.note = [runar, "exit"], unsynced, scaled, note
        self.syncs = lambda folder: run([runar, "identity", "anchors", "1", folder])["syncs"]

    def measure(self):
        anchors = run([*self.runar, "anchors", str(self.scaled(1_000, 100))])
        self.note("tokens-verified", "RunarNode", anchors["verifications"], 0.0)
        self.note("tokens-verified", "verifications", anchors["libraryVerifications"], 0.0)
        self.note("token-client", "value", anchors["clientMilliseconds"], 0.0)
        self.note("token-verify", "value", anchors["verifyMilliseconds"], 0.0)
        with tempfile.TemporaryDirectory() as folder, Server([*self.runar, "issuer", folder]) as issuer:
            batched = self.issue("tokens-batched", issuer, folder, BATCH, 4_096, anchors)
            self.note("token-issuer", "value", batched, 0.0)
            self.note("token-issuer-single", "value", self.issue("tokens-single", issuer, folder, 1, 2_000, anchors), 0.0)
            redeemed = self.redeem(issuer, folder)
        self.note("token-gateway", "value", redeemed, 0.0)
        self.note("token-cpu", "RunarNode", batched + anchors["clientMilliseconds"] + redeemed, 0.0)
        self.tunnel()

    def issue(self, key, issuer, folder, batch, count, anchors):
        """Returns the issuer's processor time of one token in milliseconds."""
        count = self.scaled(count, 512)
        used = issuer.cpu_seconds()
        with Watch([issuer]) as watch:
            issued = run([*self.runar, "issue", issuer.said["address"], folder, str(batch), str(count)])
        used = issuer.cpu_seconds() - used
        self.note(key, "RunarNode", count / used, 0.0)
        self.note(key, "blind signatures", anchors["signatures"], 0.0)
        if batch == BATCH:
            self.note("token-machine", "value", issued["perSecond"], watch.others)
        return used * 1_000 / count

    def redeem(self, issuer, issuer_folder):
        """Returns the gateway's processor time of one redemption in milliseconds, TLS included."""
        with tempfile.TemporaryDirectory() as folder:
            syncs = self.syncs(folder)
        rates = {}
        for column, preload in (("RunarNode", None), ("unsynced", self.unsynced)):
            count = self.scaled(4_000, 256)
            with tempfile.TemporaryDirectory() as folder:
                command = [*self.runar, "gateway", folder, issuer.said["address"]]
                with Server(command, preload=preload) as gateway, Watch([issuer, gateway]) as watch:
                    used = gateway.cpu_seconds()
                    places = [gateway.said["address"], folder, issuer.said["address"], issuer_folder]
                    redeemed = run([*self.runar, "redeem", *places, str(count)])
                    used = gateway.cpu_seconds() - used
            rates[column] = (redeemed["perSecond"], watch.others)
            if preload is None:
                milliseconds = used * 1_000 / count
                self.note("redemption-client", "value", redeemed["client"], watch.others)
        for key in ("redemptions", "redemptions-unsynced", "redemptions-syncs"):
            self.note(key, "RunarNode", *rates["RunarNode"])
        rate, others = rates["unsynced"]
        self.note("redemptions", "bound", min(8 * syncs, rate / 2), others)
        self.note("redemptions-unsynced", "unsynced", rate, others)
        self.note("redemptions-syncs", "syncs", syncs, others)
        return milliseconds

    def tunnel(self):
        """Handshakes and memory of a WireGuard interface without sockets."""
        rates = run([*self.runar, "handshakes", str(self.scaled(2_000, 200))])
        self.note("wireguard-handshakes", "RunarNode", rates["handshakes"], 0.0)
        self.note("wireguard-handshakes", "a fifth of X25519", rates["agreements"] / 5, 0.0)
        self.note("wireguard-renewals", "RunarNode", rates["renewals"], 0.0)
        self.note("wireguard-renewals", "a quarter of X25519", rates["agreements"] / 4, 0.0)
        memory = run([*self.runar, "peers", "10000"])
        self.note("wireguard-configured", "RunarNode", memory["configured"], 0.0)
        self.note("wireguard-connected", "RunarNode", memory["connected"], 0.0)
