"""The whole way of somebody who never used a terminal: what is read on each screen leads to the next."""

import re

from joining import create, keep_recovery_phrase, let_in, scan, show
from using import open_peer


def first_hour(scene):
    """From an empty console to two devices that know, tell and keep things."""
    laptop = scene.device("laptop", moves=True)
    phone = scene.device("phone", camera=True, size=(390, 844), moves=True)
    # A network, and the words that bring it back.
    create(laptop)
    assert len(keep_recovery_phrase(laptop)) == 24
    # The second machine says itself how to come in.
    phone.page.see("join one that another device has already created")
    phone.page.click("link", "Join a network")
    phone.page.see("The owner opens the network in Runar and chooses “Invite a device”")
    # The reminder of the recovery phrase stands below the code, so the page was scrolled.
    show(laptop.page, "QR code of the invitation")
    scan(phone, laptop)
    phone.page.see("You are invited")
    phone.page.click("button", "Join")
    let_in(laptop, phone)
    phone.keep("newcomer-joined")
    # Who is there?
    phone.page.click("link", "Peers")
    phone.page.see("Direct")
    open_peer(laptop, "Home")
    laptop.page.see("Connected directly")
    # Say something.
    laptop.page.fill("Write a message", "Hello, phone")
    laptop.page.click("button", "Send")
    phone.page.see("Hello, phone")
    # Keep something for the other.
    laptop.page.click("link", "Data")
    laptop.page.click("button", "Store a value")
    laptop.page.fill("Key", "wifi")
    laptop.page.fill("Value", "correct horse battery staple")
    laptop.page.click("button", "Store")
    laptop.page.see("Stored with 1 other member")
    phone.page.click("link", "Data")
    phone.page.fill("Key", "wifi", role="searchbox")
    phone.page.click("button", "Look up")
    phone.page.see("correct horse battery staple")
    phone.page.press("Escape")
    # Hear what happens.
    phone.page.click("link", "Topics")
    phone.page.fill("Topic", "home/door")
    phone.page.click("button", "Listen")
    phone.page.see("Live")
    # In the console of one device stands what is typed in a terminal, on another or on the same.
    for device, words in ((laptop, "open"), (phone, "shut again")):
        assert device.node.command("publish", "home/door", words) == "published\n"
        phone.page.see(re.compile(rf"home/door\s+\d+:\d+:\d+ [AP]M\s+{words}"))
    phone.page.see("2 events")
    # Understand what is wrong when something is.
    phone.node.stop()
    scene.expect_absence()
    phone.page.see("The node on this device does not answer")
    laptop.page.click("link", "Peers")
    laptop.page.see("Not connected")
    laptop.page.click("link", re.compile("Not connected"))
    laptop.page.click("button", "Check the connection")
    laptop.page.see("What to do:")
    assert "`" not in laptop.page.text(), laptop.page.text()
    laptop.keep("newcomer-trouble")
