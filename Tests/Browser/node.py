"""A node with a data directory in a temporary folder: `runar up` with its console."""

import contextlib
import http.client
import json
import os
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

RUNAR = os.environ.get("RUNAR", "runar")
PATIENCE_SECONDS = 30


class CommandFailed(Exception):
    """A command ended otherwise than the scenario needs."""


def part(identifier):
    """An identifier as a part of a path."""
    return urllib.parse.quote(identifier, safe="")


class Node:
    """The process of a device; only a node with a `guard` can be started."""

    def __init__(self, folder, name, passphrase=None, listen="127.0.0.1:0", group=None, guard=None):
        self.name = name
        self.guard = guard
        self.listen = listen
        self.group = group
        self.home = os.path.join(folder, name)
        self.passphrase_file = None
        if passphrase:
            self.passphrase_file = f"{self.home}.passphrase"
            with open(self.passphrase_file, "w", encoding="utf-8") as file:
                file.write(f"{passphrase}\n")
        self.process = None
        self.port = 0

    def environment(self):
        """Nothing of this machine's settings counts, and only nodes of the same `group`, if any, hear this one."""
        variables = {key: value for key, value in os.environ.items() if not key.startswith("RUNAR")}
        variables |= {"RUNAR_HOME": self.home, "RUNAR_LISTEN": self.listen}
        # On a busy machine the attempts to reach a device take longer; a page shows then why all of them failed.
        variables["RUNAR_REQUEST_TIMEOUT"] = "40s"
        variables["RUNAR_DISCOVERY"] = "on" if self.group else "off"
        variables |= {"RUNAR_DISCOVERY_GROUP": self.group} if self.group else {}
        return variables | ({"RUNAR_PASSPHRASE_FILE": self.passphrase_file} if self.passphrase_file else {})

    def command(self, *arguments, text=""):
        """Runs the command to its end and returns what it printed."""
        done = subprocess.run(
            [RUNAR, *arguments], input=text, capture_output=True, text=True, env=self.environment(), timeout=60
        )
        if done.returncode:
            raise CommandFailed(f"{self.name}: runar {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def answer(self, *arguments, text=""):
        """The object that the command prints."""
        return json.loads(self.command(*arguments, "--json", text=text))

    def init(self):
        """Makes the data directory: its vault is opened by the passphrase, or without one by a key file."""
        self.peer = self.answer("init", *([] if self.passphrase_file else ["--no-passphrase"]))["peerId"]

    def copy(self, other):
        """Makes the data directory as a copy of that of a node that never ran."""
        shutil.copytree(other.home, self.home)
        self.peer = other.peer

    def start(self):
        """Starts the node and waits until it is ready; after the first time its console has the same port."""
        self.process = Program(self, "up", "--console", str(self.port))
        self.ready = self.process.event("ready")
        self.port = int(self.ready["console"].rstrip("/").rsplit(":", 1)[1])

    @contextlib.contextmanager
    def running(self, *arguments):
        """Runs a command that goes on until it is stopped, such as `serve`, as long as the context."""
        program = Program(self, *arguments)
        try:
            program.event("serving")
            yield program
        finally:
            program.stop()

    def address(self):
        """Returns the address of the console with a one-time secret for one browser, as `runar console` asks for it.

        A process for each browser that is signed in would be a tenth of what a scenario starts.
        """
        return self.ask("POST", "/console/address")["address"]

    def ask(self, method, path):
        """Sends a request over the socket of the commands, and returns its answer."""
        connection = SocketConnection(os.path.join(self.home, "control.sock"))
        try:
            connection.request(method, f"/api/v1{path}", body="{}", headers={"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise CommandFailed(f"{self.name}: {method} {path}: {answer.status} {content.decode('utf-8', 'replace')}")
        return json.loads(content)

    def api(self, method, path, body=None):
        """Sends a request to the API of the console with the token for programs, and returns its answer."""
        request = urllib.request.Request(
            f"{self.origin}/api/v1{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token()}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                content = answer.read()
        except urllib.error.HTTPError as error:
            text = error.read().decode("utf-8", "replace")
            raise CommandFailed(f"{self.name}: {method} {path}: {error.code} {text}") from error
        return json.loads(content) if content else None

    def create(self, network):
        """Makes a network and returns what is known of it."""
        return self.api("POST", "/networks", {"name": network})

    def networks(self):
        return self.api("GET", "/networks")["networks"]

    def network(self):
        """Returns the only network."""
        (found,) = self.networks()
        return found

    def send(self, peer, text):
        """Sends a message and waits for its receipt."""
        self.api("POST", f"/peers/{part(peer)}/messages", {"text": text})

    def put(self, key, text):
        """Stores a value in the only network."""
        self.api("PUT", f"/networks/{part(self.network()['networkId'])}/records", {"key": key, "text": text})

    def publish(self, topic, text):
        """Publishes an event in the only network."""
        self.api("POST", f"/networks/{part(self.network()['networkId'])}/events", {"topic": topic, "text": text})

    def exchange_keys(self, peer):
        """Exchanges one-time keys with a connected peer and waits until both have them."""
        self.api("POST", f"/peers/{part(peer)}/one-time-keys", {})

    def forget_places(self):
        """Removes what the node, which is stopped, keeps of the ports and addresses of its run."""
        with contextlib.closing(sqlite3.connect(os.path.join(self.home, "state.sqlite"))) as database, database:
            database.execute("UPDATE device SET listening_port = NULL")
            database.execute("DELETE FROM addresses")

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}"

    def token(self):
        """What a script sends to be let in."""
        with open(os.path.join(self.home, "console.token"), encoding="ascii") as file:
            return file.read().strip()

    def stop(self, by=signal.SIGTERM):
        """Ends the process and returns its status."""
        return self.process.stop(by)

    def last_words(self):
        """Whether the process runs, and the end of what it wrote to its standard error."""
        if not self.process:
            return ["was not started"]
        status = self.process.process.poll()
        with open(self.process.log, encoding="utf-8", errors="replace") as log:
            lines = log.read().splitlines()
        return ["runs" if status is None else f"ended with status {status}", *lines[-20:]]


class SocketConnection(http.client.HTTPConnection):
    """HTTP over a socket of this machine."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Program:
    """A command that runs on and tells what happens in lines of JSON."""

    def __init__(self, node, *arguments):
        self.words = f"{node.name}: runar {arguments[0]}"
        self.log = f"{node.home}.{arguments[0]}.log"
        self.guard = node.guard
        # What was read and is not yet a line.
        self.pending = b""
        with open(self.log, "ab") as log:

            def spawn():
                self.process = subprocess.Popen(
                    [RUNAR, *arguments, "--json"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env=node.environment(),
                )
                return self.process.pid

            self.guard.start(spawn)

    def event(self, name):
        """The next line that tells of an event."""
        deadline, found = time.monotonic() + PATIENCE_SECONDS, None
        while line := self.line(deadline):
            found = json.loads(line)
            if found.get("event") == name:
                return found
        with open(self.log, encoding="utf-8", errors="replace") as log:
            raise CommandFailed(f"{self.words} did not tell of {name} after {found}: {log.read()[-2000:]}")

    def line(self, deadline):
        """The next line, or nothing at the end or at the deadline."""
        output = self.process.stdout.fileno()
        # Lines that arrived together are in `pending`, where `select` does not see them.
        while b"\n" not in self.pending:
            if not select.select([output], [], [], max(0, deadline - time.monotonic()))[0]:
                return b""
            more = os.read(output, 1 << 16)
            if not more:
                return b""
            self.pending += more
        line, _, self.pending = self.pending.partition(b"\n")
        return line

    def last(self):
        """The last object that it prints."""
        deadline, last = time.monotonic() + PATIENCE_SECONDS, b""
        while line := self.line(deadline):
            last = line
        return json.loads(last)

    def stop(self, by=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(by)
            # A process that was stopped takes no other signal before it continues.
            self.process.send_signal(signal.SIGCONT)
        return self.wait()

    def wait(self):
        """Waits for the end and returns the status."""
        try:
            return self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            self.guard.ended(self.process.pid)
            self.process.stdout.close()
