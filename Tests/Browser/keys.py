"""The keys of a device and the words that bring them back: what is shown, hidden, carried away and refused."""

import re

from eyes import look_at
from joining import check_words, words
from node import Node

FILE_PASSPHRASE = "seven paper boats"
DIALOG_FILE = "dialog input[type=file]"
HIDDEN = "document.querySelector('dialog .secret input').type"
WORD = "Type the word “show”"
VAULT = "The passphrase of this device's vault"


def key_file(scene):
    """A master key is made, carried in a sealed file to another device, and is the same there."""
    laptop, tablet = scene.device("laptop"), scene.device("tablet")
    make_master_key(laptop)
    laptop.page.click("button", "Export your master key")
    laptop.page.see("owns your networks")
    fill_twice(laptop.page, "short", "short")
    laptop.page.see("Choose at least 8 characters.")
    fill_twice(laptop.page, FILE_PASSPHRASE, "something else")
    laptop.page.see("The two passphrases differ.")
    laptop.page.fill(WORD, "no")
    fill_twice(laptop.page, FILE_PASSPHRASE, FILE_PASSPHRASE)
    laptop.page.see("Type the word “show”.")
    laptop.page.fill(WORD, "show")
    hide_what_is_typed(laptop.page)
    look_at(laptop, "keys-export")
    fill_twice(laptop.page, FILE_PASSPHRASE, FILE_PASSPHRASE)
    laptop.page.see("The encrypted file was saved.")
    path = laptop.saved("runar-root-key.vault")
    secret = bytes.fromhex(laptop.node.answer("keys", "export", "root", "--reveal")["privateKey"])
    with open(path, "rb") as file:
        content = file.read()
    assert secret not in content and secret.hex().encode() not in content
    # Another reader of the same file: the command.
    reader = Node(tablet.folder, "reader")
    reader.init()
    passphrase = tablet.file("passphrase", FILE_PASSPHRASE.encode())
    reader.answer("backup", "restore", "--file", path, "--backup-passphrase-file", passphrase)
    assert reader.answer("keys", "export", "root", "--reveal")["privateKey"] == secret.hex()

    import_key(tablet, path, content)
    assert tablet.node.answer("keys", "export", "root", "--reveal")["privateKey"] == secret.hex()
    tablet.page.see(laptop.node.answer("keys", "export", "root")["publicKey"])


def import_key(tablet, path, content):
    """Takes the key on another device; before that, every mistake is called what it is."""
    page = tablet.page
    tablet.go("/settings/keys")
    page.see("No master key on this device")
    page.click("button", "Import a master key…")
    page.click("button", "Import")
    page.see("Choose a file.")
    page.attach(DIALOG_FILE, path)
    page.click("button", "Import")
    page.see("Type the passphrase.")
    tablet.scene.expect_refusal(403, "/keys/import")
    page.fill("The passphrase of the file", "seven paper planes")
    page.click("button", "Import")
    page.see("This is not the passphrase of the file. Try again.")
    look_at(tablet, "keys-import")
    at = len(content) // 2
    damaged = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    picture = b"\xff\xd8\xff" * 99
    tablet.scene.expect_refusal(422, "/keys/import")
    for name, wrong in (("damaged.vault", damaged), ("half.vault", content[:at]), ("holiday.jpg", picture)):
        page.attach(DIALOG_FILE, tablet.file(name, wrong))
        page.fill("The passphrase of the file", FILE_PASSPHRASE)
        page.click("button", "Import")
        page.see("This file is damaged, or it holds no Runar keys. Choose another.")
        page.fill("The passphrase of the file", "")
        page.click("button", "Import")
        page.see("Type the passphrase.")
    page.attach(DIALOG_FILE, path)
    page.fill("The passphrase of the file", FILE_PASSPHRASE)
    page.click("button", "Import")
    page.see("The master key was imported.")


