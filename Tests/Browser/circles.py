"""The circle: people add each other, talk alone and in groups, use several devices, and revoke or block."""

import re
import struct
import time
import zlib

import household
from eyes import look_at
from joining import scan
from node import part
from page import PATIENCE

WRITE = "Write a sealed message"
FIELD = ".composer input[type=file]"
NUMBER = "document.querySelector('.safety-number').innerText.trim()"
SEARCH = "Search this conversation"
GROUP = "Garden"
# The page has a button of the same name.
CONFIRM = "document.querySelector('dialog button.danger').click(); 0"


def friends(scene, **options):
    """Two people in a network who trust each other and have each other's keys; the options are those of
    `household.members`."""
    laptop, phone = household.furnish(scene, scene.stage.prepared("friends", make_friends), **options)
    household.connect(phone, laptop)
    return laptop, phone


def make_friends(stage, folder):
    """Makes the data directories of two people who trust each other: an exchange of keys takes seconds."""
    laptop, phone = nodes = household.make_homes(stage, folder, household.NETWORK, "phone", stage.guard)
    for node in nodes:
        node.start()
    household.connect_node(phone, laptop)
    befriend(laptop, phone)
    deadline = time.monotonic() + PATIENCE
    while not all(map(has_keys, nodes)):
        assert time.monotonic() < deadline, "no keys are exchanged"
        # There is no page that would report the end of the exchange.
        time.sleep(0.05)
    for node in nodes:
        node.stop()
        node.forget_places()
    return nodes


def has_keys(node):
    """Whether the only relationship of a node has keys for both directions."""
    return any(
        one["sendingKeys"] and one["receivingKeys"] for one in node.api("GET", "/one-time-keys")["relationships"]
    )


def befriend(laptop, phone):
    """Makes trust between the people of two nodes with the API: where that is not what is shown."""
    laptop.api("PUT", "/circle/profile", {"name": "Ada"})
    phone.api("PUT", "/circle/profile", {"name": "Bob", "blurb": "On the road"})
    laptop.api("POST", f"/peers/{part(phone.peer)}/circle", {})
    phone.api("POST", "/circle/people/Ada/accept", {})


def person_path(device):
    return f"/circle/{device.node.api('GET', '/circle')['people'][0]['personId']}"


def thoughts_path(device):
    """The path in the API of the conversation with the only person whom a device knows."""
    return f"/circle/conversations/{device.node.api('GET', '/circle')['people'][0]['personId']}/thoughts"


def make_group(laptop, phone, posting="members"):
    """Makes a group of two people with the API, and returns the path of its page."""
    group = laptop.node.api("POST", "/circle/streams", {"name": GROUP, "blurb": "Who waters it", "posting": posting})
    person = laptop.node.api("GET", "/circle")["people"][0]["personId"]
    laptop.node.api("PUT", f"/circle/streams/{group['streamId']}/members/{person}", {})
    laptop.page.until(lambda: group_of(phone), "the invitation does not arrive")
    phone.node.api("POST", f"/circle/streams/{group['streamId']}/join", {})
    laptop.page.until(lambda: group_of(laptop)["members"][0]["joined"], "the consent does not arrive")
    return f"/circle/{group['streamId']}"


def group_of(device):
    """The group on a device; nothing if it is not there."""
    return next((one for one in device.node.api("GET", "/circle")["streams"] if one["name"] == GROUP), None)


