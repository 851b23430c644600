"""The checks of the Debian package that need two nodes: discovery, exchange, and an upgrade during a transfer.

The nodes have network namespaces of their own and share one installed package, as two users of a machine do.
"""

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import tempfile

from package_system import SIDES, Pair, wait_until

# The version of the package before, which dpkg sorts before every other one of that number.
PREVIOUS_SUFFIX = "~dev"
STATE = "state.sqlite"
# Locks, the log of the node, and the database, which is compared by its contents.
LIVE_FILES = {"node.lock", "vault.lock", "node.log", STATE, f"{STATE}-wal", f"{STATE}-shm"}
PREVIOUS, CURRENT = "/tmp/previous.deb", "/tmp/runar.deb"
DATA_ERROR = 65
# A member that is not found within this time is a failure.
MEET_SECONDS = 90
# At this rate the file takes longer than dpkg does.
BIG_BYTES, BIG_RATE = 200_000_000, "40mbit"
SMALL_BYTES = 3_000_000
INTERRUPTED = "interrupted"
TRANSFER_SECONDS = 240
DPKG_SECONDS = 120


def previous_package(folder, package, older):
    """Returns the current package with the program of the release before, and a version before the current one."""
    inner, out = os.path.join(folder, "previous"), os.path.join(folder, "previous.deb")
    subprocess.run(["dpkg-deb", "--raw-extract", package, inner], check=True)
    shutil.copy(older, f"{inner}/usr/bin/runar")
    edit(f"{inner}/DEBIAN/control", r"^Version: .*$", rf"\g<0>{PREVIOUS_SUFFIX}")
    edit(f"{inner}/DEBIAN/md5sums", r"^\w+(?=  usr/bin/runar$)", digest(older, "md5"))
    command = ["dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "--build", inner, out]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(inner)
    return out


def edit(path, pattern, replacement):
    with open(path, encoding="utf-8") as file:
        text, count = re.subn(pattern, replacement, file.read(), count=1, flags=re.MULTILINE)
    if count != 1:
        raise ValueError(f"{os.path.basename(path)} has no line of the form {pattern}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def digest(path, name="sha256"):
    """Returns the digest of a file, or nothing if the file does not exist."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        return hashlib.file_digest(file, name).hexdigest()
    return ""


class Node:
    """One side of a pair with a home of its own."""

    def __init__(self, pair, side, name):
        self.pair, self.side = pair, side
        self.home, self.incoming = f"/srv/{name}-{side}", f"/srv/{name}-{side}-files"
        self.settings = {"RUNAR_HOME": self.home, "RUNAR_ACCEPT_FILES": self.incoming}
        os.makedirs(self.path(self.incoming))

    def path(self, inner):
        return self.pair.roots[self.side] + inner

    def run(self, command, seconds=60):
        return self.pair.run(self.side, command, seconds, **self.settings)

    def start(self, command, output):
        return self.pair.start(self.side, command, output, **self.settings)

    def json(self, command):
        """Returns the object that a command prints, or an empty one."""
        try:
            return json.loads(self.run(f"{command} --json").stdout)
        except ValueError:
            return {}

    def peer_id(self):
        return self.json("runar status").get("peerIdText", "")

    def program(self):
        """Returns the digest of the program that the node runs, which may have no name any longer."""
        process = self.json("runar status").get("processId", "")
        return self.run(f"sha256sum /proc/{process}/exe").stdout.split(" ")[0]

    def is_connected(self):
        peers = self.json("runar peers").get("peers", [])
        return any(one["connected"] and "localNetwork" in one["foundBy"] for one in peers)

    def received_bytes(self):
        """Returns the bytes on the disk of files that arrived or are arriving."""
        with os.scandir(self.path(self.incoming)) as files:
            return sum(one.stat().st_blocks * 512 for one in files)

    def sent_bytes(self):
        return int(self.run("cat /sys/class/net/cable/statistics/tx_bytes").stdout)

    def contents(self):
        """Returns the digest of each file in the home, except those that every start of a program writes."""
        found = {STATE: self.state()}
        for place, _, names in os.walk(self.path(self.home)):
            paths = [os.path.join(place, name) for name in names if name not in LIVE_FILES]
            found |= {path: digest(path) for path in paths if os.path.isfile(path)}
        return found

    def state(self):
        """Returns a digest of what the database of the stopped node contains, whether still in its log or not."""
        with tempfile.TemporaryDirectory() as folder:
            for name in (STATE, f"{STATE}-wal"):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy(self.path(f"{self.home}/{name}"), folder)
            with contextlib.closing(sqlite3.connect(os.path.join(folder, STATE))) as database:
                lines = [*database.iterdump(), str(database.execute("PRAGMA user_version").fetchone())]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def copies(self):
        """Returns the copies that updates of the state have kept."""
        return [name for name in os.listdir(self.path(self.home)) if name.startswith(f"{STATE}-version-")]


def both(nodes, command):
    """Runs a command on both sides and returns its failure, or its last outcome."""
    outcomes = [node.run(command) for node in nodes]
    return next((one for one in outcomes if one.returncode), outcomes[-1])


def admit(owner, joiner):
    """Makes a network and a member of it; no address is exchanged, so that the two have to discover each other."""
    owner.run("runar network create Pair")
    text = owner.json("runar network show").get("text", "")
    token = owner.json(f"runar network issue {joiner.peer_id()} --label joiner").get("text", "")
    return joiner.run(f"runar join {shlex.quote(text)} {shlex.quote(token)}")


def check_connected(checks, name, nodes):
    is_met = wait_until(lambda: all(node.is_connected() for node in nodes), MEET_SECONDS)
    checks.check(name, is_met, "" if is_met else both(nodes, "runar peers").stdout)


def check_start(checks, nodes, when):
    """Makes two members of one network."""
    checks.succeeds(f"{when}: two nodes start", both(nodes, "runar init --no-passphrase && runar up --detach"), "running")
    checks.succeeds(f"{when}: one node admits the other", admit(*nodes), "Pair")
    check_connected(checks, f"{when}: they discover each other over the network and connect", nodes)


def check_message(checks, name, sender, receiver):
    peer = receiver.peer_id()
    with tempfile.NamedTemporaryFile() as output:
        # The listener ends with the first message.
        command = f"timeout {MEET_SECONDS} runar listen --json | sed -u '/\"message\"/q'"
        listener = receiver.start(command, output)
        wait_until(lambda: b"listening" in read(output.name), MEET_SECONDS)
        outcome = sender.run(f"runar send {peer} 'from {sender.side}'")
        listener.wait(2 * MEET_SECONDS)
        text = read(output.name).decode()
    is_met = outcome.returncode == 0 and f"from {sender.side}" in text
    checks.check(name, is_met, outcome.stdout + outcome.stderr + text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def make_file(node, name, size):
    """Writes a file of random bytes and returns its path on that side."""
    inner = f"/srv/{name}"
    node.run(f"head --bytes {size} /dev/urandom > {inner}")
    return inner


def check_same_file(checks, name, sender, receiver, inner, text):
    sent = digest(sender.path(inner))
    received = digest(receiver.path(f"{receiver.incoming}/{os.path.basename(inner)}"))
    checks.check(name, sent == received != "", text)


def check_meeting(checks, system):
    """Two nodes of the package discover each other, connect, and exchange a message and a file."""
    with Pair(system, system) as pair:
        west, east = nodes = [Node(pair, side, "meeting") for side in SIDES]
        check_start(checks, nodes, "two nodes")
        check_message(checks, "two nodes: a message arrives", west, east)
        inner = make_file(east, "small", SMALL_BYTES)
        outcome = east.run(f"runar send {west.peer_id()} --file {inner}", TRANSFER_SECONDS)
        check_same_file(checks, "two nodes: a file arrives unchanged", east, west, inner, outcome.stdout + outcome.stderr)
        checks.succeeds("two nodes: both stop", both(nodes, "runar stop"), "stopped")


def check_upgrade(checks, system):
    """From the package before to this one during a transfer, then back and forth again."""
    with Pair(system, system) as pair:
        nodes = [Node(pair, side, "upgrade") for side in SIDES]
        pair.run("west", "dpkg --purge runar", DPKG_SECONDS)
        checks.succeeds("the package before installs", pair.run("west", f"dpkg --install {PREVIOUS}", DPKG_SECONDS))
        check_start(checks, nodes, "the package before")
        check_transfer(checks, system, pair, nodes)
        kept = check_stop(checks, nodes)
        check_restart(checks, nodes)
        check_resumption(checks, nodes, kept)
        check_downgrade(checks, pair, nodes)


def check_transfer(checks, system, pair, nodes):
    west, east = nodes
    inner = make_file(west, "big", BIG_BYTES)
    is_limited = pair.limit("west", BIG_RATE)
    with tempfile.NamedTemporaryFile() as output:
        sender = west.start(f"runar send {east.peer_id()} --file {inner}", output)
        has_begun = wait_until(lambda: east.received_bytes() > 0, MEET_SECONDS)
        outcome = pair.run("east", f"dpkg --install {CURRENT}", DPKG_SECONDS)
        is_running, received = sender.poll() is None, east.received_bytes()
        words = "systemctl --user restart runar"
        checks.succeeds("upgrade: the newer package installs during a transfer and asks for a restart", outcome, words)
        detail = f"begun: {has_begun}, limited: {is_limited}, {received} of {BIG_BYTES} bytes"
        is_met = has_begun and is_running and received < BIG_BYTES
        checks.check("upgrade: the transfer is not complete when dpkg ends", is_met, detail)
        programs, older = {node.program() for node in nodes}, digest(f"{system.root}/opt/older/runar")
        checks.check("upgrade: both nodes continue with the older program", programs == {older}, programs)
        wait_until(lambda: sender.poll() is not None, TRANSFER_SECONDS)
        check_same_file(checks, "upgrade: the transfer completes, nothing is lost", west, east, inner, read(output.name))


def check_stop(checks, nodes):
    """Stops both nodes during another transfer and returns the bytes that had arrived."""
    west, east = nodes
    make_file(west, INTERRUPTED, BIG_BYTES)
    before = east.received_bytes()
    with tempfile.NamedTemporaryFile() as output:
        sender = west.start(f"runar send {east.peer_id()} --file /srv/{INTERRUPTED}", output)
        wait_until(lambda: east.received_bytes() > before, MEET_SECONDS)
        outcome = both(nodes, "runar stop")
        checks.succeeds("upgrade: the newer program stops the nodes of the older one", outcome, "stopped")
        has_ended = wait_until(lambda: sender.poll() is not None, TRANSFER_SECONDS)
        kept = east.received_bytes() - before
        is_met = has_ended and sender.returncode > 0 and 0 < kept < BIG_BYTES
        detail = f"{sender.returncode} after {kept} bytes: {read(output.name)}"
        checks.check("upgrade: the stop interrupts another transfer, which keeps its part", is_met, detail)
    return kept


def check_resumption(checks, nodes, kept):
    west, east = nodes
    before = west.sent_bytes()
    outcome = west.run(f"runar send {east.peer_id()} --file /srv/{INTERRUPTED}", TRANSFER_SECONDS)
    count = west.sent_bytes() - before
    text = outcome.stdout + outcome.stderr
    check_same_file(checks, "upgrade: sent again, that file completes", west, east, f"/srv/{INTERRUPTED}", text)
    detail = f"{count} bytes sent, {kept} had arrived"
    checks.check("upgrade: the part of the older program is not sent again", count < BIG_BYTES - kept / 2, detail)


def check_restart(checks, nodes):
    current = digest(nodes[0].path("/usr/bin/runar"))
    checks.succeeds("upgrade: both nodes start again", both(nodes, "runar up --detach"), "running")
    programs = {node.program() for node in nodes}
    checks.check("upgrade: both run the newer program", programs == {current}, programs)
    copies = [node.copies() for node in nodes]
    checks.check("upgrade: both have migrated their state and kept a copy", all(copies), copies)
    checks.succeeds("upgrade: both know their network", both(nodes, "runar network list"), "Pair")
    check_connected(checks, "upgrade: they discover each other again and connect", nodes)
    check_message(checks, "upgrade: a message arrives", *nodes)


def check_downgrade(checks, pair, nodes):
    both(nodes, "runar stop")
    before = [node.contents() for node in nodes]
    outcome = pair.run("west", f"dpkg --install {PREVIOUS}", DPKG_SECONDS)
    checks.succeeds("downgrade: the package before installs over the newer one", outcome, "downgrading")
    for command in ("runar network list", "runar up --detach"):
        refusals = [node.run(command) for node in nodes]
        detail = [f"{one.returncode} {one.stderr}" for one in refusals]
        is_met = all(one.returncode == DATA_ERROR for one in refusals)
        checks.check(f"downgrade: `{command}` of the older program refuses the newer data", is_met, detail)
    after = [node.contents() for node in nodes]
    checks.check("downgrade: the older program changes no data", before == after, changes(before, after))
    outcome = pair.run("west", f"dpkg --install {CURRENT}", DPKG_SECONDS)
    checks.succeeds("downgrade: the newer package installs again", outcome)
    checks.succeeds("downgrade: both nodes start with it", both(nodes, "runar up --detach"), "running")
    check_connected(checks, "downgrade: they connect as before", nodes)
    both(nodes, "runar stop")
    check_way_back(checks, nodes[0])


def check_way_back(checks, node):
    """This program refuses the home of a release to come and prints a command that puts the copy back."""
    make_newer(node.path(f"{node.home}/{STATE}"))
    refusal = node.run("runar network list")
    way = re.search(r"rm -f .*", refusal.stderr)
    is_met = refusal.returncode == DATA_ERROR and way
    checks.check("way back: this program refuses newer data with a command", is_met, refusal.stderr)
    node.run(way[0] if way else "false")
    checks.succeeds("way back: it continues after that command", node.run("runar network list"), "Pair")


def make_newer(state):
    """Gives the database the next version, and next to it the copy that its update would have kept."""
    with contextlib.closing(sqlite3.connect(state)) as database:
        version = database.execute("PRAGMA user_version").fetchone()[0]
    shutil.copy(state, f"{state}-version-{version}")
    with contextlib.closing(sqlite3.connect(state)) as database:
        database.execute(f"PRAGMA user_version = {version + 1}")


def changes(before, after):
    """Returns the names of files that differ."""
    pairs = zip(before, after)
    return sorted({path for old, new in pairs for path in old.keys() | new.keys() if old.get(path) != new.get(path)})
