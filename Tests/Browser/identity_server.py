"""The identity server of a run: `runar identity serve` in a folder of its own, or the server at a given address."""

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request

from node import PATIENCE_SECONDS, RUNAR, CommandFailed
from ports import quiet_port

# The address of a running server, which the scenarios use in place of one of their own.
ORIGIN = "IDENTITY_ORIGIN"


def shared_server(stage):
    """Returns the server of all scenarios of a run; each has accounts of its own."""
    return stage.once("identity server", lambda: make_server(stage))


def make_server(stage):
    if origin := os.environ.get(ORIGIN):
        return IdentityServer(origin.rstrip("/"))
    folder = os.path.join(stage.folder, "identity")
    os.mkdir(folder, mode=0o700)
    server = IdentityServer(f"http://localhost:{quiet_port()}", folder)
    server.start(stage.guard)
    return server


class IdentityServer:
    """A server by its address; one with a folder is a process of this run."""

    def __init__(self, origin, folder=None):
        self.origin = origin
        self.folder = folder
        self.process = None

    def start(self, guard):
        """Starts the process and waits until it answers."""
        port = self.origin.rsplit(":", 1)[1]
        arguments = ["--data", self.folder, "--rp-id", "localhost", "--origin", self.origin, "--port", port]
        # One address sends the requests of all scenarios.
        environment = {**os.environ, "REQUEST_LIMITS": "off"}
        with open(f"{self.folder}.log", "ab") as log:

            def spawn():
                self.process = subprocess.Popen(
                    [RUNAR, "identity", "serve", *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=environment,
                )
                return self.process.pid

            guard.start(spawn)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise CommandFailed(f"the identity server does not answer: {self.last_words()}")
            time.sleep(0.02)

    def answers(self):
        try:
            return self.ask("GET", "/health")["status"] == "ok"
        except OSError:
            # It does not listen yet.
            return False

    def ask(self, method, path, body=None, **fields):
        """Sends a request of a program and returns the object in the answer."""
        content = None if body is None else json.dumps(body).encode()
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        headers = {"Content-Type": "application/json", **fields}
        request = urllib.request.Request(f"{self.origin}{path}", method=method, data=content, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    def policy(self):
        """Returns the content security policy of the pages."""
        with urllib.request.urlopen(f"{self.origin}/", timeout=30) as answer:
            return answer.headers["Content-Security-Policy"]

    def status(self, path):
        """Returns the status of the answer to GET."""
        try:
            with urllib.request.urlopen(f"{self.origin}{path}", timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def stop(self, by=signal.SIGTERM):
        """Ends the process of a scenario that has a server of its own."""
        self.process.send_signal(by)
        return self.process.wait(PATIENCE_SECONDS)

    def last_words(self):
        """Returns the end of the log of a process of this run."""
        if not self.folder:
            return [f"the server at {self.origin}"]
        with open(f"{self.folder}.log", encoding="utf-8", errors="replace") as log:
            return log.read().splitlines()[-20:]
