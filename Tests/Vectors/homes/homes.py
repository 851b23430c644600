"""Homes of nodes, and the commands that run in them."""

import json
import os
import pathlib
import subprocess
import time

COMMAND_SECONDS = 60
WAIT_SECONDS = 30
TURN_SECONDS = 0.05


class CommandFailed(Exception):
    """A command ended with another status than 0, or printed no JSON."""


def wait_until(condition, what):
    """Waits at most WAIT_SECONDS and returns the first true value of the condition."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(TURN_SECONDS)
    raise CommandFailed(f"after {WAIT_SECONDS} s: not {what}")


class Home:
    """One home of a node. A running node is a child of this process and ends with `close`."""

    def __init__(self, program, path):
        self.program = str(program)
        self.path = pathlib.Path(path)
        self.node = None
        self.output = None

    @property
    def name(self):
        return self.path.name

    def environment(self):
        """Returns an environment without the settings of this machine: no discovery, no console, loopback only."""
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.path.parent),
            "RUNAR_HOME": str(self.path),
            "RUNAR_LISTEN": "127.0.0.1:0",
            "RUNAR_DISCOVERY": "off",
            "RUNAR_CONSOLE": "off",
        }

    def attempt(self, *words, text=""):
        """Returns the exit status of a command and the object that it printed."""
        ran = subprocess.run(
            [self.program, *words, "--json"],
            input=text,
            capture_output=True,
            text=True,
            env=self.environment(),
            timeout=COMMAND_SECONDS,
        )
        try:
            return ran.returncode, json.loads(ran.stdout.splitlines()[-1])
        except (IndexError, json.JSONDecodeError):
            raise CommandFailed(f"{self.name}: {words}: {ran.returncode}: {ran.stdout}{ran.stderr}") from None

    def answer(self, *words, text=""):
        """Returns the object that a command printed, which must succeed."""
        status, found = self.attempt(*words, text=text)
        if status:
            raise CommandFailed(f"{self.name}: {words}: {status}: {found}")
        return found

    def version(self):
        """Returns the version that the program reports."""
        ran = subprocess.run(
            [self.program, "--version"], capture_output=True, text=True, env=self.environment(), timeout=COMMAND_SECONDS
        )
        return ran.stdout.strip()

    def events(self):
        """Yields the objects that the running node has printed."""
        for line in self.output.read_text(encoding="utf-8").splitlines():
            if line.endswith("}"):
                yield json.loads(line)

    def spawn(self, *words, output):
        with open(output, "wb") as file:
            return subprocess.Popen(
                [self.program, *words, "--json"],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=self.environment(),
            )

    def start(self):
        """Starts the node and returns its address."""
        self.output = self.path.parent / f"{self.name}.out"
        self.node = self.spawn("up", output=self.output)

        def ready():
            if self.node.poll() is not None:
                raise CommandFailed(f"{self.name}: the node ended: {self.output.read_text(encoding='utf-8')}")
            return next((one for one in self.events() if one.get("event") == "ready"), None)

        return wait_until(ready, f"{self.name}: ready")["addresses"][0]

    def stop(self):
        """Stops the node in an orderly way; does nothing without one."""
        if self.node is None:
            return
        self.answer("stop")
        self.node.wait(timeout=WAIT_SECONDS)
        self.node = None

    def close(self):
        """Ends a node that a failure left."""
        if self.node is not None and self.node.poll() is None:
            self.node.kill()
            self.node.wait()
        self.node = None

    def admit(self, other, network, *options):
        """Makes the device of another home a member of a network that this one owns."""
        text = self.answer("network", "show", network)["text"]
        peer = other.answer("status")["peerId"]
        token = self.answer("network", "issue", peer, "--network", network, *options)["text"]
        other.answer("join", text=f"{text}\n{token}\n")

    def connect(self, other, network):
        """Connects two running nodes."""
        found = other.answer("status")
        self.answer("connect", found["peerId"], network, found["addresses"][0])


def init(program, path):
    """Makes a home whose vault a key file opens."""
    home = Home(program, path)
    home.answer("init", "--no-passphrase")
    return home
