"""Without a mouse: everything is reached by Tab and done by Enter, and what has the focus is to be seen."""

import re

import household
from joining import digits

FOCUSED = """(() => {
    const element = document.activeElement;
    const name = element.labels?.[0]?.textContent ?? element.getAttribute("aria-label") ?? element.textContent;
    // What looks like the field may be its label, or what stands beside it.
    const rings = [element, element.closest("label"), element.nextElementSibling].filter(Boolean).map(getComputedStyle)
        .filter(style => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0);
    return [name.trim(), rings.length > 0 || element === document.body];
})()"""

SHOWN = "[document.querySelector('.tabs [aria-current=page]')?.textContent, document.activeElement.tagName]"


def first_network(scene):
    """A network is made and a second device let in, from the first key to the last."""
    laptop, phone = scene.device("laptop"), scene.device("phone")
    page = laptop.page
    page.see("No network yet")
    press(page, "Create a network")
    page.see("Name of the network")
    put(page, "Name of the network", "Home")
    press(page, "Create the network")
    page.see("“Home” is ready")
    # The page that came has the focus, so that a screen reader goes on there.
    assert page.js("document.activeElement.tagName") == "H1", focused(page)
    page.find("image", "QR code of the invitation")
    page.js("navigator.clipboard.writeText = async text => { window.clipboardText = text }")
    press(page, "Copy text")
    link = page.until(lambda: page.js("window.clipboardText"), "nothing was copied")

    page = phone.page
    press(page, "Join a network")
    page.see("Scan the code that the other device shows")
    put(page, "Or paste the text or link", link)
    press(page, "Continue")
    page.see("You are invited")
    press(page, "Join")
    laptop.page.see("Are these the same six digits?")
    page.see("Compare the six digits")
    assert digits(laptop.page) == digits(page)
    # The focus of a user who reads the digits does not return to the beginning of the page.
    press(laptop.page, "Yes, let it in", most=8)
    page.see("Welcome to")
    press(page, "Go to the network", most=8)
    page.find("heading", "Home")
    laptop.page.see("is a member now")
    put(laptop.page, "Give it a name that tells you which one it is", "phone", most=8)
    press(laptop.page, "Save", most=2)
    laptop.page.see("phone is a member now")


def daily_use(scene):
    """A message, a value and a rename; a dialog keeps the focus in and gives it back."""
    laptop, phone = household.make(scene)
    page = laptop.page
    laptop.go("/peers")
    page.see("Direct")
    press(page, re.compile("^phone"))
    page.find("textbox", "Write a message")
    put(page, "Write a message", "Is the door shut?")
    page.press("Enter")
    phone.page.see("Is the door shut?")
    # It may be answered without leaving the field.
    assert focused(page)[0] == "Write a message"
    page.call("Input.insertText", text="Well?")
    page.press("Enter")
    phone.page.see("Well?")

    laptop.go("/data/records")
    page.see("No values yet")
    press(page, "Store a value")
    page.find("dialog")
    put(page, "Key", "home/door")
    put(page, "Value", "shut")
    stays_in_dialog(page)
    press(page, "Store")
    page.see("Stored with 1 other member")
    page.until(lambda: not page.has("dialog"), "the dialog stays")
    assert focused(page)[0] == "Store a value", focused(page)
    page.see(re.compile("1 value\\b"))
    # The kinds of values are chosen with the arrows.
    tab_to(page, "Stored here")
    page.press("ArrowRight")
    page.until(lambda: focused(page)[0] == "Mine", lambda: f"the arrow leads to {focused(page)}")
    press(page, re.compile("^home/door"))
    page.see("shut")
    page.press("Escape")
    page.until(lambda: not page.has("dialog"), "Escape does not close the dialog")
    page.until(lambda: focused(page)[0].startswith("home/door"), lambda: f"the focus is at {focused(page)}")

    laptop.go("/networks")
    press(page, re.compile("^Home"))
    page.see("Change or leave")
    press(page, "Rename")
    page.until(lambda: focused(page)[0] == "Name", lambda: f"the dialog begins at {focused(page)}")
    page.press("Escape")
    page.until(lambda: focused(page)[0] == "Rename", lambda: f"the focus is at {focused(page)}")
    page.press("Enter")
    page.until(lambda: focused(page)[0] == "Name", lambda: f"the dialog begins at {focused(page)}")
    page.fill("Name", "House")
    page.press("Enter")
    page.find("heading", "House")
    assert [one["name"] for one in laptop.node.networks()] == ["House"]


def skipping(scene):
    """The first Tab offers the way past the tabs, and the tabs themselves say which is shown."""
    laptop = scene.visit("laptop", "new")
    page = laptop.page
    page.see("No network yet")
    assert tab_to(page, "Skip to the content") == 1
    page.press("Enter")
    assert page.js("document.activeElement.id") == "main"
    assert tab_to(page, "Join") == 1
    for tab in ("Peers", "Data", "Settings", "Networks"):
        press(page, tab)
        # The new page puts the focus on its heading, so that a screen reader begins there.
        page.until(
            lambda tab=tab: page.js(SHOWN) == [tab, "H1"],
            lambda tab=tab: f"{tab} leads to {page.js(SHOWN)}",
        )


def focused(page):
    """The name of what has the focus, and whether that is to be seen where there is something."""
    return page.js(FOCUSED)


def tab_to(page, name, most=40):
    """Presses Tab until what has that name has the focus, and says how often."""
    page.until(lambda: page.js("!document.querySelector('.loading')"), lambda: f"still waiting: {page.text()}")
    seen = []
    for count in range(1, most + 1):
        page.press("Tab")
        words, ring = focused(page)
        seen.append(words)
        assert ring, f"no ring around “{words}”"
        if words == name or (not isinstance(name, str) and name.search(words)):
            return count
    raise AssertionError(f"Tab does not reach “{name}”: {seen}")


def press(page, name, most=40):
    tab_to(page, name, most)
    page.press("Enter")


def put(page, name, text, most=40):
    if focused(page)[0] != name:
        tab_to(page, name, most)
    page.call("Input.insertText", text=text)


def stays_in_dialog(page):
    """Tab goes round in the dialog, and not to what lies behind it."""
    outside = "!document.activeElement.closest('dialog') && document.activeElement !== document.body"
    for _ in range(12):
        page.press("Tab")
        assert not page.js(outside), f"the focus left the dialog for {focused(page)}"
