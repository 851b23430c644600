"""Goes through everything that a console's API can do with two nodes, as an independent program, and holds every
answer against the description that the console itself serves.

console_api.py check                      says what is missing (nothing ever is), or an empty line
console_api.py secrets PORT TOKEN LINK PORT TOKEN LINK KEY
                                          has two nodes handle their secrets (LINK signs a browser in, KEY is the root key
                                          of the first), and prints those and what the nodes logged meanwhile: one line of
                                          JSON, {"secrets": {name: [text]}, "lines": [text]}
console_api.py go PORT TOKEN PORT TOKEN   one line of JSON for each claim, {"claim", "failure"}, and at the end one with
                                          the routes that were asked, {"asked": [...]}
"""

import base64
import http.client
import json
import re
import socket
import sys
import threading
import time
import traceback
import urllib.parse

BASE = "/api/v1"
# Seconds after which a line that does not come is a failure.
WAIT = 120
# What a request for secret keys says where a key file opens the vault.
SHOW = {"confirmation": "show"}


def url_id(identifier):
    return identifier.replace("+", "-").replace("/", "_").rstrip("=")


class Description:
    """The parts of OpenAPI 3.1 and JSON Schema that ours is made of."""

    def __init__(self, document):
        self.document = document
        self.asked = set()

    def resolve(self, schema):
        while "$ref" in schema:
            value = self.document
            for word in schema["$ref"].removeprefix("#/").split("/"):
                value = value[word]
            schema = value
        return schema

    def operation(self, method, template):
        self.asked.add(f"{method} {template}")
        return self.document["paths"][template][method.lower()]

    def answer(self, method, template, status):
        responses = self.operation(method, template)["responses"]
        return self.resolve(responses.get(str(status), responses["default"]))["content"]

    def problems(self, schema, value, place="answer"):
        schema = self.resolve(schema)
        if "anyOf" in schema:
            found = [self.problems(one, value, place) for one in schema["anyOf"]]
            return [] if [] in found else [f"{place} fits none: {min(found, key=len)}"]
        if "const" in schema and value != schema["const"]:
            return [f"{place} is {value!r}, not {schema['const']!r}"]
        if "enum" in schema and value not in schema["enum"]:
            return [f"{place} is {value!r}"]
        kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict,
                 "null": type(None)}
        names = schema.get("type", [])
        names = [names] if isinstance(names, str) else names
        fits = [n for n in names if isinstance(value, kinds[n]) and not (n in ("integer", "number") and value in (True, False)
                                                                       and isinstance(value, bool))]
        if names and not fits:
            return [f"{place} is a {type(value).__name__}, not {names}"]
        found = []
        if isinstance(value, list) and "items" in schema:
            for number, item in enumerate(value):
                found += self.problems(schema["items"], item, f"{place}[{number}]")
        if isinstance(value, dict):
            known = schema.get("properties", {})
            found += [f"{place} has no {name}" for name in schema.get("required", []) if name not in value]
            for name, item in value.items():
                if name in known:
                    found += self.problems(known[name], item, f"{place}.{name}")
                elif isinstance(schema.get("additionalProperties"), dict):
                    found += self.problems(schema["additionalProperties"], item, f"{place}.{name}")
                elif known and schema.get("additionalProperties") is not True:
                    found.append(f"{place}.{name} is not described")
        return found


class Stream:
    """Lines as they come."""

    def __init__(self, node, connection, answer, schema):
        self.node, self.connection, self.answer, self.schema = node, connection, answer, schema

    def next(self, event=None):
        """The next line, or the next one of a kind. The lines that say that a node is alive come for ever, so that no
        timeout of the connection ends a wait for a line that does not come."""
        end, passed = time.monotonic() + WAIT, []
        while True:
            line = self.answer.readline()
            if not line:
                return None
            value = json.loads(line)
            if time.monotonic() > end:
                raise TimeoutError(f"no line {event} came in {WAIT} s, but {passed}")
            if value.get("kind") not in ("alive", "sample"):
                passed.append(value)
            problems = self.node.description.problems(self.schema, value, "line")
            say(f"a line {value.get('event') or value.get('kind')} is as described", problems, quiet=True)
            if event is None or event in (value.get("event"), value.get("kind")):
                return value

    def close(self):
        self.connection.sock.close()
        self.answer.close()


class Node:
    def __init__(self, port, token):
        self.port, self.token, self.description = int(port), token, None

    def open(self, method, path, body=None, content_type=None):
        connection = http.client.HTTPConnection("localhost", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.token}"}
        if content_type:
            headers["Content-Type"] = content_type
        connection.request(method, path, body, headers)
        return connection, connection.getresponse()

    def get(self, path):
        connection, answer = self.open("GET", path)
        value = json.loads(answer.read())
        connection.close()
        return value

    def ask(self, call, places=None, query=None, body=None, raw=None, expect=200, stream=False):
        method, _, template = call.partition(" ")
        template = template if template == "/metrics" else BASE + template
        path = re.sub(r"\{(\w+)\}", lambda m: urllib.parse.quote(str((places or {})[m[1]]), safe=""), template)
        if query:
            path += "?" + urllib.parse.urlencode(query)
        sent = raw if raw is not None else None if body is None else json.dumps(body).encode()
        kind = None if sent is None else "application/octet-stream" if raw is not None else "application/json"
        connection, answer = self.open(method, path, sent, kind)
        content = self.description.answer(method, template, answer.status)
        if stream and answer.status == 200:
            return Stream(self, connection, answer, content["application/x-ndjson"]["schema"])
        if answer.status == 200 and "application/x-ndjson" in content:
            answer.close()
            connection.close()
            return say(f"{call} is refused", "it answers with lines")
        data = answer.read()
        connection.close()
        say(f"{call} answers {expect}", [] if answer.status == expect else [f"{answer.status}: {data[:300]!r}"])
        if "application/json" not in content:
            return data
        value = json.loads(data)
        say(f"{call} answers as described", self.description.problems(content["application/json"]["schema"], value))
        return value


