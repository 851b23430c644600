"""Writes chains.json beside it with `cryptography`: certificates and keys in PEM, as authorities and certbot give them.

    python3 -m venv .venv && .venv/bin/pip install "cryptography>=48"
    .venv/bin/python Tests/Vectors/Certificates/generate_chains.py
"""

import datetime
import hashlib
import json
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

START = datetime.datetime(2026, 1, 1)
END = datetime.datetime(2030, 6, 1)
LATER = datetime.datetime(2035, 6, 1)
# id-secp256r1, which OpenSSL writes before a key when it makes both.
PARAMETERS = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"


def name(text):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def make(subject, key, issuer, issuer_key, end=END, is_authority=False):
    algorithm = None if isinstance(issuer_key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    builder = x509.CertificateBuilder(
        subject_name=name(subject), issuer_name=name(issuer), public_key=key.public_key(),
        serial_number=x509.random_serial_number(), not_valid_before=START, not_valid_after=end,
    )
    builder = builder.add_extension(x509.BasicConstraints(is_authority, None), critical=True)
    return builder.sign(issuer_key, algorithm)


def pem(certificate):
    return certificate.public_bytes(Encoding.PEM).decode()


def key_pem(key, form=PrivateFormat.PKCS8, encryption=NoEncryption()):
    return key.private_bytes(Encoding.PEM, form, encryption).decode()


def digest(key):
    return hashlib.sha256(key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


root_key, middle_key = ec.generate_private_key(ec.SECP384R1()), ec.generate_private_key(ec.SECP256R1())
keys = {
    "P-256": ec.generate_private_key(ec.SECP256R1()),
    "P-384": ec.generate_private_key(ec.SECP384R1()),
    "RSA 2048": rsa.generate_private_key(65537, 2048),
    "RSA 1024": rsa.generate_private_key(65537, 1024),
    "P-521": ec.generate_private_key(ec.SECP521R1()),
    "Ed25519": ed25519.Ed25519PrivateKey.generate(),
}
leaves = []
for kind, key in keys.items():
    forms = {"PKCS #8": key_pem(key)}
    if kind != "Ed25519":
        forms["traditional"] = key_pem(key, PrivateFormat.TraditionalOpenSSL)
    if kind == "P-256":
        forms["with parameters"] = PARAMETERS + forms["traditional"]
    leaf = pem(make("server.example", key, "Middle", middle_key))
    leaves.append({"kind": kind, "certificate": leaf, "keys": forms, "digest": digest(key)})
vectors = {
    "start": int(START.replace(tzinfo=datetime.timezone.utc).timestamp()),
    "end": int(END.replace(tzinfo=datetime.timezone.utc).timestamp()),
    "leaves": leaves,
    "middle": pem(make("Middle", middle_key, "Root", root_key, LATER, is_authority=True)),
    "middleDigest": digest(middle_key),
    "root": pem(make("Root", root_key, "Root", root_key, LATER, is_authority=True)),
    # Of another key, under the same name.
    "otherMiddle": pem(make("Middle", root_key, "Root", root_key, LATER, is_authority=True)),
    "shortMiddle": pem(make("Middle", middle_key, "Root", root_key, START + datetime.timedelta(1), is_authority=True)),
    "encryptedKey": key_pem(keys["P-256"], encryption=BestAvailableEncryption(b"secret")),
}
path = pathlib.Path(__file__).parent / "chains.json"
path.write_text(json.dumps(vectors, indent=1) + "\n", encoding="utf-8")
