"""Seals and opens bytes with runar.py; exit status 0 when all goes as it should."""

import os
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "Bindings", "python"))
sys.dont_write_bytecode = True
import runar  # noqa: E402

NOT_AUTHENTIC, DECODING, INVALID_PARAMETERS = 2009, 5002, 5003

RECIPIENT = """-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4HmO53Dr9sPy2Jn+
nRGoS3c67I2syospSf3kL5rF4A2hRANCAARwGsBc6Jc0PWRcgMa6kWX2cg3Y4b0p
GazxhMGLq3ZdhuL5dcjNqP90RMwQF4PlbTBIliTO0OQC0Aeyo5TDDKr0
-----END PRIVATE KEY-----"""
RECIPIENT_PUBLIC = """-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEcBrAXOiXND1kXIDGupFl9nIN2OG9
KRms8YTBi6t2XYbi+XXIzaj/dETMEBeD5W0wSJYkztDkAtAHsqOUwwyq9A==
-----END PUBLIC KEY-----"""
CREATOR = """-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgp/ejatJNSKUekj4B
QMadgG8YRQ0dcWEiK+/fuSLreLahRANCAAQWCBjk+q7mCipHGXSUJ8knCx5L8pd+
FRjQYKA8+W7H/oVzJKmo8drzURAyQlUuOBqJq24uaRv8hTia4A5n8XcJ
-----END PRIVATE KEY-----"""
CREATOR_PUBLIC = """-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEFggY5Pqu5goqRxl0lCfJJwseS/KX
fhUY0GCgPPlux/6FcySpqPHa81EQMkJVLjgaiatuLmkb/IU4muAOZ/F3CQ==
-----END PUBLIC KEY-----"""


def refused(code, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except runar.Error as error:
        assert error.code == code, error
    else:
        raise AssertionError(f"{arguments} were taken")


text = b"meet me at the boat house"
sealed = runar.seal(text, RECIPIENT_PUBLIC)
assert sealed[:3] == b"L1L" and text not in sealed
assert runar.open_sealed(sealed, RECIPIENT) == text
refused(NOT_AUTHENTIC, runar.open_sealed, sealed, CREATOR)
refused(NOT_AUTHENTIC, runar.open_sealed, sealed, RECIPIENT, creator_key=CREATOR_PUBLIC)
refused(DECODING, runar.open_sealed, sealed[:-1], RECIPIENT)
refused(INVALID_PARAMETERS, runar.seal, text, "no key")
refused(INVALID_PARAMETERS, runar.seal, text, RECIPIENT_PUBLIC, tag_bits=40)

signed = runar.seal(b"", RECIPIENT_PUBLIC, signing_key=CREATOR, tag_bits=96, hash_binding=True)
assert runar.open_sealed(signed, RECIPIENT, creator_key=CREATOR_PUBLIC) == b""
refused(NOT_AUTHENTIC, runar.open_sealed, signed, RECIPIENT, creator_key=RECIPIENT_PUBLIC)