def say(claim, failure, quiet=False):
    failure = "; ".join(failure) if isinstance(failure, list) else failure
    if failure or not quiet:
        print(json.dumps({"claim": claim, "failure": failure or None}), flush=True)


def expect(claim, truth, why=""):
    say(claim, "" if truth else f"it is not so: {why}")


def alone(owner):
    """What a node without a network says."""
    for call in ["status", "node", "storage", "logs", "log-level", "networks", "peers", "messages", "offers", "files",
                 "keys", "doctor", "doctor/facts"]:
        owner.ask(f"GET /{call}")
    owner.ask("GET /services", expect=404)
    expect("metrics are a text", b"runar_" in owner.ask("GET /metrics"))
    owner.ask("POST /networks", body={}, expect=400)
    owner.ask("POST /networks", body={"name": 5}, expect=400)
    owner.ask("POST /networks", body={"name": ""}, expect=422)
    owner.ask("GET /networks/{network}", {"network": "nobody's"}, expect=404)
    owner.ask("POST /join", body={"text": "garbage"}, expect=422)
    owner.ask("POST /join/invitation", body={"text": "garbage"}, expect=422)
    owner.ask("POST /recovery-phrase", body={"confirmation": "show"}, expect=404)
    levels = owner.ask("PUT /log-level", body={"level": "debug", "subsystem": "connections"})
    expect("a subsystem logs more", levels["subsystems"] == {"connections": "debug"}, levels)
    owner.ask("PUT /log-level", body={"level": "loud"}, expect=400)
    owner.ask("PUT /log-level", body={"level": "debug", "subsystem": "storage"})
    levels = owner.ask("PUT /log-level", body={"level": None, "subsystem": "storage"})
    expect("a subsystem logs as everything else again", levels["subsystems"] == {"connections": "debug"}, levels)
    owner.ask("PUT /log-level", body={"level": None}, expect=400)
    owner.ask("PUT /log-level", body={"level": "", "subsystem": "storage"}, expect=400)
    owner.ask("PUT /log-level", body={"subsystem": "storage"}, expect=400)
    owner.ask("PUT /settings/{key}", {"key": "renewTokens"}, body={"values": ["maybe"]}, expect=422)
    owner.ask("PUT /settings/{key}", {"key": "console"}, body={"values": ["off"]}, expect=409)
    owner.ask("PUT /settings/{key}", {"key": "colour"}, body={"values": []}, expect=404)
    setting = owner.ask("PUT /settings/{key}", {"key": "renewTokens"}, body={"values": ["off"]})
    expect("a change waits for the next start", setting["needsRestart"] and setting["source"] == "file", setting)
    expect("the status shows it", setting in owner.ask("GET /status")["configuration"], setting)
    setting = owner.ask("PUT /settings/{key}", {"key": "renewTokens"}, body={"values": []})
    expect("no value is the usual one", setting == {"key": "renewTokens", "values": ["on"], "source": "default"}, setting)
    owner.ask("GET /public-address", expect=400)
    open_to_network(owner)
    key = owner.ask("POST /keys/root", body={}, expect=201)
    expect("a root key is made, and its private part stays", key["key"] == "root" and "privateKey" not in key, key)
    owner.ask("POST /keys/root", body={}, expect=409)


def open_to_network(owner):
    lan = owner.ask("GET /lan")
    expect("the network gets nothing by itself", not lan["on"] and lan["addresses"] == [] and lan["here"], lan)
    closed = owner.ask("POST /lan/pairing", body={}, stream=True)
    expect("nobody is paired while it is closed", closed.next("failed")["error"]["code"] == "no-console-lan")
    owner.ask("PUT /lan", body={"on": True, "port": 0}, expect=400)
    owner.ask("PUT /lan", body={"on": True, "port": 70000}, expect=400)
    owner.ask("PUT /lan", body={"on": True, "port": owner.port}, expect=409)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lan = owner.ask("PUT /lan", body={"on": True, "port": port})
    expect("it is open", lan["on"] and lan["port"] == port and lan["source"] == "file", lan)
    expect("its status says where", owner.ask("GET /status")["consoleLan"] == lan["addresses"], lan)
    wrong = owner.ask("POST /lan/pairing", body={"address": "https://192.0.2.99/"}, stream=True)
    expect("no link leads elsewhere", wrong.next("failed")["error"]["code"] == "no-such-address")
    shown = owner.ask("POST /lan/pairing", body={"address": lan["addresses"][-1]}, stream=True)
    pairing = shown.next("pairing")
    expect("a link leads there", pairing["link"].startswith(lan["addresses"][-1] + "#secret="), pairing)
    expect("with its fingerprint", pairing["fingerprint"] == lan["fingerprint"], pairing)
    secret = pairing["link"].rpartition("=")[2]
    owner.ask("POST /session", body={"secret": secret})
    expect("whoever shows the code hears of its use", shown.next("done")["result"]["used"])
    lan = owner.ask("PUT /lan", body={"on": False})
    expect("it is closed", not lan["on"] and lan["port"] == 4281, lan)


