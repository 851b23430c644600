"""Writes the vector files beside it, from other implementations than ours.

The files prove that our keys, words and signed layouts are what docs/spec/identity.md says, because nothing here
shares a line of code with the Swift sources: Ed25519, HMAC and HKDF come from `cryptography`, SLIP-0010 from
`bip_utils`, the words from `mnemonic` (checked against `bip_utils`), and the layouts are put together by hand.

Published values (RFC 8032, section 7.1; SLIP-0010; BIP-39) are taken from the packages' own copies of the standards
or written out here, and recomputed before they are stored.

    python3 -m venv .venv && .venv/bin/pip install cryptography mnemonic bip_utils pycryptodome
    .venv/bin/python Tests/Vectors/Identity/generate.py
"""

import base64
import hashlib
import hmac
import json
import pathlib
import struct

from bip_utils import Bip32Slip10Ed25519, Bip39MnemonicDecoder
from Crypto.SelfTest.Signature.test_eddsa import rfc8032_tv_str
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from mnemonic import Mnemonic

NEVER = 2**64 - 1


def store(name, value):
    path = pathlib.Path(__file__).with_name(name)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(name)


def b64(data):
    return base64.b64encode(data).decode()


class Key:
    """An Ed25519 key from its 32 bytes."""

    def __init__(self, seed):
        self.seed = seed
        self.key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self.key.public_key().public_bytes_raw()

    def sign(self, message):
        return self.key.sign(message)

    @property
    def peer_id(self):
        return hashlib.sha256(self.public).digest()


def label(text):
    return bytes([len(text)]) + text.encode()


def slip0010():
    """Test vectors 1 and 2 of SLIP-0010 for ed25519, every row, and network keys."""
    seeds = {
        "000102030405060708090a0b0c0d0e0f": [
            "m", "m/0'", "m/0'/1'", "m/0'/1'/2'", "m/0'/1'/2'/2'", "m/0'/1'/2'/2'/1000000000'",
            "m/44'/0'/0'", "m/44'/0'/1'", "m/44'/0'/2147483647'",
        ],
        "fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a2"
        "9f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542": [
            "m", "m/0'", "m/0'/2147483647'", "m/0'/2147483647'/1'", "m/0'/2147483647'/1'/2147483646'",
            "m/0'/2147483647'/1'/2147483646'/2'", "m/44'/0'/0'",
        ],
    }
    # The last rows of both published vectors, as an anchor outside of bip_utils.
    published = {
        "m/0'/1'/2'/2'/1000000000'": "8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793",
        "m/0'/2147483647'/1'/2147483646'/2'": "551d333177df541ad876a60ea71f00447931c0a9da16f227c11ea080d7391b8d",
    }
    rows = []
    for seed, paths in seeds.items():
        for path in paths:
            node = Bip32Slip10Ed25519.FromSeedAndPath(bytes.fromhex(seed), path)
            private = node.PrivateKey().Raw().ToHex()
            assert published.get(path, private) == private, path
            public = Key(bytes.fromhex(private)).public.hex()
            assert node.PublicKey().RawCompressed().ToHex() == "00" + public
            rows.append({
                "seed": seed, "path": path, "chain_code": node.ChainCode().ToHex(),
                "private": private, "public": public,
            })
    store("slip0010.json", rows)


def ed25519():
    """RFC 8032, section 7.1: tests 1, 2, 3, 1024 and SHA(abc)."""
    rows = []
    sha_abc = (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        hashlib.sha512(b"abc").hexdigest(), None, "",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e030"
        "3dca179c138ac17ad9bef1177331a704",
    )
    for secret, public, message, prehash, context, signature in [*rfc8032_tv_str, sha_abc]:
        if len(public) != 64 or prehash is not None or context:
            continue
        key = Key(bytes.fromhex(secret))
        assert key.public.hex() == public and key.sign(bytes.fromhex(message)).hex() == signature
        rows.append({"secret": secret, "public": public, "message": message, "signature": signature})
    assert len(rows) == 5
    store("ed25519.json", rows)


P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(one, other):
    (x1, y1), (x2, y2) = one, other
    product = D * x1 * x2 * y1 * y2 % P
    return (
        (x1 * y2 + x2 * y1) * pow(1 + product, -1, P) % P,
        (y1 * y2 + x1 * x2) * pow(1 - product, -1, P) % P,
    )


def multiply(scalar, point):
    result = (0, 1)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result


