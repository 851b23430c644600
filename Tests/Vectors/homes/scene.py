"""The golden homes: five devices of four people whose nodes work together over loopback.

| Home | Device | Person |
|---|---|---|
| owner | owns the networks Home and Office | Ada |
| tablet | a second device with the networks' keys; has left Office | Ada |
| phone | a member of Home; owns Garden | Bob |
| server | a member of Home that holds mail | Carol |
| former | a former member of Home, which was revoked; owns Attic | Mallory |
"""

import os
import signal

import facts
from homes import WAIT_SECONDS, Home, init, wait_until

NAMES = ["owner", "tablet", "phone", "server", "former"]
MEMBERS = {"phone": ["--label", "phone", "--expires", "never"], "server": ["--label", "server", "--expires", "never"]}
PEOPLE = {"owner": ["Ada"], "phone": ["Bob", "--blurb", "on the road"], "server": ["Carol"], "former": ["Mallory"]}
VALUES = {"owner": [("door/code", "4711"), ("note", "milk")], "phone": [("note", "bread")], "server": [("photo", "none")]}


class Scene:
    """The homes and their running nodes; `make` returns the facts of each home."""

    def __init__(self, program, folder, keeps_keys):
        self.folder = folder
        self.keeps_keys = keeps_keys
        self.homes = {name: Home(program, os.path.join(folder, name)) for name in NAMES}
        self.owner, self.tablet, self.phone, self.server, self.former = self.homes.values()
        self.facts = facts.Facts()

    def make(self):
        try:
            self.make_networks()
            self.start()
            self.make_trust()
            self.talk()
            self.share_circle()
            self.renew_keys()
            self.store_values()
            self.revoke_former()
            self.stop_with_waiting_mail()
            self.forget_keys()
        finally:
            for home in self.homes.values():
                home.close()
        for home in self.homes.values():
            self.facts.store(home)
        return self.facts

    def make_networks(self):
        for name in ("owner", "phone", "server", "former"):
            init(self.owner.program, self.homes[name].path)
        for name in ("Home", "Work"):
            self.owner.answer("network", "create", name)
        self.owner.answer("network", "rename", "Work", "Office")
        self.phone.answer("network", "create", "Garden")
        self.former.answer("network", "create", "Attic")
        for name, options in MEMBERS.items():
            self.owner.admit(self.homes[name], "Home", *options)
        self.owner.admit(self.former, "Home", "--label", "old phone", "--no-renewal")
        self.phone.admit(self.owner, "Garden", "--label", "laptop")
        request = self.tablet.answer("device", "setup", "--show", "--no-passphrase")["link"]
        words = ["--yes", "--admin", "--expires", "never", "--label", "tablet"]
        answer = self.owner.answer("device", "add", *words, text=request)["text"]
        self.tablet.answer("device", "setup", "--yes", "-", text=answer)
        self.tablet.answer("network", "leave", "Office", "--yes")

    def start(self):
        homes = list(self.homes.values())
        for number, home in enumerate(homes):
            home.start()
            for earlier in homes[:number]:
                home.connect(earlier, "Home")

    def peer(self, name):
        return self.homes[name].answer("status")["peerId"]

    def trust(self, home, person):
        people = home.answer("circle", "list")["people"]
        return next((one["trust"] for one in people if one["name"] == person), None)

    def trust_each_other(self, first, second):
        """Lets the person of the first home ask, and the person of the second one accept."""
        asking, accepting = PEOPLE[first.name][0], PEOPLE[second.name][0]
        first.answer("circle", "add", second.answer("status")["peerId"])
        wait_until(lambda: self.trust(second, asking) == "requested", f"asked by {asking}")
        second.answer("circle", "accept", asking)
        for home, person in ((first, accepting), (second, asking)):
            wait_until(lambda home=home, person=person: self.has_keys(home, person), f"keys of {person}")

    def has_keys(self, home, person):
        people = home.answer("circle", "list")["people"]
        found = next((one for one in people if one["name"] == person), None)
        return found and found["trust"] == "trusted" and all(one["sendingKeys"] for one in found["devices"])

    def make_trust(self):
        for name, words in PEOPLE.items():
            self.homes[name].answer("circle", "profile", *words)
        self.trust_each_other(self.owner, self.phone)
        number = self.owner.answer("circle", "list")["people"][0]["safetyNumber"].split()
        for home, person in ((self.owner, "Bob"), (self.phone, "Ada")):
            home.answer("circle", "verify", person, *number)
        self.trust_each_other(self.phone, self.server)
        self.former.answer("circle", "add", self.peer("server"))
        wait_until(lambda: self.trust(self.server, "Mallory"), "asked by Mallory")
        self.server.answer("circle", "block", "Mallory", "--reason", "insults=4")
        card = self.server.answer("circle", "card")["text"]
        self.owner.answer("circle", "add", card)
        wait_until(lambda: self.trust(self.server, "Ada") == "requested", "asked by Ada")

    def say(self, home, conversation, words, *readers):
        """Says something and waits until it is in the histories of the readers."""
        home.answer("circle", "say", conversation, words)
        for reader, name in readers:
            wait_until(lambda reader=reader, name=name: words in self.texts(reader, name), f"{words} at {reader.name}")

    def texts(self, home, conversation):
        thoughts = home.answer("circle", "history", conversation)["thoughts"]
        return [one.get("text") for one in thoughts]

    def states(self, home, conversation):
        thoughts = home.answer("circle", "history", conversation)["thoughts"]
        return {one.get("text"): one.get("state") for one in thoughts}

    def participation(self, home, stream):
        streams = home.answer("circle", "list")["streams"]
        return next((one["participation"] for one in streams if one["name"] == stream), None)

    def talk(self):
        self.say(self.phone, "Ada", "hello", (self.owner, "Bob"))
        self.say(self.owner, "Bob", "good morning", (self.phone, "Ada"))
        self.say(self.phone, "Carol", "the key is below the mat", (self.server, "Bob"))
        self.say(self.server, "Bob", "thanks", (self.phone, "Carol"))
        picture = os.path.join(self.folder, "code.png")
        self.owner.answer("qr", "show", "runar", "--output", picture)
        self.owner.answer("circle", "send", "Bob", picture)
        wait_until(lambda: len(self.texts(self.phone, "Ada")) == 3, "the image at phone")
        self.owner.answer("circle", "stream", "make", "Trip", "--blurb", "to the harbour")
        self.owner.answer("circle", "stream", "make", "News", "--only-me")
        for stream in ("Trip", "News"):
            self.owner.answer("circle", "stream", "invite", stream, "Bob")
            wait_until(lambda stream=stream: self.participation(self.phone, stream) == "invited", f"invited to {stream}")
        self.phone.answer("circle", "stream", "join", "Trip")
        wait_until(lambda: self.has_joined("Trip"), "joined")
        self.say(self.owner, "Trip", "by boat", (self.phone, "Trip"))
        self.say(self.phone, "Trip", "at noon", (self.owner, "Trip"))
        self.phone.answer("circle", "revoke", "Carol", "--yes")

    def has_joined(self, stream):
        streams = self.owner.answer("circle", "list")["streams"]
        return any(member["joined"] for one in streams if one["name"] == stream for member in one["members"])

    def share_circle(self):
        """Gives Ada's circle to the tablet, and the mail of Ada's devices to the server."""
        self.tablet.answer("circle", "device", "expect", self.peer("owner"), "--yes")
        self.owner.answer("circle", "device", "add", "tablet", "--yes")
        wait_until(lambda: self.trust(self.tablet, "Bob") == "trusted", "trust on the tablet")
        wait_until(lambda: self.has_keys(self.tablet, "Bob"), "keys of Bob on the tablet")
        wait_until(lambda: len(self.devices_of_ada()) == 2, "two devices of Ada at the phone")
        self.owner.answer("circle", "homes", "server")
        wait_until(lambda: all(one["sendingKeys"] for one in self.devices_of_ada()), "keys of Ada's devices")
        self.say(self.phone, "Ada", "welcome, tablet", (self.owner, "Bob"), (self.tablet, "Bob"))

    def devices_of_ada(self):
        people = self.phone.answer("circle", "list")["people"]
        return next(one["devices"] for one in people if one["name"] == "Ada")

    def renew_keys(self):
        """Exchanges one-time keys again, and sends a sealed message."""
        number = self.owner.answer("keys", "exchange", "phone")["safetyNumber"].split()
        for home, peer in ((self.owner, "phone"), (self.phone, self.peer("owner"))):
            home.answer("keys", "verify", peer, *number)
        output = self.phone.path.parent / "listen.out"
        listener = self.phone.spawn("listen", output=output)
        try:
            wait_until(lambda: b"listening" in output.read_bytes(), "listening")
            self.owner.answer("send", "phone", "see you at eight", "--sealed")
            wait_until(lambda: b"see you at eight" in output.read_bytes(), "received")
            listener.send_signal(signal.SIGINT)
            listener.wait(timeout=WAIT_SECONDS)
        finally:
            listener.kill()
            listener.wait()

    def store_values(self):
        for name, values in VALUES.items():
            for key, value in values:
                self.homes[name].answer("put", key, value, "--network", "Home")
        self.owner.answer("put", "old", "1", "--network", "Home")
        self.owner.answer("delete", "old", "--network", "Home")

    def revoke_former(self):
        self.owner.answer("network", "revoke", "old phone", "--network", "Home", "--yes")

        def is_revoked():
            networks = self.former.answer("network", "list")["networks"]
            return any(one["isRevoked"] for one in networks)

        wait_until(is_revoked, "revoked")
        self.stop("former")

    def stop(self, name):
        """Collects the facts of a home and stops its node."""
        home = self.homes[name]
        self.facts.collect(home)
        home.stop()

    def stop_with_waiting_mail(self):
        """Leaves mail for the phone at the server, and other mail with its sender."""
        self.stop("phone")
        self.owner.answer("circle", "say", "Bob", "held for you")
        wait_until(lambda: self.states(self.owner, "Bob")["held for you"] == "stored", "stored")
        wait_until(lambda: "held for you" in self.texts(self.tablet, "Bob"), "also on the tablet")
        self.stop("tablet")
        self.stop("server")
        self.owner.answer("circle", "say", "Bob", "kept by its sender")
        wait_until(lambda: self.states(self.owner, "Bob")["kept by its sender"] == "waiting", "waiting")
        self.stop("owner")

    def forget_keys(self):
        """Deletes all pools of public keys but one: each has 1.2 MB that no compression makes smaller."""
        phone = self.peer("phone")
        for home in self.homes.values():
            for relationship in home.answer("keys", "supply")["relationships"]:
                peer = relationship["peerId"]
                if not self.keeps_keys or home is not self.owner or peer != phone:
                    home.answer("keys", "forget", peer)
        for home in self.homes.values():
            self.facts.keys(home)