def become_members(owner, guest):
    network = owner.ask("POST /networks", body={"name": "Home <b>"}, expect=201)
    place = {"network": url_id(network["networkId"])}
    owner.ask("GET /networks")
    shown = owner.ask("POST /networks/{network}/invitations", place, body={"label": "Tablet"}, stream=True)
    link = shown.next("invited")["link"]
    asked = guest.ask("POST /join/invitation", body={"text": link}, stream=True)
    pending, request = asked.next("joinPending"), shown.next("joinRequested")
    expect("both sides show the same digits", pending["digits"] == request["digits"], (pending, request))
    owner.ask("POST /joins/{number}", {"number": request["number"]}, body={"allowed": True, "label": "x" * 65},
              expect=422)
    owner.ask("POST /joins/{number}", {"number": request["number"]},
              body={"allowed": True, "label": " Phone ", "lifeSeconds": 3600})
    expect("the joiner is admitted", asked.next("done")["result"]["isMember"])
    expect("the inviter hears of it", shown.next("done")["result"]["label"] == "Phone")
    owner.ask("POST /joins/{number}", {"number": request["number"]}, body={"allowed": True}, expect=409)
    guest.ask("POST /join", body={"text": link}, expect=422)
    detail = owner.ask("GET /networks/{network}", place)
    expect("a network has its two members", len(detail["members"]) == 2 and detail["connected"] == 1, detail)
    expect("a label leads to its peer", owner.ask("GET /peers/{peer}", {"peer": "Phone"})["connected"])
    return place


def talk(owner, guest, place, peer):
    told = guest.ask("GET /activity", stream=True)
    told.next("hello")
    sent = owner.ask("POST /peers/{peer}/messages", {"peer": peer}, body={"text": "hello <i>"})
    expect("a message is told when it comes", told.next("message")["message"]["text"] == "hello <i>")
    kept = owner.ask("GET /messages", query={"peer": peer})["messages"]
    expect("what was sent is kept", kept[-1]["number"] == sent["number"] and kept[-1]["state"] == "delivered", kept)
    owner.ask("POST /networks/{network}/broadcast", place, body={"text": "all"})
    owner.ask("POST /peers/{peer}/messages", {"peer": peer}, body={"text": ""}, expect=400)
    data = bytes(range(256)) * 2000
    results = []

    def send():
        stream = owner.ask("POST /peers/{peer}/files", {"peer": peer}, {"name": "h\u00e4 <b>.bin"}, raw=data, stream=True)
        results.append(stream.next("done"))

    sender = threading.Thread(target=send)
    sender.start()
    offer = told.next("fileOffered")["offer"]
    expect("an offer waits", guest.ask("GET /offers")["offers"] == [offer])
    guest.ask("POST /offers/{number}", {"number": offer["number"]}, body={"accept": True})
    sender.join()
    expect("a file is delivered", results[0]["result"]["bytes"] == len(data), results)
    arrived = told.next("fileArrived")["file"]
    expect("the file is whole", guest.ask("GET /files/{id}", {"id": arrived["id"]}) == data)
    expect("the file is in the list", [f["name"] for f in guest.ask("GET /files")["files"]] == ["h\u00e4 <b>.bin"])
    guest.ask("DELETE /files/{id}", {"id": arrived["id"]})
    guest.ask("GET /files/{id}", {"id": arrived["id"]}, expect=404)
    guest.ask("GET /files/{id}", {"id": base64.urlsafe_b64encode(b"/etc/passwd").decode().rstrip("=")}, expect=404)
    owner.ask("POST /peers/{peer}/files", {"peer": peer}, {"name": "../x"}, raw=b"x", expect=400)
    owner.ask("POST /offers/{number}", {"number": 77}, body={"accept": False}, expect=409)
    given_up = owner.ask("POST /peers/{peer}/files", {"peer": peer}, {"name": "given-up"}, raw=b"x", stream=True)
    number = told.next("fileOffered")["offer"]["number"]
    given_up.close()
    expect("an offer goes with its sender", told.next("offerEnded")["number"] == number)
    expect("no offer waits then", guest.ask("GET /offers")["offers"] == [])
    guest.ask("POST /offers/{number}", {"number": number}, body={"accept": True}, expect=409)
    told.close()


def seal(owner, guest, peer):
    sealed, keys = "POST /peers/{peer}/sealed-messages", "POST /peers/{peer}/one-time-keys"
    place = {"peer": peer}
    owner.ask(sealed, place, body={"text": "early"}, expect=404)
    expect("no keys are there at first", owner.ask("GET /one-time-keys")["relationships"] == [])
    exchanged = owner.ask(keys, place, body={})
    expect("keys are exchanged", exchanged["state"] == "completed" and exchanged["sendingKeys"] >= 1024, exchanged)
    expect("both devices list them", len(guest.ask("GET /one-time-keys")["relationships"]) == 1)
    for digits, status in (("12345", 422), ("0" * 60, 422), (exchanged["safetyNumber"], 200)):
        verified = owner.ask(keys + "/verify", place, body={"text": digits}, expect=status)
    expect("the number is confirmed", verified["verified"], verified)
    owner.ask(sealed, place, body={"text": ""}, expect=400)
    told = guest.ask("GET /activity", stream=True)
    told.next("hello")
    owner.ask(sealed, place, body={"text": "at eight"})
    message = told.next("message")["message"]
    expect("a sealed message is told when it comes", message["text"] == "at eight" and message["sealed"], message)
    told.close()
    owner.ask("DELETE /peers/{peer}/one-time-keys", place)
    expect("keys are deleted", owner.ask("GET /one-time-keys")["relationships"] == [])
    owner.ask("DELETE /peers/{peer}/one-time-keys", place, expect=404)


