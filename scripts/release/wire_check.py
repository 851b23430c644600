"""wire_check.py NEWER OLDER: lets nodes of two versions of the program work together, as processes over loopback.

The older version owns the network in the first round and the newer one in the second; the members have the other version.
One line is printed for each check; the exit status is 1 at a failure.
"""

import hashlib
import os
import signal
import socket
import sys

from nodes import Nodes, Unexpected, expect, wait_until
from package_check import Checks

FILE_BYTES, IMAGE_BYTES = 3_000_000, 150_000
DISCOVERY_SECONDS = 30
# An answer of another form is a failure of its check, too.
FAILURES = (Unexpected, LookupError, TypeError, ValueError, OSError)


class Round:
    """A network: its owner Ada has one version, and its members the other one.

    Bob's phone is admitted by texts and found by discovery, Gil's server is dialled by address and holds mail, the
    tablet is admitted by an invitation, and the desk as a device of the owner.
    """

    def __init__(self, checks, nodes, owner, member):
        self.checks, self.nodes = checks, nodes
        (self.owner_version, owner_program), (self.member_version, self.member_program) = owner, member
        group = {"RUNAR_DISCOVERY": "on", "RUNAR_DISCOVERY_GROUP": f"239.255.42.99:{free_port()}"}
        self.nearby = {**group, "RUNAR_DISCOVERY_INTERVAL": "1s"}
        self.owner = self.make(self.owner_version, owner_program, "owner", **self.nearby)
        self.phone = self.member("phone", **self.nearby)
        self.server, self.tablet = self.member("server"), self.member("tablet")
        # Without a hash table it does not learn by itself where other members are, and so begins over the owner's node.
        self.desk = self.member("desk", RUNAR_HASH_TABLE="off")
        self.network = self.owner.ask("network", "create", "Home")["text"]

    def make(self, version, program, role, **environment):
        received = os.path.join(self.nodes.folder, f"received-{version}-{role}")
        os.makedirs(received)
        node = self.nodes.make(program, f"{version}-{role}", RUNAR_ACCEPT_FILES=received, **environment)
        node.received, node.version = received, version
        return node

    def member(self, role, **environment):
        return self.make(self.member_version, self.member_program, role, **environment)

    def attempt(self, name, action, *arguments):
        """Runs an action and reports it as a check; returns whether it succeeded."""
        try:
            action(*arguments)
        except FAILURES as error:
            self.checks.check(name, False, f"{type(error).__name__}: {error}")
            return False
        self.checks.check(name, True)
        return True

    def both_ways(self, name, action):
        for sender, receiver in ((self.owner, self.phone), (self.phone, self.owner)):
            self.attempt(f"{name}, {sender.version} to {receiver.version}", action, sender, receiver)

    def path(self, name):
        return os.path.join(self.nodes.folder, name)

    def run(self):
        member, owner = self.member_version, self.owner_version
        self.owner.start_node()
        if not self.attempt(f"the {owner} version admits the {member} one by texts", self.admit, self.phone, "phone"):
            return
        self.attempt("they discover each other and connect", self.discover)
        self.attempt("a member connects by address", self.connect_by_address)
        self.attempt("an invitation as a QR code admits a member", self.invite)
        self.attempt("the owner's authority adds a device by request and answer", self.add_device)
        self.attempt("members are connected over the owner's node", self.connect_over_owner)
        self.both_ways("a message arrives", self.send_message)
        self.both_ways("a file arrives whole", self.send_file)
        self.both_ways("a service answers", self.call)
        self.both_ways("an event arrives", self.publish)
        self.both_ways("a value is stored, read, replaced and deleted", self.store)
        self.attempt("one-time keys are exchanged and compared", self.exchange_keys)
        self.both_ways("a sealed message arrives", self.send_sealed)
        self.check_circle()
        self.check_end()

    # Admission and connections

    def admit(self, node, label):
        token = self.owner.ask("network", "issue", node.peer, "--label", label)["text"]
        expect(node.ask("join", self.network, token)["isMember"], "no member after `join`")

    def discover(self):
        self.phone.start_node()
        for node, other in ((self.owner, self.phone), (self.phone, self.owner)):
            is_found = lambda: "localNetwork" in node.connected().get(other.peer, {}).get("foundBy", [])
            wait_until(is_found, f"{node.name} discovers the other one", DISCOVERY_SECONDS)

    def connect_by_address(self):
        self.admit(self.server, "server")
        self.server.start_node()
        self.server.ask("connect", self.owner.place())
        wait_until(lambda: self.server.peer in self.owner.connected(), "the owner reports the server as connected")

    def invite(self):
        invitation = self.owner.start("network", "invite", "--preallow", "--label", "tablet")
        image = self.path(f"invitation-{self.owner_version}.png")
        self.owner.ask("qr", "show", "-", "--output", image, input=invitation.next("invited")["link"])
        self.tablet.start_node()
        joined = self.tablet.ask("join", "--picture", image)
        expect(joined["isMember"] and joined["isConnected"], joined)
        invitation.next("admitted", peerId=self.tablet.peer)

    def add_device(self):
        request = self.desk.ask("device", "setup", "--show")["link"]
        answer = self.owner.ask("device", "add", "-", "--label", "desk", "--yes", input=request)["text"]
        added = self.desk.ask("device", "setup", "-", "--yes", input=answer)
        expect(added["sender"] == self.owner.peer and len(added["networks"]) == 1, added)

    def connect_over_owner(self):
        self.desk.start_node()
        wait_until(lambda: self.owner.peer in self.desk.connected(), "the desk dials the device that added it")
        found = self.desk.ask("connect", self.phone.peer, "Home", "--relay")
        expect(found["relayed"] and found["relay"] == self.owner.peer, found)
        self.send_message(self.desk, self.phone)

    # Messages, files, services, events and values

    def send_message(self, sender, receiver, *options):
        text = f"from {sender.name}, {' '.join(options) or 'plain'}: ä ✓"
        listener = receiver.start("listen")
        listener.next("listening")
        sender.ask("send", receiver.peer, text, *options)
        message = listener.next("message", peerId=sender.peer)
        expect(message["text"] == text and message.get("sealed", False) == ("--sealed" in options), message)
        expect(listener.end() == 0, "`listen` did not end well")

    def send_sealed(self, sender, receiver):
        self.send_message(sender, receiver, "--sealed")

    def send_file(self, sender, receiver):
        name = f"from-{sender.name}.bin"
        content = os.urandom(FILE_BYTES)
        write(self.path(name), content)
        sent = sender.ask("send", receiver.peer, "--file", self.path(name))
        expect(sent["bytes"] == FILE_BYTES, sent)
        expect(digest(os.path.join(receiver.received, sent["name"])) == hashlib.sha256(content).digest(), "other bytes")

    def call(self, provider, caller):
        path = f"echo-{provider.version}"
        service = provider.start("serve", path, "say=cat", "fail=exit 3")
        service.next("serving")
        wait_until(lambda: path in str(caller.ask("services")["services"]), f"{caller.name} sees the service")
        answer = caller.ask("call", f"{path}/say", '{"level": [1, 2.5, "ä"]}', "--peer", provider.peer)
        expect(answer["result"] == {"level": [1, 2.5, "ä"]}, answer)
        service.next("answered", peerId=caller.peer)
        for action, word in (("fail", "handler-failed"), ("none", "no-action")):
            code = caller.refusal("call", f"{path}/{action}", "--peer", provider.peer)
            expect(code == word, f"{action}: {code}")
        expect(service.end() == 0, "`serve` did not end well")

    def publish(self, publisher, subscriber):
        subscription = subscriber.start("subscribe", "home/>")
        subscription.next("subscribed")
        published = publisher.ask("publish", "home/door", f"open at {publisher.name}")
        expect(not published["isIsolated"], published)
        event = subscription.next("published", peerId=publisher.peer)
        expect(event["topic"] == "home/door" and event["text"] == f"open at {publisher.name}", event)
        expect(subscription.end() == 0, "`subscribe` did not end well")

    def store(self, writer, reader):
        key = f"door/{writer.version}"
        read = lambda: reader.ask("get", key, "--no-cache")["records"][0]
        stored = writer.ask("put", key, "4711")
        expect(stored["holders"] > 0, stored)
        found = read()
        expect((found["text"], found["writer"], found["version"]) == ("4711", writer.peer, stored["version"]), found)
        reader.ask("put", key, "4712", "--if-version", str(found["version"]))
        expect(writer.refusal("put", key, "4713", "--if-version", str(found["version"])) == "conflict", "no conflict")
        expect(writer.ask("get", key, "--no-cache")["records"][0]["text"] == "4712", "the older value")
        reader.ask("delete", key)
        writer.ask("delete", key)
        expect(reader.refusal("get", key, "--no-cache") == "not-found", "a deleted value is found")

    def exchange_keys(self):
        number = self.owner.ask("keys", "exchange", "phone")["safetyNumber"]
        expect(self.phone.ask("keys", "verify", self.owner.peer, *number.split())["verified"], number)

    # The circle

    def check_circle(self):
        for node, name in ((self.owner, "Ada"), (self.phone, "Bob"), (self.server, "Gil")):
            node.person = name
            self.attempt(f"{name} has a profile ({node.version})", node.ask, "circle", "profile", name)
        self.attempt("a request to a device is accepted, and the safety numbers are the same", self.become_friends)
        self.attempt("a request by a card is accepted", self.add_card)
        self.both_ways("a thought arrives and is reported as delivered", self.say)
        self.both_ways("an image arrives whole", self.send_image)
        self.attempt("a group is made and joined", self.make_group)
        self.both_ways("a thought in a group arrives", self.say_in_group)
        self.attempt("a removal from a group arrives", self.remove_from_group)
        if self.attempt("the member that holds mail knows both", self.connect_server):
            for sender, receiver in ((self.owner, self.phone), (self.phone, self.owner)):
                versions = f"{sender.version} to {self.server.version} to {receiver.version}"
                self.attempt(f"mail for an absent person is held and picked up, {versions}", self.hold, sender, receiver)

    def become_friends(self):
        self.owner.ask("circle", "add", "phone")
        wait_until(lambda: person(self.phone, "Ada"), "the request arrives")
        expect(self.phone.ask("circle", "accept", "Ada")["trust"] == "trusted", "not trusted")
        wait_until(lambda: person(self.owner, "Bob").get("trust") == "trusted", "the consent arrives")
        number = person(self.owner, "Bob")["safetyNumber"]
        expect(self.phone.ask("circle", "verify", "Ada", *number.split())["verified"], number)

    def add_card(self):
        card = self.owner.ask("circle", "card")["text"]
        expect(self.server.ask("circle", "add", card)["name"] == "Ada", "another name")
        wait_until(lambda: person(self.owner, "Gil"), "the request arrives")
        expect(self.owner.ask("circle", "accept", "Gil")["trust"] == "trusted", "not trusted")
        wait_until(lambda: person(self.server, "Ada").get("trust") == "trusted", "the consent arrives")

    def say(self, sender, receiver, conversation=None):
        at_sender, at_receiver = conversation or receiver.person, conversation or sender.person
        text = f"from {sender.name} ✓"
        follower = receiver.start("circle", "follow", at_receiver)
        follower.next("circle")
        said = sender.ask("circle", "say", at_sender, text)
        thought = follower.next("thought", thoughtId=said["thoughtId"])
        expect(thought["text"] == text and thought["creator"] == sender.person, thought)
        wait_until(lambda: state(sender, at_sender, said) in ("delivered", "opened"), "the delivery is reported")
        expect(follower.end() == 0, "`follow` did not end well")

    def send_image(self, sender, receiver):
        content = os.urandom(IMAGE_BYTES)
        image, copy = self.path(f"{sender.name}.png"), self.path(f"{sender.name}-copy.png")
        write(image, content)
        sent = sender.ask("circle", "send", receiver.person, image)
        wait_until(lambda: thought_of(receiver, sender.person, sent), "the image arrives")
        receiver.ask("circle", "save", sender.person, sent["thoughtId"], copy)
        expect(digest(copy) == hashlib.sha256(content).digest(), "other bytes")

    def make_group(self):
        self.owner.ask("circle", "stream", "make", "Trip")
        self.owner.ask("circle", "stream", "invite", "Trip", "Bob")
        wait_until(lambda: stream(self.phone, "Trip"), "the invitation arrives")
        joined = self.phone.ask("circle", "stream", "join", "Trip")
        expect(joined["participation"] == "joined", joined)
        joins = lambda: any(one["joined"] for one in stream(self.owner, "Trip").get("members", []))
        wait_until(joins, "the joining arrives")

    def say_in_group(self, sender, receiver):
        self.say(sender, receiver, "Trip")

    def remove_from_group(self):
        self.owner.ask("circle", "stream", "remove", "Trip", "Bob")
        wait_until(lambda: stream(self.phone, "Trip").get("participation") != "joined", "the removal arrives")

    def connect_server(self):
        self.server.ask("connect", self.phone.peer, "Home")
        wait_until(lambda: self.server.peer in self.phone.connected(), "the phone reports the server as connected")

    def hold(self, sender, receiver):
        """The sender and the receiver are never online at the same time; the server always is."""
        receiver.stop_node()
        said = sender.ask("circle", "say", receiver.person, f"while {receiver.name} was away")
        stored = lambda: (thought_of(sender, receiver.person, said) or {}).get("state") == "stored"
        wait_until(stored, "the mail is stored")
        sender.stop_node()
        receiver.start_node()
        self.server.ask("connect", receiver.place())
        wait_until(lambda: thought_of(receiver, sender.person, said), "the mail is picked up")
        sender.start_node()
        self.server.ask("connect", sender.place())
        wait_until(lambda: state(sender, receiver.person, said) in ("delivered", "opened"), "the receipt arrives")

    # Revocations

    def check_end(self):
        self.attempt("a revocation of trust closes the connection", self.revoke_trust)
        self.attempt("a revocation of a membership arrives at a member and at the device", self.revoke_membership)
        for node in self.nodes.all:
            self.attempt(f"the node of {node.name} stops", node.stop_node)

    def revoke_trust(self):
        wait_until(lambda: self.server.peer in self.owner.connected(), "the server is connected")
        self.owner.ask("circle", "revoke", "Gil", "--yes")
        wait_until(lambda: self.owner.peer not in self.server.connected(), "the server is disconnected")
        self.server.refusal("send", self.owner.peer, "hello")

    def revoke_membership(self):
        wait_until(lambda: self.phone.peer in self.owner.connected(), "the phone is connected")
        self.owner.ask("network", "revoke", "tablet", "--yes")
        self.phone.up.next("revoked", peerId=self.tablet.peer)
        wait_until(lambda: self.tablet.ask("status")["revoked"], "the tablet is notified")
        self.tablet.refusal("send", self.phone.peer, "hello")


def person(node, name):
    """Returns a person of the node's circle, or an empty object."""
    return next((one for one in node.ask("circle", "list")["people"] if one["name"] == name), {})


def stream(node, name):
    return next((one for one in node.ask("circle", "list")["streams"] if one["name"] == name), {})


def thought_of(node, conversation, sent):
    """Returns the thought of a conversation that another command has sent."""
    thoughts = node.ask("circle", "history", conversation)["thoughts"]
    return next((one for one in thoughts if one["thoughtId"] == sent["thoughtId"]), None)


def state(node, conversation, sent):
    return (thought_of(node, conversation, sent) or {}).get("state")


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main(newer, older):
    for program in (newer, older):
        if not os.access(program, os.X_OK):
            sys.exit(f"error: there is no program {program}: `make release` and `make previous` link the two")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    versions, failed = (("older", os.path.abspath(older)), ("newer", os.path.abspath(newer))), 0
    for owner, member in (versions, reversed(versions)):
        checks = Checks(f"{owner[0]} owns")
        with Nodes() as nodes:
            try:
                Round(checks, nodes, owner, member).run()
            except FAILURES as error:
                checks.check("the nodes start", False, error)
        failed += checks.failed
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
