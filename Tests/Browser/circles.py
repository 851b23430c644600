"""The circle: two people add each other, talk, compare their safety number, and one of them ends it."""

import re

import household
from joining import scan

WRITE = "Write a sealed message"
NUMBER = "document.querySelector('.safety-number').innerText.trim()"


def befriend(laptop, phone):
    """Makes trust between two people with the API: where that is not what is shown."""
    laptop.node.api("PUT", "/circle/profile", {"name": "Ada"})
    phone.node.api("PUT", "/circle/profile", {"name": "Bob", "blurb": "On the road"})
    laptop.node.api("POST", f"/peers/{household.part(phone.node.peer)}/circle", {})
    phone.node.api("POST", "/circle/people/Ada/accept", {})


def person_path(device):
    return f"/circle/{device.node.api('GET', '/circle')['people'][0]['personId']}"


def two_people(scene):
    """From the first profile to a conversation whose thoughts are seen, with a compared safety number."""
    laptop, phone = household.make(scene)
    for device, name in (laptop, "Ada"), (phone, "Bob"):
        device.go("/circle")
        device.page.see("Say who you are")
        device.page.click("button", "Save")
        device.page.see("Say your name.")
        device.page.fill("Your name", name)
        device.page.click("button", "Save")
        device.page.see("Your circle is empty")
    laptop.page.click("button", "Add a person")
    laptop.page.find("dialog")
    laptop.page.fill("Card of the other person", "runar://join/abc")
    laptop.page.click("button", "Add by this card")
    laptop.page.see("This is no card.")
    laptop.page.click("button", "Ask for trust")
    laptop.page.see("Asked.")
    phone.page.see("Ada asks for your trust")
    phone.keep("circle-request")
    phone.page.click("button", "Accept: Ada")
    for device, name in (laptop, "Bob"), (phone, "Ada"):
        device.page.see("Safety number not compared")
        device.page.click("link", re.compile(name))
        device.page.see(f"Say something to {name}.")
        device.page.see(re.compile("1,0[12][0-9] keys are left"))

    laptop.page.fill(WRITE, "The key lies under the mat")
    laptop.page.click("button", "Send")
    phone.page.see("The key lies under the mat")
    laptop.page.see("seen")
    phone.page.fill(WRITE, "I have it")
    phone.page.press("Enter")
    laptop.page.see("I have it")
    laptop.keep("circle-conversation")

    laptop.page.fill("Search this conversation", "UNDER", "searchbox")
    laptop.page.see("1 thought")
    laptop.page.see_no_more("I have it")
    laptop.page.fill("Search this conversation", "", "searchbox")
    laptop.page.see("I have it")

    for device in laptop, phone:
        device.page.click("button", "Compare the safety number")
    numbers = {device.page.js(NUMBER) for device in (laptop, phone)}
    assert len(numbers) == 1 and re.fullmatch(r"(\d{5}\s+){11}\d{5}", numbers.pop()), numbers
    for device in laptop, phone:
        device.page.click("button", "They are the same")
        device.page.see("Verified")


def away_and_revoked(scene):
    """A thought waits for a device that is away; revoked trust says what it means, and returns by asking again."""
    laptop, phone = household.make(scene)
    befriend(laptop, phone)
    laptop.go(person_path(laptop))
    laptop.page.see("Say something to Bob.")
    phone.node.stop()
    scene.expect_absence()
    laptop.page.see("Not connected")
    laptop.page.fill(WRITE, "For later")
    laptop.page.press("Enter")
    laptop.page.see("waiting for a device or keys")
    phone.node.start()
    household.connect(phone, laptop)
    laptop.page.see("delivered")
    thoughts = phone.node.api("GET", "/circle/people/Ada/thoughts")["thoughts"]
    assert [one["text"] for one in thoughts] == ["For later"], thoughts

    laptop.page.click("button", "Revoke trust")
    laptop.page.see("What was not opened yet can never be opened.")
    laptop.keep("circle-revoke")
    laptop.page.click("button", "Cancel")
    laptop.page.until(lambda: not laptop.page.has("dialog"), "the question stays")
    assert laptop.node.api("GET", "/circle")["people"][0]["trust"] == "trusted"
    laptop.page.click("button", "Revoke trust")
    laptop.page.find("dialog")
    laptop.page.js("document.querySelector('dialog button.danger').click(); 0")
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
    laptop, phone = scene.device("laptop"), scene.device("phone", camera=True)
    laptop.node.create(household.NETWORK)
    household.admit(laptop, phone, "phone")
    household.connect(phone, laptop)
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