def trust(owner, guest, place, peer):
    """Two people, from the first request to the end of trust and its return."""
    people, talk = "/circle/people/{person}", "/circle/conversations/{conversation}"
    ada, bob = {"person": "Ada", "conversation": "Ada"}, {"person": "Bob", "conversation": "Bob"}
    devices = "/circle/devices/{peer}"
    other = {"peer": url_id(owner.ask("GET /node")["peerId"])}
    guest.ask("POST " + devices + "/expect", other, body={}, expect=400)
    guest.ask("POST " + devices + "/expect", other, body=SHOW)
    owner.ask("POST " + devices, {"peer": peer}, body=SHOW, expect=404)
    owner.ask("POST /peers/{peer}/circle", {"peer": peer}, body={}, expect=404)
    owner.ask("GET /circle/card", expect=404)
    owner.ask("PUT /circle/homes", body={"peers": [peer]}, expect=404)
    owner.ask("PUT /circle/profile", body={"name": ""}, expect=422)
    owner.ask("PUT /circle/profile", body={"name": "Ada"})
    guest.ask("PUT /circle/profile", body={"name": "Bob", "blurb": "on the road"})
    owner.ask("POST /circle/people", body={"text": owner.ask("GET /circle/card")["text"]}, expect=422)
    owner.ask("POST /peers/{peer}/circle", {"peer": peer}, body={})
    guest.ask("POST " + people + "/decline", ada, body={})
    owner.ask("POST /circle/people", body={"text": guest.ask("GET /circle/card")["text"]})
    told = owner.ask("GET /activity", stream=True)
    told.next("hello")
    expect("consent makes trust", guest.ask("POST " + people + "/accept", ada, body={})["trust"] == "trusted")
    while "circle" not in told.next("changed")["what"]:
        pass
    told.close()
    person = owner.ask("GET /circle")["people"][0]
    expect("the person is listed", (person["name"], person["blurb"], person["trust"]) == ("Bob", "on the road", "trusted"), person)
    for digits, status in (("12345", 422), ("0" * 60, 422), (person["safetyNumber"], 200)):
        owner.ask("POST " + people + "/verify", bob, body={"text": digits}, expect=status)
    follower = owner.ask("POST " + talk + "/follow", bob, stream=True)
    follower.next("circle")
    said = owner.ask("POST " + talk + "/thoughts", bob, body={"text": "at eight"})
    while follower.next("thought")["state"] != "delivered":
        pass
    found = guest.ask("GET " + talk + "/thoughts", ada, {"search": "EIGHT", "limit": 5})
    thoughts = found["thoughts"]
    expect("a thought arrives", [one["thoughtId"] for one in thoughts] == [said["thoughtId"]], thoughts)
    names = [thoughts[0][name] for name in ("creator", "creatorId", "conversationId")]
    expect("a thought names its creator", names == ["Ada"] + [found["person"]["personId"]] * 2, thoughts)
    expect("a short search is complete", "searchedTo" not in found, found)
    number = thoughts[0]["number"]
    expect("nothing came before", guest.ask("GET " + talk + "/thoughts", ada, {"before": number})["thoughts"] == [])
    guest.ask("GET " + talk + "/thoughts", ada, {"limit": 0}, expect=400)
    guest.ask("POST " + talk + "/opened", ada, body={"first": number, "last": number})
    while follower.next("thought")["state"] != "opened":
        pass
    attach(owner, guest, follower)
    gather(owner, guest)
    choose_homes(owner, peer)
    for call, device, status in (
        ("POST " + devices, {"peer": peer}, 403), ("POST " + devices + "/expect", {"peer": peer}, 403),
        ("POST " + devices, {"peer": "nobody"}, 404),
    ):
        owner.ask(call, device, body=SHOW, expect=status)
    owner.ask("DELETE " + devices, {"peer": peer}, expect=403)
    own = [one["local"] for one in owner.ask("GET /circle")["devices"]]
    expect("this device is the only one", own == [True], own)
    expect("trust is revoked", owner.ask("DELETE " + people, bob)["trust"] == "revoked")
    owner.ask("POST " + talk + "/thoughts", bob, body={"text": "no"}, expect=403)
    block(owner, bob)
    # A lifted block forgets the person, who is asked again by a device, or asks.
    owner.ask("POST /connect", body={"text": guest.ask("GET /networks/{network}/connection-text", place)["text"]})
    owner.ask("POST /peers/{peer}/circle", {"peer": peer}, body={})
    while [one["trust"] for one in follower.next("circle")["people"]] != ["trusted"]:
        pass
    follower.close()
    owner.ask("POST " + people + "/decline", {"person": "Carol"}, body={}, expect=404)
    owner.ask("POST " + talk + "/thoughts", {"conversation": "Carol"}, body={"text": "no"}, expect=404)


def choose_homes(owner, peer):
    """Homes are chosen, listed, and given back to the nearest members."""
    call = "PUT /circle/homes"
    for peers, status in ((["nobody"], 404), ([peer, peer], 422), ([peer] * 5, 422)):
        owner.ask(call, body={"peers": peers}, expect=status)
    owner.ask(call, body={}, expect=400)
    chosen = owner.ask(call, body={"peers": [peer]})["homes"]
    listed = owner.ask("GET /circle")["homes"]
    expect("a home is listed", listed == chosen and [url_id(one["peerId"]) for one in listed] == [peer], listed)
    expect("no home is left", owner.ask(call, body={"peers": []})["homes"] == [])


