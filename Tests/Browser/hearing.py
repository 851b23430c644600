"""What a screen reader tells of the console, by the browser's own tree, and what it is told of news."""

import re

import circles
import eyes
import household
from screens import path_part

# Whatever a person operates.
CONTROLS = {"button", "link", "textbox", "searchbox", "checkbox", "radio", "combobox", "slider", "spinbutton", "switch"}
CONTROLS |= {"DisclosureTriangle", "listbox", "menuitem", "tab"}
# What has no meaning without a name.
NAMED = CONTROLS | {"image", "img", "dialog", "region", "navigation"}
LANDMARKS = ("banner", "navigation", "main")


def names(scene):
    """On every screen all controls have names, there is one heading above all others, and the landmarks are there."""
    laptop, phone = circles.friends(scene, phone={"has_page": False})
    laptop.node.put("home/door", "open")
    network = f"/networks/{path_part(laptop.node.network()['networkId'])}"
    peer = f"/peers/{path_part(phone.node.peer)}"
    # The nine screens of the specification, then the others.
    places = ["/networks", network, "/networks/new", "/join", "/peers", peer, "/connect", "/data/records"]
    places += ["/settings/keys", "/data/topics", "/data/messages", "/data/services", "/data/map", "/doctor"]
    places += [f"{network}/share", f"{network}/admit", "/settings/device", "/settings/devices", "/settings/storage"]
    places += ["/settings/account", "/settings/logs", "/settings/metrics", "/circle", circles.person_path(laptop)]
    places += [circles.make_group(laptop, phone)]
    faults, titles = [], set()
    for place in places:
        laptop.go(place)
        eyes.settle(laptop.page)
        faults += [f"{place}: {fault}" for fault in listen(laptop.page)]
        titles.add(laptop.page.js("document.title"))
    assert not faults, "\n".join(faults)
    assert len(titles) == len(places), f"two screens are called the same: {sorted(titles)}"


def listen(page):
    """What is missing in what a screen reader is given of the page."""
    tree = [node for node in page.call("Accessibility.getFullAXTree")["nodes"] if not node.get("ignored")]
    heard = [(node.get("role", {}).get("value"), node.get("name", {}).get("value", "").strip(), node) for node in tree]
    for role, name, _ in heard:
        if role in NAMED and not name:
            yield f"a {role} has no name"
    highest = [name for role, name, node in heard if role == "heading" and value(node, "level") == 1]
    if len(highest) != 1 or not highest[0]:
        yield f"the headings of the first level are {highest}"
    for landmark in LANDMARKS:
        if not any(role == landmark for role, _, _ in heard):
            yield f"there is no {landmark}"
    levels = [value(node, "level") for role, _, node in heard if role == "heading"]
    if any(after > before + 1 for before, after in zip(levels, levels[1:])):
        yield f"the headings leave out a level: {levels}"
    if page.js("document.documentElement.lang") != "en":
        yield "the language is not said"


def value(node, name):
    return next((one["value"]["value"] for one in node.get("properties", []) if one["name"] == name), None)


# Keeps what is put into the place from which a screen reader reads news, and how it is announced there.
LISTENING = """(() => {
    const place = document.getElementById("news");
    window.heard = [];
    new MutationObserver(() => { if (place.textContent) window.heard.push(place.textContent); })
        .observe(place, { childList: true, characterData: true, subtree: true });
    return place.getAttribute("aria-live");
})()"""


def announcements(scene):
    """Who comes and goes, what is said, offered and done is told to whoever does not see it."""
    laptop, phone = household.make(scene)
    page = laptop.page
    assert page.js(LISTENING) == "polite"
    laptop.go("/peers")
    page.see("Direct")
    phone.node.send(laptop.node.peer, "Is the door shut?")
    hear(page, "phone: Is the door shut?")
    laptop.go("/data/records")
    page.click("button", "Store a value")
    page.fill("Key", "home/door")
    page.fill("Value", "shut")
    page.click("button", "Store")
    hear(page, re.compile("^Stored with 1 other member"))
    laptop.go("/peers")
    page.see("Direct")
    # A file that is offered stands in a region that tells of itself, wherever one is.
    phone.page.click("link", "Peers")
    phone.page.see("Direct")
    phone.page.click("link", re.compile("Home"))
    phone.page.find("textbox", "Write a message")
    phone.page.attach(".composer input[type=file]", phone.file("plan.txt", b"a plan"))
    page.see("wants to send you a file")
    assert page.js("document.querySelector('.offers').getAttribute('aria-live')") == "polite"
    page.find("region", "Files offered to you")
    page.click("button", "Refuse")
    # Failures are announced as well.
    laptop.go("/networks/new")
    page.click("button", "Create the network")
    page.find("alert")
    page.see("Give the network a name.")
    laptop.go("/peers")
    page.see("Direct")
    phone.node.stop()
    scene.expect_absence()
    hear(page, "phone is no longer connected")
    page.see("Not connected")
    laptop.node.stop()
    page.see("The node on this device does not answer")
    assert "does not answer" in page.js("document.querySelector('.banner[role=status]').textContent")


def hear(page, wanted):
    """Waits until a screen reader is given these words."""
    pattern = re.compile(re.escape(wanted)) if isinstance(wanted, str) else wanted
    marks = "[\\u2066-\\u2069]"
    page.until(
        lambda: any(pattern.search(one) for one in page.js(f"window.heard.map(one => one.replace(/{marks}/g, ''))")),
        lambda: f"“{pattern.pattern}” was not told, but {page.js('window.heard')}",
    )