def decoded(y):
    """A point with this y coordinate, or None."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    return (x, y) if x * x % P == square else None


def encodings():
    """Keys that must be refused, found by arithmetic on the curve, and one signature in forms that must be."""
    torsion = set()
    y = 2
    while len(torsion) < 8:
        point = decoded(y)
        y += 1
        if point is not None:
            base = multiply(L, point)
            torsion |= {multiply(factor, base) for factor in range(8)}
    small = {(y | sign << 255).to_bytes(32, "little") for _, y in torsion for sign in (0, 1)}
    aliases = {(y | sign << 255).to_bytes(32, "little") for y in range(P, 2**255) for sign in (0, 1)}
    key = Key(hashlib.sha256(b"malleable").digest())
    message = b"the same message"
    signature = key.sign(message)
    scalar = int.from_bytes(signature[32:], "little")
    store("encodings.json", {
        "small_order": sorted(encoding.hex() for encoding in small),
        "not_canonical": sorted(encoding.hex() for encoding in aliases),
        "public": key.public.hex(), "message": message.hex(), "signature": signature.hex(),
        "malleated": [
            (signature[:32] + (scalar + factor * L).to_bytes(32, "little")).hex()
            for factor in range(1, 16) if scalar + factor * L < 2**256
        ],
    })


def phrases():
    """The vectors of BIP-39 with 32 bytes of entropy."""
    entropies = [
        "00" * 32, "7f" * 32, "80" * 32, "ff" * 32,
        "00ac97c48106f0aeb8ba061e0250a559b3251dc35854e694780ba51d53a50120",
        "3edc83b60740d77af3afa2fcb82c2f1bc541ee4e2518ddef4996d32453f54a3c",
        "89bb4bc5555992cdaf3444c5e7ca5a6e9f27efab894f1990bae41be8b2a26ea4",
        "911fec0fbd88029f6fa99164896c18d898c9232af18bdcca3e42d53b86493104",
    ]
    rows = []
    for entropy in entropies:
        words = Mnemonic("english").to_mnemonic(bytes.fromhex(entropy))
        assert Bip39MnemonicDecoder().Decode(words).hex() == entropy
        rows.append({"entropy": entropy, "words": words})
    assert rows[4]["words"].startswith("absent gorilla van") and rows[7]["words"].endswith("cause series long")
    store("phrases.json", rows)


def derived_key(root, purpose, context):
    info = label(purpose) + context
    return HKDF(algorithm=SHA256(), length=32, salt=b"runar/key-derivation/v1", info=info).derive(root)


def derivation(root, network):
    """Keys that come out of the root by HKDF."""
    cases = [
        ("profile", "runar/profile-key/v1", "work"),
        ("profile", "runar/profile-key/v1", "Zoë"),
        ("admin", "runar/admin-key/v1", network.public.hex()),
        ("certificate-authority", "runar/certificate-authority-key/v1", ""),
    ]
    rows = []
    for kind, purpose, context in cases:
        raw = bytes.fromhex(context) if kind == "admin" else context.encode()
        private = derived_key(root, purpose, raw)
        rows.append({
            "kind": kind, "root": root.hex(), "context": context,
            "private": private.hex(), "public": Key(private).public.hex(),
        })
    store("derivation.json", rows)


def tokens(network, peers):
    rows = []
    for peer, expiration in zip(peers, [None, 0, 1_900_000_000, 253_402_300_799]):
        seconds = NEVER if expiration is None else expiration
        body = peer.peer_id + network.public + struct.pack(">Q", seconds)
        signed = label("runar/access-token/v1") + body
        signature = network.sign(signed)
        text = {
            "type": "token", "peer_id": b64(peer.peer_id), "network_id": b64(network.public),
            "expiration": expiration, "signature": b64(signature),
        }
        rows.append({
            "network_private": network.seed.hex(), "peer_public": peer.public.hex(), "expiration": expiration,
            "signed": signed.hex(), "binary": (b"\x01" + body + signature).hex(),
            "text": json.dumps(text, separators=(",", ":")),
        })
    store("tokens.json", rows)
    return rows


def metadata(network, admin):
    rows = []
    for version, name in [(1, "My Personal Network"), (2, "Familie Müller 👪"), (2**32 - 1, 'say "hi" \\o/ ' + "x" * 51)]:
        raw = name.encode()
        assert 1 <= len(raw) <= 64
        body = network.public + struct.pack(">I", version) + admin.public + bytes([len(raw)]) + raw
        signed = label("runar/network-metadata/v1") + body
        signature = network.sign(signed)
        text = {"type": "network", "network_id": b64(network.public), "name": name, "admin_pubkey": b64(admin.public)}
        if version != 1:
            text["version"] = version
        text["signature"] = b64(signature)
        rows.append({
            "network_private": network.seed.hex(), "admin_public": admin.public.hex(), "version": version,
            "name": name, "signed": signed.hex(), "binary": (b"\x01" + body + signature).hex(),
            "text": json.dumps(text, separators=(",", ":"), ensure_ascii=False),
        })
    store("metadata.json", rows)
    return rows


def connections(network, peers, token_rows):
    rows = []
    for peer, token, address in zip(peers, token_rows, ["192.0.2.7:4433", "[2001:db8::7]:4433"]):
        text = {
            "type": "peer", "peer_id": b64(peer.peer_id), "network_id": b64(network.public), "address": address,
            "token": b64(bytes.fromhex(token["binary"])),
        }
        rows.append({"address": address, "token": token["binary"], "text": json.dumps(text, separators=(",", ":"))})
    store("connections.json", rows)


def revocations(network, peers):
    entries = []
    for index, peer in enumerate(peers):
        seconds = 1_800_000_000 + index
        body = network.public + peer.peer_id + struct.pack(">Q", seconds)
        signed = label("runar/revocation/v1") + body
        entries.append((peer.peer_id, seconds, network.sign(signed), signed))
    in_order = sorted(entries)
    digest = hashlib.sha256(
        label("runar/revocation-set/v1") + network.public + struct.pack(">I", len(in_order))
        + b"".join(peer + struct.pack(">Q", seconds) for peer, seconds, _, _ in in_order)
    )
    packed = b"".join(peer + struct.pack(">Q", seconds) + signature for peer, seconds, signature, _ in in_order)
    binary = b"\x01" + network.public + struct.pack(">I", len(in_order)) + packed
    store("revocations.json", {
        "network_private": network.seed.hex(),
        "entries": [
            {
                "peer": peer.hex(), "seconds": seconds, "signed": signed.hex(),
                "binary": (network.public + peer + struct.pack(">Q", seconds) + signature).hex(),
                "fingerprint": signature[:8].hex(),
            }
            for peer, seconds, signature, signed in entries
        ],
        "digest": digest.hexdigest(),
        "empty_digest": hashlib.sha256(label("runar/revocation-set/v1") + network.public + bytes(4)).hexdigest(),
        "binary": binary.hex(),
        "text": "runar://revocations/" + base64.urlsafe_b64encode(binary).decode().rstrip("="),
    })


def checked_base32(data):
    """RFC 4648's alphabet with the checksum of Bech32m (BIP 350) without a human-readable part."""
    alphabet = "abcdefghijklmnopqrstuvwxyz234567"
    values = [alphabet.index(c) for c in base64.b32encode(data).decode().rstrip("=").lower()]

    def polymod(numbers):
        check = 1
        for number in numbers:
            top = check >> 25
            check = (check & 0x1FFFFFF) << 5 ^ number
            for i, generator in enumerate([0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3]):
                check ^= generator if top >> i & 1 else 0
        return check

    check = polymod(values + [0] * 6) ^ 0x2BC830A3
    return "".join(alphabet[v] for v in values + [check >> 5 * (5 - i) & 31 for i in range(6)])


