"""The attack `addresses` of attack.py: a guest with many addresses of the home's IPv6 network.

attack_addresses.py run ADDRESSES     attacks a node in the network namespace of the caller, and prints one line of JSON
attack_addresses.py victim            is the attacked node: it signs a token for each peer id that it reads
attack_addresses.py guest PORT SECONDS ADDRESSES FIRST is one process of the guest

Each run has a namespace of its own (`unshare`, as root on Linux), in which the loopback interface has a whole /64 of global
addresses. The node, the members and the guest have addresses of it, as on the link of a household.
"""

import asyncio
import contextlib
import itertools
import json
import os
import ssl
import subprocess
import sys
import time

from aioquic.asyncio import QuicConnectionProtocol
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection

from credentials import Credentials

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "Bindings", "python"))
sys.dont_write_bytecode = True
import runar  # noqa: E402

# 2001:db8::/32 is for documentation (RFC 3849), and neither private nor link-local.
HOME, PREFIX = "2001:db8:1:2::", "2001:db8:1:2::/64"
NODE = HOME + "1"
# The connections that the guest keeps open in all, and its processes.
CONNECTIONS, PROCESSES = 300, 2
MEMBERS, PATIENCE = 20, 2


def node_at(address):
    return runar.Node(in_memory=True, listen=f"[{address}]:0", discovery=False, log_level=5)


def victim():
    with node_at(NODE) as node:
        peer = node.start()
        network = node.create_network("Home")
        print(json.dumps({"peer": peer, "port": node.port, "network": network}), flush=True)
        for line in sys.stdin:
            print(node.issue_token(network, line.strip()), flush=True)


class Guest:
    """Completes handshakes and sends no hello, each from the next of its addresses."""

    def __init__(self, port, seconds, addresses, first):
        self.port, self.addresses = port, addresses
        self.end = time.monotonic() + seconds
        self.numbers = itertools.count(first)
        self.made = 0
        self.settings = QuicConfiguration(is_client=True, alpn_protocols=["runar-p2p-1"], verify_mode=ssl.CERT_NONE)
        Credentials.make("ed25519").install(self.settings)

    async def run(self):
        await asyncio.gather(*(self.keep() for _ in range(CONNECTIONS // PROCESSES)))
        print(json.dumps({"made": self.made}))

    async def keep(self):
        while time.monotonic() < self.end:
            with contextlib.suppress(ConnectionError, OSError, asyncio.TimeoutError):
                await self.visit()
            await asyncio.sleep(0.01)

    async def visit(self):
        source = f"{HOME}1:{next(self.numbers) % self.addresses:x}"
        quic = QuicConnection(configuration=self.settings)
        transport, peer = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: QuicConnectionProtocol(quic), local_addr=(source, 0)
        )
        try:
            # With flow and scope, as answers have them: aioquic compares whole addresses.
            peer.connect((NODE, self.port, 0, 0))
            await asyncio.wait_for(peer.wait_connected(), 5)
            self.made += 1
            await asyncio.wait_for(peer.wait_closed(), max(0.1, self.end - time.monotonic()))
        finally:
            # A timer of the connection may still run.
            peer.transmit = lambda: None
            transport.close()


def program(*words):
    return [sys.executable, "-B", os.path.abspath(__file__), *map(str, words)]


def attack(addresses):
    """Returns the times in which members were admitted, and the handshakes that the guest completed."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "-6", "route", "add", "local", PREFIX, "dev", "lo"], check=True)
    # The addresses of a route are not those of an interface.
    with open("/proc/sys/net/ipv6/ip_nonlocal_bind", "w") as setting:
        setting.write("1")
    node = subprocess.Popen(program("victim"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    guests = []
    try:
        facts = json.loads(node.stdout.readline())
        seconds = 12 + MEMBERS * PATIENCE
        guests = [
            subprocess.Popen(
                program("guest", facts["port"], seconds, addresses, part * addresses // PROCESSES),
                stdout=subprocess.PIPE,
                text=True,
            )
            for part in range(PROCESSES)
        ]
        time.sleep(6)
        times = [time_of_member(node, facts, number) for number in range(MEMBERS)]
        made = sum(json.loads(guest.communicate()[0])["made"] for guest in guests)
        return {"times": [each for each in times if each is not None], "made": made, "seconds": seconds}
    finally:
        for process in [*guests, node]:
            process.kill()
            process.wait()


def time_of_member(node, facts, number):
    """The time from the dial of a member at a new address to its admission; None if there was none."""
    with node_at(f"{HOME}a:{number:x}") as member:
        member.start()
        node.stdin.write(member.peer_id + "\n")
        node.stdin.flush()
        member.join_network(node.stdout.readline().strip())
        began = time.monotonic()
        try:
            member.connect(facts["peer"], facts["network"], f"[{NODE}]:{facts['port']}")
        except runar.Error:
            return None
        return time.monotonic() - began


def measure(result):
    """Runs the attack with few and with many addresses, and passes each outcome to `result`."""
    for addresses in (16, 4000):
        run = subprocess.run(
            ["unshare", "--net", *program("run", addresses)], stdout=subprocess.PIPE, text=True, check=True
        )
        facts = json.loads(run.stdout)
        in_time = sum(each <= PATIENCE for each in facts["times"])
        rate = facts["made"] / facts["seconds"]
        slowest = max(facts["times"], default=float("nan"))
        figure = f"{in_time} of {MEMBERS}, {slowest:.2f} s, {rate:.0f} handshakes/s"
        name = f"a member beside {addresses} addresses of its IPv6 network"
        result(name, figure, f"{MEMBERS} of {MEMBERS} within {PATIENCE} s", in_time == MEMBERS)


if __name__ == "__main__":
    if sys.argv[1] == "victim":
        victim()
    elif sys.argv[1] == "guest":
        asyncio.run(Guest(*map(int, sys.argv[2:])).run())
    else:
        print(json.dumps(attack(int(sys.argv[2]))))
