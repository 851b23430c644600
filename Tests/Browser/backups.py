"""A backup on one device brings a person's networks to a new one."""

import re

from eyes import look_at
from keys import DIALOG_FILE, FILE_PASSPHRASE, WORD, fill_twice
from node import Node


def backup_and_restore(scene):
    """The saved file opens on a new device and in the command, and the networks are there; nothing else opens it."""
    laptop, tablet = scene.device("laptop"), scene.device("tablet")
    for name in ("Home", "Office"):
        laptop.node.create(name)
    laptop.go("/settings/storage")
    laptop.page.click("button", "Save a backup…")
    laptop.page.see("Keep the file and its passphrase in different places.")
    look_at(laptop, "backup-save")
    laptop.page.fill(WORD, "show")
    fill_twice(laptop.page, FILE_PASSPHRASE, FILE_PASSPHRASE)
    laptop.page.see("The backup was saved.")
    path = laptop.saved(re.compile(r"^runar-backup-\d{4}-\d\d-\d\d\.vault$"))
    reader = Node(tablet.folder, "reader")
    reader.init()
    passphrase = tablet.file("passphrase", FILE_PASSPHRASE.encode())
    restored = reader.answer("backup", "restore", "--file", path, "--backup-passphrase-file", passphrase)
    assert restored["networks"] == 2, restored

    page = tablet.page
    tablet.go("/settings/storage")
    page.see("You own no network here, so there is nothing to back up.")
    look_at(tablet, "backup-restore")
    page.click("button", "Restore a backup…")
    page.attach(DIALOG_FILE, path)
    scene.expect_refusal(403, "/backup/restore")
    page.fill("The passphrase of the file", "not this one")
    page.click("button", "Restore")
    page.see("This is not the passphrase of the file. Try again.")
    assert tablet.node.networks() == []
    page.attach(DIALOG_FILE, tablet.file("letter.pdf", b"%PDF-1.7 " + bytes(9_000_000)))
    page.fill("The passphrase of the file", FILE_PASSPHRASE)
    page.click("button", "Restore")
    page.see("This file is damaged, or it holds no Runar keys. Choose another.")
    page.attach(DIALOG_FILE, path)
    page.click("button", "Restore")
    page.see("Your master key is back, with 2 networks.")
    page.see("24 words, written by hand.")
    tablet.go("/networks")
    for name in ("Home", "Office"):
        page.find("link", re.compile(f"{name}.*You own it"))
    assert networks(tablet) == networks(laptop) and len(networks(tablet)) == 2


def networks(device):
    return {one["networkId"] for one in device.node.networks()}
