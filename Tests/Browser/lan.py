"""The console on another screen of the home: opened to the network, paired by a code, and what stays at the device."""

import base64
import contextlib
import hashlib
import os
import ssl
import urllib.parse

from devtools import THIS_MACHINE_ONLY, Browser, ProtocolError
from eyes import look_at
from node import CommandFailed
from page import Page
from ports import quiet_port

PAIR = "Pair a phone or tablet"
DIALOG = "dialog[open]"


def certificate(link):
    """The certificate at an address, as a browser's warning would show it, and the hash of its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    place = urllib.parse.urlsplit(link)
    found = x509.load_pem_x509_certificate(ssl.get_server_certificate((place.hostname, place.port)).encode())
    key = found.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    digits = hashlib.sha256(found.public_bytes(Encoding.DER)).hexdigest().upper()
    pairs = " ".join(digits[at : at + 2] for at in range(0, len(digits), 2))
    return pairs, base64.b64encode(hashlib.sha256(key).digest()).decode()


def browser_for(scene, link, key=None):
    """A browser that reaches the console over the local network and takes the one certificate with that key, as a
    person does who compared it; without a key it takes none."""
    host = urllib.parse.urlsplit(link).netloc.rpartition(":")[0]
    return contextlib.closing(
        Browser(
            scene.stage.guard,
            resolver_rules=f"{THIS_MACHINE_ONLY} , EXCLUDE {host}",
            flags=[f"--ignore-certificate-errors-spki-list={key}"] if key else [],
        )
    )


class Screen:
    """A phone or tablet without a node: a browser profile of its own."""

    def __init__(self, scene, name, browser):
        self.name = name
        self.scene = scene
        self.browser = browser
        self.page = Page(scene.context(browser), 420, 800, name=name)

    def keep(self, name):
        self.scene.keep(f"{name}.png", self.page.picture())


def read_code(device):
    """Where the code on the screen leads, if there is one."""
    picture = os.path.join(device.folder, "screen.png")
    with open(picture, "wb") as file:
        file.write(device.page.picture())
    try:
        found = device.node.answer("qr", "read", picture)
    except CommandFailed as error:
        # The picture was taken before the code stood there whole.
        if "no-code" in str(error):
            return None
        raise
    return next((one["text"] for one in found["codes"] if one["text"].startswith("https://")), None)


def fingerprint(page, place):
    lines = page.js(f"[...document.querySelectorAll('{place} .fingerprint span')].map(one => one.textContent.trim())")
    return " ".join(lines)


def open_to_network(laptop):
    """The switch, with its question."""
    page = laptop.page
    laptop.go("/settings/device")
    page.see("The console is open to this device only.")
    page.click("button", "Open it to the local network")
    page.see("Do not open it on a public network")
    page.click("button", "Cancel")
    page.see_no_more("Do not open it on a public network")
    assert "https://" not in page.text(), "it is open although the person did not want it"
    page.click("button", "Open it to the local network")
    page.see("Open the console to the local network?")
    page.js(f"document.querySelector('{DIALOG} button[type=submit]').click()")
    page.see("The console is open to the local network.")


def other_screens(scene):
    laptop = scene.device("laptop")
    port = quiet_port()
    laptop.page.js("window.usualFetch = fetch")
    # The page asks for the usual port, which another test may have: it is moved on the way.
    laptop.page.js(
        "window.fetch = (address, options) => usualFetch(address, address.endsWith('/lan') && options.method === 'PUT'"
        f" ? {{ ...options, body: JSON.stringify({{ ...JSON.parse(options.body), port: {port} }}) }} : options)"
    )
    open_to_network(laptop)
    look_at(laptop, "lan-settings")
    rows = "[...document.querySelectorAll('.set-up tr')].map(one => one.innerText).join()"
    laptop.page.until(lambda: str(port) in laptop.page.js(rows), "the table says what was before")

    # The clock that renews the code is turned by hand.
    laptop.page.js(
        "window.usualTimeout = setTimeout; window.renewals = [];"
        "window.setTimeout = (act, time) => time === 45000 ? renewals.push(act) : usualTimeout(act, time)"
    )
    laptop.page.click("button", PAIR)
    laptop.page.find("image", "QR code for another screen")
    laptop.page.see("Waiting for the other screen")
    link = laptop.page.until(lambda: read_code(laptop), "no code to read")
    renew_code(laptop)
    shown, key = certificate(link)
    assert fingerprint(laptop.page, DIALOG) == shown, "another fingerprint than the certificate's"
    look_at(laptop, "lan-pairing")

    refuse_unknown_certificate(scene, link)
    with browser_for(scene, link, key) as browser:
        phone = Screen(scene, "phone", browser)
        # A code is good for a minute, which all of this may have taken.
        link = renew_code(laptop)
        renew_code(laptop)
        use_elsewhere(laptop, phone, link)


def renew_code(laptop):
    """Turns the clock on, and returns what the new code says."""
    before = laptop.page.until(lambda: read_code(laptop), "no code to read")
    laptop.page.js("renewals.pop()(); 0")
    found = lambda: next((one for one in [read_code(laptop)] if one not in (None, before)), None)
    return laptop.page.until(found, "the code is not renewed")


def refuse_unknown_certificate(scene, link):
    """Without having accepted the certificate a browser shows its warning, and nothing of the node."""
    with browser_for(scene, link) as browser:
        try:
            Screen(scene, "stranger", browser).page.open(link)
            raise AssertionError("a browser takes a certificate that nobody vouches for")
        except ProtocolError as error:
            assert "ERR_CERT_AUTHORITY_INVALID" in str(error), error


def use_elsewhere(laptop, phone, link):
    """By the code before the one that is shown, which its person was just reading."""
    page = phone.page
    page.prefer(reduced_motion="reduce")
    page.open(link)
    page.see("No network yet")
    laptop.page.see("Paired. The other screen is signed in.")
    laptop.page.see_no_more("Waiting for the other screen")
    # What happens at the node is there at once.
    laptop.node.create("Home")
    page.see("Home")
    origin = link.partition("#")[0]
    page.open(f"{origin}#/settings/device")
    page.see("Who may open the console is decided on the device itself.")
    assert not page.has("button", PAIR) and not page.has("button", "Close it")
    look_at(phone, "lan-other-screen")
    page.open(f"{origin}#/settings/keys")
    page.click("button", "Show the recovery phrase…")
    page.see("only on the device itself")
    assert not page.has("textbox", "Type the word “show”")
    look_at(phone, "lan-no-phrase")
    page.press("Escape")
    page.see_no_more("only on the device itself")
    page.click("button", "Export your master key")
    page.see("only on the device itself")
    assert not page.has("textbox", "Passphrase for the file")
    strangers = [one for one in page.requests if not one.startswith((origin, "blob:", "data:", "about:"))]
    assert not strangers, strangers
    assert not page.errors(), page.errors()

    used_twice(laptop, phone, link)
    laptop.page.click("button", "Close it")
    laptop.page.see("The console is open to this device only.")
    page.see("The node does not answer")


def used_twice(laptop, phone, link):
    """A link that was used takes nobody in any more."""
    other = Screen(laptop.scene, "tablet", phone.browser)
    other.page.open(link)
    other.page.see("opens only for screens that were paired with it")
    look_at(other, "lan-signed-out")