def block(owner, bob):
    """A person who is blocked asks for nothing until the block is lifted."""
    blocked = "/circle/blocked/{person}"
    owner.ask("PUT " + blocked, bob, body={"reasons": {"insults": 9}}, expect=422)
    owner.ask("PUT " + blocked, bob, body={"reasons": ["insults"]}, expect=400)
    found = owner.ask("PUT " + blocked, bob, body={"reasons": {"insults": 4}})["blocked"]
    expect("a blocked person is listed", [(one["name"], one["reasons"]) for one in found] == [("Bob", {"insults": 4})], found)
    owner.ask("POST /circle/people/{person}/accept", bob, body={}, expect=403)
    expect("the block is lifted", owner.ask("DELETE " + blocked, bob)["blocked"] == [])
    owner.ask("DELETE " + blocked, {"person": "Carol"}, expect=404)


def trip(node, told, holds):
    """Waits until the stream is as `holds` says."""
    while True:
        for one in node.ask("GET /circle")["streams"]:
            if one["name"] == "Trip" and holds(one):
                return one
        told.next("changed")


def gather(owner, guest):
    """A group, from its first member to its end."""
    stream, thoughts = "/circle/streams/{stream}", "/circle/conversations/{conversation}/thoughts"
    place = {"stream": "Trip", "conversation": "Trip", "person": "Bob"}
    for wrong, status in (({}, 400), ({"name": "Trip", "posting": "all"}, 400), ({"name": ""}, 422)):
        owner.ask("POST /circle/streams", body=wrong, expect=status)
    made = owner.ask("POST /circle/streams", body={"name": "Trip", "blurb": "To the harbour"})
    expect("a stream is made", (made["own"], made["posting"], made["members"]) == (True, "members", []), made)
    told = [node.ask("GET /activity", stream=True) for node in (owner, guest)]
    for lines in told:
        lines.next("hello")
    owner.ask("PUT " + stream + "/members/{person}", place, body={})
    invited = trip(guest, told[1], lambda one: one["participation"] == "invited")
    expect("an invitation arrives", (invited["streamId"], invited["creator"], invited["own"])
           == (made["streamId"], "Ada", False), invited)
    guest.ask("POST " + thoughts, place, body={"text": "too early"}, expect=403)
    guest.ask("PUT " + stream + "/members/{person}", {**place, "person": "Ada"}, body={}, expect=403)
    owner.ask("POST " + stream + "/join", place, body={}, expect=403)
    guest.ask("POST " + stream + "/join", {"stream": "Nowhere"}, body={}, expect=404)
    expect("a stream is joined", guest.ask("POST " + stream + "/join", place, body={})["participation"] == "joined")
    joined = trip(owner, told[0], lambda one: [member["joined"] for member in one["members"]] == [True])
    expect("a member joins", joined["members"][0]["name"] == "Bob", joined)
    followers = [node.ask("POST /circle/conversations/{conversation}/follow", place, stream=True) for node in (owner, guest)]
    for follower in followers:
        follower.next("circle")
    for speaker, follower, name in ((guest, followers[0], "Bob"), (owner, followers[1], "Ada")):
        speaker.ask("POST " + thoughts, place, body={"text": "by boat"})
        while (thought := follower.next("thought"))["own"]:
            pass
        expect(f"the stream carries a thought of {name}", (thought["creator"], thought["conversationId"], thought["text"])
               == (name, made["streamId"], "by boat"), thought)
    found = guest.ask("GET " + thoughts, place)
    expect("the stream has both thoughts", len(found["thoughts"]) == 2 and found["stream"]["name"] == "Trip"
           and "person" not in found, found)
    for follower in followers:
        follower.close()
    expect("a stream is left", guest.ask("POST " + stream + "/leave", place, body={})["participation"] == "left")
    trip(owner, told[0], lambda one: one["members"] == [])
    for lines in told:
        lines.close()
    for node in (owner, guest):
        node.ask("DELETE " + stream, place)
    owner.ask("DELETE " + stream, place, expect=404)
    owner.ask("POST /circle/streams", body={"name": "News", "posting": "creator"})
    news = {"stream": "News", "person": "Bob"}
    members = [owner.ask(f"{method} {stream}/members/{{person}}", news, body=body)["members"]
               for method, body in (("PUT", {}), ("DELETE", None))]
    expect("a person is invited and removed", [len(one) for one in members] == [1, 0], members)
    owner.ask("DELETE " + stream, news)


def attach(owner, guest, follower):
    """An image of the largest size, from one person to the other."""
    thoughts, bob = "/circle/conversations/{conversation}/thoughts", {"conversation": "Bob"}
    content = bytes(range(256)) * 768
    form = {"mediaType": "image", "base64": base64.b64encode(content).decode(), "contentType": "image/png",
            "fileName": "holiday.png"}
    for wrong, status in (
        ({}, 400), ({**form, "mediaType": "file"}, 400), ({**form, "base64": "?"}, 400), ({**form, "base64": ""}, 400),
        ({**form, "text": "both"}, 400), ({"base64": form["base64"]}, 400), ({**form, "fileName": "../a.png"}, 400),
        ({**form, "base64": base64.b64encode(content + b"1").decode()}, 422),
    ):
        owner.ask("POST " + thoughts, bob, body=wrong, expect=status)
    sent = owner.ask("POST " + thoughts, bob, body=form)
    expect("a thought names its content", (sent["mediaType"], sent["byteCount"], sent["fileName"])
           == ("image", len(content), "holiday.png"), sent)
    while (step := follower.next("thought"))["thoughtId"] != sent["thoughtId"] or step["state"] != "delivered":
        pass
    place = {"conversation": "Ada", "thought": sent["thoughtId"]}
    found = guest.ask("GET " + thoughts + "/{thought}", place)
    expect("the content arrives", base64.b64decode(found["base64"]) == content and found["contentType"] == "image/png")
    guest.ask("GET " + thoughts + "/{thought}", {**place, "thought": "999999"}, expect=404)
    guest.ask("GET " + thoughts + "/{thought}", {**place, "thought": "0OIl"}, expect=404)


