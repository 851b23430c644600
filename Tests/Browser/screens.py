"""Every screen, looked at in light and dark and on a phone."""

import base64
import re

import circles
import eyes
import household
import joining
from codes import paste
from using import open_peer

EMPTY = ["/networks", "/networks/new", "/join", "/peers", "/connect", "/data/records", "/data/topics", "/data/messages"]
EMPTY += ["/data/services", "/data/map", "/settings/keys", "/circle"]

FULL = ["/networks", "/peers", "/connect", "/doctor", "/data/records", "/data/topics", "/data/messages"]
FULL += ["/data/services", "/data/map", "/settings/device", "/settings/keys", "/settings/storage", "/settings/logs"]
FULL += ["/settings/metrics", "/settings/devices", "/circle", "/nowhere"]


def path_part(identifier):
    """An id as the console writes it into its addresses."""
    return base64.urlsafe_b64encode(base64.b64decode(identifier)).decode().rstrip("=")


def look_at_all(device, places, prefix, findings):
    for place in places:
        device.go(place)
        # Ids are other ones each time.
        name = re.sub(r"/[\w-]{40,}", "-one", place[1:]).replace("/", "-")
        eyes.look(device.page, f"{prefix}-{name}", findings, device.keep)


def empty_screens(scene):
    """A new device: every screen teaches what it is for and what to press next."""
    laptop = scene.visit("laptop", "new")
    findings = []
    look_at_all(laptop, EMPTY, "empty", findings)
    for place in ("/peers", "/data/records", "/data/services", "/connect"):
        laptop.go(place)
        eyes.settle(laptop.page)
        next_steps = laptop.page.js("document.querySelectorAll('main .empty a, main .empty button').length")
        assert next_steps > 0, f"{place} does not say what to do next"
    assert not findings, "\n".join(findings)


def full_screens(scene):
    """A device in use: networks, members, values, topics, messages."""
    laptop, phone = circles.friends(scene, phone={"has_page": False})
    for key, value in (("home/door", "open"), ("garden/water", "low"), ("café/menü", "soup")):
        laptop.node.put(key, value)
    phone.node.put("phone/battery", "82 %")
    laptop.node.publish("home/door", "open")
    phone.node.send(laptop.node.peer, "Hello from the phone")
    group = circles.make_group(laptop, phone)
    phone.node.api("POST", circles.thoughts_path(phone), {"text": "Shall we meet at the harbour? " * 12})
    laptop.node.api("POST", circles.thoughts_path(laptop), {"text": "At eight"})
    network = path_part(laptop.node.network()["networkId"])
    peer = path_part(phone.node.peer)
    findings = []
    places = [*FULL, f"/networks/{network}", f"/networks/{network}/admit", f"/peers/{peer}", circles.person_path(laptop)]
    look_at_all(laptop, places, "full", findings)
    # Its address is cut as that of a person is, so its pictures have a name of their own.
    look_at_all(laptop, [group], "full-group", findings)
    look_at_dialogs(laptop, network, peer, group, findings)
    assert not findings, "\n".join(findings)


def look_at_dialogs(laptop, network, peer, group, findings):
    """What stands above a page, each opened the way a person does."""
    steps = [
        ("dialog-member", f"/networks/{network}", [re.compile("phone")]),
        ("dialog-remove", f"/networks/{network}", [re.compile("phone"), "Remove"]),
        ("dialog-renew", f"/networks/{network}", [re.compile("phone"), "Renew"]),
        ("dialog-rename", f"/networks/{network}", ["Rename"]),
        ("dialog-leave", f"/networks/{network}", ["Leave"]),
        ("dialog-store", "/data/records", ["Store a value"]),
        ("dialog-value", "/data/records", [re.compile("home/door")]),
        ("dialog-disconnect", f"/peers/{peer}", ["Disconnect"]),
        ("dialog-safety-number", f"/peers/{peer}", ["Compare the safety number"]),
        ("dialog-delete-keys", f"/peers/{peer}", ["Delete the keys"]),
        ("dialog-add-person", "/circle", ["Add a person"]),
        ("dialog-card", "/circle", ["Show my card"]),
        ("dialog-profile", "/circle", ["Change"]),
        ("dialog-revoke-trust", circles.person_path(laptop), ["Revoke trust"]),
        ("dialog-block", circles.person_path(laptop), ["Block"]),
        ("dialog-make-group", "/circle", ["Create a group"]),
        ("dialog-add-device", "/circle", ["Add a device"]),
        ("dialog-invite-people", group, ["Invite people"]),
        ("dialog-remove-member", group, ["Remove: Bob"]),
        ("dialog-delete-group", group, ["Delete the group"]),
        ("dialog-sign-out", "/settings/device", ["Sign out everywhere"]),
        ("dialog-stop", "/settings/device", ["Stop the node"]),
    ]
    for name, place, buttons in steps:
        laptop.go(place)
        eyes.settle(laptop.page)
        for button in buttons:
            laptop.page.click("button", button)
        laptop.page.find("dialog")
        eyes.look(laptop.page, name, findings, laptop.keep)
        laptop.page.press("Escape")
        laptop.page.until(lambda: not laptop.page.has("dialog"), f"{name} stays")


