"""Nodes of any version of the program, each with a home of its own, for checks that use real processes."""

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time

COMMAND_SECONDS = 90
EVENT_SECONDS = 60
END_SECONDS = 20
TURN_SECONDS = 0.3
# Settings of this machine have no effect, and nodes find each other only if a check enables discovery.
SETTINGS = {"RUNAR_LISTEN": "127.0.0.1:0", "RUNAR_DISCOVERY": "off", "RUNAR_CONSOLE": "off", "LC_ALL": "C.UTF-8"}


class Unexpected(Exception):
    """A program did not do what the check expects."""


def expect(is_met, detail):
    if not is_met:
        raise Unexpected(detail)


def wait_until(condition, name, seconds=EVENT_SECONDS):
    """Waits until the condition returns a value that is true, and returns the value."""
    deadline = time.monotonic() + seconds
    while True:
        if found := condition():
            return found
        expect(time.monotonic() < deadline, f"{name}: not within {seconds} s")
        time.sleep(TURN_SECONDS)


class Running:
    """A command that prints an object on each line until it is ended, such as `up` and `listen`."""

    def __init__(self, words, environment, log):
        self.words, self.events = words, queue.Queue()
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(
                words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                start_new_session=True,
            )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            try:
                self.events.put(json.loads(line))
            except ValueError:
                self.events.put({"event": "noObject", "line": line.decode(errors="replace")})

    def next(self, event, seconds=EVENT_SECONDS, **fields):
        """Waits for the next event of that name with these fields; earlier ones are dropped."""
        deadline, seen = time.monotonic() + seconds, []
        while True:
            try:
                found = self.events.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                raise Unexpected(f"no event {event} {fields or ''} within {seconds} s, but {seen[-3:]}") from None
            if found.get("event") == event and fields.items() <= found.items():
                return found
            seen.append(found)

    def end(self, by=signal.SIGINT):
        """Ends the command and its children, by force if that takes too long, and returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(by)
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.reader.join(END_SECONDS)
        if not self.reader.is_alive():
            self.process.stdout.close()
        return self.process.returncode


class Node:
    """A home, and the program that uses it."""

    def __init__(self, nodes, program, name, environment):
        self.name, self.program = name, program
        self.home, self.log = os.path.join(nodes.folder, name), os.path.join(nodes.folder, f"{name}.log")
        own = {key: value for key, value in os.environ.items() if not key.startswith("RUNAR_")}
        self.environment = {**own, **SETTINGS, **environment, "RUNAR_HOME": self.home}
        self.commands, self.up, self.addresses = [], None, []
        self.peer = self.ask("init", "--no-passphrase")["peerId"]

    def run(self, *words, input="", seconds=COMMAND_SECONDS):
        """Runs a command to its end and returns its outcome."""
        command = [self.program, *words]
        options = {"input": input, "capture_output": True, "text": True, "errors": "replace"}
        try:
            return subprocess.run(command, env=self.environment, timeout=seconds, **options)
        except subprocess.TimeoutExpired:
            raise Unexpected(f"{self.name}: `{' '.join(words)[:120]}` did not end within {seconds} s") from None

    def ask(self, *words, **options):
        """Runs a command that must succeed and returns the last object that it prints."""
        found = self.run(*words, "--json", **options)
        text = f"{self.name}: `{' '.join(words)[:120]}`: {found.returncode} {found.stdout[-400:]}{found.stderr[-200:]}"
        expect(found.returncode == 0 and found.stdout.strip(), text)
        return json.loads(found.stdout.strip().split("\n")[-1])

    def refusal(self, *words):
        """Runs a command that must fail and returns the word for its failure."""
        found = self.run(*words, "--json")
        expect(found.returncode != 0, f"{self.name}: `{' '.join(words)[:120]}` succeeded")
        return json.loads(found.stdout.strip().split("\n")[-1])["error"]["code"]

    def start(self, *words, **environment):
        """Starts a command that prints events."""
        running = Running([self.program, *words, "--json"], {**self.environment, **environment}, self.log)
        self.commands.append(running)
        return running

    def start_node(self, **environment):
        """Starts the node and waits until it is ready."""
        self.up = self.start("up", **environment)
        self.addresses = self.up.next("ready")["addresses"]

    def stop_node(self):
        """Stops the node as `runar stop` does, and its other commands."""
        for command in self.commands:
            if command is not self.up:
                command.end()
        if self.up:
            self.ask("stop")
            status = self.up.end()
            expect(status == 0, f"{self.name}: `up` ended with {status}")
        self.commands, self.up = [], None

    def place(self):
        """Returns the text with which members dial this node."""
        return self.ask("network", "address", "--address", self.addresses[0])["text"]

    def connected(self):
        """Returns the connected peers by their ids."""
        return {peer["peerId"]: peer for peer in self.ask("peers")["peers"] if peer["connected"]}

    def end(self):
        for command in reversed(self.commands):
            command.end(signal.SIGTERM)


class Nodes:
    """The nodes of a check; all of their processes and homes are removed at the end."""

    def __enter__(self):
        # Sockets have short paths.
        self.folder = tempfile.mkdtemp(prefix="runar-nodes-")
        self.all = []
        return self

    def __exit__(self, *_):
        for node in self.all:
            node.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def make(self, program, name, **environment):
        node = Node(self, program, name, environment)
        self.all.append(node)
        return node
