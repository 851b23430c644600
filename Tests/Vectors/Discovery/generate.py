"""Writes `announcements.json` beside it, and reads `ours.json`, with other implementations than ours.

The file proves that our beacons and knocks are what docs/spec/discovery.md says, because nothing here shares a line of
code with the Swift sources: Ed25519, X25519, HKDF and ChaCha20-Poly1305 come from `cryptography`, the layouts and
HPKE (RFC 9180) are put together by hand, so that its ephemeral key can be given, and `cryptography`'s own HPKE then
opens what came out. `ours.json` holds a beacon and a knock that our code made; they are opened and verified here.

    python3 -m venv .venv && .venv/bin/pip install 'cryptography>=47'
    .venv/bin/python Tests/Vectors/Discovery/generate.py
"""

import hashlib
import hmac
import ipaddress
import json
import pathlib
import struct

from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

HERE = pathlib.Path(__file__).parent
NEVER = 2**64 - 1


def label(text):
    return bytes([len(text)]) + text.encode()


class Key:
    """An Ed25519 key from its 32 bytes."""

    def __init__(self, seed):
        self.seed = seed
        self.key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self.key.public_key().public_bytes_raw()
        self.peer_id = hashlib.sha256(self.public).digest()

    def sign(self, message):
        return self.key.sign(message)


class Secret:
    """A member secret and what comes out of it."""

    def __init__(self, network, epoch, secret):
        body = network.public + struct.pack(">Q", epoch) + secret
        self.network = network
        self.binary = b"\x01" + body + network.sign(label("runar/member-secret/v1") + body)

        def key(purpose):
            info = label(purpose) + network.public
            return HKDF(algorithm=SHA256(), length=32, salt=b"runar/member-secret-keys/v1", info=info).derive(secret)

        self.beacon_key = key("runar/beacon-key/v1")
        self.rendezvous = X25519PrivateKey.from_private_bytes(key("runar/rendezvous-key/v1"))
        self.rendezvous_public = self.rendezvous.public_key().public_bytes_raw()


def token(network, peer, expiration):
    seconds = NEVER if expiration is None else expiration
    body = peer.peer_id + network.public + struct.pack(">Q", seconds)
    return b"\x01" + body + network.sign(label("runar/access-token/v1") + body)


def wire(address):
    host, port = address.rsplit(":", 1)
    ip = ipaddress.ip_address(host.strip("[]"))
    return bytes([ip.version]) + ip.packed + struct.pack(">H", int(port))


def announcement(carrier, network, peer, case):
    body = bytes([1, 1 if case["goodbye"] else 0]) + peer.public + bytes.fromhex(case["instance"])
    body += struct.pack(">QQ", case["counter"], case["wall_seconds"])
    body += token(network, peer, case["expiration"])[65:]
    body += bytes([len(case["addresses"])]) + b"".join(map(wire, case["addresses"]))
    signed = label(f"runar/{carrier}-signature/v1") + network.public + body
    return signed, (body + peer.sign(signed)).ljust(384, b"\0")


def beacon(secret, plain, nonce):
    context = label("runar/beacon/v1") + secret.network.public
    return nonce + ChaCha20Poly1305(secret.beacon_key).encrypt(nonce, plain, context)


KEM_ID, KDF_ID, AEAD_ID = 0x0020, 0x0001, 0x0003


def extract(suite, salt, name, material):
    return hmac.new(salt, b"HPKE-v1" + suite + name + material, hashlib.sha256).digest()


def expand(suite, key, name, info, length):
    labelled = struct.pack(">H", length) + b"HPKE-v1" + suite + name + info
    return (hmac.new(key, labelled + b"\x01", hashlib.sha256).digest())[:length]


def seal(public, ephemeral, info, plain):
    """RFC 9180, base mode, one message: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20-Poly1305."""
    kem_suite = b"KEM" + struct.pack(">H", KEM_ID)
    suite = b"HPKE" + struct.pack(">HHH", KEM_ID, KDF_ID, AEAD_ID)
    encapsulated = ephemeral.public_key().public_bytes_raw()
    agreed = ephemeral.exchange(X25519PublicKey.from_public_bytes(public))
    shared = expand(
        kem_suite, extract(kem_suite, b"", b"eae_prk", agreed), b"shared_secret", encapsulated + public, 32)
    context = b"\0" + extract(suite, b"", b"psk_id_hash", b"") + extract(suite, b"", b"info_hash", info)
    secret = extract(suite, shared, b"secret", b"")
    key = expand(suite, secret, b"key", context, 32)
    nonce = expand(suite, secret, b"base_nonce", context, 12)
    return encapsulated + ChaCha20Poly1305(key).encrypt(nonce, plain, b"")


