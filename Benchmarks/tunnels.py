"""Tunnels between network namespaces, ours next to wireguard-go, and the start of a connection to a private exit.

`bench.py` measures the rows. Needs root, `ip` and /dev/net/tun; without them the part is left out with the reason.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from drivers import certificates
from harness import TICKS, Failed, Server, Watch, run
from table import Row

SYSTEM_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
# The default folder of configuration sockets, which wireguard-go requires.
GO_SOCKETS = "/var/run/wireguard"
PREFIX = "runar-bench-"

# Alternating runs of each row.
RUNS = 5
# The port of the sink.
PORT = "7007"
# The addresses of the two ends inside the tunnel, as in TunnelSide.swift.
INNER = ("10.66.0.1", "10.66.0.2")
# The share of datagrams that may be lost.
LOSS = 0.02
SEARCH_STEPS = 5
# The seconds after an event in which echoes are expected.
WINDOW = 3

ROWS = [
    Row("tunnel-tcp", "tunnel: one TCP stream between two namespaces", "Mbit/s", "RunarNode", "wireguard-go", at_least=3),
    Row("tunnel-udp", "tunnel: UDP of 1,360 B, highest rate with 2 % loss", "Mbit/s", "RunarNode", "wireguard-go", at_least=2),
    Row("tunnel-kill", "tunnel: engine killed, until echoes return", "ms", "RunarNode", at_most=100, absolute=True),
    Row("tunnel-uplink", "tunnel: uplink changed, until echoes return", "ms", "RunarNode", "wireguard-go", at_most=500, absolute=True),
    Row("tunnel-connect", "exit: redemption of a token, handshake, first echo", "ms", "RunarNode", at_most=100, absolute=True),
]
SIDE = [("tunnel-connect-all", "exit: from the start of the command to the first echo", "ms")]


def command_path(name):
    return shutil.which(name, path=SYSTEM_PATH)


def system(*words):
    command = [command_path(words[0]) or words[0], *words[1:]]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def obstacle(bench, tools):
    """The reason why no tunnel can be made here, or None."""
    if sys.platform != "linux":
        return "they need Linux"
    if os.geteuid() != 0:
        return "they need root"
    for path in (os.path.join(os.path.dirname(os.path.abspath(bench)), "runar"), os.path.join(tools, "tunnel_load")):
        if not os.access(path, os.X_OK):
            return f"{path} is missing"
    if not command_path("ip"):
        return "there is no `ip` here (package iproute2)"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "there is no /dev/net/tun here"
    try:
        with Spaces("trial"):
            return None
    except Failed as failure:
        return f"no network namespaces here: {failure}"


class Spaces:
    """Network namespaces with their own names, removed at the end; those of killed processes are removed at the start."""

    def __init__(self, *roles):
        self.roles = roles

    def __enter__(self):
        for line in system("ip", "netns", "list").splitlines():
            name = line.split()[0]
            owner = name[len(PREFIX) :].split("-")[0]
            if name.startswith(PREFIX) and not os.path.exists(f"/proc/{owner}"):
                self.remove(name)
        try:
            for role in self.roles:
                system("ip", "netns", "add", self.name(role))
                self.ip(role, "link", "set", "lo", "up")
        except Failed:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for role in self.roles:
            with contextlib.suppress(Failed):  # it was not made
                self.remove(self.name(role))

    @staticmethod
    def remove(name):
        for process in system("ip", "netns", "pids", name).split():
            with contextlib.suppress(OSError):  # it has ended
                os.kill(int(process), signal.SIGKILL)
        system("ip", "netns", "delete", name)

    def name(self, role):
        return f"{PREFIX}{os.getpid()}-{role}"

    def ip(self, role, *words):
        return system("ip", "-n", self.name(role), *words)

    def inside(self, role, *words):
        """A command line that runs in the namespace of a role."""
        return [command_path("ip"), "netns", "exec", self.name(role), *words]

    def cable(self, one, port, other, other_port, address, other_address):
        """Joins interfaces of two namespaces, with IPv4 addresses of one /24."""
        self.ip(one, "link", "add", port, "type", "veth", "peer", "name", other_port, "netns", self.name(other))
        for role, device, own in ((one, port, address), (other, other_port, other_address)):
            self.ip(role, "address", "add", f"{own}/24", "dev", device)
            self.ip(role, "link", "set", device, "up")

    def forward(self, role):
        """Makes a namespace a router."""
        script = "for f in ipv4/ip_forward ipv6/conf/all/forwarding; do echo 1 >/proc/sys/net/$f; done"
        system(*self.inside(role, "/bin/sh", "-e", "-c", script))


class End(Server):
    """One end of a tunnel, with the process of its engine."""

    def engines(self):
        """The ids of its child processes."""
        found = []
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with contextlib.suppress(OSError):  # the thread has ended
                with open(f"/proc/{self.process.pid}/task/{task}/children") as file:
                    found += [int(word) for word in file.read().split()]
        return found

    def cpu_seconds(self):
        ticks = 0
        for process in [self.process.pid, *self.engines()]:
            with contextlib.suppress(OSError):  # it has ended
                with open(f"/proc/{process}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                # With the time of children that have ended.
                ticks += sum(int(field) for field in fields[11:15])
        return ticks / TICKS


class Service(End):
    """A server of the command, which ends by SIGTERM."""

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Probe:
    """An echo each millisecond from a namespace, with the times of all."""

    def __init__(self, spaces, role, load, address, seconds):
        words = spaces.inside(role, load, "probe", address, PORT, str(seconds))
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def echoes(self):
        """Pairs of the times at which an echo was sent and returned."""
        said, _ = self.process.communicate(timeout=60)
        if self.process.returncode != 0:
            raise Failed("the probe failed")
        return json.loads(said.splitlines()[-1])["echoes"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def outage(echoes, at):
    """Milliseconds of the longest silence in the WINDOW seconds after an event."""
    times = [arrived for _, arrived in echoes if arrived < at + WINDOW]
    gaps = [after - max(before, at) for before, after in zip(times, [*times[1:], at + WINDOW]) if after > at]
    return max(gaps) * 1000


class Tunnels:
    """Measures all rows; `note(key, column, value, others)` receives each value."""

    def __init__(self, bench, tools, scale, note):
        self.bench, self.note, self.scale = os.path.abspath(bench), note, scale
        self.runs = max(1, int(RUNS * scale))
        self.program = os.path.join(os.path.dirname(self.bench), "runar")
        self.load = os.path.abspath(os.path.join(tools, "tunnel_load"))
        self.go = command_path("wireguard-go")
        self.count = 0

    def seconds(self, full):
        """The length of a trial as a word for a driver."""
        return f"{max(0.3, full * self.scale):.2f}"

    def kinds(self):
        return ["RunarNode"] + (["wireguard-go"] if self.go else [])

    def measure(self):
        if not self.go:
            print("   without wireguard-go, which is not installed", file=sys.stderr)
        for number in range(1, self.runs + 1):
            for key, method in (("tcp", self.tcp), ("udp", self.udp)):
                for kind in self.kinds():
                    self.attempt(number, f"tunnel-{key}", kind, lambda: method(kind))
            self.attempt(number, "tunnel-kill", "RunarNode", self.kill)
            for kind in self.kinds():
                self.attempt(number, "tunnel-uplink", kind, lambda: self.uplink(kind))
        self.connect()

    def attempt(self, number, key, kind, body):
        print(f"   run {number} of {self.runs}: {key}, {kind}", file=sys.stderr, flush=True)
        try:
            value, others = body()
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)
            return
        self.note(key, kind, value, others)

    def end(self, spaces, kind, number, role, other, folder):
        """Starts an end of a tunnel in the namespace of a role; `other` is the outer address of the other end."""
        self.count += 1
        interface = f"rb{os.getpid() % 1_000_000}x{self.count % 1_000}"
        order = [str(number), other, interface]
        if kind == "RunarNode":
            words = [self.bench, "tunnel", "own", *order, self.program, os.path.join(folder, f"{interface}.sock")]
            return End(spaces.inside(role, *words))
        os.makedirs(GO_SOCKETS, mode=0o700, exist_ok=True)
        words = [self.bench, "tunnel", "go", *order, self.go, os.path.join(GO_SOCKETS, f"{interface}.sock")]
        end = End(spaces.inside(role, *words))
        spaces.ip(role, "address", "add", f"{INNER[number]}/16", "dev", interface)
        spaces.ip(role, "link", "set", interface, "up")
        return end

    @contextlib.contextmanager
    def pair(self, kind):
        """Two ends that a cable joins, and a sink at the second one: the namespaces and the processes."""
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            spaces = stack.enter_context(Spaces("a", "b"))
            spaces.cable("a", "eth0", "b", "eth0", "192.0.2.1", "192.0.2.2")
            ends = [
                stack.enter_context(self.end(spaces, kind, number, role, other, folder))
                for number, role, other in ((0, "a", "192.0.2.2"), (1, "b", "192.0.2.1"))
            ]
            yield self.joined(stack, spaces, ends)

    @contextlib.contextmanager
    def roaming(self, kind):
        """The same with a router between the ends; the first end has two uplinks to it."""
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            spaces = stack.enter_context(Spaces("a", "r", "b"))
            spaces.cable("a", "eth0", "r", "a0", "192.0.2.2", "192.0.2.1")
            spaces.cable("a", "eth1", "r", "a1", "198.51.100.2", "198.51.100.1")
            spaces.cable("b", "eth0", "r", "b0", "203.0.113.2", "203.0.113.1")
            spaces.forward("r")
            spaces.ip("a", "route", "add", "default", "via", "192.0.2.1", "metric", "100")
            spaces.ip("a", "route", "add", "default", "via", "198.51.100.1", "metric", "200")
            spaces.ip("b", "route", "add", "default", "via", "203.0.113.1")
            ends = [
                stack.enter_context(self.end(spaces, kind, number, role, other, folder))
                for number, role, other in ((0, "a", "203.0.113.2"), (1, "b", "192.0.2.2"))
            ]
            yield self.joined(stack, spaces, ends)

    def joined(self, stack, spaces, ends):
        """Waits until echoes pass through the tunnel, so that the handshake is not measured."""
        sink = stack.enter_context(Server(spaces.inside("b", self.load, "sink", INNER[1], PORT)))
        for _ in range(20):
            with Probe(spaces, "a", self.load, INNER[1], 0.5) as probe:
                if probe.echoes():
                    return spaces, [*ends, sink]
        raise Failed("no echo passes through the tunnel")

    def tcp(self, kind):
        with self.pair(kind) as (spaces, ends), Watch(ends) as watch:
            words = ["tcp", INNER[1], PORT, self.seconds(3)]
            value = run(spaces.inside("a", self.load, *words))["megabitsPerSecond"]
        return value, watch.others

    def udp(self, kind):
        with self.pair(kind) as (spaces, ends), Watch(ends) as watch:
            value = self.highest_rate(spaces)
        return value, watch.others

    def highest_rate(self, spaces):
        """The received Mbit/s at the highest rate with at most 2 % loss: doubled until it fails, then bisected."""
        best, rate, failed = 0.0, 100.0, None
        steps = SEARCH_STEPS
        while steps > 0:
            received = self.received(spaces, rate)
            if received is None:
                failed = rate
            else:
                best, good = max(best, received), rate
            if failed is None:
                rate *= 2
            elif best == 0:
                rate /= 2
                if rate < 1:
                    raise Failed("every rate loses datagrams")
            else:
                steps -= 1
                rate = (good + failed) / 2
        return best

    def received(self, spaces, rate):
        """The received Mbit/s of a trial, which is repeated once; None if both lose too much or send too slowly."""
        for _ in range(2):
            words = ["udp", INNER[1], PORT, f"{rate:.1f}", self.seconds(0.5)]
            found = run(spaces.inside("a", self.load, *words))
            if found["lost"] <= LOSS and found["sentMegabitsPerSecond"] >= 0.9 * rate:
                return found["megabitsPerSecond"]
        return None

    def kill(self):
        with self.pair("RunarNode") as (spaces, ends), Watch(ends) as watch:
            with Probe(spaces, "a", self.load, INNER[1], WINDOW + 1.5) as probe:
                time.sleep(1)
                engines = ends[0].engines()
                if len(engines) != 1:
                    raise Failed(f"{len(engines)} engines run, not one")
                at = time.monotonic()
                os.kill(engines[0], signal.SIGKILL)
                value = outage(probe.echoes(), at)
        return value, watch.others

    def uplink(self, kind):
        with self.roaming(kind) as (spaces, ends), Watch(ends) as watch:
            with Probe(spaces, "a", self.load, INNER[1], WINDOW + 1.5) as probe:
                time.sleep(1)
                at = time.monotonic()
                spaces.ip("a", "route", "delete", "default", "dev", "eth0")
                spaces.ip("a", "link", "set", "eth0", "down")
                value = outage(probe.echoes(), at)
        return value, watch.others

    def connect(self):
        """Connections with a token from the wallet, each by a new process, after one that fills the wallet."""
        if not command_path("nft"):
            print("   without the exit: there is no `nft` here (package nftables)", file=sys.stderr)
            return
        print("   connections to an exit", file=sys.stderr, flush=True)
        try:
            with contextlib.ExitStack() as stack:
                exit = Exit(stack, self.program, self.load)
                for _ in range(self.runs):
                    with Watch(exit.servers) as watch:
                        redeemed, whole = exit.connect()
                    self.note("tunnel-connect", "RunarNode", redeemed * 1000, watch.others)
                    self.note("tunnel-connect-all", "value", whole * 1000, watch.others)
        except Failed as failure:
            print(f"   failed: {failure}", file=sys.stderr)


class Exit:
    """An issuer, a gateway and a directory in one namespace, a client in another one, and a sink behind the gateway."""

    HOST, CLIENT, SINK = "192.0.2.1", "192.0.2.2", "203.0.113.2"
    NAME = "exit.example.org"
    ISSUER, GATEWAY, DIRECTORY = f"https://{HOST}:8451", f"https://{HOST}:8443", f"https://{HOST}:8444"
    SECONDS = 5

    def __init__(self, stack, program, load):
        self.program, self.load, self.servers = program, load, []
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.spaces = stack.enter_context(Spaces("c", "g", "i"))
        self.spaces.cable("c", "eth0", "g", "eth0", self.CLIENT, self.HOST)
        self.spaces.cable("g", "eth1", "i", "eth0", "203.0.113.1", self.SINK)
        self.spaces.forward("g")
        self.authority, certificate, key = certificates.make(self.folder, self.HOST)
        tls = ["--tls-cert-path", certificate, "--tls-key-path", key]
        self.serve(stack, "issuer", "serve", "--data", self.path("issuer"), "--issuer-name", self.HOST, *tls)
        [voucher] = self.ask("issuer", "voucher", "--data", self.path("issuer"))["vouchers"]
        with open(self.path("voucher"), "w") as file:
            file.write(voucher)
        gateway = ["--data", self.path("gateway"), "--listen-address", self.HOST, "--port", "8443", "--uplink", "eth1"]
        gateway += ["--public-url", self.GATEWAY, "--issuer", self.ISSUER, "--issuer-trust", self.authority]
        gateway += ["--exit-name", self.NAME, "--endpoint", f"{self.HOST}:51820"]
        gateway += ["--location-id", "zurich", "--location-name", "Zurich", "--country", "CH"]
        gateway += ["--latitude", "47.4", "--longitude", "8.5"]
        listed = self.serve(stack, "gateway", "serve", *gateway, *tls)["key"]
        roster = ["--exit-name", self.NAME, "--issuer", self.ISSUER, "--key", listed, "--to", self.path("roster.json")]
        signed = self.ask("gateway", "roster", "--operator-key", self.path("operator.key"), *roster)
        directory = ["--roster", self.path("roster.json"), "--gateway", self.GATEWAY, "--listen-address", self.HOST]
        self.serve(stack, "gateway", "directory", *directory, "--trust", self.authority, *tls)
        self.servers.append(stack.enter_context(Server(self.spaces.inside("i", load, "sink", self.SINK, PORT))))
        # The first connection fills the wallet; the directory may not have read the gateway yet.
        first = ["--exit", self.DIRECTORY, "--operator", signed["operatorKey"], "--issuer-roots", self.authority]
        for attempt in range(3):
            try:
                self.connect(*first, "--voucher", self.path("voucher"))
                break
            except Failed:
                if attempt == 2:
                    raise

    def path(self, name):
        return os.path.join(self.folder, name)

    def ask(self, *words):
        return run(self.spaces.inside("g", self.program, *words, "--json"))

    def serve(self, stack, *words):
        server = stack.enter_context(Service(self.spaces.inside("g", self.program, *words, "--json")))
        self.servers.append(server)
        return server.said

    def connect(self, *words):
        """Seconds to the first echo, from the redemption and from the start of the command."""
        command = self.spaces.inside("c", self.program, "vpn", "connect", "--now", "--json", "--data", self.path("client"))
        with Probe(self.spaces, "c", self.load, self.SINK, self.SECONDS) as probe:
            started, redeemed, lines = time.monotonic(), None, []
            client = subprocess.Popen([*command, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
            try:
                for line in client.stdout:
                    now = time.monotonic()
                    lines.append(line.strip())
                    state = json.loads(line)
                    if state.get("step") == "redeeming":
                        redeemed = now
                    if state["state"] in ("connected", "failed"):
                        break
                echoes = probe.echoes()
            finally:
                client.send_signal(signal.SIGINT)
                client.communicate(timeout=30)
        if redeemed is None or not echoes:
            raise Failed(f"no connection to the exit: {lines[-1:]}")
        return echoes[0][1] - redeemed, echoes[0][1] - started