def store(owner, guest, place):
    told = owner.ask("GET /activity", stream=True)
    told.next("hello")
    owner.ask("PUT /networks/{network}/records", place, body={"key": "room/1", "text": "21.5", "lifeSeconds": 3600})
    operation = [told.next("dht"), told.next("dht")]
    expect("an operation is told when it begins and ends",
           [o["phase"] for o in operation] == ["begun", "ended"] and operation[1]["outcome"] == "stored", operation)
    told.close()
    found = guest.ask("POST /networks/{network}/records/get", place, body={"key": "room/1"})
    expect("a value is found", found["records"][0]["text"] == "21.5", found)
    owner.ask("PUT /networks/{network}/records", place, body={"key": "/wA=", "format": "base64", "base64": "AAH/"})
    own = owner.ask("GET /networks/{network}/records", place, {"whose": "own", "search": "room"})
    expect("own values are listed and searched", own["total"] == 1 and own["records"][0]["key"] == "room/1", own)
    by_hex = owner.ask("GET /networks/{network}/records", place, {"search": b"room".hex().upper()})
    expect("a key is found by its bytes, too", [one["key"] for one in by_hex["records"]] == ["room/1"], by_hex)
    writer = own["records"][0]["writerText"]
    by_writer = guest.ask("GET /networks/{network}/records", place, {"search": writer[:20].upper()})
    expect("what a writer wrote is found by its id, by key",
           [one["keyHex"] for one in by_writer["records"]] == [b"room/1".hex(), "ff00"], by_writer)
    none = guest.ask("GET /networks/{network}/records", place, {"whose": "own"})
    expect("who wrote nothing has nothing", none["total"] == 0 and none["records"] == [], none)
    held = guest.ask("GET /networks/{network}/records", place, {"limit": 1})
    expect("a page is a part of what is held", held["total"] == 2 and len(held["records"]) == 1, held)
    owner.ask("POST /networks/{network}/records/delete", place, body={"key": "room/1"})
    guest.ask("POST /networks/{network}/records/get", place, body={"key": "room/1", "cached": False}, expect=404)
    owner.ask("PUT /networks/{network}/records", place, body={"key": "k"}, expect=400)
    owner.ask("PUT /networks/{network}/records", place, body={"key": "", "text": "v"}, expect=400)
    owner.ask("GET /networks/{network}/records", place, {"whose": "mine"}, expect=400)
    events = guest.ask("POST /networks/{network}/subscriptions", place, body={"topic": "a/>"}, stream=True)
    events.next("subscribed")
    owner.ask("POST /networks/{network}/events", place, body={"topic": "a/b", "text": "x"})
    expect("an event comes", events.next("published")["text"] == "x")
    events.close()
    guest.ask("POST /networks/{network}/subscriptions", place, body={"topic": ""}, expect=400)
    owner.ask("GET /services")
    owner.ask("POST /call", body={"path": "nobody/there", "payload": {"a": [1, "b", None]}}, expect=503)
    owner.ask("POST /call", body={"path": "nobody"}, expect=400)
    table = owner.ask("GET /networks/{network}/table", place)
    expect("the table has the other member", [len(b["members"]) for b in table["buckets"]] == [1], table)
    owner.ask("GET /networks/{network}/discovered", place)


def codes(owner, place):
    text = owner.ask("GET /networks/{network}/connection-text", place)["text"]
    expect("a text is known for what it is", owner.ask("POST /inspect", body={"text": text})["kind"] == "peer")
    expect("what is nothing of ours is said to be", not owner.ask("POST /inspect", body={"text": "hello"})["valid"])
    code = owner.ask("POST /code", body={"text": text})
    size, scale, quiet = code["size"], 4, 4
    side = (size + 2 * quiet) * scale
    rows = ["0" * (size + 2 * quiet)] * quiet + ["0" * quiet + row + "0" * quiet for row in code["rows"]]
    rows += ["0" * (size + 2 * quiet)] * quiet
    grey = b"".join(bytes(0 if bit == "1" else 255 for bit in row for _ in range(scale)) * scale for row in rows)
    read = owner.ask("POST /read-code", query={"width": side, "height": side}, raw=grey)
    expect("what was written is read", read["texts"] == [text], read)
    owner.ask("POST /read-code", query={"width": side, "height": side}, raw=b"short", expect=422)
    owner.ask("POST /read-code", query={"width": 5}, raw=b"short", expect=400)
    owner.ask("POST /code", body={"text": "x" * 5000}, expect=422)