def knock_tag(public, encapsulated):
    return hmac.new(public, label("runar/knock-tag/v1") + encapsulated, hashlib.sha256).digest()[:16]


def open_knock(secret, knock):
    assert knock[:16] == knock_tag(secret.rendezvous_public, knock[16:48])
    suite = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.CHACHA20_POLY1305)
    info = label("runar/knock/v1") + secret.network.public
    return suite.decrypt(knock[16:], secret.rendezvous, info=info)


def knock(secret, plain, ephemeral):
    info = label("runar/knock/v1") + secret.network.public
    sealed = seal(secret.rendezvous_public, ephemeral, info, plain)
    datagram = knock_tag(secret.rendezvous_public, sealed[:32]) + sealed
    assert open_knock(secret, datagram) == plain
    return datagram


def verify_ours(secret):
    """What our code made, opened here."""
    path = HERE / "ours.json"
    ours = json.loads(path.read_text())
    made = bytes.fromhex(ours["beacon"])
    context = label("runar/beacon/v1") + secret.network.public
    plains = {
        "beacon": ChaCha20Poly1305(secret.beacon_key).decrypt(made[:12], made[12:], context),
        "knock": open_knock(secret, bytes.fromhex(ours["knock"])),
    }
    for carrier, plain in plains.items():
        assert len(plain) == 384 and plain[0] == 1
        position = 139
        for _ in range(plain[138]):
            position += {4: 7, 6: 19}[plain[position]]
        signed = label(f"runar/{carrier}-signature/v1") + secret.network.public + plain[:position]
        Ed25519PublicKey.from_public_bytes(plain[2:34]).verify(plain[position:position + 64], signed)
        assert not any(plain[position + 64:])
        peer_id = hashlib.sha256(plain[2:34]).digest()
        body = label("runar/access-token/v1") + peer_id + secret.network.public + plain[66:74]
        Ed25519PublicKey.from_public_bytes(secret.network.public).verify(plain[74:138], body)
    print("ours.json verified")


def main():
    network = Key(hashlib.sha256(b"network of the vectors").digest())
    secret = Secret(network, 1_800_000_000, hashlib.sha256(b"member secret of the vectors").digest())
    eight = [f"[2001:db8::{index}]:4433" for index in range(1, 9)]
    cases = [
        {"name": "two addresses", "addresses": ["192.168.1.7:4433", "[2001:db8::7]:4433"], "expiration": 1_900_000_000},
        {"name": "no address, without end", "addresses": [], "expiration": None},
        {"name": "the most addresses", "addresses": eight, "expiration": None, "counter": 2**64 - 1},
        {"name": "the source's address", "addresses": ["0.0.0.0:4433", "[::]:4433"], "expiration": None},
        {"name": "goodbye", "addresses": [], "expiration": None, "goodbye": True, "counter": 7},
    ]
    rows = []
    for index, case in enumerate(cases):
        case = {"goodbye": False, "counter": index + 1, "wall_seconds": 1_800_000_000 + index} | case
        case["instance"] = hashlib.sha256(b"instance %d" % index).hexdigest()[:32]
        peer = Key(hashlib.sha256(b"peer %d" % index).digest())
        nonce = hashlib.sha256(b"nonce %d" % index).digest()[:12]
        ephemeral = X25519PrivateKey.from_private_bytes(hashlib.sha256(b"ephemeral %d" % index).digest())
        beacon_signed, beacon_plain = announcement("beacon", network, peer, case)
        _, knock_plain = announcement("knock", network, peer, case)
        rows.append(case | {
            "peer_private": peer.seed.hex(), "peer_id": peer.peer_id.hex(), "nonce": nonce.hex(),
            "beacon_signed": beacon_signed.hex(), "beacon_announcement": beacon_plain.hex(),
            "beacon": beacon(secret, beacon_plain, nonce).hex(),
            "knock_announcement": knock_plain.hex(), "knock": knock(secret, knock_plain, ephemeral).hex(),
        })
    path = HERE / "announcements.json"
    path.write_text(json.dumps({
        "network_private": network.seed.hex(), "member_secret": secret.binary.hex(),
        "beacon_key": secret.beacon_key.hex(), "rendezvous_public": secret.rendezvous_public.hex(), "rows": rows,
    }, indent=1) + "\n", encoding="utf-8")
    print(path.name)
    verify_ours(secret)


main()
