"""What cannot be taken back asks first and says what is lost; whoever says no has lost nothing."""

import os
import re

import household
from screens import path_part
from using import open_peer


def walk(scene):
    """Every such thing is begun and left again, once by its button and once by Escape."""
    laptop, phone = household.make(scene)
    laptop.node.put("home/door", "open")
    for device in (laptop, phone):
        device.page.prefer(reduced_motion="reduce")
    open_peer(laptop, "phone")
    laptop.page.attach(".composer input[type=file]", laptop.file("plan.txt", b"a plan"))
    phone.page.click("button", "Accept")
    laptop.page.see("6 bytes, delivered")
    network = f"/networks/{path_part(laptop.node.network()['networkId'])}"
    ask(laptop, network, ["Leave"], "Without this device no members can be invited, renewed or removed")
    ask(laptop, network, [re.compile("^phone"), "Remove"], "This cannot be undone: the device can come back only")
    ask(laptop, "/data/records", [re.compile("home/door"), "Delete mine"], "It disappears for every member.")
    ask(laptop, "/settings/device", ["Sign out everywhere"], "This browser, too. Open the console again with")
    ask(laptop, "/settings/device", ["Stop the node"], "All connections end, and other devices")
    ask(phone, network, ["Leave"], "This device forgets the network and its values.")
    ask(phone, "/data/messages", ["Delete plan.txt"], "The file is deleted from this device.")
    # Nothing has happened.
    assert laptop.node.command("get", "home/door") == "open"
    for device in (laptop, phone):
        assert [one["name"] for one in device.node.networks()] == ["Home"]
        assert device.node.process.process.poll() is None
        device.go("/networks")
        device.page.see("Home")
    laptop.page.see("1 device connected")
    kept = [folder for folder, _, names in os.walk(phone.node.home) if "plan.txt" in names]
    assert kept, "the file is gone"


def ask(device, place, buttons, lost):
    """Presses the buttons, reads what is lost, and goes back both ways."""
    page = device.page
    for back in ("Cancel", "Escape"):
        device.go(place)
        for button in buttons:
            page.click("button", button)
        page.see(lost)
        page.find("button", "Cancel")
        # Enter on its own, pressed in haste, must not be what loses it.
        held = page.js("document.activeElement.textContent")
        assert held == "Cancel" or page.js("document.activeElement.tagName === 'INPUT'"), f"{buttons}: {held}"
        device.keep(f"ask-{buttons[-1].lower().replace(' ', '-')}-{device.name}")
        if back == "Cancel":
            page.click("button", "Cancel")
        else:
            page.press("Escape")
        page.see_no_more(lost)
        page.until(
            lambda: page.js("document.activeElement !== document.body"), f"after {buttons} the focus is nowhere"
        )
        # What was open when the question came is open again.
        if page.has("dialog"):
            page.press("Escape")
        page.until(lambda: not page.has("dialog"), f"{back} leaves {buttons} open")


def failing(scene):
    """What was agreed to and did not happen is told, and not shown as done."""
    laptop, _ = household.make(scene, phone={"has_page": False})
    page = laptop.page
    page.click("link", re.compile("Home"))
    page.click("button", re.compile("phone"))
    page.click("button", "Remove")
    page.see("This cannot be undone")
    scene.expect_absence()
    laptop.node.stop()
    page.click("button", "Remove")
    page.see("The node does not answer. It may be stopped or restarting.")
    members = "document.querySelector('.view').innerText"
    page.until(lambda: "Removed" not in page.js(members), "the phone is shown as removed")


def leaving(scene):
    """An owner types the name before the network is forgotten; a member is asked once."""
    laptop, phone = household.make(scene)
    phone.page.click("link", re.compile("Home"))
    phone.page.click("button", "Leave")
    phone.page.find("dialog")
    phone.page.click("button", "Leave")
    phone.page.see("You left “Home”")
    phone.page.see("No network yet")
    assert phone.node.networks() == []
    page = laptop.page
    page.click("link", re.compile("Home"))
    page.click("button", "Leave")
    page.find("dialog")
    # Going back closes the question with its page, and is no answer.
    page.js("history.back()")
    page.until(lambda: not page.has("dialog"), "the question stays")
    assert len(laptop.node.networks()) == 1
    page.click("link", re.compile("Home"))
    page.click("button", "Leave")
    page.see("With the recovery phrase of your master key you can become its owner again.")
    page.fill("Type “Home” to confirm", "home")
    assert page.js("document.querySelector('dialog .danger').disabled"), "another name is good enough"
    page.press("Enter")
    assert page.has("dialog")
    page.fill("Type “Home” to confirm", "Home")
    page.press("Enter")
    page.see("You left “Home”")
    assert laptop.node.networks() == []