def two_people(scene):
    """From the first profile to a conversation whose thoughts are seen, with a compared safety number."""
    laptop, phone = household.make(scene)
    for device, name in (laptop, "Ada"), (phone, "Bob"):
        device.go("/circle")
        device.page.see("Say who you are")
        device.page.click("button", "Save")
        device.page.see("Type your name.")
        device.page.fill("Your name", name)
        device.page.click("button", "Save")
        device.page.see("Your circle is empty")
    laptop.page.click("button", "Add a person")
    laptop.page.find("dialog")
    laptop.page.fill("Card of the other person", "runar://join/abc")
    laptop.page.click("button", "Add by this card")
    laptop.page.see("This is not a card.")
    laptop.page.click("button", "Ask for trust")
    laptop.page.see("Request sent.")
    phone.page.see("Ada asks for your trust")
    phone.keep("circle-request")
    phone.page.click("button", "Accept: Ada")
    for device, name in (laptop, "Bob"), (phone, "Ada"):
        device.page.see("Safety number not compared")
        device.page.click("link", re.compile(name))
        device.page.see(f"What you write to {name} is sealed")
        device.page.see(re.compile("1,0[12][0-9] keys are left"))

    laptop.page.fill(WRITE, "The key lies under the mat")
    laptop.page.click("button", "Send")
    phone.page.see("The key lies under the mat")
    laptop.page.see("seen")
    phone.page.fill(WRITE, "I have it")
    phone.page.press("Enter")
    laptop.page.see("I have it")
    laptop.keep("circle-conversation")

    laptop.page.fill(SEARCH, "UNDER", "searchbox")
    laptop.page.see("1 message")
    laptop.page.see_no_more("I have it")
    laptop.page.fill(SEARCH, "", "searchbox")
    laptop.page.see("I have it")

    for device in laptop, phone:
        device.page.click("button", "Compare the safety number")
    numbers = {device.page.js(NUMBER) for device in (laptop, phone)}
    assert len(numbers) == 1 and re.fullmatch(r"(\d{5}\s+){11}\d{5}", numbers.pop()), numbers
    for device in laptop, phone:
        device.page.click("button", "They are the same")
        device.page.see("Verified")


def image_of(width, height):
    """A PNG of one colour."""

    def chunk(kind, content):
        checksum = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\x20\x80\xc0" * width) * height
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def attachments(scene):
    """An image is shown on both sides and saved; what no thought carries is refused, and SVG is never shown."""
    laptop, phone = friends(scene)
    for device in laptop, phone:
        device.go(person_path(device))
    image = image_of(240, 160)
    laptop.page.find("button", "Send an image, audio or video")
    laptop.page.attach(FIELD, laptop.file("holiday.png", image))
    for device in laptop, phone:
        device.page.find("image", "holiday.png")
        width = "document.querySelector('.attachment img').naturalWidth"
        device.page.until(lambda: device.page.js(width) == 240, "the image is not shown")
        device.keep(f"circle-image-{device.name}")
    phone.page.click("button", "Save: holiday.png")
    with open(phone.saved("holiday.png"), "rb") as file:
        assert file.read() == image

    laptop.page.attach(FIELD, laptop.file("notes.pdf", b"%PDF"))
    laptop.page.see("Only images, audio and video can be sent here.")
    laptop.page.attach(FIELD, laptop.file("large.png", bytes(192 * 1024 + 1)))
    laptop.page.see("at most 192 KiB can be sent here")
    drawing = {"mediaType": "image", "base64": "PHN2Zy8+", "contentType": "image/svg+xml", "fileName": "drawing.svg"}
    laptop.node.api("POST", thoughts_path(laptop), drawing)
    phone.page.find("button", "Save: drawing.svg")
    assert not phone.page.has("image", "drawing.svg")
    assert len(laptop.node.api("GET", thoughts_path(laptop))["thoughts"]) == 2


def away_and_revoked(scene):
    """A thought waits for a device that is away; revoked trust says what it means, and returns by asking again."""
    laptop, phone = friends(scene, phone={"has_page": False})
    laptop.go(person_path(laptop))
    laptop.page.see("What you write to Bob is sealed")
    phone.node.stop()
    scene.expect_absence()
    laptop.page.see("Not connected")
    laptop.page.fill(WRITE, "For later")
    laptop.page.press("Enter")
    laptop.page.see("waiting for a device or keys")
    phone.node.start()
    household.connect(phone, laptop)
    laptop.page.see("delivered")
    thoughts = phone.node.api("GET", thoughts_path(phone))["thoughts"]
    assert [one["text"] for one in thoughts] == ["For later"], thoughts

    laptop.page.click("button", "Revoke trust")
    laptop.page.see("Messages that were not opened yet can never be opened.")
    laptop.keep("circle-revoke")
    laptop.page.click("button", "Cancel")
    laptop.page.until(lambda: not laptop.page.has("dialog"), "the question stays")
    assert laptop.node.api("GET", "/circle")["people"][0]["trust"] == "trusted"
    laptop.page.click("button", "Revoke trust")
    laptop.page.find("dialog")
    laptop.page.js(CONFIRM)
    laptop.page.see("You revoked the trust in this person.")
    laptop.page.see("For later")
    assert not laptop.page.has("textbox", WRITE)
    assert laptop.node.api("GET", "/one-time-keys")["relationships"] == []
    laptop.page.click("button", "Ask again")
    laptop.page.find("textbox", WRITE)
    laptop.page.fill(WRITE, "Again")
    laptop.page.press("Enter")
    laptop.page.see(re.compile("delivered|seen"))


