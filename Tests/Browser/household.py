"""Two devices that are in a network together, made without the console: where joining is not what is shown."""

from node import Node, part

NETWORK = "Home"
# As long as a token that `runar network issue` makes.
TOKEN_SECONDS = 30 * 86_400


def make(scene, network=NETWORK, label="phone", **options):
    """The owner of a network and a member of it, connected, each with its console open; the options are those of
    `members`."""
    laptop, phone = members(scene, network, label, **options)
    connect(phone, laptop, network)
    return laptop, phone


def members(scene, network=NETWORK, label="phone", phone=None, **options):
    """The owner of a network and a member of it, not connected; `phone` has options of the member's device alone."""
    homes = scene.stage.prepared(
        f"household {network} {label}", lambda stage, folder: make_homes(stage, folder, network, label)
    )
    return furnish(scene, homes, phone, **options)


def furnish(scene, homes, phone=None, **options):
    """Two devices with copies of the data directories of two nodes."""
    laptop = scene.device("laptop", home=homes[0], **options)
    return laptop, scene.device("phone", home=homes[1], **options | (phone or {}))


def make_homes(stage, folder, network, label, guard=None):
    """Makes the data directories of an owner and a member by commands, which need no running node."""
    owner, member = nodes = [Node(folder, name, guard=guard) for name in ("owner", "member")]
    for place, node in enumerate(nodes):
        node.copy(stage.template(place))
    made = owner.answer("network", "create", network)
    token = owner.answer("network", "issue", member.peer, "--label", label)["text"]
    member.answer("join", text=f"{made['text']}\n{token}\n")
    return nodes


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
    connect_node(device.node, other.node, network, address)


def connect_node(node, other, network=NETWORK, address=0):
    identifier = next(one["networkId"] for one in node.networks() if one["name"] == network)
    place = {"network": identifier, "address": other.ready["addresses"][address]}
    node.api("POST", f"/peers/{part(other.peer)}/connect", place)