def link(kind, binary):
    return f"runar://{kind}/{checked_base32(binary)}"


def links(peers, token_rows, metadata_rows, secret_rows):
    """The links that say the same as the texts of the other files."""
    rows = [{"kind": "peer-id", "link": link("peer-id", peer.peer_id), "text": b64(peer.peer_id)} for peer in peers]
    for plain, secret, kind in [
        (token_rows, "token_text", "token"),
        (metadata_rows, "network_text", "network"),
    ]:
        for row, with_key in zip(plain, secret_rows):
            binary = bytes.fromhex(row["binary"])
            key = bytes.fromhex(with_key["rendezvous_public"])
            rows.append({"kind": kind, "link": link(kind, binary), "text": row["text"]})
            rows.append({"kind": kind, "link": link(kind, binary + key), "text": with_key[secret]})
    for token, address, text in zip(token_rows, [
        bytes([4, 192, 0, 2, 7]), bytes([6]) + bytes.fromhex("20010db8") + bytes(11) + b"\x07",
    ], ["192.0.2.7:4433", "[2001:db8::7]:4433"]):
        binary = bytes.fromhex(token["binary"])
        rows.append({
            "kind": "peer", "link": link("peer", binary + address + struct.pack(">H", 4433)),
            "text": json.dumps({
                "type": "peer", "peer_id": b64(binary[1:33]), "network_id": b64(binary[33:65]), "address": text,
                "token": b64(binary),
            }, separators=(",", ":")),
        })
    store("links.json", rows)


