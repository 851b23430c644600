"""Workflows three and four of the mobile specification, and what members do with each other then."""

import json
import os
import re

import household
from joining import scan, show


def peer_connection(scene):
    """One shows its code, the other scans it, and both read that they are connected."""
    laptop, phone = household.members(scene, phone={"camera": True})
    for device in (laptop, phone):
        device.page.click("link", "Peers")
        device.page.click("link", "Connect")
    show(laptop.page, "QR code for connecting to this device")
    laptop.keep("connection-code")
    scan(phone, laptop)
    phone.page.see("Connected directly")
    phone.page.see(re.compile(r"Found\s+by its address"))
    assert phone.page.has("textbox", "Write a message")
    laptop.go("/peers")
    laptop.page.click("link", re.compile("phone"))
    laptop.page.see("Connected directly")
    laptop.page.see(re.compile(r"Answers in [\d.]+ ms"))
    # How it came about, in plain words.
    laptop.page.see("Connection attempts")
    assert laptop.page.js("document.querySelectorAll('.attempts li li').length") > 0
    laptop.page.click("button", "Check the connection")
    laptop.page.see("The node listens on 127.0.0.1")
    # The label of a device begins a sentence as it was given.
    said = laptop.page.js("document.body.textContent")
    assert "phone is connected" in said and "Phone is connected" not in said
    laptop.keep("peer")
    # Nothing ends without a question.
    laptop.page.click("button", "Disconnect")
    laptop.page.see("the two devices do not connect automatically")
    laptop.page.click("button", "Cancel")
    laptop.page.until(lambda: not laptop.page.has("dialog"), "the question stays")
    laptop.page.see("Connected directly")
    look_at_history(laptop)
    look_at_sentences(phone, laptop)


def look_at_history(laptop):
    """While a device is connected, addresses of it that do not answer afterwards are no outcome."""
    laptop.page.rewrite(r"/peers/[\w-]{43}$", lambda peer, _: {**peer, "history": peer["history"] + late_failures(peer)})
    place = laptop.page.js("location.href")
    laptop.page.open("about:blank")
    laptop.page.open(place)
    shown = "[...document.querySelectorAll('.attempts > li')].map(li => [li.querySelector('.badge').innerText, li.firstChild.open])"
    laptop.page.until(lambda: len(laptop.page.js(shown)) >= 2, lambda: f"no later attempt: {laptop.page.js(shown)}")
    first, *others = laptop.page.js(shown)
    assert first[0] in ("Connected", "Answered") and first[1], first
    assert others[0] == ["No answer", False], others


def late_failures(peer):
    """Dials of old addresses: five seconds after the last step, and long afterwards."""
    last = peer["history"][-1]["time"]
    step = {"event": "notReached", "address": "192.0.2.1:4242", "reason": "timed out"}
    return [{**step, "time": last + later, "text": "no answer at 192.0.2.1:4242: timed out"} for later in (5, 300)]


def look_at_sentences(phone, laptop):
    """The id at the beginning of a sentence is that of a device; any other word there begins with a capital."""
    short = laptop.node.answer("status")["peerIdText"][:8]
    said = """import("/views/peers-doctor.js").then(view =>
        [view.plainWords(%s)].flat(9).map(one => one.textContent ?? one).join(""))"""
    for text, wanted in (
        (f"{short} could not: busy", f"Device {short} could not: busy"),
        ("answered at 192.0.2.1:4242", "Answered at 192.0.2.1:4242"),
        ("eth0 is up", "eth0 is up"),
    ):
        found = phone.page.js(said % json.dumps(text))
        assert found == wanted, found


def over_another(scene):
    """Two devices with no way between them reach each other over a third one, and the page says so."""
    laptop = scene.device("laptop")
    phone = scene.device("phone", listen="[::1]:0")
    tablet = scene.device("tablet", listen="127.0.0.1:0,[::1]:0", has_page=False)
    laptop.node.create(household.NETWORK)
    household.admit(laptop, tablet, "tablet")
    household.admit(laptop, phone, "phone")
    household.connect(laptop, tablet, address=0)
    household.connect(phone, tablet, address=1)
    laptop.node.answer("connect", phone.node.peer, household.NETWORK)
    page = laptop.page
    laptop.go("/peers")
    page.see("Via tablet")
    page.click("link", re.compile("phone"))
    page.see("Connected via tablet")
    page.fill("Write a message", "No way but this")
    page.click("button", "Send")
    laptop.keep("relayed")
    phone.go("/data/messages")
    phone.page.see("No way but this")
    laptop.go("/data/map")
    page.see("1 direct connection, 1 via another device")
    page.find("link", re.compile("^phone, via tablet"))
    laptop.keep("relayed-map")