def cards(scene):
    """A card that a camera reads adds a person whom this device never met by name."""
    laptop, phone = household.make(scene, phone={"camera": True})
    for device, name in (laptop, "Ada"), (phone, "Bob"):
        device.node.api("PUT", "/circle/profile", {"name": name})
        device.go("/circle")
    laptop.page.click("button", "Show my card")
    laptop.page.find("image", "QR code of your card")
    phone.page.click("button", "Add a person")
    scan(phone, laptop)
    laptop.page.press("Escape")
    laptop.page.see("Bob asks for your trust")
    laptop.page.click("button", "Accept: Bob")
    phone.page.see("Safety number not compared")


def group(scene):
    """A group of two people is made, joined, written in by both, left and deleted."""
    laptop, phone = friends(scene)
    for device in laptop, phone:
        device.go("/circle")
    laptop.page.click("button", "Create a group")
    laptop.page.click("button", "Create the group")
    laptop.page.see("Give the group a name.")
    laptop.page.fill("Name of the group", GROUP)
    laptop.page.click("checkbox", "Bob")
    laptop.page.click("button", "Create the group")
    laptop.page.see("No messages yet.")
    laptop.page.find("button", "Remove: Bob")
    phone.page.see(f"Ada invites you to {GROUP}")
    phone.page.see("If you join, you also agree to trust its members.")
    look_at(phone, "circle-invitation")
    phone.page.click("button", f"Join: {GROUP}")
    phone.page.click("link", re.compile(GROUP))
    laptop.page.see("Joined")

    laptop.page.fill(WRITE, "The beans are up")
    laptop.page.press("Enter")
    phone.page.see("The beans are up")
    phone.page.fill(WRITE, "I water them")
    phone.page.press("Enter")
    laptop.page.see("I water them")
    assert laptop.page.js("document.querySelector('.entry.in .log-note').innerText") == "Bob"
    for device in laptop, phone:
        look_at(device, f"circle-group-{device.name}")

    phone.page.click("button", "Leave the group")
    phone.page.see("You return only if you are invited again.")
    look_at(phone, "dialog-leave-group")
    phone.page.js(CONFIRM)
    phone.page.see("You are not a member, so you cannot write here.")
    phone.page.see("The beans are up")
    assert not phone.page.has("textbox", WRITE)
    laptop.page.until(lambda: not laptop.page.has("button", "Remove: Bob"), "the member stays")
    for device, action in (laptop, "Delete the group"), (phone, "Delete from this device"):
        device.page.click("button", action)
        device.page.find("dialog")
        device.page.js(CONFIRM)
        device.page.find("button", "Create a group")
        assert group_of(device) is None


def one_writer(scene):
    """Where only the creator writes, a member reads and does not see who else is in the group."""
    laptop, phone = friends(scene)
    path = make_group(laptop, phone, posting="creator")
    for device in laptop, phone:
        device.go(path)
    laptop.page.fill(WRITE, "Rain tomorrow")
    laptop.page.press("Enter")
    phone.page.see("Rain tomorrow")
    phone.page.see("Only Ada writes here")
    phone.page.see("Only the person who created the group sees all members.")
    assert not phone.page.has("textbox", WRITE)
    look_at(phone, "circle-one-writer")
    laptop.page.click("button", "Remove: Bob")
    laptop.page.find("dialog")
    laptop.page.js(CONFIRM)
    phone.page.see("You are not a member, so you cannot write here.")


def long_search(scene):
    """A search that ended early continues by itself, shows what it has found, and can be stopped."""
    laptop, _ = friends(scene, phone={"has_page": False})
    for number in range(3):
        laptop.node.api("POST", thoughts_path(laptop), {"text": f"Tide {number}"})
    laptop.go(person_path(laptop))
    laptop.page.see("Tide 2")
    steps, endless = [], [False]

    def end_early(answer, url):
        steps.append(url)
        if endless[0]:
            return answer | {"thoughts": [], "searchedTo": 10**9}
        newest = answer["thoughts"][:1]
        return answer | {"thoughts": newest} | ({"searchedTo": newest[0]["number"]} if newest else {})

    laptop.page.rewrite("/thoughts[?].*search=", end_early)
    laptop.page.fill(SEARCH, "TIDE", "searchbox")
    laptop.page.see("3 messages")
    laptop.page.see_no_more("back to")
    assert len(steps) == 3 and "before=" in steps[1], steps
    laptop.page.see("Tide 0")

    endless[0] = True
    laptop.page.fill(SEARCH, "ebb", "searchbox")
    laptop.page.see("Searching…")
    laptop.page.see(re.compile("0 messages, back to .*20"))
    laptop.page.click("button", "Stop the search")
    laptop.page.see_no_more("Searching…")
    assert not laptop.page.has("button", "Stop the search")
    look_at(laptop, "circle-search-stopped")
    laptop.page.fill(SEARCH, "", "searchbox")
    laptop.page.see("Tide 1")