def invitations(network, inviter, joiner):
    secret = bytes(range(0xA0, 0xB0))
    exporter = bytes(range(32))
    expiry = 1_800_000_600
    addresses = ["192.168.1.7:4433", "[2001:db8::7]:4433"]
    wire = bytes([4, 192, 168, 1, 7]) + struct.pack(">H", 4433)
    wire += bytes([6]) + bytes.fromhex("20010db8") + bytes(11) + b"\x07" + struct.pack(">H", 4433)
    binary = b"\x01" + inviter.peer_id + network.public + secret + struct.pack(">Q", expiry) + bytes([2]) + wire
    ids = network.public + inviter.peer_id + joiner.peer_id
    proof = hmac.new(secret, label("runar/invitation-proof/v1") + ids + exporter, hashlib.sha256).digest()
    digits = hashlib.sha256(label("runar/invitation-digits/v1") + ids + exporter).digest()
    store("invitations.json", {
        "inviter": inviter.peer_id.hex(), "joiner": joiner.peer_id.hex(), "network": network.public.hex(),
        "secret": secret.hex(), "expiry": expiry, "addresses": addresses, "binary": binary.hex(),
        "text": link("join", binary), "exporter": exporter.hex(), "proof": proof.hex(),
        "digits": f"{int.from_bytes(digits[:8], 'big') % 1_000_000:06d}",
    })


def member_secrets(network, token_rows, metadata_rows):
    """Signed member secrets, keys that come out of them, and texts with a rendezvous key."""
    rows = []
    for index, epoch in enumerate([0, 1_800_000_000, 253_402_300_799]):
        secret = hashlib.sha256(b"member secret %d" % index).digest()
        body = network.public + struct.pack(">Q", epoch) + secret
        signed = label("runar/member-secret/v1") + body

        def key(purpose):
            info = label(purpose) + network.public
            return HKDF(algorithm=SHA256(), length=32, salt=b"runar/member-secret-keys/v1", info=info).derive(secret)

        rendezvous = key("runar/rendezvous-key/v1")
        public = X25519PrivateKey.from_private_bytes(rendezvous).public_key().public_bytes_raw()

        def with_rendezvous(text):
            fields = json.loads(text) | {"rendezvous": b64(public)}
            return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)

        rows.append({
            "network_private": network.seed.hex(), "epoch": epoch, "secret": secret.hex(), "signed": signed.hex(),
            "binary": (b"\x01" + body + network.sign(signed)).hex(), "beacon_key": key("runar/beacon-key/v1").hex(),
            "rendezvous_private": rendezvous.hex(), "rendezvous_public": public.hex(),
            "token_text": with_rendezvous(token_rows[index]["text"]),
            "network_text": with_rendezvous(metadata_rows[index]["text"]),
        })
    store("member-secrets.json", rows)
    return rows


def identifiers(peers):
    store("identifiers.json", [
        {
            "public": peer.public.hex(), "peer_id": peer.peer_id.hex(), "base64": b64(peer.peer_id),
            "text": checked_base32(peer.peer_id), "network_text": checked_base32(peer.public),
        }
        for peer in peers
    ])


def main():
    root = hashlib.sha256(b"root of the vectors").digest()
    network = Key(Bip32Slip10Ed25519.FromSeedAndPath(root, "m/44'/0'/0'").PrivateKey().Raw().ToBytes())
    admin = Key(derived_key(root, "runar/admin-key/v1", network.public))
    peers = [Key(hashlib.sha256(b"peer %d" % index).digest()) for index in range(4)]
    slip0010()
    ed25519()
    encodings()
    phrases()
    derivation(root, network)
    identifiers(peers)
    token_rows = tokens(network, peers)
    connections(network, peers, token_rows)
    metadata_rows = metadata(network, admin)
    secret_rows = member_secrets(network, token_rows, metadata_rows)
    links(peers, token_rows, metadata_rows, secret_rows)
    revocations(network, peers)
    invitations(network, peers[0], peers[1])


main()
