"""Writes issued.json beside it and devices.json for Identity, from other implementations than ours.

X.509, PKCS #10, Ed25519, HKDF and HPKE come from `cryptography`, the layouts of docs/spec/devices.md are put together
by hand; nothing here shares a line of code with the Swift sources.

    python3 -m venv .venv && .venv/bin/pip install "cryptography>=48"
    .venv/bin/python Tests/Vectors/Certificates/generate.py
"""

import datetime
import hashlib
import json
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding

FOLDER = pathlib.Path(__file__).parent
START = datetime.datetime(2000, 1, 1)
END = datetime.datetime(2030, 6, 1)
FOREVER = datetime.datetime(9999, 12, 31, 23, 59, 59)
SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)


def store(path, value):
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(path.name)


def label(text):
    return bytes([len(text)]) + text.encode()


def sha256(data):
    return hashlib.sha256(data).digest()


def hkdf(secret, purpose, context=b""):
    return HKDF(SHA256(), 32, b"runar/key-derivation/v1", label(purpose) + context).derive(secret)


def checked_base32(data):
    """Base32 with the checksum of Bech32m and no human-readable part (docs/spec/encodings.md)."""
    alphabet = "abcdefghijklmnopqrstuvwxyz234567"
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 5)
    values = [int(bits[i:i + 5], 2) for i in range(0, len(bits), 5)]

    def polymod(values):
        checksum = 1
        for value in values:
            top = checksum >> 25
            checksum = (checksum & 0x1FFFFFF) << 5 ^ value
            for i, generator in enumerate([0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3]):
                checksum ^= generator if top >> i & 1 else 0
        return checksum

    checksum = polymod(values + [0] * 6) ^ 0x2BC830A3
    return "".join(alphabet[v] for v in values + [checksum >> 5 * (5 - i) & 31 for i in range(6)])


class Key:
    """An Ed25519 key from its 32 bytes."""

    def __init__(self, seed):
        self.seed = seed
        self.key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self.key.public_key().public_bytes_raw()
        self.peer_id = sha256(self.public)
        self.text = checked_base32(self.peer_id)


def common_name(text):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def request(key, name=None, dns=None, signer=None):
    """PKCS #10 for a key; the name and the signer can be wrong."""
    name = key.text if name is None else name
    dns = [key.text] if dns is None else dns
    builder = x509.CertificateSigningRequestBuilder().subject_name(common_name(name))
    if dns:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(d) for d in dns]), False)
    return builder.sign(signer or key.key, None).public_bytes(Encoding.DER)


def usage(**chosen):
    names = [
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    ]
    return x509.KeyUsage(**{name: chosen.get(name, False) for name in names})


def authority_certificate(key, name=None, is_authority=True):
    name = common_name(name or "runar " + key.text[:8])
    return (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.key.public_key())
        .serial_number(int.from_bytes(bytes([key.peer_id[0] & 0x7F | 0x40]) + key.peer_id[1:16], "big"))
        .not_valid_before(START).not_valid_after(FOREVER)
        .add_extension(x509.BasicConstraints(is_authority, 0 if is_authority else None), True)
        .add_extension(usage(key_cert_sign=is_authority, crl_sign=is_authority, digital_signature=not is_authority), True)
        .add_extension(x509.SubjectKeyIdentifier(key.peer_id[:20]), False)
        .sign(key.key, None).public_bytes(Encoding.DER)
    )


def node_certificate(public, text, authority, issuer=None, is_authority=False, dns=None, end=END):
    issuer = issuer or "runar " + authority.text[:8]
    return (
        x509.CertificateBuilder().subject_name(common_name(text)).issuer_name(common_name(issuer)).public_key(public)
        .serial_number(0x41 << 120 | 7).not_valid_before(START).not_valid_after(end)
        .add_extension(x509.BasicConstraints(is_authority, None), True)
        .add_extension(usage(digital_signature=not is_authority, key_cert_sign=is_authority), True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(dns or text)]), False)
        .sign(authority.key, None).public_bytes(Encoding.DER)
    )