def steps_of_joining(scene):
    """What both screens show from the invitation to the welcome."""
    laptop, phone = scene.device("laptop"), scene.device("phone", camera=True)
    findings = []

    def look(device, name):
        eyes.look(device.page, f"step-{name}", findings, device.keep)

    joining.create(laptop)
    laptop.page.find("image", "QR code of the invitation")
    look(laptop, "ready")
    joining.open_joining(phone)
    phone.page.click("button", joining.CAMERA)
    phone.page.find("button", "Stop the camera")
    look(phone, "camera")
    phone.page.click("button", "Stop the camera")
    joining.scan(phone, laptop)
    phone.page.see("You are invited")
    look(phone, "invited")
    phone.page.click("button", "Join")
    laptop.page.see("Are these the same six digits?")
    phone.page.see("Compare the six digits")
    look(laptop, "question")
    look(phone, "digits")
    joining.let_in(laptop, phone)
    look(laptop, "admitted")
    look(phone, "welcome")
    laptop.go(f"/networks/{path_part(laptop.node.network()['networkId'])}/share")
    look(laptop, "share")
    # What else may be read there is said to be what it is.
    for name, text, shown in (
        ("device", phone.node.peer, "This is the code of a device"),
        ("connect", phone.node.answer("network", "address")["text"], "This is a connection code"),
    ):
        joining.open_joining(laptop)
        paste(laptop.page, text)
        laptop.page.see(shown)
        look(laptop, name)
    assert not findings, "\n".join(findings)


def what_comes_by(scene):
    """What appears while a device is in use: a file that is offered, a feed of events, a service's form, a doctor's find."""
    laptop, phone = household.make(scene)
    findings = []

    def look(device, name):
        eyes.look(device.page, f"aside-{name}", findings, device.keep)

    open_peer(laptop, "phone")
    laptop.page.attach(".composer input[type=file]", laptop.file("plan.txt", b"a plan"))
    phone.page.see("wants to send you a file")
    look(phone, "offered-file")
    phone.page.click("button", "Refuse")
    phone.go("/data/topics")
    phone.page.fill("Topic", "home/>")
    phone.page.click("button", "Listen")
    phone.page.see("Live")
    laptop.node.publish("home/door", "open")
    phone.page.see("home/door")
    look(phone, "feed")
    with phone.node.running("serve", "printer", "print=cat", "--about", "Prints what it gets"):
        laptop.go("/data/services")
        laptop.page.click("DisclosureTriangle", re.compile("print"))
        laptop.page.find("textbox", re.compile("^Input"))
        look(laptop, "service")
    phone.node.stop()
    laptop.go("/networks")
    laptop.page.see("No other device connected")
    laptop.go("/doctor")
    look(laptop, "doctor")
    scene.expect_absence()
    assert not findings, "\n".join(findings)


def signed_out(scene):
    """Without a session nothing is shown but how to open the console."""
    laptop = scene.visit("laptop", "owner")
    forget_session(laptop)
    laptop.page.open(laptop.node.origin)
    laptop.page.see("In a terminal on this device, run:")
    assert "Home" not in laptop.page.text()
    eyes.look_at(laptop, "signed-out")


def one_time_secret(scene):
    """The address opens the console once, for a minute; then it is an address like any other."""
    laptop = scene.visit("laptop", "new")
    printed = laptop.node.command("console", "--print")
    address = next(word for word in printed.split() if word.startswith("http://"))
    assert "#secret=" in address, address
    scene.expect_refusal(401, "/session")
    for shown in "No network yet", "In a terminal on this device, run:":
        forget_session(laptop)
        laptop.page.open(address)
        laptop.page.see(shown)
        # It does not stay in the address, where it would come into the history and into pictures.
        assert "secret" not in laptop.page.js("location.href")
    assert "No network yet" not in laptop.page.text()
    # No cookie was set on the way.
    assert laptop.page.call("Network.getCookies")["cookies"] == []
    assert not [one for one in laptop.page.requests if "secret=" in one.split("#")[0]], laptop.page.requests


def forget_session(device):
    """Takes what lets it in from the browser, while no page is there that would ask on without it."""
    device.page.open("about:blank")
    device.page.call("Storage.clearDataForOrigin", origin=device.node.origin, storageTypes="local_storage")


def installable(scene):
    """A browser finds a manifest with an icon, and nothing against installing it."""
    laptop = scene.visit("laptop", "new")
    manifest = laptop.page.call("Page.getAppManifest")
    assert not manifest.get("errors"), manifest["errors"]
    # As the browser understands it: what it cannot use is not in there.
    read = manifest["manifest"]
    assert read["name"] == "Runar" and read["display"] == "kStandalone", read
    assert read["startUrl"].startswith(read["scope"]) and read["scope"] == f"{laptop.node.origin}/", read
    assert {icon["type"] for icon in read["icons"]} == {"image/svg+xml"}, read
    # A browser without a window has no opinion of its own here; one with a window says what it misses.
    found = laptop.page.call("Page.getInstallabilityErrors")["installabilityErrors"]
    assert found == [], found
    # The app begins where it says, and its icon is a picture.
    for icon in read["icons"]:
        drawn = f"{{ const icon = new Image(); icon.src = '{icon['url']}'; icon.decode().then(() => icon.width) }}"
        assert laptop.page.js(drawn) > 0
    laptop.page.open(read["startUrl"])
    laptop.page.see("No network yet")