def other_key(scene):
    """A key that is here already is lost only to whoever says so."""
    laptop, tablet = scene.device("laptop"), scene.device("tablet")
    keys = []
    for device in (laptop, tablet):
        make_master_key(device)
        keys.append(device.node.answer("keys", "export", "root")["publicKey"])
    laptop.page.click("button", "Export your master key")
    laptop.page.fill(WORD, "show")
    fill_twice(laptop.page, FILE_PASSPHRASE, FILE_PASSPHRASE)
    laptop.page.see("The encrypted file was saved.")
    path = laptop.saved("runar-root-key.vault")
    page = tablet.page
    page.click("button", "Import a master key…")
    page.attach(DIALOG_FILE, path)
    page.fill("The passphrase of the file", FILE_PASSPHRASE)
    page.see("The current key is lost unless you have a copy.")
    scene.expect_refusal(409, "/keys/import")
    page.click("button", "Import")
    page.see("This device has another master key already, which would be lost.")
    look_at(tablet, "keys-replace")
    page.click("button", "Cancel")
    assert tablet.node.answer("keys", "export", "root")["publicKey"] == keys[1]
    page.click("button", "Import a master key…")
    page.attach(DIALOG_FILE, path)
    page.fill("The passphrase of the file", FILE_PASSPHRASE)
    page.click("checkbox", re.compile("^Replace the key that is here"))
    page.click("button", "Import")
    page.see("The master key was imported.")
    page.see(keys[0])
    assert tablet.node.answer("keys", "export", "root")["publicKey"] == keys[0]


def device_key(scene):
    """The key of a device goes to a machine that takes its place, and is no master key."""
    laptop, tablet = scene.device("laptop"), scene.device("tablet")
    laptop.go("/settings/keys")
    laptop.page.click("button", "Export the key of this device")
    laptop.page.see("can pretend to be this device")
    laptop.page.fill(WORD, "show")
    fill_twice(laptop.page, FILE_PASSPHRASE, FILE_PASSPHRASE)
    laptop.page.see("The encrypted file was saved.")
    path = laptop.saved("runar-peer-key.vault")
    tablet.go("/settings/keys")
    tablet.page.click("button", "Import a master key…")
    tablet.page.attach(DIALOG_FILE, path)
    tablet.page.fill("The passphrase of the file", FILE_PASSPHRASE)
    scene.expect_refusal(422, "/keys/import")
    tablet.page.click("button", "Import")
    tablet.page.see("This file has no master key.")
    stand_in = Node(laptop.folder, "stand-in")
    stand_in.init()
    words = ("--sealed", "--sealed-passphrase-file", laptop.file("passphrase", FILE_PASSPHRASE.encode()), "--replace")
    assert stand_in.answer("keys", "import", "peer", path, *words)["peerId"] == laptop.node.peer


def new_key(scene):
    """A device gets a new key, stays the owner of its networks, and its page shows the new id."""
    laptop = scene.device("laptop")
    laptop.node.create("Home")
    old = laptop.node.answer("keys", "export", "peer")
    page = laptop.page
    laptop.go("/settings/keys")
    page.see(old["publicKey"])
    page.click("button", "Create a new key…")
    page.see("It gets a new id,")
    page.click("button", "Create the key")
    page.see("Type the word “show”.")
    look_at(laptop, "keys-new")
    page.fill(WORD, "show")
    page.click("button", "Create the key")
    page.see("This device has a new key.")
    new = laptop.node.answer("keys", "export", "peer")
    assert new["publicKey"] != old["publicKey"]
    page.see(new["publicKey"])
    assert [one["role"] for one in laptop.node.networks()] == ["owner"]


def recovery_phrase(scene):
    """The words are shown to whoever knows the passphrase, once, and bring the key to another device."""
    passphrase = "the kettle sings at noon"
    laptop = scene.device("laptop", passphrase=passphrase)
    tablet = scene.device("tablet")
    make_master_key(laptop)
    page = laptop.page
    page.click("button", "Show the recovery phrase…")
    page.click("button", "Continue")
    page.see("Type the passphrase.")
    scene.expect_refusal(403, "/recovery-phrase")
    page.fill(VAULT, "the kettle sings at one")
    page.click("button", "Continue")
    page.see("This is not the passphrase of this device. Try again.")
    hide_what_is_typed(page)
    assert not words(page)
    look_at(laptop, "phrase-passphrase")
    page.fill(VAULT, passphrase)
    page.click("button", "Continue")
    page.click("button", "Show the words")
    page.until(lambda: words(page), "no words")
    look_at(laptop, "phrase-words")
    page.click("button", "Cover the words")
    found = check_words(laptop)
    assert len(found) == 24
    # What was shown once is asked for again, and stands nowhere meanwhile.
    shown = page.js("document.body.innerHTML")
    assert not all(word in shown for word in found)
    page.click("button", "Show the recovery phrase…")
    page.find("textbox", VAULT)
    assert not words(page)
    page.press("Escape")
    export_with_passphrase(laptop, passphrase)

    restore_words(tablet, found)
    assert tablet.node.answer("keys", "export", "root") == laptop.node.answer("keys", "export", "root")