def message(node, own, authority):
    """The certificate message of docs/spec/devices.md."""
    signature = authority.key.sign(label("runar/certificate-message/v1") + sha256(node) + sha256(own))
    parts = b"".join(len(part).to_bytes(2, "big") + part for part in (node, own))
    return b"\x01" + parts + signature


def changed(data, index):
    return data[:index] + bytes([data[index] ^ 1]) + data[index + 1:]


def issued(root, authority, device, other):
    foreign = Key(hkdf(bytes(32), "runar/certificate-authority-key/v1"))
    p256 = ec.derive_private_key(7, ec.SECP256R1())
    good = request(device)
    p256_request = (
        x509.CertificateSigningRequestBuilder().subject_name(common_name(device.text)).sign(p256, SHA256())
        .public_bytes(Encoding.DER)
    )
    requests = [
        ("a request", good, None),
        ("another name", request(device, name="laptop"), "wrongName"),
        ("another's name", request(device, name=other.text, dns=[other.text]), "wrongName"),
        ("another's alternative name", request(device, dns=[other.text]), "wrongName"),
        ("no alternative name", request(device, dns=[]), "wrongName"),
        ("one alternative name too many", request(device, dns=[device.text, "laptop"]), "wrongName"),
        ("a changed signature", changed(good, len(good) - 1), "badProof"),
        ("a changed name", good.replace(device.text.encode(), (device.text[:-1] + "a").encode()), "badProof"),
        ("another's key", good.replace(device.public, other.public), "badProof"),
        ("a P-256 key", p256_request, "notEd25519"),
        ("a byte too many", good + b"\x00", "malformed"),
        ("a certificate", authority_certificate(authority), "malformed"),
        ("more than is read", good + bytes(1024), "tooLong"),
    ]
    own = authority_certificate(authority)
    public = device.key.public_key()
    node = node_certificate(public, device.text, authority)
    valid = message(node, own, authority)
    foreign_node = node_certificate(public, device.text, foreign)
    messages = [
        ("a message", valid, None),
        ("a changed signature", changed(valid, len(valid) - 1), "notIssued"),
        ("a changed certificate", message(changed(node, len(node) - 1), own, authority), "notIssued"),
        ("a changed authority", message(node, changed(own, len(own) - 1), authority), "notAnAuthority"),
        ("another's signature", message(node, own, foreign), "notIssued"),
        ("a foreign authority", message(foreign_node, own, authority), "notIssued"),
        ("a foreign key under the authority's name",
         message(node_certificate(public, device.text, foreign, issuer="runar " + authority.text[:8]), own, authority),
         "notIssued"),
        ("an authority with another's name",
         message(node_certificate(public, device.text, foreign, issuer="runar " + authority.text[:8]),
                 authority_certificate(foreign, name="runar " + authority.text[:8]), foreign), "notAnAuthority"),
        ("an authority that is none", message(node, authority_certificate(authority, is_authority=False), authority),
         "notAnAuthority"),
        ("a device that is an authority",
         message(node_certificate(public, device.text, authority, is_authority=True), own, authority), "notIssued"),
        ("another name", message(node_certificate(public, "laptop", authority), own, authority), "wrongName"),
        ("another's name", message(node_certificate(public, other.text, authority), own, authority), "wrongName"),
        ("another alternative name", message(node_certificate(public, device.text, authority, dns=other.text), own,
                                             authority), "wrongName"),
        ("a P-256 key", message(node_certificate(p256.public_key(), device.text, authority), own, authority),
         "notEd25519"),
        ("another version", b"\x02" + valid[1:], "malformed"),
        ("a byte too many", valid + b"\x00", "malformed"),
        ("a byte too few", valid[:-1], "malformed"),
    ]
    store(FOLDER / "issued.json", {
        "root": root.hex(), "authority": authority.public.hex(), "device": device.seed.hex(),
        "peer_id_text": device.text, "end_seconds": int(END.replace(tzinfo=datetime.timezone.utc).timestamp()),
        "requests": [{"name": n, "der": d.hex(), "error": e} for n, d, e in requests],
        "messages": [{"name": n, "binary": d.hex(), "error": e} for n, d, e in messages],
    })
    return good, valid


