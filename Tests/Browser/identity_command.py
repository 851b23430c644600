"""The part of a command in a ceremony: the key of a DID, and the requests that begin and end the ceremony."""

import base64
import struct

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
LABEL = b"runar/did-proof/v1"


def base64url(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def base58(content):
    number, text = int.from_bytes(content, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = LETTERS[digit] + text
    return text


class DIDKey:
    """A key on P-256 and its did:key."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        form = serialization.PublicFormat.CompressedPoint
        point = self.key.public_key().public_bytes(serialization.Encoding.X962, form)
        self.did = f"did:key:z{base58(bytes([0x80, 0x24]) + point)}"

    def proof(self, challenge, handle):
        """Returns r and s over the label and the values of a registration, each after its length."""
        content = base64.urlsafe_b64decode(challenge + "=" * (-len(challenge) % 4))
        values = [content, b"localhost", handle.encode(), self.did.encode()]
        message = bytes([len(LABEL)]) + LABEL + b"".join(struct.pack(">I", len(one)) + one for one in values)
        r, s = utils.decode_dss_signature(self.key.sign(message, ec.ECDSA(hashes.SHA256())))
        return base64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))

    def registration(self, server, handle):
        """Returns the form that begins the ceremony of a registration."""
        answer = server.ask("GET", f"/register/{handle}?handle={handle}&did={self.did}")
        challenge = answer["publicKey"]["challenge"]
        proof = self.proof(challenge, handle)
        return {"purpose": "register", "handle": handle, "did": self.did, "challenge": challenge, "didProof": proof}


def result(server, ceremony):
    """Returns the state of a ceremony as the command gets it."""
    return server.ask("GET", f"/ceremonies/{ceremony['id']}", x_ceremony_secret=ceremony["secret"])
