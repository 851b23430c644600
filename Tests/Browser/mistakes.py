"""Codes in the wrong place, damaged, of strangers or too old: what is read where a device is connected or admitted."""

import base64
import json
import time

import household
from codes import copied, paste
from devices import DAMAGED, flipped, request
from eyes import look_at
from screens import path_part

SECRET = "Stop: these look like the words of a recovery phrase."
PHRASE = "abandon " * 23 + "art"
# As people write it down.
NUMBERED = "\n".join(f"{number}. {word}" for number, word in enumerate(PHRASE.split(), 1))


def connecting(scene):
    """Under Connect everything but the code of a member that can be reached is called what it is."""
    laptop, phone, tablet = company(scene, "Office")
    network = laptop.node.network()["text"]
    token = household.issue(laptop, tablet.node.peer)
    tablet.node.api("POST", "/join", {"text": f"{network}\n{token}\n"})
    hour_ago = ("--expires-at", str(int(time.time()) - 3600))
    over = laptop.node.answer("network", "issue", tablet.node.peer, *hour_ago)["text"]
    ended, foreign = with_token(connection_text(tablet, household.NETWORK), over), connection_text(tablet, "Office")
    right = connection_text(phone, household.NETWORK)
    page = laptop.page
    laptop.go("/connect")
    for wrong, words in (
        ("hello", "This is not a connection code."),
        (right[: len(right) // 2], DAMAGED),
        (forged(right), "This code is not signed by the network"),
        (network, "This is a network code, not a connection code."),
        (token, "This is a token."),
        (invitation(tablet), "This is an invitation to a network."),
        (phone.node.peer, "This is only an id, which does not say where the device is."),
        (copied(request(phone)), "This is the code of a new device that wants to be set up."),
        (PHRASE, SECRET),
        (foreign, "This code belongs to a network that this device is not a member of."),
        (ended, "with the membership of the other device"),
    ):
        connect(page, wrong)
        page.see(words)
    look_at(laptop, "connect-ended-code")
    scene.expect_absence()
    scene.expect_refusal(503, "/connect")
    phone.node.stop()
    connect(page, right)
    page.see("The device cannot be reached.")
    page.until(lambda: not page.has("dialog"), "it is still being reached")


def admitting(scene):
    """Where a device is admitted everything but its code is called what it is, and so is one that was removed."""
    laptop, phone, tablet = company(scene, "Office")
    network = laptop.node.network()
    page = laptop.page
    laptop.go(f"/networks/{path_part(network['networkId'])}/admit")
    needed = "Scan the code that the new device shows."
    asked = copied(request(phone))
    for wrong, words in (
        ("hello", "This is not a device code."),
        (flipped(asked), DAMAGED),
        (network["text"], f"This is a network code. {needed}"),
        (household.issue(laptop, phone.node.peer), f"This is a token. {needed}"),
        (connection_text(phone, household.NETWORK), f"This is a connection code. {needed}"),
        (invitation(tablet), f"This is an invitation. {needed}"),
        (NUMBERED, SECRET),
        (network["networkId"], f"This is the id of a network. {needed}"),
        (PHRASE, SECRET),
    ):
        paste(page, wrong, "Or paste its device id")
        page.see(words)
    look_at(laptop, "admit-wrong-code")
    assert not page.has("button", "Create its token")
    # The way here from Join, which does not tell ids from each other.
    page.open("about:blank")
    laptop.go(f"/networks/{path_part(network['networkId'])}/admit?peer={network['networkIdText']}")
    page.see("This is the id of a network.")
    laptop.go(f"/networks/{path_part(network['networkId'])}/admit")
    laptop.node.answer("network", "revoke", "phone", "--yes")
    scene.expect_refusal(422, "/networks/[^/]+/tokens")
    paste(page, asked, "Or paste its device id")
    page.click("button", "Create its token")
    page.see("The device was removed from this network before, which is final. It needs a new key to be invited.")


def company(scene, foreign):
    """The owner of a network, a member of it, and somebody else who owns a foreign one."""
    laptop, phone = household.members(scene)
    tablet = scene.device("tablet")
    tablet.node.create(foreign)
    return laptop, phone, tablet


def connection_text(device, network):
    return device.node.answer("network", "address", network)["text"]


def with_token(text, token):
    """A connection text with another token of the same device, in the binary layout of the specification."""
    connection, token = json.loads(text), json.loads(token)
    ids = base64.b64decode(connection["token"])[:65]
    binary = ids + token["expiration"].to_bytes(8, "big") + base64.b64decode(token["signature"])
    connection["token"] = base64.b64encode(binary).decode()
    return json.dumps(connection, separators=(",", ":"))


def forged(text):
    """A connection text with one character of its token's signature changed."""
    at = text.rindex('"') - 20
    return text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]


def invitation(device):
    """An invitation to the only network of the device's person, as they copy it."""
    networks = device.node.networks()
    network = next(one["networkId"] for one in networks if one["role"] == "owner")
    device.go(f"/networks/{path_part(network)}/share")
    device.page.click("button", "Show the invitation")
    return copied(device.page)


def connect(page, text):
    page.fill("Or paste the text", text)
    page.click("button", "Connect")
