"""Workflows one and two of the mobile specification: a network is made on one screen and joined from another."""

import re

from eyes import look_at

CAMERA = re.compile("Use the camera")


# Where an element is, and how far the page was scrolled.
PLACE = "element => ({ ...element.getBoundingClientRect().toJSON(), scrolled: scrollY })"


def create(laptop, name="Home"):
    """From the first screen to a network; the page then shows an invitation."""
    page = laptop.page
    page.see("No network yet")
    page.click("link", "Create a network")
    page.fill("Name of the network", name)
    page.click("button", "Create the network")
    page.see(f"“{name}” is ready")


def keep_recovery_phrase(laptop):
    """Shows the words of the new master key, writes them down and proves it; returns them."""
    page = laptop.page
    page.click("button", "Show the recovery phrase")
    page.fill("Type the word “show”", "no")
    page.click("button", "Continue")
    # With the dot it is the answer, and not the name of the field.
    page.see("Type the word “show”.")
    page.fill("Type the word “show”", "show")
    page.click("button", "Continue")
    return check_words(laptop)


def check_words(laptop):
    """Looks at the covered words, writes them down and proves it; returns them."""
    page = laptop.page
    page.see("The words are covered.")
    assert not words(page), "shown before that was asked for"
    page.click("button", "Show the words")
    found = page.until(lambda: words(page), "no words")
    # The words are covered again when the window loses the focus.
    page.js("dispatchEvent(new Event('blur'))")
    page.see("Covered again")
    assert not words(page), "shown to whoever comes by"
    page.click("checkbox", "I have written them down")
    page.click("button", "Continue")
    for label in page.until(lambda: [name for name, _ in page.nodes("textbox") if name.startswith("Word ")], "no test"):
        page.fill(label, found[int(label.split()[1]) - 1])
    page.click("button", "Check")
    page.see("The words on your paper are right.")
    return found


def words(page):
    """The words of the recovery phrase that are anywhere in the page."""
    return page.js("[...document.querySelectorAll('dialog .words .mono')].map(word => word.textContent)")


def scan(device, other):
    """Holds the device's camera in front of the other one's screen, on which there is a code."""
    wait_for_code(other.page)
    device.camera.look_at(other.page)
    device.page.click("button", CAMERA)


def digits(page):
    """The six digits that the page asks to compare."""
    return page.find_name("image", re.compile(r"^\d( \d){5}$"))


def let_in(laptop, phone):
    """Both people compare the digits, and the owner says yes."""
    laptop.page.see("Are these the same six digits?")
    phone.page.see("Compare the six digits")
    assert digits(laptop.page) == digits(phone.page)
    laptop.page.click("button", "Yes, let it in")
    laptop.page.see("is a member now")
    phone.page.see("Welcome to")


def open_joining(phone):
    phone.go("/networks")
    phone.page.click("link", re.compile("^Join( a network)?$"))
    phone.page.see("Scan the code that the other device shows")


def network_creation(scene):
    laptop = scene.device("laptop")
    create(laptop)
    laptop.page.see("Scan this on the other device")
    laptop.page.find("image", "QR code of the invitation")
    wait_for_code(laptop.page)
    # A camera needs all of the code, with its border, without scrolling.
    code = laptop.page.js(f"({PLACE})(document.querySelector('canvas.code'))")
    assert code["top"] >= 0 and code["bottom"] <= laptop.page.size[1] and code["scrolled"] == 0, code
    laptop.keep("invitation")
    assert len(keep_recovery_phrase(laptop)) == 24
    # The words were for this one look.
    laptop.page.see_no_more("Write down its recovery phrase")
    assert not words(laptop.page)
    laptop.go("/networks")
    laptop.page.see("Home")
    laptop.page.see("You own it")
    assert [one["name"] for one in laptop.node.networks()] == ["Home"]


def joining_by_invitation(scene):
    laptop, phone = scene.device("laptop"), scene.device("phone", camera=True)
    create(laptop)
    laptop.page.find("image", "QR code of the invitation")
    open_joining(phone)
    scan(phone, laptop)
    phone.page.see("You are invited")
    phone.keep("invited")
    phone.page.click("button", "Join")
    let_in(laptop, phone)
    # What there was to do before is not said any longer, and what is to be done now is in sight.
    assert "Scan the code" not in phone.page.text(), phone.page.text()
    phrase = laptop.page.find("button", "Show the recovery phrase")
    assert laptop.page.middle(phrase)[1] < laptop.page.size[1] and laptop.page.js("scrollY") == 0
    phone.page.click("link", "Go to the network")
    phone.page.find("heading", "Home")
    laptop.page.click("link", "Go to the network")
    laptop.page.see(re.compile("1 device connected"))
    laptop.keep("network")


def joining_by_codes(scene):
    """The specification's own way: the codes of the network, the device and the token, and nothing over the air."""
    laptop, phone = scene.device("laptop", camera=True), scene.device("phone", camera=True)
    laptop.node.create("Home")
    laptop.page.click("link", re.compile("Home"))
    laptop.page.click("link", "Show its codes")
    laptop.page.find("image", "QR code of the network")
    open_joining(phone)
    scan(phone, laptop)
    phone.page.see("“Home” is known to this device now")
    look_at(phone, "join-needs-token")
    show(phone.page, "QR code of this device’s id")
    scan(laptop, phone)
    laptop.page.fill("Name of the device", "phone")
    laptop.page.click("button", "Create its token")
    laptop.page.find("image", "QR code of the token")
    look_at(laptop, "admit-token")
    show(laptop.page, "QR code of the token")
    scan(phone, laptop)
    phone.page.see("Welcome to")
    phone.page.see(re.compile("You are a member until"))
    networks = phone.node.networks()
    assert [(one["name"], one["isMember"]) for one in networks] == [("Home", True)], networks


def show(page, name):
    """Brings a code to the middle of the screen, as whoever holds it out does."""
    page.find("image", name)
    wait_for_code(page)
    page.call("DOM.scrollIntoViewIfNeeded", backendNodeId=page.find("image", name))


def wait_for_code(page):
    """The place of a code is there before the code, which the node draws."""
    codes = "[...document.querySelectorAll('canvas.code')]"
    page.until(lambda: page.js(f"{codes}.length && {codes}.every(one => one.width > 1)"), "no code is drawn")
    page.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
