"""Attacks on the private keys of a device: through the console without its person, and by killing a renewal.

measures(result) returns the attacks by their names. They run the `runar` command that RUNAR_COMMAND names, by default
the one of the debug build.
"""

import http.client
import json
import os
import random
import ssl
import subprocess
import tempfile
import time

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND = os.environ.get("RUNAR_COMMAND", os.path.join(root, ".build", "debug", "runar"))
NETWORKS = 12
KILLS = 6
# The passphrase of the victim, which no attacker has.
PASSPHRASE = "correct horse battery staple"


class Home:
    """A home of a node, removed at the end."""

    def __init__(self, passphrase=None):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "home")
        self.unlocking = []
        if passphrase:
            secret = os.path.join(self.folder.name, "passphrase")
            with open(secret, "w", encoding="utf-8") as file:
                file.write(passphrase)
            self.unlocking = ["--passphrase-file", secret]
        self.run("init", *(self.unlocking or ["--no-passphrase"]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def start(self, *words):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RUNAR_")}
        return subprocess.Popen(
            [COMMAND, *words, "--home", self.path, "--json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def attempt(self, *words):
        """The exit status and the JSON of a command."""
        process = self.start(*words)
        output, errors = process.communicate()
        return process.returncode, json.loads(output or errors)

    def run(self, *words):
        status, answer = self.attempt(*words)
        if status:
            raise RuntimeError(f"{words}: {answer}")
        return answer


def operations():
    """The operations of the console that need the vault's secret or the device, by the description of the API."""
    path = os.path.join(root, "Sources", "Apps", "ConsolePages", "web", "openapi.json")
    with open(path, encoding="utf-8") as file:
        paths = json.load(file)["paths"]
    for template, methods in paths.items():
        for method, operation in methods.items():
            if "x-runar-access" in operation:
                yield method.upper(), template, operation["x-runar-access"]


def ask(connection, token, method, path, body):
    """The status and the code of the refusal."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request(method, path, body=None if method == "DELETE" else json.dumps(body), headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    code = json.loads(content)["error"]["code"] if answer.status >= 400 else None
    return answer.status, code


def measure_console(result):
    """A program with the console's token calls all that belongs to the person at the device."""
    with Home(PASSPHRASE) as home:
        node = home.start("up", "--console", "0", "--console-lan", "0", *home.unlocking)
        try:
            ready = json.loads(node.stdout.readline())
            while ready.get("event") != "ready":
                ready = json.loads(node.stdout.readline())
            with open(os.path.join(home.path, "console.token"), encoding="utf-8") as file:
                token = file.read().strip()
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            far = ready["consoleLan"]["addresses"][0].removeprefix("https://").rstrip("/")
            near = ready["console"].removeprefix("http://").rstrip("/")
            performed, tried = [], 0
            body = {"confirmation": "show", "passphrase": "eight or more", "key": "peer", "text": "x", "request": "x"}
            for method, template, access in operations():
                path = template.replace("{peer}", ready["peerId"].replace("/", "%2F")).replace("{key}", "listen")
                places = [lambda: http.client.HTTPSConnection(far, context=context, timeout=30)]
                if access == "vault":
                    places.append(lambda: http.client.HTTPConnection(near, timeout=30))
                for place in places:
                    connection = place()
                    status, code = ask(connection, token, method, path, body)
                    connection.close()
                    tried += 1
                    # 404: a path that only the socket in the home has.
                    if status not in (403, 404) or code not in ("only-here", "wrong-passphrase", "no-such-path"):
                        performed.append(f"{method} {template}: {status} {code}")
        finally:
            node.kill()
            node.communicate()
        figure = f"{len(performed)} of {tried} requests" + "".join(f"; {one}" for one in performed)
        result("key operations by the console's token alone", figure, "0", tried > 20 and not performed)


def measure_renewal(result):
    """A renewal that is killed at a random time, then run again."""
    admitted, checked, duration = 0, 0, None
    for number in range(KILLS):
        with Home() as home:
            networks = [home.run("network", "create", f"Network {index}")["networkId"] for index in range(NETWORKS)]
            former = {home.run("status")["peerId"]}
            if duration is None:
                began = time.monotonic()
                home.run("keys", "renew-device", "--yes")
                duration = time.monotonic() - began
            else:
                process = home.start("keys", "renew-device", "--yes")
                time.sleep(random.Random(number).uniform(0.2, 1) * duration)
                process.kill()
                process.communicate()
                former.add(home.run("keys", "export", "peer")["peerId"])
                home.run("keys", "renew-device", "--yes")
            home.run("up", "--detach", "--console", "off")
            home.run("stop")
            present = home.run("keys", "export", "peer")["peerId"]
            for network in networks:
                for peer in former - {present}:
                    status, _ = home.attempt("network", "issue", peer, "--network", network)
                    checked += 1
                    admitted += status == 0
    figure = f"{admitted} of {checked} memberships"
    result(f"former keys admitted after {KILLS} killed renewals", figure, "0", checked > 0 and admitted == 0)


def measures(result):
    return {"console": lambda: measure_console(result), "renewal": lambda: measure_renewal(result)}