def hash_table(scene):
    """Values are stored on one device, found on another, changed, deleted, and seen on their way."""
    laptop, phone = household.make(scene)
    laptop.page.click("link", "Data")
    laptop.page.see("No values yet")
    laptop.page.click("button", "Store a value")
    laptop.page.fill("Key", "home/door/code")
    laptop.page.fill("Value", "4711")
    laptop.page.click("button", "Store")
    laptop.page.see("Stored with 1 other member")
    laptop.page.see(re.compile("1 value\\b"))
    # What is there already is not lost by a key that was chosen twice.
    scene.expect_refusal(409, "/networks/[^/]+/records")
    laptop.page.click("button", "Store a value")
    laptop.page.fill("Key", "home/door/code")
    laptop.page.fill("Value", "1234")
    laptop.page.click("button", "Store")
    laptop.page.see("This key has a value already.")
    laptop.page.click("button", "Cancel")
    # It is seen on its way, and so is who keeps it.
    laptop.go("/data/map")
    laptop.page.see("Store home/door/code")
    laptop.page.see("stored with 1 device")
    laptop.page.see("1 device known, 1 connected · 1 value stored here, 1 of this device")
    for picture, mark in (".strip", "circle"), (".buckets", ".is-connected"):
        drawn = f"document.querySelectorAll('{picture} {mark}').length"
        laptop.page.until(lambda drawn=drawn: laptop.page.js(drawn) >= 1, f"{picture} shows no {mark}")
    laptop.go("/data/records")
    phone.go("/data/records")
    # It arrived at the phone, which keeps it for the laptop.
    phone.page.see("home/door/code")
    phone.page.fill("Key", "home/door/code", role="searchbox")
    phone.page.click("button", "Look up")
    phone.page.see("4711")
    phone.keep("value")
    phone.page.press("Escape")
    laptop.page.click("button", re.compile("home/door/code"))
    laptop.page.see("4711")
    laptop.page.click("button", "Change")
    laptop.page.fill("Value", "0815")
    laptop.page.click("button", "Store")
    phone.page.click("button", "Look up")
    ask_again_for(phone.page, "0815")
    phone.page.press("Escape")
    laptop.page.click("button", re.compile("home/door/code"))
    laptop.page.click("button", "Delete mine")
    laptop.page.see("It disappears for every member")
    laptop.page.click("button", "Delete mine")
    laptop.page.see("Deleted here and by 1 other member")
    scene.expect_refusal(404, "/networks/[^/]+/records/get")
    phone.page.click("button", "Look up")
    phone.page.see("No member has stored a value under this key")


def two_writers(scene):
    """Each member has a value of its own under a key: whose is whose, which is newer, and what changed meanwhile."""
    laptop, phone = household.make(scene, phone={"has_page": False})
    page = laptop.page
    laptop.node.put("menu", "soup")
    laptop.node.put("light", "on")
    phone.node.put("menu", "bread")
    laptop.go("/data/records")
    page.see("3 values")
    page.click("radio", "Mine")
    page.see("2 values")
    page.click("radio", "Stored here")
    page.fill("Key", "menu", role="searchbox")
    page.click("button", "Look up")
    page.see(re.compile(r"phone · newest\s+bread(.|\n)*This device\s+soup"))
    page.see(re.compile(r"\d+ bytes · written .* · expires in \d+ days"))
    laptop.keep("two-writers")
    page.click("button", "Change")
    laptop.node.put("menu", "stew")
    page.fill("Value", "salad")
    scene.expect_refusal(409, "/networks/[^/]+/records")
    page.click("button", "Store")
    page.see("A newer value was stored under this key meanwhile.")
    assert laptop.node.answer("get", "menu", "--writer", laptop.node.peer)["records"][0]["text"] == "stew"


def ask_again_for(page, value):
    """Asks until the value is there: what was just stored may still be on its way."""

    def is_there():
        if value in page.text():
            return True
        page.click("button", "Look up again")
        return False

    page.until(is_there, f"“{value}” is not found")