def export_with_passphrase(laptop, passphrase):
    """A key leaves in a file only for whoever knows what opens the vault, and comes back so."""
    page = laptop.page
    clear_notices = "document.getElementById('toasts').replaceChildren(); 0"
    page.js(clear_notices)
    page.click("button", "Export your master key")
    fill_twice(page, FILE_PASSPHRASE, FILE_PASSPHRASE)
    page.see("Type the passphrase.")
    laptop.scene.expect_refusal(403, "/keys/export")
    page.fill(VAULT, "the kettle sings at one")
    page.click("button", "Save the file")
    page.see("This is not the passphrase of this device. Try again.")
    look_at(laptop, "keys-export-passphrase")
    page.fill(VAULT, passphrase)
    page.click("button", "Save the file")
    page.see("The encrypted file was saved.")
    page.js(clear_notices)
    page.click("button", "Import a master key…")
    page.attach(DIALOG_FILE, laptop.saved("runar-root-key.vault"))
    page.fill("The passphrase of the file", FILE_PASSPHRASE)
    laptop.scene.expect_refusal(403, "/keys/import")
    page.fill(VAULT, "the kettle sings at one")
    page.click("button", "Import")
    page.see("This is not the passphrase of this device. Try again.")
    page.fill(VAULT, passphrase)
    page.click("button", "Import")
    page.see("The master key was imported.")


def restore_words(tablet, found):
    """Types the words on another device, first with every mistake that a person makes."""
    page = tablet.page
    tablet.go("/settings/keys")
    page.click("button", "Restore from 24 words…")
    tablet.scene.expect_refusal(422, "/recovery-phrase/restore")
    misread = ["runar", *found[1:]]
    read = [
        (found[:23], "23 words of 24"),
        (misread, 'Word 1, "runar", is not on the list; did you mean "'),
        (["abandon"] * 24, "Every word is on the list, but one of them is another than the one written down"),
    ]
    for wrong, text in read:
        page.fill("The 24 words", " ".join(wrong))
        page.click("button", "Restore")
        page.until(lambda text=text: any(text in name for name in alerts(page)), lambda: f"{text}: {alerts(page)}")
    look_at(tablet, "phrase-restore")
    # As a user types it: in capitals, in lines.
    page.fill("The 24 words", "\n".join(" ".join(found[at : at + 6]).upper() for at in range(0, 24, 6)))
    assert "covered" not in page.js("document.activeElement.className")
    page.js("dispatchEvent(new Event('blur'))")
    page.see("They are covered while you are elsewhere.")
    assert page.js("getComputedStyle(document.querySelector('dialog textarea')).color") == "rgba(0, 0, 0, 0)"
    page.click("button", "Restore")
    page.see("Your master key is back.")
    shown = page.js("document.body.innerHTML")
    assert not all(word in shown for word in found)


def alerts(page):
    """What the page complains of, in the words that are read out."""
    return page.js("[...document.querySelectorAll('dialog [role=alert]')].map(alert => alert.textContent)")


def make_master_key(device):
    page = device.page
    device.go("/settings/keys")
    page.see("No master key on this device")
    page.keep_notices()
    page.click("button", "Create a master key")
    page.see("It owns the networks that you created.")
    page.see("Write down its recovery phrase now.")
    # It lies over the end of the page.
    page.click("button", "Dismiss")


def fill_twice(page, passphrase, again):
    page.fill("Passphrase for the file", passphrase)
    page.fill("Repeat the passphrase", again)
    page.click("button", "Save the file")


def hide_what_is_typed(page):
    """A passphrase is to be seen only while it is asked for, and never after the page was left."""
    assert page.js(HIDDEN) == "password"
    page.click("button", "Show what is typed")
    page.until(lambda: page.js(HIDDEN) == "text", "what is typed is not shown")
    page.js("dispatchEvent(new Event('blur'))")
    page.until(lambda: page.js(HIDDEN) == "password", "what is typed is still shown")
