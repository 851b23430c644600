"""Two devices that are in a network together, made with the API: where joining is not what is shown."""

import urllib.parse

NETWORK = "Home"
# As long as a token that `runar network issue` makes.
TOKEN_SECONDS = 30 * 86_400


def make(scene, network=NETWORK, label="phone", **options):
    """The owner of a network and a member of it, connected, each with its console open."""
    laptop = scene.device("laptop", **options)
    phone = scene.device("phone", **options)
    laptop.node.create(network)
    admit(laptop, phone, label)
    connect(phone, laptop, network)
    return laptop, phone


def admit(owner, joiner, label):
    """Makes a member of the owner's only network."""
    network = owner.node.network()
    token = issue(owner, joiner.node.peer, label)
    joiner.node.api("POST", "/join", {"text": f"{network['text']}\n{token}\n"})


def issue(owner, peer, label=None):
    """Returns the text of a token for a peer in the owner's only network."""
    path = f"/networks/{part(owner.node.network()['networkId'])}/tokens"
    terms = {"peer": peer, "lifeSeconds": TOKEN_SECONDS} | ({"label": label} if label else {})
    return owner.node.api("POST", path, terms)["text"]


def connect(device, other, network=NETWORK, address=0):
    identifier = next(one["networkId"] for one in device.node.networks() if one["name"] == network)
    place = {"network": identifier, "address": other.node.ready["addresses"][address]}
    device.node.api("POST", f"/peers/{part(other.node.peer)}/connect", place)


def part(identifier):
    """An identifier as a part of a path."""
    return urllib.parse.quote(identifier, safe="")
