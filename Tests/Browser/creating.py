"""New networks: the master key that they come from, their settings, and wrong ones, each told at its field."""

import re

from hearing import value
from eyes import look_at

NAME = ("textbox", "Name of the network")
NUMBER = ("spinbutton", "Key number")
NUMBERS = "The key number is a whole number from 0 to 1023."


def settings(scene):
    """What cannot be a name or a number is said beside it; networks of one key are numbered, and it is made once."""
    laptop = scene.device("laptop")
    page = laptop.page
    laptop.go("/networks/new")
    page.find("radio", re.compile("^Create a new master key"))
    scene.expect_refusal(422, "/networks")
    for name, words in (
        ("", "Give the network a name."),
        ("é" * 64, "longer than 64 bytes"),
        ("Ho\u202eme", "turns text around"),
    ):
        submit(page, name)
        hear(page, NAME, words)
        assert not wrong(page, NUMBER)
    page.click("DisclosureTriangle", "More settings")
    for number in ("-1", "1.5", "1024", "99999999999", "-"):
        submit(page, "Home", number)
        hear(page, NUMBER, NUMBERS)
        assert not wrong(page, NAME)
    look_at(laptop, "create-wrong")
    assert laptop.node.networks() == []
    submit(page, "Home", "7")
    page.see("“Home” is ready")
    page.see("Your master key was created on this device.")
    assert key_number(laptop, "Home") == 7
    key = laptop.node.answer("keys", "export", "root")["publicKey"]

    laptop.go("/networks/new")
    page.see(re.compile(rf"Use the master key of this device\s+It begins with {key[:16]}"))
    page.click("DisclosureTriangle", "More settings")
    scene.expect_refusal(400, "/networks")
    submit(page, "Office", "7")
    hear(page, NUMBER, "A new network cannot have the index 7: 8 is the lowest that is free")
    submit(page, "Office", "")
    page.see("“Office” is ready")
    assert "master key was created" not in page.text()
    assert key_number(laptop, "Office") == 8
    laptop.go("/settings/keys")
    page.see("From your master key, number 8")
    assert laptop.node.answer("keys", "export", "root")["publicKey"] == key


def brought_key(scene):
    """A key that was made elsewhere is brought first, and of its networks the person says which number is free."""
    laptop, tablet = scene.device("laptop", has_page=False), scene.device("tablet")
    laptop.node.create("Home")
    key = laptop.node.answer("keys", "export", "root", "--reveal")["privateKey"]
    page = tablet.page
    tablet.go("/networks/new")
    page.click("radio", re.compile("^I have one already"))
    page.see("First bring your master key to this device.")
    assert not page.has("button", "Create the network")
    tablet.keep("create-restore")
    page.click("link", "Go to the keys")
    page.find("button", "Import a master key…")
    tablet.node.answer("keys", "import", "root", "-", text=key)
    tablet.go("/networks/new")
    scene.expect_refusal(400, "/networks")
    submit(page, "Office")
    hear(page, NUMBER, "the networks that it created elsewhere are not known here")
    look_at(tablet, "create-number-needed")
    submit(page, "Office", "1")
    page.see("“Office” is ready")
    assert key_number(tablet, "Office") == 1


def submit(page, name, number=None):
    page.fill(NAME[1], name)
    if number is not None:
        page.fill(NUMBER[1], number, role=NUMBER[0])
    page.click("button", "Create the network")


def wrong(page, field):
    """What is said with a field to whoever hears that it is wrong; nothing if it is not."""
    for node in page.call("Accessibility.getFullAXTree")["nodes"]:
        if (node.get("role", {}).get("value"), node.get("name", {}).get("value")) == field:
            return value(node, "invalid") == "true" and node["description"]["value"]
    return None


def hear(page, field, words):
    page.until(lambda: words in (wrong(page, field) or ""), lambda: f"{field[1]}: {wrong(page, field)}, not {words}")


def key_number(device, name):
    """The number that the page of a network shows."""
    device.go("/networks")
    device.page.click("link", re.compile(f"^{name}"))
    return int(device.page.see(re.compile(r"Key number\s+(\d+)"))[1])
