"""The other ways a code comes in, and what a person reads when it is not the right one."""

import re
import time

import household
from eyes import look_at
from joining import CAMERA, create, let_in, open_joining, scan, show

PASTE = "Or paste the text or link"


def paste(page, text, label=PASTE):
    page.fill(label, text)
    page.click("button", "Continue")


def copied(page):
    """Presses the button below a code and returns what is in the clipboard then."""
    page.js("window.clipboardText = null; navigator.clipboard.writeText = async text => { window.clipboardText = text }")
    page.click("button", "Copy text")
    return page.until(lambda: page.js("window.clipboardText"), "nothing was copied")


def damaged(text):
    """The text with one character of its signature changed, which nobody sees."""
    at = text.rindex('"signature"') + 20
    return text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]


def picture_and_paste(scene):
    """A screenshot of the code in a file, and the link in a message, are as good as the camera."""
    laptop, phone, tablet = scene.device("laptop"), scene.device("phone"), scene.device("tablet")
    create(laptop)
    show(laptop.page, "QR code of the invitation")
    photograph = phone.folder + "/photograph.jpg"
    with open(photograph, "wb") as file:
        file.write(scene.photograph(laptop.page.picture()))
    open_joining(phone)
    phone.page.attach("input[type=file]", photograph)
    phone.page.see("You are invited")
    phone.page.click("button", "Join")
    let_in(laptop, phone)

    laptop.page.click("button", "Invite another")
    link = copied(laptop.page)
    assert link.startswith("runar://join/"), link
    open_joining(tablet)
    # As it comes out of a mail program.
    paste(tablet.page, f"  {link[:60]}\n{link[60:]}\n")
    tablet.page.see("You are invited")
    tablet.page.click("button", "Join")
    let_in(laptop, tablet)


def no_camera(scene):
    """Whoever has no camera, or does not give it, is told what else there is."""
    open_joining(denied := scene.visit("denied", "new", camera="denied"))
    denied.page.click("button", CAMERA)
    denied.page.see("The browser blocks the camera for this page.")
    denied.page.see("choose an image, or paste the text")
    denied.keep("camera-denied")
    open_joining(without := scene.visit("without", "new"))
    without.page.click("button", CAMERA)
    without.page.see("This device has no camera. Choose an image of the code, or paste its text.")
    # What is no picture, and a picture without a code.
    note = without.folder + "/note.txt"
    with open(note, "w", encoding="utf-8") as file:
        file.write("no picture")
    without.page.attach("input[type=file]", note)
    without.page.see("The browser cannot read this file as an image")
    blank = without.folder + "/blank.png"
    with open(blank, "wb") as file:
        file.write(denied.page.picture())
    without.page.attach("input[type=file]", blank)
    without.page.see("No code was found in this image")


def wrong_codes(scene):
    """Every code that is none for joining is called by its name, and the way goes on from there."""
    laptop, phone = scene.device("laptop"), scene.device("phone", camera=True)
    laptop.node.create("Home")
    text = laptop.node.network()["text"]
    yesterday = str(int(time.time()) - 86_400)
    ended = laptop.node.answer("network", "issue", phone.node.peer, "--expires-at", yesterday)["text"]
    foreign, token = (household.issue(laptop, device.node.peer) for device in (laptop, phone))
    open_joining(phone)
    page = phone.page
    read = [
        ("hello", "This is not a Runar code."),
        ("runar://join/ABCDEF", "This Runar code is damaged or incomplete."),
        (damaged(text), "This network code is not signed by the owner"),
        (damaged(token), "This token is not signed by the network"),
        ("abandon " * 23 + "art", "Stop: these look like the words of a recovery phrase."),
        (foreign, "This token was created for another device."),
    ]
    for wrong, words in read:
        paste(page, wrong)
        page.see(words)
    paste(page, ended)
    page.see("This token expired on")
    phone.keep("token-ended")

    # The camera says the same, and goes on looking.
    phone.camera.look_at_nothing()
    page.click("button", CAMERA)
    page.see("Hold the code in front of the camera")
    page.click("button", "Stop the camera")
    page.until(lambda: page.has("button", CAMERA), "the camera runs on")
    assert phone.node.networks() == []

    # While the page waits for the token of one network, that of another is refused.
    paste(page, text)
    page.see("“Home” is known to this device now")
    laptop.node.create("Cabin")
    other = laptop.node.answer("network", "issue", phone.node.peer, "--network", "Cabin")["text"]
    scene.expect_refusal(422, "/join")
    paste(page, other, "Or paste the token")
    page.see("This token is for another network")
    paste(page, f"{text}\n{token}", "Or paste the token")
    page.see("Welcome to")
    assert [one["name"] for one in phone.node.networks()] == ["Home"]


def ended_invitations(scene):
    """An invitation that was taken back, refused or used: both sides read what became of it."""
    laptop, phone, tablet = scene.device("laptop"), scene.device("phone", camera=True), scene.device("tablet")
    create(laptop)
    withdrawn = copied(laptop.page)
    laptop.page.click("button", "Withdraw the invitation")
    open_joining(tablet)
    paste(tablet.page, withdrawn)
    tablet.page.click("button", "Join")
    tablet.page.see("This invitation was withdrawn.")
    look_at(tablet, "join-failed")
    laptop.page.click("button", "Show the invitation")
    show(laptop.page, "QR code of the invitation")
    link = copied(laptop.page)
    open_joining(phone)
    scan(phone, laptop)
    phone.page.click("button", "Join")
    laptop.page.see("Are these the same six digits?")
    laptop.page.click("button", "No, refuse")
    phone.page.see("The other device refused.")
    phone.keep("refused")
    assert phone.node.networks() == []
    tablet.page.click("button", "Scan something else")
    paste(tablet.page, link)
    tablet.page.click("button", "Join")
    tablet.page.see(re.compile("used|refused|ended"))


def revoked(scene):
    """A member that is removed reads so at once, and its old token opens nothing any more."""
    laptop, phone = household.make(scene)
    token = household.issue(laptop, phone.node.peer, "phone")
    phone.page.click("link", re.compile("Home"))
    phone.page.see("Connected")
    laptop.page.click("link", re.compile("Home"))
    laptop.page.click("button", re.compile("phone"))
    laptop.page.click("button", "Remove")
    laptop.page.see("This cannot be undone")
    laptop.keep("remove")
    laptop.page.click("button", "Remove")
    laptop.page.see("phone was removed")
    phone.page.see("The owner has removed this device from the network, which is final.")
    phone.page.see("No longer a member")
    look_at(phone, "revoked")
    scene.expect_refusal(422, "/join")
    open_joining(phone)
    paste(phone.page, token)
    phone.page.see(re.compile("revoked|removed"))
