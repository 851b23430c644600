"""Two devices that are in a network together, made with the command: where joining is not what is shown."""

NETWORK = "Home"


def make(scene, network=NETWORK, label="phone", **options):
    """The owner of a network and a member of it, connected, each with its console open."""
    laptop = scene.device("laptop", **options)
    phone = scene.device("phone", **options)
    laptop.node.answer("network", "create", network)
    admit(laptop, phone, label)
    connect(phone, laptop, network)
    return laptop, phone


def admit(owner, joiner, label):
    """Makes a member of the owner's only network."""
    token = owner.node.answer("network", "issue", joiner.node.peer, "--label", label)["text"]
    text = owner.node.answer("network", "show")["text"]
    joiner.node.answer("join", text=f"{text}\n{token}\n")


def connect(device, other, network=NETWORK, address=0):
    device.node.answer("connect", other.node.peer, network, other.node.ready["addresses"][address])
