"""A node in Python that other programs tell what to do, with the words of Tests/Helpers/CProbe/peer.c."""

import os
import sys
import threading

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "Bindings", "python"))
sys.dont_write_bytecode = True
import runar  # noqa: E402

output = threading.Lock()


def say(*words):
    with output:
        print(*words, flush=True)


service = runar.Service("Echo", "echo", "1.0.0", "Says it again")


@service.action("back")
def back(payload, request):
    return payload


@service.action("fail")
def fail(payload, request):
    raise runar.Error(10042, "it cannot be", request.path)


def subscribe(node, topic, **options):
    node.subscribe(topic, lambda event: say("event", event.topic, event.data.decode()), **options)


def follow(event):
    if event.kind == "trust_changed":
        say("trust", event.person_id, event.change)
    if event.kind == "thought_received":
        say("thought", event.person_id, event.thought["thoughtId"])


def obey(node, words):
    match words:
        case ["join", token]:
            say("joined", node.join_network(token))
        case ["connect", peer, network, address]:
            node.connect(peer, network, address)
            say("connected", peer)
        case ["ask", path, *payload]:
            say("answer", node.request_soon(path, " ".join(payload).encode()).result().decode())
        case ["publish", topic, *data]:
            node.publish_raw(topic, " ".join(data).encode())
            say("published")
        case ["exchange", peer]:
            say("exchanged", *node.exchange_keys(peer)["safetyNumber"].split())
        case ["verify", peer, *groups]:
            node.verify_keys(peer, " ".join(groups))
            say("verified", *(one["verified"] for one in node.key_relationships()))
        case ["seal", peer, text]:
            say("sealed", node.seal(text.encode(), peer).hex())
        case ["open", peer, message]:
            say("opened", node.open(bytes.fromhex(message), peer).decode())
        case ["forget", peer]:
            node.remove_keys(peer)
            say("forgotten")
        case ["profile", name]:
            circle = node.open_circle()
            circle.subscribe(follow)
            say("profile", circle.set_profile(name))
        case ["invite", peer_or_card]:
            node.open_circle().invite(peer_or_card)
            say("invited")
        case ["accept", person]:
            node.open_circle().accept(person)
            say("accepted")
        case ["tell", person, *text]:
            say("told", node.open_circle().say(" ".join(text), person))
        case ["read", thought]:
            say("read", node.open_circle().content(thought).decode())
        case ["opened", thought]:
            node.open_circle().note_opened([thought])
            say("noted")
        case ["revoke", person]:
            node.open_circle().revoke_trust(person)
            say("revoked")
        case ["hear", topic]:
            subscribe(node, topic, includes_past=True)


with runar.Node(in_memory=True, listen="127.0.0.1:0", discovery=False, log_level=5) as node:
    peer = node.start()
    node.add_service(service)
    subscribe(node, "news/>")
    say("ready", peer, node.port)
    for line in sys.stdin:
        words = line.split()
        if words == ["quit"]:
            break
        try:
            obey(node, words)
        except runar.Error as error:
            say("failed", error.code)
