"""A person's other devices: one with the master key sets up a new one by two codes, with no connection between them."""

import re

from codes import copied, paste
from eyes import look_at
from joining import scan, show

SCAN = "Scan the new device"
DAMAGED = "This Runar code is damaged or incomplete."
CODE = re.compile(r"must show this code, too:\s+(\S.*\S)")


def by_camera(scene):
    """From screen to screen with the camera: the new device is a member, and no more than that."""
    laptop, phone = scene.device("laptop", camera=True), scene.device("phone", camera=True)
    laptop.node.create("Home")
    phone.go("/settings/devices")
    phone.page.see("This device has no master key. Do this on the device that created your networks.")
    request(phone)
    show(phone.page, "QR code of this device’s request")
    phone.keep("device-request")
    laptop.go("/settings/devices")
    laptop.page.click("button", SCAN)
    scan(laptop, phone)
    agree(laptop, shown_code(phone))
    laptop.page.see("It gets the keys of your networks. This cannot be undone.")
    laptop.page.fill("Name of the device", "phone")
    laptop.page.click("button", "Create the answer")
    show(laptop.page, "QR code of the answer")
    laptop.keep("device-answer-camera")
    scan(phone, laptop)
    agree(phone, shown_code(laptop))
    phone.page.see("This device is set up")
    phone.page.see("Home")
    phone.keep("device-ready")
    phone.page.click("link", "Go to your networks")
    phone.page.find("link", re.compile("Home.*Member"))
    assert [one["role"] for one in phone.node.networks()] == ["member"]
    phone.go("/settings/keys")
    phone.page.see("No master key on this device")
    phone.page.see("Valid: it belongs to one of your master keys")
    laptop.go("/networks")
    laptop.page.click("link", re.compile("Home"))
    laptop.page.find("button", re.compile("^phone"))


def by_text_with_keys(scene):
    """Without a camera, by pasting, and with the right to admit others: the new device invites a third one."""
    laptop, phone = scene.device("laptop"), scene.device("phone")
    laptop.node.create("Home")
    asked = copied(request(phone))
    laptop.go("/settings/devices")
    laptop.page.click("button", SCAN)
    paste(laptop.page, asked, "Or paste its link")
    agree(laptop, shown_code(phone))
    laptop.page.find("checkbox", re.compile("^It may admit and remove devices, too"))
    look_at(laptop, "device-terms")
    laptop.page.click("checkbox", re.compile("^It may admit and remove devices, too"))
    laptop.page.click("button", "Create the answer")
    laptop.page.find("image", "QR code of the answer")
    laptop.page.see("Home until")
    laptop.page.see("with its key")
    look_at(laptop, "device-answer")
    paste(phone.page, copied(laptop.page), "Or paste the answer")
    agree(phone, shown_code(laptop))
    phone.page.see("with its key")
    look_at(phone, "device-set-up")
    phone.page.click("link", "Go to your networks")
    phone.page.click("link", re.compile("Home.*You manage it"))
    phone.page.click("link", "Invite a device")
    phone.page.click("button", "Show the invitation")
    phone.page.find("image", "QR code of the invitation")


def wrong_codes(scene):
    """What is no code for this, was changed on the way, or is for another device is called what it is."""
    laptop, phone, tablet = (scene.device(name) for name in ("laptop", "phone", "tablet"))
    laptop.node.create("Home")
    network = laptop.node.network()["text"]
    asked, other = copied(request(phone)), copied(request(tablet))
    answer = laptop.node.answer("device", "add", "--yes", text=other)["text"]
    needed = "This is not the code of a new device. The new device shows it under Settings, Your devices."
    page = laptop.page
    laptop.go("/settings/devices")
    page.click("button", SCAN)
    secret = "Stop: these look like the words of a recovery phrase."
    for wrong, text in (
        ("hello", needed),
        (network, needed),
        (answer, needed),
        (flipped(asked), DAMAGED),
        ("abandon " * 23 + "art", secret),
    ):
        paste(page, wrong, "Or paste its link")
        page.see(text)
        page.fill("Or paste its link", "")
        page.click("button", "Continue")
        page.see("Paste a text first.")
    look_at(laptop, "device-wrong-code")
    # A mail program has broken it into lines. A user who sees two different codes on the screens cancels.
    paste(page, f"{asked[:70]}\n  {asked[70:]}", "Or paste its link")
    page.see(re.compile(f"Does the other screen show {re.escape(shown_code(phone))}, too"))
    page.click("button", "Cancel")
    page.see("The two screens must show the same code.")

    needed = "This is not the answer of your other device."
    page = phone.page
    for wrong, text in (("hello", needed), (network, needed), (asked, needed), (answer[:200], DAMAGED)):
        paste(page, wrong, "Or paste the answer")
        page.see(text)
        page.fill("Or paste the answer", "")
        page.click("button", "Continue")
        page.see("Paste a text first.")
    # The answer to the tablet, and a changed one to this phone: the two codes differ, and a yes is refused.
    right = laptop.node.answer("device", "add", "--yes", text=asked)
    scene.expect_refusal(422, "/device/setup")
    for wrong in (answer, flipped(right["text"])):
        paste(page, wrong, "Or paste the answer")
        question = page.see(re.compile(r"Does the other screen show (.+), too\?"))
        assert question[1] != right["code"], question
        page.click("button", "Yes, the same")
        page.see("This answer is for another device or an earlier code, or it was changed.")
        page.fill("Or paste the answer", "")
        page.click("button", "Continue")
        page.see("Paste a text first.")
    look_at(phone, "device-wrong-answer")
    assert phone.node.networks() == []


def request(device):
    """The new device asks to be set up; returns its page, which shows the code."""
    device.go("/settings/devices")
    device.page.click("button", "Show the code")
    device.page.find("image", "QR code of this device’s request")
    return device.page


def shown_code(device):
    return device.page.see(CODE)[1].strip()


def agree(device, code):
    """Says that the code in the question is the one on the other screen, when it is."""
    asked = device.page.see(re.compile(r"Does the other screen show (.+), too\?"))[1]
    assert asked == code, (asked, code)
    device.page.click("button", "Yes, the same")


def flipped(text):
    """A link with one character changed."""
    at = len(text) // 2
    return text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]