def messages_and_files(scene):
    """What one says stands on the other's screen, and a file comes only after a yes."""
    laptop, phone = household.make(scene)
    open_peer(laptop, "phone")
    # The phone shows another page of the console and is notified nevertheless.
    phone.page.keep_notices()
    laptop.page.fill("Write a message", "Is the door shut?")
    laptop.page.click("button", "Send")
    phone.page.see("Is the door shut?")
    phone.page.click("button", "Open")
    phone.page.fill("Write a message", "Yes.")
    phone.page.press("Enter")
    laptop.page.see("Yes.")
    laptop.keep("conversation")

    photograph = os.path.join(laptop.folder, "holiday.jpg")
    with open(photograph, "wb") as file:
        file.write(os.urandom(3_000_000))
    laptop.page.attach(".composer input[type=file]", photograph)
    phone.page.see("wants to send you a file")
    phone.page.see("holiday.jpg")
    phone.page.click("button", "Accept")
    laptop.page.see("3.0 MB, delivered")
    phone.page.find("button", "Save a copy")
    folders = [folder for folder, _, names in os.walk(phone.node.home) if "holiday.jpg" in names]
    received = [os.path.join(folder, "holiday.jpg") for folder in folders]
    assert [os.path.getsize(path) for path in received] == [3_000_000], received

    laptop.page.attach(".composer input[type=file]", photograph)
    phone.page.click("button", "Refuse")
    laptop.page.see("The other device declined")

    # One says something to all at once.
    laptop.go("/data/messages")
    laptop.page.fill("Message to all devices in Home", "Dinner!")
    laptop.page.click("button", "Send to all")
    laptop.page.see("Delivered to 1 device")
    phone.go("/data/messages")
    phone.page.see("Dinner!")
    # The conversations are those of all networks: the choice of one stands below them, with the message to all.
    laptop.node.create("Work")
    below = "document.querySelector('ul.rows').compareDocumentPosition(at) === Node.DOCUMENT_POSITION_FOLLOWING"
    choice = f"(at => Boolean(at && {below}))(document.querySelector('#data-network'))"
    laptop.page.until(lambda: laptop.page.js(choice), "the choice of a network is not below the conversations")
    open_peer(laptop, "phone")

    phone.node.stop()
    laptop.page.see("Not connected")
    scene.expect_refusal(503, "/peers/[^/]+/messages")
    laptop.page.fill("Write a message", "Still there?")
    laptop.page.click("button", "Send")
    laptop.page.see("not delivered")
    scene.expect_absence()


def open_peer(device, name):
    device.page.click("link", "Peers")
    device.page.find("heading", "Peers")
    device.page.click("link", re.compile(name))
    device.page.find("textbox", "Write a message")


def topics(scene):
    """What is published on one device stands in the feed of the other."""
    laptop, phone = household.make(scene)
    phone.go("/data/topics")
    phone.page.fill("Topic", "home/>")
    phone.page.click("button", "Listen")
    phone.page.see("Live")
    laptop.go("/data/topics")
    laptop.page.find("form", "Publish")
    fill_first_field(laptop.page, "Publish", "home/door")
    laptop.page.fill("Text", "open")
    laptop.page.click("button", "Publish")
    phone.page.see(re.compile("home/door(.|\n)*open"))
    phone.keep("topic")


def fill_first_field(page, form, text):
    """Fills the first field of a form that has a name: another form on the page has a field called the same."""
    page.js(f"document.querySelector('form[aria-label={form}] input').select()")
    page.call("Input.insertText", text=text)


def services(scene):
    """A service of the other device answers a question that a form asks."""
    laptop, phone = household.make(scene, phone={"has_page": False})
    with phone.node.running("serve", "printer", "print=cat", "--about", "Prints what it gets"):
        laptop.go("/data/services")
        laptop.page.see("Prints what it gets")
        laptop.page.see("phone")
        laptop.page.click("DisclosureTriangle", re.compile("print"))
        laptop.page.fill(re.compile("^Input"), "two pages")
        laptop.page.click("button", re.compile("^(Ask|Run)$"))
        laptop.page.see(re.compile(r"Answered after \d+ ms"))
        laptop.page.see("two pages")
        laptop.keep("service")
    laptop.page.see_no_more("Prints what it gets")
