"""The screens of a device that has nothing yet: each says what to do next, and the way there is on it."""

import eyes

BEGIN = ["Create a network", "Join a network"]
INVITE = "Open a network and invite a device, or scan a code that another member shows you."
WRITE = "Choose a device to write to it, or to send it a file."
SERVICE = "When a program on a connected device offers a service with Runar, it appears here automatically."
MAP = "As soon as another device joins one of your networks, it appears here."

# The place, what is read there, and the ways on.
LESSONS = [
    ("/networks", "Start one here, or join one that another device has already created.", BEGIN),
    ("/networks/new", "Afterwards you can write down 24 words that bring it back.", ["Create the network"]),
    ("/join", "The owner opens the network in Runar and chooses “Invite a device”.", ["Continue"]),
    ("/peers", INVITE, ["Invite a device", "Connect"]),
    ("/connect", "Two devices can only connect when both are members of one network.", BEGIN),
    ("/doctor", "Runar checks this device and its connections, and says what to do.", ["Check again"]),
    ("/data/records", "Create or join a network first.", BEGIN),
    ("/data/topics", "Create or join a network first.", BEGIN),
    ("/data/messages", WRITE, ["Choose a device"]),
    ("/data/services", "Create or join a network first.", BEGIN),
    ("/data/map", MAP, ["Go to your networks"]),
    ("/settings/device", "Give it to the owner of a network who wants to admit this device.", ["Stop the node"]),
    ("/settings/devices", "Another device of yours has your master key. Show it a code", ["Show the code"]),
    ("/settings/keys", "It is created with your first network", ["Create a master key", "Restore from 24 words…"]),
    ("/settings/storage", "You own no network here, so there is nothing to back up.", ["Restore a backup…"]),
    ("/settings/logs", "To log more, choose “Info” below.", ["Save as a file"]),
    ("/settings/metrics", "What this node has counted since it was started.", []),
    ("/nowhere", "There is nothing at this address.", ["Go to your networks"]),
]

# With a network that has no other members.
ALONE = [
    ("/networks", "No other device connected", ["New network"]),
    ("/peers", INVITE, ["Invite a device"]),
    ("/data/records", "Store a value under a key that you choose, such as the Wi-Fi code", ["Store a value"]),
    ("/data/topics", "Choose a topic above, for example “home/door”", ["Listen", "Publish"]),
    ("/data/messages", WRITE, ["Choose a device"]),
    ("/data/services", SERVICE, []),
    ("/data/map", MAP, ["Go to your networks"]),
]


def first_screens(scene):
    laptop = scene.device("laptop")
    learn(laptop, LESSONS)
    laptop.node.create("Home")
    learn(laptop, ALONE)


def learn(device, lessons):
    page = device.page
    for place, words, ways in lessons:
        device.go(place)
        eyes.settle(page)
        page.see(words)
        lacking = [way for way in ways if not page.has("link", way) and not page.has("button", way)]
        assert not lacking, f"{place} has no {lacking}"