def own_devices(scene):
    """One device of a person sets up another one; what is written on either appears on both, as does a chosen home."""
    laptop, phone = household.make(scene)
    laptop.node.api("PUT", "/circle/profile", {"name": "Ada"})
    phone.go("/circle")
    phone.page.see("Is your circle on another device?")
    phone.page.click("button", "Set up this device from another one")
    phone.page.find("dialog")
    phone.page.find("combobox", "Device")
    look_at(phone, "dialog-expect-device")
    phone.page.click("button", "Wait for this device")
    phone.page.see("within ten minutes")
    laptop.go("/circle")
    laptop.page.click("button", "Add a device")
    laptop.page.see("Earlier messages stay here.")
    laptop.page.find("combobox", "Device")
    look_at(laptop, "dialog-add-device")
    laptop.page.click("button", "Add")
    laptop.page.see("phone is a device of yours now")
    phone.page.see("This device has your circle now.")
    laptop.page.find("button", "Remove: phone")
    laptop.page.see("You chose none")
    laptop.page.click("button", "Choose a home")
    laptop.page.choose("Device", "phone")
    look_at(laptop, "dialog-choose-home")
    laptop.page.click("button", "Choose")
    laptop.page.see("phone holds messages for you from now on")
    laptop.page.find("button", "Remove home: phone")
    phone.page.find("button", "Remove home: This device")
    look_at(laptop, "circle-devices")

    friend = scene.device("friend", has_page=False)
    household.admit(laptop, friend, "friend")
    household.connect(friend, laptop)
    befriend(laptop.node, friend.node)
    phone.page.find("link", re.compile("Bob"))
    for device in laptop, phone:
        device.go(person_path(device))
    laptop.page.fill(WRITE, "From the laptop")
    laptop.page.press("Enter")
    phone.page.see("From the laptop")
    phone.page.fill(WRITE, "From the phone")
    phone.page.press("Enter")
    laptop.page.see("From the phone")

    laptop.go("/circle")
    laptop.page.click("button", "Remove: phone")
    laptop.page.see("It keeps your key, and what it has.")
    look_at(laptop, "dialog-remove-device")
    laptop.page.js(CONFIRM)
    laptop.page.see("Removed phone from your devices")
    circle = laptop.node.api("GET", "/circle")
    assert (len(circle["devices"]), circle["homes"]) == (1, []), circle


def blocking(scene):
    """A person is blocked with a reason, listed as blocked, and can be asked again once the block is lifted."""
    laptop, phone = friends(scene, phone={"has_page": False})
    laptop.go(person_path(laptop))
    laptop.page.click("button", "Block")
    laptop.page.choose("Spam", "3 of 5")
    look_at(laptop, "dialog-block")
    laptop.page.js(CONFIRM)
    laptop.page.see("You blocked this person.")
    assert not laptop.page.has("textbox", WRITE)
    (blocked,) = laptop.node.api("GET", "/circle")["blocked"]
    assert (blocked["name"], blocked["reasons"]) == ("Bob", {"spam": 3}), blocked
    laptop.go("/circle")
    laptop.page.see("Spam: 3 of 5")
    look_at(laptop, "circle-blocked")
    laptop.page.click("button", "Unblock: Bob")
    laptop.page.see_no_more("Spam: 3 of 5")
    assert laptop.node.api("GET", "/circle")["blocked"] == []
    laptop.page.see("Either of you can ask for trust again.")
    # Bob's device may ask by itself before that.
    household.connect(laptop, phone)
    laptop.node.api("POST", f"/peers/{part(phone.node.peer)}/circle", {})

    def trusted():
        return [one["trust"] for one in laptop.node.api("GET", "/circle")["people"]] == ["trusted"]

    laptop.page.until(trusted, "trust does not return")
    laptop.page.find("link", re.compile("Bob"))