def device_request(device, wrapping, pkcs10):
    body = device.public + wrapping.public_key().public_bytes_raw() + len(pkcs10).to_bytes(2, "big") + pkcs10
    signed = label("runar/device-request/v1") + body
    return b"\x01" + body + device.key.sign(signed)


def code(data):
    alphabet = "abcdefghijklmnopqrstuvwxyz234567"
    number = int.from_bytes(sha256(label("runar/device-code/v1") + data)[:13], "big") >> 4
    text = "".join(alphabet[number >> 5 * (19 - i) & 31] for i in range(20))
    return "-".join(text[i:i + 4] for i in range(0, 20, 4))


def devices(authority, device, other, pkcs10, certificate):
    network = Key(bytes.fromhex("70e7c8b1aaa342942da4e7f827b0b9ae0f89de57c3bdfaf4e28297846864085c"))
    wrapping = X25519PrivateKey.from_private_bytes(hkdf(device.seed, "runar/wrapping-key/v1"))
    asked = device_request(device, wrapping, pkcs10)
    info = label("runar/network-key/v1") + network.public + device.peer_id
    sealed = SUITE.encrypt(network.seed, wrapping.public_key(), info=info)
    wrapped = b"\x01" + network.public + device.peer_id + sealed
    token = (
        b"\x01" + device.peer_id + network.public + b"\xff" * 8
        + network.key.sign(label("runar/access-token/v1") + device.peer_id + network.public + b"\xff" * 8)
    )
    name = "My Personal Network".encode()
    described = network.public + (1).to_bytes(4, "big") + other.public + bytes([len(name)]) + name
    metadata = b"\x01" + described + network.key.sign(label("runar/network-metadata/v1") + described)
    rendezvous = X25519PrivateKey.from_private_bytes(bytes([5] * 32)).public_key().public_bytes_raw()
    body = (
        b"\x01" + other.peer_id + authority.public
        + b"\x01" + bytes.fromhex("04c0a801071151")
        + len(certificate).to_bytes(2, "big") + certificate
        + b"\x01" + token + b"\x01" + rendezvous + len(metadata).to_bytes(2, "big") + metadata + b"\x01" + wrapped
    )
    answer = body + authority.key.sign(label("runar/device-answer/v1") + sha256(asked) + body)
    store(FOLDER.parent / "Identity" / "devices.json", {
        "device": device.seed.hex(), "wrapping_private": wrapping.private_bytes_raw().hex(),
        "wrapping_public": wrapping.public_key().public_bytes_raw().hex(), "certificate_request": pkcs10.hex(),
        "request": asked.hex(), "request_code": code(asked),
        "request_link": "runar://device/" + checked_base32(asked),
        "network": network.seed.hex(), "network_key_message": wrapped.hex(),
        "sender": other.peer_id.hex(), "authority": authority.seed.hex(), "address": "192.168.1.7:4433",
        "token": token.hex(), "rendezvous": rendezvous.hex(), "metadata": metadata.hex(),
        "certificate_message": certificate.hex(), "answer": answer.hex(), "answer_code": code(answer),
    })


def main():
    root = bytes.fromhex("65f5589454d041cc4f4abee78bab60accdb69c9e5fb2ea62fc6f3671d12784f5")
    authority = Key(hkdf(root, "runar/certificate-authority-key/v1"))
    device, other = Key(sha256(b"device")), Key(sha256(b"other"))
    pkcs10, certificate = issued(root, authority, device, other)
    devices(authority, device, other, pkcs10, certificate)


main()
