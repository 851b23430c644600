"""Files on their way from one console to another: how far they are, who stops them, and names that want to be more."""

import hashlib
import os
import pathlib
import re
import signal
import time

import household
from hostile import EVIL, REVERSED, look_for_harm
from page import PATIENCE
from screens import path_part
from using import open_peer

FIELD = ".composer input[type=file]"
# Large enough to be on its way for seconds after the first eighth.
SIZE = 120_000_000
ON_ITS_WAY = re.compile(r"([\d.]+) MB of 120 MB")
# What else a node keeps is smaller.
LARGE = 8_000_000


def sender_stops(scene):
    """Both see how far the film is; what its sender stopped goes on where it was when it is sent again."""
    laptop, phone = begin(scene, "film.mp4")
    laptop.page.click("button", "Cancel")
    laptop.page.see("Stopped.")
    let_go_on(phone)
    phone.page.see("The transfer stalled.")
    phone.keep("file-stopped")
    assert arrived(phone) == [], arrived(phone)
    there = kept_for_later(phone)
    assert 0 < there < SIZE, there
    wait_for_no_copies(laptop)
    laptop.page.click("button", "Send again")
    phone.page.click("button", "Accept")
    count = float(laptop.page.see(ON_ITS_WAY)[1]) * 1e6
    assert count > 0.9 * there, f"it began anew: {count}, and {there} were there"
    laptop.page.see("120 MB, delivered")
    phone.page.find("button", "Save a copy")
    phone.page.see_no_more("The transfer stalled.")
    assert arrived(phone) == [("film.mp4", SIZE)], arrived(phone)
    assert kept_for_later(phone) == 0
    wait_for_no_copies(laptop)


def receiver_stops(scene):
    """Whoever does not want any more of it disconnects, after reading what that ends; the sender is told so."""
    laptop, phone = begin(scene, "film.mp4")
    phone.page.click("button", "Disconnect")
    phone.page.see("Messages and files on their way stop, and")
    phone.page.click("button", "Disconnect")
    # Only now: the rest of the film takes no longer than a click.
    let_go_on(phone)
    phone.page.see("Disconnected by you")
    laptop.page.see("The connection was lost. Try again.")
    laptop.page.see("Disconnected by its user")
    laptop.keep("file-broken-off")
    phone.page.see("The transfer stalled.")
    assert arrived(phone) == [], arrived(phone)
    wait_for_no_copies(laptop)


def same_name(scene):
    """Two files of one name lie beside each other, and neither is waited for any longer."""
    laptop, phone = household.make(scene)
    open_peer(laptop, "phone")
    open_peer(phone, "Home")
    for number, kept in enumerate(("plan.txt", "plan (1).txt")):
        laptop.page.attach(FIELD, laptop.file("plan.txt", b"x" * (number + 1)))
        accept(phone)
        laptop.page.see(re.compile(rf"\b{number + 1} bytes?, delivered"))
        phone.page.see(kept)
    assert arrived(phone) == [("plan (1).txt", 2), ("plan.txt", 1)], arrived(phone)
    phone.page.until(lambda: not phone.page.has("progressbar"), "the second one seems to be on its way still")
    assert phone.page.text().count("plan") == 2, phone.page.text()


def begin(scene, name):
    """A large file of that name on its way from the laptop to the phone, whose node holds still with a part of it."""
    laptop, phone = household.make(scene)
    open_peer(laptop, "phone")
    open_peer(phone, "Home")
    path = laptop.file(name, b"")
    os.truncate(path, SIZE)
    laptop.page.attach(FIELD, path)
    laptop.page.see("Waiting for the other device to accept…")
    phone.page.click("button", "Accept")
    wait_for_part(phone)
    hold_still(phone)
    for device in (phone, laptop):
        device.page.find("progressbar", name)
        device.page.see(ON_ITS_WAY)
        device.keep(f"file-on-its-way-{device.name}")
    return laptop, phone