def keys(owner, guest):
    owner.ask("POST /recovery-phrase", body={"confirmation": "wrong"}, expect=403)
    words = owner.ask("POST /recovery-phrase", body={"confirmation": "show"})["words"]
    expect("the phrase has 24 words", len(words) == 24)
    owner.ask("POST /backup", body={"passphrase": "short", **SHOW}, expect=400)
    backup = base64.b64encode(owner.ask("POST /backup", body={"passphrase": "correct horse", **SHOW})).decode()
    shown = owner.ask("GET /keys/{key}/public", {"key": "root"})
    expect("a public key comes without the private one", shown["publicKey"] and not shown.get("privateKey"), shown)
    owner.ask("GET /keys/{key}/public", {"key": "other"}, expect=404)
    exported = owner.ask("POST /keys/export", body={"key": "root", "passphrase": "correct horse", **SHOW})
    owner.ask("POST /backup", body={"passphrase": "correct horse"}, expect=400)
    owner.ask("POST /keys/export", body={"key": "root", "passphrase": "correct horse", "confirmation": "sho"}, expect=403)
    owner.ask("POST /keys/export", body={"key": "other", "passphrase": "correct horse", **SHOW}, expect=404)
    guest.ask("POST /backup/restore", body={"file": backup, "passphrase": "wrong horse", **SHOW}, expect=403)
    guest.ask("POST /backup/restore", body={"file": "???", "passphrase": "wrong horse", **SHOW}, expect=400)
    restored = guest.ask("POST /backup/restore", body={"file": backup, "passphrase": "correct horse", **SHOW})
    expect("a backup brings the network along", (restored["networks"], restored["formerPeerId"]) == (1, owner.ask("GET /node")["peerId"]), restored)
    file = base64.b64encode(exported).decode()
    guest.ask("POST /keys/import", body={"key": "root", "file": file, "passphrase": "correct horse", **SHOW})
    guest.ask("POST /recovery-phrase/restore", body={"words": " ".join(words), **SHOW})
    guest.ask("POST /recovery-phrase/restore", body={"words": "abandon " * 24, **SHOW}, expect=422)
    expect("both have the same root key", owner.ask("GET /keys")["keys"][1:] == guest.ask("GET /keys")["keys"][1:])
    request = guest.ask("POST /device/request", body={})
    read = owner.ask("POST /inspect", body={"text": request["link"]})
    expect("both screens show the same code", read["code"] == request["code"], read)
    admin = {"request": request["link"], "admin": True}
    owner.ask("POST /device/add", body=admin, expect=400)
    expect("only a confirmed answer has keys", owner.ask("POST /device/add", body={**admin, **SHOW})["networks"][0]["isAdmin"])
    answer = owner.ask("POST /device/add", body={"request": request["link"], "label": "Phone", **SHOW})
    guest.ask("POST /device/setup", body={"text": answer["text"], **SHOW})
    secret = owner.ask("GET /keys")
    expect("no answer about keys has a private part", "private" not in json.dumps(secret).lower(), secret)


def end(owner, guest, place, peer):
    owner.ask("PATCH /networks/{network}", place, body={"name": "Other"})
    owner.ask("POST /peers/{peer}/connect", {"peer": peer}, body={"network": place["network"]})
    told = guest.ask("GET /activity", stream=True)
    told.next("hello")
    owner.ask("POST /peers/{peer}/disconnect", {"peer": peer}, body={})
    told.next("peerLeft")
    apart = owner.ask("GET /peers/{peer}", {"peer": peer})
    expect("a peer is disconnected by this device", apart["disconnected"]["byThisDevice"], apart)
    seen = guest.ask("GET /peers", query={"all": 1})["peers"]
    expect("the other device was told so", [p["disconnected"]["byThisDevice"] for p in seen] == [False], seen)
    told.close()
    text = guest.ask("GET /networks/{network}/connection-text", place)["text"]
    owner.ask("POST /connect", body={"text": text})
    owner.ask("POST /connect", body={"text": "garbage"}, expect=422)
    stranger = base64.b64encode(bytes(range(32))).decode()
    owner.ask("POST /networks/{network}/tokens", place, body={"peer": stranger, "lifeSeconds": 60}, expect=201)
    owner.ask("POST /networks/{network}/tokens", place, body={"peer": stranger, "lifeSeconds": 0}, expect=400)
    owner.ask("POST /networks/{network}/revocations", place, body={"peer": stranger}, expect=201)
    members = owner.ask("GET /networks/{network}", place)["members"]
    revoked = [m["peerId"] for m in members if m["isRevoked"]]
    expect("who was revoked is shown as that", revoked == [stranger], members)
    history = owner.ask("GET /doctor", query={"peer": peer})
    expect("the doctor knows the peer", history["peer"]["label"] == "Phone", history)
    lines = owner.ask("GET /logs", query={"level": "debug", "subsystem": "connections", "limit": 5})
    expect("the log is kept", 0 < len(lines["lines"]) <= 5 and lines["next"] > 0, lines)
    owner.ask("GET /logs", query={"level": "loud"}, expect=400)
    owner.ask("DELETE /networks/{network}", place)


def renew(guest):
    before = guest.ask("GET /node")["peerId"]
    guest.ask("POST /device/renew", body={}, expect=400)
    answer = guest.ask("POST /device/renew", body=SHOW)
    now = guest.ask("GET /node")["peerId"]
    expect("a node goes on with its new key", now == answer["peerId"] != before == answer["formerPeerId"], answer)
    expect("one-time keys end with the key", guest.ask("GET /one-time-keys")["relationships"] == [])


def come_back(owner):
    """Nothing is missed while a page is away, and a restart is noticed."""
    hello = owner.ask("GET /activity", stream=True)
    first = hello.next("hello")
    samples = [hello.next("sample"), hello.next("sample")]
    expect("samples are numbered", samples[0]["seq"] < samples[1]["seq"])
    hello.next("alive")
    hello.close()
    owner.ask("PUT /log-level", body={"level": "notice"})
    again = owner.ask("GET /activity", query={"boot": first["boot"], "since": first["seq"]}, stream=True)
    expect("nothing was missed", not again.next("hello")["missed"])
    # The other node connects with its new key meanwhile, which changes peers, keys and the circle.
    while "logLevel" not in again.next("changed")["what"]:
        pass
    expect("what happened meanwhile comes", True)
    again.close()
    past = owner.ask("GET /activity", query={"boot": first["boot"], "since": first["seq"], "follow": "false"}, stream=True)
    numbers = [line["seq"] for line in iter(past.next, None)]
    expect("what happened meanwhile comes alone, if only that is wanted",
           len(numbers) > 1 and numbers[1:] == sorted(set(numbers[1:])) and numbers[-1] == numbers[0], numbers)
    other = owner.ask("GET /activity", query={"boot": "another", "since": 5}, stream=True)
    expect("another boot is missed", other.next("hello")["missed"])
    other.close()


