"""Invitations that come too late: what is read of them, by link and by text."""

import base64
import re
import struct
import time

from codes import copied, paste
from joining import create, let_in, open_joining
from ports import quiet_port

LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


def invitations(scene):
    """However it comes, it is read when it ended; as it was made it still lets the device in."""
    laptop, phone = scene.device("laptop"), scene.device("phone")
    create(laptop)
    link = copied(laptop.page)
    page = phone.page
    open_joining(phone)
    old = with_end(phone, link, time.time() - 86_400)
    for text in (old, old.upper(), f"{old[:50]}\n{old[50:90]}\n {old[90:]}"):
        paste(page, text)
        page.see(re.compile("This invitation expired on .*. Ask for a new one; it is valid for ten minutes."))
        page.fill("Or paste the text or link", "")
        page.click("button", "Continue")
        page.see("Paste a text first.")
    paste(page, link)
    page.click("button", "Join")
    let_in(laptop, phone)


def inviter_gone(scene):
    """The device that invited was stopped meanwhile: it cannot be reached, and once it is back, it knows of nothing."""
    scene.expect_absence()
    laptop = scene.device("laptop", listen=f"127.0.0.1:{quiet_port()}")
    phone = scene.device("phone")
    create(laptop)
    link = copied(laptop.page)
    page = phone.page
    open_joining(phone)

    def come_too_late(words):
        paste(page, link)
        page.click("button", "Join")
        page.see(words)
        phone.keep("invitation-too-late")
        page.click("button", "Scan something else")

    laptop.node.stop()
    come_too_late("The other device cannot be reached. Check that Runar is running there, on the same local network.")
    laptop.node.start()
    come_too_late("The other device does not recognise this invitation. Ask for a new one.")
    assert phone.node.networks() == []


def with_end(device, link, end):
    """The same invitation with another end, which is not signed."""
    before = device.node.answer("inspect", text=link)["expiration"]
    kind, _, letters = link.rpartition("/")
    content = base64.b32decode(letters[:-6].upper() + "=" * (-(len(letters) - 6) % 8))
    assert content.count(struct.pack(">Q", before)) == 1
    content = content.replace(struct.pack(">Q", before), struct.pack(">Q", int(end)))
    letters = base64.b32encode(content).decode().rstrip("=").lower()
    return f"{kind}/{letters}{checksum(letters)}"


def checksum(letters):
    """The six letters of Bech32m (BIP 350) without a human-readable part."""
    rest = 1
    for value in [*map(LETTERS.index, letters), *6 * [0]]:
        top, rest = rest >> 25, (rest & 0x1FFFFFF) << 5 ^ value
        for bit, multiple in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            rest ^= multiple if top >> bit & 1 else 0
    rest ^= 0x2BC830A3
    return "".join(LETTERS[rest >> 5 * (5 - at) & 31] for at in range(6))
