"""The facts of homes: commands with the fields of their answers that hold on every later day and in every later version.

A fact is an object with `home`, `command` and `answer`, and with `node` where the node runs. An answer matches if it has
all fields of the fact. A list matches if it has the same number of elements, each of which matches one of the fact, in any
order. `stored` has the numbers of rows, by network: commands show some of these rows only until they expire.
"""

import base64
import contextlib
import pathlib
import shutil
import sqlite3
import tempfile

from homes import Home

# Fields that depend on the time, on other nodes or on the place of the home, and texts that may be written anew.
VOLATILE = {
    *("address", "addresses", "card", "connected", "event", "foundBy", "lastSeen", "path", "roundTripMicroseconds"),
    *("low", "sendingKeys", "holders", "running", "home", "configuration", "discovery", "tables", "events", "expiring"),
    *("connectedPeers", "processId", "uptimeSeconds", "relayed", "local", "keysUsedTwice"),
}

# The state of a thought: it expires.
UNTIMED = {"state"}

QUERIES = {
    "values": "SELECT network_id, count(*) FROM records GROUP BY network_id",
    "outgoingMail": "SELECT network_id, count(*) FROM mail WHERE folder = 'outgoing' GROUP BY network_id",
    "heldMail": "SELECT network_id, count(*) FROM mail WHERE folder = 'held' GROUP BY network_id",
    "revocations": "SELECT network_id, count(*) FROM revocations GROUP BY network_id",
    "issuedTokens": "SELECT network_id, count(*) FROM issued_tokens GROUP BY network_id",
}


def lasting(answer, dropped=VOLATILE):
    """Returns an answer without its volatile fields."""
    if isinstance(answer, dict):
        return {name: lasting(value, dropped) for name, value in answer.items() if name not in dropped}
    if isinstance(answer, list):
        return [lasting(one, dropped) for one in answer]
    return answer


def chosen(answer, names):
    return {name: value for name, value in answer.items() if name in names}


def matches(expected, found):
    """Returns whether an answer has all that a fact has."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(matches(value, found.get(name)) for name, value in expected.items())
    if not isinstance(expected, list):
        return expected == found
    if not isinstance(found, list) or len(expected) != len(found):
        return False
    rest = list(found)
    for one in expected:
        place = next((index for index, other in enumerate(rest) if matches(one, other)), None)
        if place is None:
            return False
        del rest[place]
    return True


def difference(expected, found, path="the answer"):
    """Returns the first place in which an answer differs from a fact, or None."""
    if matches(expected, found):
        return None
    if isinstance(expected, dict) and isinstance(found, dict):
        name = next(name for name, value in expected.items() if not matches(value, found.get(name)))
        return difference(expected[name], found.get(name), f"{path}.{name}")
    return f"{path}: {expected} is now {found}"


class Facts:
    """The facts of all homes of a scene."""

    def __init__(self):
        self.commands = []
        self.stored = []

    def append(self, home, words, answer, **options):
        self.commands.append({"home": home.name, "command": list(words), "answer": answer, **options})

    def add(self, home, *words):
        answer = lasting(home.answer(*words))
        self.append(home, words, answer)
        return answer

    def collect(self, home):
        """Adds the facts that commands report while the node runs; a later node need not run for most of them."""
        status = chosen(home.answer("status"), {"peerId", "peerIdText", "running", "revoked"})
        self.append(home, ["status"], status, node=True)
        words = ["keys", "export", "root"]
        status, key = home.attempt(*words)
        if status == 0:
            self.append(home, words, key)
        self.add(home, "network", "list")
        if any("label" in one for one in home.answer("peers", "--all")["peers"]):
            self.add(home, "peers", "--all")
        self.circle(home)

    def circle(self, home):
        circle = self.add(home, "circle", "list")
        for one in circle["people"]:
            self.history(home, one["personId"])
        for one in circle["streams"]:
            self.history(home, one["streamId"])
        self.append(home, ["circle", "list"], chosen(circle, {"personId", "name", "people"}), node=True)

    def history(self, home, conversation):
        words = ["circle", "history", conversation, "--limit", "1000"]
        answer = lasting(home.answer(*words), VOLATILE | UNTIMED)
        if answer["thoughts"]:
            self.append(home, words, {"thoughts": answer["thoughts"]})

    def keys(self, home):
        """Adds the one-time keys that are left after a restart, which no command uses."""
        answer = lasting(home.answer("keys", "supply"), VOLATILE - {"sendingKeys"})
        if answer["relationships"]:
            self.append(home, ["keys", "supply"], answer)

    def store(self, home):
        """Adds the numbers of rows; they are counted in a copy, because a reader can change SQLite's files."""
        counts = {}
        with tempfile.TemporaryDirectory() as folder:
            for path in home.path.glob("state.sqlite*"):
                shutil.copy(path, folder)
            path = pathlib.Path(folder, "state.sqlite")
            with contextlib.closing(sqlite3.connect(path)) as database:
                for name, query in QUERIES.items():
                    counts[name] = {base64.b64encode(id).decode(): count for id, count in database.execute(query)}
                counts["bannedPeers"] = database.execute("SELECT count(*) FROM banned_peers").fetchone()[0]
        self.stored.append({"home": home.name, **counts})


def check(program, folder, facts):
    """Returns a line for each answer that does not match, of homes in a folder; their nodes run last."""
    failures = []
    for name in sorted({fact["home"] for fact in facts}):
        home = Home(program, pathlib.Path(folder, name))
        own = [fact for fact in facts if fact["home"] == name]
        try:
            for fact in sorted(own, key=lambda fact: fact.get("node", False)):
                if fact.get("node") and home.node is None:
                    home.start()
                if differs := difference(fact["answer"], home.answer(*fact["command"])):
                    failures.append(f"{name}: {' '.join(fact['command'])}: {differs}")
            home.stop()
        finally:
            home.close()
    return failures
