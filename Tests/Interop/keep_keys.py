"""Keeps a device's keys in each way that runar.py offers; exit status 0 when all of them hold."""

import contextlib
import os
import sys
import tempfile

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "Bindings", "python"))
sys.dont_write_bytecode = True
import runar  # noqa: E402

IN_USE, WRONG_SECRET, KEY_DENIED = 2004, 2002, 2001
PASSPHRASE = "seven paper boats"


def peer_id(**options):
    """Who the device in a home is; a node that was closed a moment ago may still hold it."""
    while True:
        try:
            with contextlib.closing(runar.Node(discovery=False, **options)) as node:
                return node.peer_id
        except runar.Error as error:
            if error.code != IN_USE:
                raise


def refused(code, **options):
    try:
        peer_id(**options)
    except runar.Error as error:
        assert error.code == code, error
    else:
        raise AssertionError(f"{options} was taken")


def fail():
    raise LookupError("the person is not here")


with tempfile.TemporaryDirectory() as folder:
    home = os.path.join(folder, "home")
    device = peer_id(home=home, passphrase=lambda: PASSPHRASE)
    assert peer_id(home=home, passphrase=PASSPHRASE) == peer_id(home=home, passphrase=PASSPHRASE.encode()) == device
    assert not os.path.exists(os.path.join(home, "vault.key"))
    refused(WRONG_SECRET, home=home, passphrase="seven paper planes")
    refused(WRONG_SECRET, home=home)
    refused(KEY_DENIED, home=home, passphrase="")
    try:
        peer_id(home=home, passphrase=fail)
        raise AssertionError("a failure was lost")
    except LookupError:
        pass

    key_file = os.path.join(folder, "key")
    other = os.path.join(folder, "other")
    assert peer_id(home=other, key_file=key_file) == peer_id(home=other, key_file=key_file) != device
    assert os.path.exists(key_file) and not os.path.exists(os.path.join(other, "vault.key"))

    plain = os.path.join(folder, "plain")
    assert peer_id(home=plain) == peer_id(home=plain)
    assert os.path.exists(os.path.join(plain, "vault.key"))
    assert peer_id(in_memory=True) != peer_id(in_memory=True)
