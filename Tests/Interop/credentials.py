"""Keys and certificates for the independent peer, made without any code of ours."""

import datetime
import hashlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID


def peer_id_of(certificate):
    """The SHA-256 of the raw Ed25519 key in a certificate, in hex; None for another kind of key."""
    key = certificate.public_key()
    if not isinstance(key, ed25519.Ed25519PublicKey):
        return None
    raw = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return hashlib.sha256(raw).hexdigest()


class Credentials:
    """A certificate (or none) with its key."""

    kinds = ["ed25519", "none", "two", "p256", "rsa", "expired"]

    def __init__(self, key=None, certificate=None, chain=()):
        self.key = key
        self.certificate = certificate
        self.chain = list(chain)

    @classmethod
    def make(cls, kind):
        if kind == "none":
            return cls()
        if kind == "p256":
            key = ec.generate_private_key(ec.SECP256R1())
        elif kind == "rsa":
            key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        else:
            key = ed25519.Ed25519PrivateKey.generate()
        start = datetime.datetime(2020, 1, 1) if kind == "expired" else datetime.datetime(2024, 1, 1)
        days = 1 if kind == "expired" else 36500
        chain = [signed(ed25519.Ed25519PrivateKey.generate(), start, days)] if kind == "two" else []
        return cls(key, signed(key, start, days), chain)

    def install(self, settings):
        """Gives the certificate to an aioquic configuration, and says which peer id belongs to it."""
        settings.certificate = self.certificate
        settings.certificate_chain = self.chain
        settings.private_key = self.key
        settings.peer_id = peer_id_of(self.certificate) if self.certificate else None


def signed(key, start, days):
    """A certificate for the key, signed by itself."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "independent")])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=days))
    )
    algorithm = None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return builder.sign(key, algorithm)