class Log:
    """Reads the log of a node all the time, for it does not keep much."""

    def __init__(self, node):
        self.node, self.next, self.lines, self.missed, self.done = node, 0, [], False, threading.Event()
        self.thread = threading.Thread(target=self.follow)
        self.thread.start()

    def follow(self):
        while not self.done.wait(0.05):
            self.read()

    def read(self):
        answer = self.node.get(f"{BASE}/logs?since={self.next}&limit=2000")
        self.missed = self.missed or answer["missed"]
        self.next = answer["next"]
        self.lines += [json.dumps(line, ensure_ascii=False) for line in answer["lines"]]

    def end(self):
        self.done.set()
        self.thread.join()
        self.read()
        expect("no line of the log was missed", not self.missed)
        return self.lines


def handle_secrets(words):
    owner, guest = Node(words[1], words[2]), Node(words[4], words[5])
    _, answer = owner.open("GET", "/openapi.json")
    owner.description = guest.description = Description(json.loads(answer.read()))
    secrets = {"token": [words[2], words[5]], "link": [], "session": [], "passphrase": [], "file": [], "phrase": []}
    logs = [Log(owner), Log(guest)]
    for node, link in [(owner, words[3]), (guest, words[6])]:
        secrets["link"].append(link.partition("#secret=")[2])
        node.ask("POST /session", body={"secret": secrets["link"][-1]})
        node.ask("POST /session", body={"secret": secrets["link"][-1]}, expect=401)
        secrets["session"].append(node.ask("POST /session/renew", body={})["token"])
    key = base64.b64encode(bytes.fromhex(words[7])).decode()
    secrets["key"] = [words[7], key, url_id(key)]
    invitation = invite(owner, guest)
    secrets["invitation"] = [invitation.rpartition("/")[2]]
    passphrases = secrets["passphrase"] = ["correct horse battery", "wrong horse battery", "wrong word"]
    owner.ask("POST /recovery-phrase", body={"confirmation": passphrases[2]}, expect=403)
    phrase = owner.ask("POST /recovery-phrase", body={"confirmation": "show"})["words"]
    # Any three words that follow each other.
    secrets["phrase"] = [" ".join(phrase[start:start + 3]) for start in range(len(phrase) - 2)]
    backup = base64.b64encode(owner.ask("POST /backup", body={"passphrase": passphrases[0], **SHOW})).decode()
    exported = base64.b64encode(owner.ask("POST /keys/export", body={"key": "root", "passphrase": passphrases[0], **SHOW})).decode()
    secrets["file"] = [backup, exported]
    guest.ask("POST /backup/restore", body={"file": backup, "passphrase": passphrases[1], **SHOW}, expect=403)
    guest.ask("POST /backup/restore", body={"file": backup, "passphrase": passphrases[0], **SHOW})
    guest.ask("POST /keys/import", body={"key": "root", "file": exported, "passphrase": passphrases[1], **SHOW}, expect=403)
    guest.ask("POST /keys/import", body={"key": "root", "file": exported, "passphrase": passphrases[0], **SHOW})
    guest.ask("POST /recovery-phrase/restore", body={"words": " ".join(phrase), **SHOW})
    guest.ask("POST /recovery-phrase/restore", body={"words": " ".join(reversed(phrase)), **SHOW}, expect=422)
    request = guest.ask("POST /device/request", body={})
    answer = owner.ask("POST /device/add", body={"request": request["link"], "label": "Phone", **SHOW})
    guest.ask("POST /device/setup", body={"text": answer["text"], **SHOW})
    print(json.dumps({"secrets": secrets, "lines": [line for log in logs for line in log.end()]}), flush=True)


def invite(owner, guest):
    """Makes the guest a member, and returns the link that did."""
    network = owner.ask("POST /networks", body={"name": "Home"}, expect=201)
    place = {"network": url_id(network["networkId"])}
    shown = owner.ask("POST /networks/{network}/invitations", place, body={}, stream=True)
    link = shown.next("invited")["link"]
    asked = guest.ask("POST /join/invitation", body={"text": link}, stream=True)
    request = shown.next("joinRequested")
    owner.ask("POST /joins/{number}", {"number": request["number"]}, body={"allowed": True})
    expect("the joiner is admitted", asked.next("done")["result"]["isMember"])
    return link


def main(words):
    if words[0] == "check":
        return print("")
    if words[0] == "secrets":
        return handle_secrets(words)
    owner, guest = Node(words[1], words[2]), Node(words[3], words[4])
    _, answer = owner.open("GET", "/openapi.json")
    description = Description(json.loads(answer.read()))
    owner.description = guest.description = description
    alone(owner)
    place = become_members(owner, guest)
    peer = url_id(guest.ask("GET /node")["peerId"])
    for step in [lambda: talk(owner, guest, place, peer), lambda: seal(owner, guest, peer), lambda: trust(owner, guest, place, peer),
                 lambda: store(owner, guest, place), lambda: codes(owner, place), lambda: come_back(owner), lambda: keys(owner, guest), lambda: end(owner, guest, place, peer)]:
        step()
    renew(guest)
    expect("a node is told to stop", owner.ask("POST /node/stop", body={})["stopped"])
    known = {f"{m.upper()} {path}" for path, methods in description.document["paths"].items() for m in methods}
    left = known - description.asked
    print(json.dumps({"asked": sorted(description.asked), "left": sorted(left)}), flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Exception:
        say("the program comes to its end", traceback.format_exc())
        raise
