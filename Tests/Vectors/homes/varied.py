"""Homes that differ in their networks, people, texts and values, each made from its number as a seed.

Networks, tokens, streams and texts are made without a node. Every tenth home also meets a neighbour over loopback.
"""

import base64
import contextlib
import pathlib
import random

from homes import init, wait_until

NEIGHBOURS = 4
NETWORKS, TOKENS, STREAMS, TEXTS, VALUES = 3, 2, 2, 3, 2
# Of this number of homes, one meets a neighbour.
MEETING_SHARE = 10


class Neighbours:
    """The homes of other people, whose cards and networks the varied homes use. The first one owns a network."""

    def __init__(self, program, folder):
        self.homes = []
        for number in range(NEIGHBOURS):
            home = init(program, pathlib.Path(folder, f"neighbour-{number}"))
            home.answer("circle", "profile", f"Neighbour {number}")
            self.homes.append(home)
        self.cards = [home.answer("circle", "card")["text"] for home in self.homes]
        self.owner = self.homes[0]
        self.owner.answer("network", "create", "Street")


def make_networks(home, generator):
    names = [f"Network {number}" for number in range(generator.randint(0, NETWORKS))]
    for name in names:
        home.answer("network", "create", name)
        for number in range(generator.randint(0, TOKENS)):
            peer = base64.b64encode(generator.randbytes(32)).decode()
            ends = generator.choice(["never", "1d", "30d"])
            words = ["--network", name, "--label", f"{name} {number}", "--expires", ends]
            home.answer("network", "issue", peer, *words, *generator.choice([[], ["--no-renewal"]]))
            if generator.random() < 0.3:
                home.answer("network", "revoke", peer, "--network", name, "--yes")
    if names and generator.random() < 0.3:
        home.answer("network", "rename", names[-1], "Renamed")
    if len(names) > 1 and generator.random() < 0.3:
        home.answer("network", "leave", names[0], "--yes")


def make_circle(home, generator):
    home.answer("circle", "profile", f"Person {home.name}", "--blurb", "x" * generator.randint(1, 200))
    streams = [f"Stream {number}" for number in range(generator.randint(0, STREAMS))]
    for name in streams:
        home.answer("circle", "stream", "make", name, *generator.choice([[], ["--only-me"]]))
    for number in range(generator.randint(0, TEXTS)):
        text = f"text {number} " + "é" * generator.randint(0, 500)
        home.answer("circle", "say", generator.choice([*streams, "Post"]), text)


def add_people(home, generator, cards):
    for number in generator.sample(range(NEIGHBOURS), generator.randint(0, NEIGHBOURS)):
        home.answer("circle", "add", cards[number])
        # The first neighbour is not blocked, because some homes meet it.
        if number and generator.random() < 0.3:
            home.answer("circle", "block", f"Neighbour {number}", "--reason", f"noise={generator.randint(1, 5)}")


def make_values(home, generator):
    networks = [one["networkId"] for one in home.answer("network", "list")["networks"] if one["isMember"]]
    for number in range(generator.randint(0, VALUES) if networks else 0):
        home.answer("put", f"key/{number}", "v" * generator.randint(1, 2000), "--network", generator.choice(networks))


def meet(home, neighbour):
    """Lets the persons of two running nodes trust each other and talk."""
    home.connect(neighbour, "Street")
    home.answer("circle", "add", neighbour.answer("status")["peerId"])
    own, other = (one.answer("circle", "list")["personId"] for one in (home, neighbour))

    def trust(person, at):
        people = at.answer("circle", "list")["people"]
        return next((one["trust"] for one in people if one["personId"] == person), None)

    wait_until(lambda: trust(own, neighbour) in ("requested", "trusted"), "asked")
    neighbour.answer("circle", "accept", own)
    wait_until(lambda: trust(other, home) == "trusted", "trusted")
    home.answer("circle", "say", other, "good morning")
    wait_until(lambda: neighbour.answer("circle", "history", own)["thoughts"], "said")


@contextlib.contextmanager
def running(*homes):
    """Runs the nodes of homes: commands that use the network then need not wait for members."""
    try:
        for home in homes:
            home.start()
        yield
        for home in homes:
            home.stop()
    finally:
        for home in homes:
            home.close()


def renew(home):
    """Gives the device a new key. A circle that exists takes it over with the next thing that is said."""
    home.answer("keys", "renew-device", "--yes")
    if home.answer("circle", "list")["streams"]:
        home.answer("circle", "say", "Post", "by a new key")


def make(program, folder, number, neighbours):
    """Makes the home with that number."""
    generator = random.Random(number)
    meets = number % MEETING_SHARE == 0
    home = init(program, pathlib.Path(folder, str(number)))
    make_networks(home, generator)
    if meets or generator.random() < 0.3:
        neighbours.owner.admit(home, "Street", "--expires", generator.choice(["never", "30d"]))
    if meets or generator.random() < 0.8:
        make_circle(home, generator)
        with running(home, *([neighbours.owner] if meets else [])):
            add_people(home, generator, neighbours.cards)
            make_values(home, generator)
            if meets:
                meet(home, neighbours.owner)
    if generator.random() < 0.1:
        renew(home)
    return home


def make_all(program, folder, count):
    """Yields `count` homes, each once it is made."""
    neighbours = Neighbours(program, folder)
    for number in range(count):
        yield make(program, folder, number, neighbours)