def wait_for_part(device):
    """Waits until an eighth of the file is there."""
    deadline = time.monotonic() + PATIENCE
    while kept_for_later(device) <= SIZE // 8:
        assert time.monotonic() < deadline, "nothing comes"
        # The size of a file has no event, and the whole file must not be there before the node is stopped.
        time.sleep(0.01)


def hold_still(device):
    """Stops the node as soon as its page shows how far the file is; until then it works only between two looks."""
    process = device.node.process.process
    deadline = time.monotonic() + PATIENCE
    process.send_signal(signal.SIGSTOP)
    while not ON_ITS_WAY.search(device.page.text()):
        assert time.monotonic() < deadline, "the page does not show how far the file is"
        let_go_on(device)
        # Long enough for an update, and a small part of what the whole file takes.
        time.sleep(0.02)
        process.send_signal(signal.SIGSTOP)


def accept(device):
    """Accepts the one file that is offered, and waits until nobody asks any more: a later file has its own question."""
    device.page.click("button", "Accept")
    device.page.until(lambda: not device.page.has("button", "Accept"), "the question stays")


def let_go_on(device):
    device.node.process.process.send_signal(signal.SIGCONT)


def arrived(device):
    """The whole files that lie on the device, and their sizes."""
    folder = os.path.join(device.node.home, "files")
    names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    return [(name, os.path.getsize(os.path.join(folder, name))) for name in names]


def kept_for_later(device):
    """How much of files that are not whole lies there, for when they are sent again."""
    found = pathlib.Path(device.node.home, "files").glob(".*.part")
    return sum(path.stat().st_size for path in found)


def wait_for_no_copies(device):
    """What the page gave to the node to be sent does not stay there."""

    def large():
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(device.node.home) for name in names]
        try:
            return [path for path in paths if os.path.getsize(path) > LARGE]
        except FileNotFoundError:
            return ["one that is just going away"]

    device.page.until(lambda: not large(), lambda: f"these stay: {large()}")


LONG = "l" * 251 + ".txt"
# What a person has on the disk, and what it is called where it is kept: one file of a folder, whatever the name is.
NAMES = {
    EVIL.replace("/", "\\") + ".txt": "script>.txt",
    REVERSED + ".txt": "gnp.exe.txt",
    "..\\..\\console.token": "console.token",
    ".hidden.txt": "hidden.txt",
    "two\nlines.txt": "twolines.txt",
    # Shortened before the ending, with a digest of the whole name.
    LONG: "l" * 187 + "~" + hashlib.sha256(LONG.encode()).hexdigest()[:8] + ".txt",
}


def hostile_names(scene):
    """A name with markup, turned text, another folder or no end is shown as text, and harmless where it is kept."""
    laptop, phone = household.make(scene)
    open_peer(laptop, "phone")
    open_peer(phone, "Home")
    before = sorted(os.listdir(phone.node.home))
    for number, name in enumerate(NAMES):
        laptop.page.attach(FIELD, laptop.file(name, b"x" * (number + 1)))
        accept(phone)
        laptop.page.see(re.compile(rf"\b{number + 1} bytes?, delivered"))
    expected = sorted((kept, number + 1) for number, kept in enumerate(NAMES.values()))
    assert sorted(arrived(phone)) == expected, arrived(phone)
    assert sorted([*before, "files", "receiving.json"]) == sorted(os.listdir(phone.node.home))
    look_for_harm(laptop, f"/peers/{path_part(phone.node.peer)}")
    laptop.keep("file-names-sent")
    for place in (f"/peers/{path_part(laptop.node.peer)}", "/data/messages"):
        look_for_harm(phone, place)
        for kept, _ in expected:
            phone.page.see(kept[:100])
    phone.keep("file-names-arrived")
    phone.page.click("button", "Save a copy: console.token")
    with open(phone.saved("console.token"), "rb") as file:
        assert file.read() == b"xxx"
