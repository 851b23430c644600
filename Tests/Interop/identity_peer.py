"""A client of the identity server that is not ours: an authenticator made of `cryptography` and `cbor2`, and
schemathesis, which makes requests from the description that the server serves.

identity_peer.py check            prints what is missing, or an empty line
identity_peer.py accounts PORT    plays registrations and sign-ins at http://localhost:PORT: a line of JSON for each
                                  claim, {"claim", "failure"}; the failure is null if the claim holds
identity_peer.py examples PORT COUNT
                                  sends up to COUNT examples to each operation of /openapi.json: a line of JSON for each
                                  operation, {"operation", "count", "failure"}
"""

import base64
import hashlib
import http.client
import json
import os
import sys

USER_PRESENT, USER_VERIFIED, ATTESTED = 0x01, 0x04, 0x40
# The base58 alphabet of Bitcoin, which did:key uses.
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def missing():
    try:
        import cbor2  # noqa: F401
        import cryptography  # noqa: F401
        import schemathesis  # noqa: F401
    except ImportError as error:
        return str(error)
    return ""


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def base58(data):
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, rest = divmod(number, 58)
        text = ALPHABET[rest] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


class Key:
    """A key on P-256."""

    def __init__(self):
        from cryptography.hazmat.primitives.asymmetric import ec

        self.key = ec.generate_private_key(ec.SECP256R1())

    def point(self):
        numbers = self.key.public_key().public_numbers()
        return numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")

    def did(self):
        x, y = self.point()
        return "did:key:z" + base58(b"\x80\x24" + bytes([2 + y[-1] % 2]) + x)

    def sign(self, message):
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec

        return self.key.sign(message, ec.ECDSA(hashes.SHA256()))

    def sign_raw(self, message):
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        r, s = decode_dss_signature(self.sign(message))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")


class Authenticator:
    """One passkey, with its client."""

    def __init__(self, origin):
        self.origin = origin
        self.key = Key()
        self.id = os.urandom(32)
        self.user = None
        self.count = 0

    def client_data(self, kind, challenge):
        members = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(members, separators=(",", ":")).encode()

    def data(self, rp_id, flags):
        self.count += 1
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def create(self, options, flags=USER_PRESENT | USER_VERIFIED):
        import cbor2

        x, y = self.key.point()
        self.user = options["user"]["id"]
        public = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        data = self.data(options["rp"]["id"], flags | ATTESTED)
        data += bytes(16) + len(self.id).to_bytes(2, "big") + self.id + public
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        response = {
            "clientDataJSON": encode(self.client_data("webauthn.create", options["challenge"])),
            "attestationObject": encode(attestation),
            "transports": ["internal"],
        }
        return self.credential(response)

    def get(self, options, flags=USER_PRESENT | USER_VERIFIED):
        client_data = self.client_data("webauthn.get", options["challenge"])
        data = self.data(options["rpId"], flags)
        response = {
            "clientDataJSON": encode(client_data),
            "authenticatorData": encode(data),
            "signature": encode(self.key.sign(data + hashlib.sha256(client_data).digest())),
            "userHandle": self.user,
        }
        return self.credential(response)

    def credential(self, response):
        name = encode(self.id)
        return {"id": name, "rawId": name, "type": "public-key", "response": response, "clientExtensionResults": {}}


class Server:
    def __init__(self, port):
        self.port = port
        self.origin = f"http://localhost:{port}"

    def ask(self, method, path, form=None, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        body = json.dumps(form) if form is not None else None
        named = {name.replace("_", "-"): value for name, value in fields.items()}
        if body is not None:
            named["Content-Type"] = "application/json"
        connection.request(method, path, body, {"Host": f"localhost:{self.port}", **named})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, json.loads(content), answer.headers

    def options(self, handle, did):
        status, answer, _ = self.ask("GET", f"/register/{handle}?handle={handle}&did={did}")
        assert status == 200, answer
        return answer["publicKey"]


def did_proof(key, options, handle):
    """Signs a label after its length in one byte, and four values after their lengths in four bytes."""
    label = b"runar/did-proof/v1"
    message = bytes([len(label)]) + label
    texts = [options["rp"]["id"].encode(), handle.encode(), key.did().encode()]
    for value in [decode(options["challenge"])] + texts:
        message += len(value).to_bytes(4, "big") + value
    return encode(key.sign_raw(message))


def register(server, handle, flags=USER_PRESENT | USER_VERIFIED):
    """A registration: the status, the answer, its fields and the authenticator."""
    key, authenticator = Key(), Authenticator(server.origin)
    options = server.options(handle, key.did())
    form = authenticator.create(options, flags)
    form.update(handle=handle, did=key.did(), didProof=did_proof(key, options, handle))
    return (*server.ask("POST", "/register", form), authenticator)


def sign_in(server, authenticator, path, flags=USER_PRESENT | USER_VERIFIED):
    status, answer, _ = server.ask("GET", path)
    assert status == 200, answer
    return server.ask("POST", "/authenticate", authenticator.get(answer["publicKey"], flags))


def expect(answer, status, code):
    found, content = answer[0], answer[1]
    assert (found, content["error"]["code"]) == (status, code), (found, content)
    assert content["error"]["message"], content


def claims(server):
    known = {}

    def registers():
        status, answer, fields, authenticator = register(server, "alice")
        assert status == 200, answer
        assert answer["handle"].startswith("alice.") and fields["x-auth-token"] == answer["token"], answer
        known.update(authenticator=authenticator, user=answer["userId"], token=answer["token"])

    def both_fields():
        for name, value in (("Authorization", "Bearer " + known["token"]), ("x_auth_token", known["token"])):
            status, answer, _ = server.ask("GET", "/account", **{name: value})
            assert (status, answer["userId"]) == (200, known["user"]), answer

    def signs_in():
        for path in ("/authenticate/alice", "/authenticate"):
            status, answer, _ = sign_in(server, known["authenticator"], path)
            assert (status, answer["userId"]) == (200, known["user"]), answer

    def needs_verification():
        expect(register(server, "bob", USER_PRESENT), 403, "user-not-verified")
        expect(sign_in(server, known["authenticator"], "/authenticate/alice", USER_PRESENT), 403, "user-not-verified")
        status, answer, _ = server.ask("GET", "/xrpc/com.atproto.identity.resolveHandle?handle=bob.localhost.test")
        assert (status, answer["error"]) == (404, "HandleNotFound"), answer

    def needs_own_proof():
        key, other, authenticator = Key(), Key(), Authenticator(server.origin)
        options = server.options("carol", key.did())
        form = authenticator.create(options)
        form.update(handle="carol", did=key.did(), didProof=did_proof(other, options, "carol"))
        status, answer, _ = server.ask("POST", "/register", form)
        assert 400 <= status < 500, answer

    def needs_own_origin():
        key, authenticator = Key(), Authenticator("https://evil.example.org")
        options = server.options("dave", key.did())
        form = authenticator.create(options)
        form.update(handle="dave", did=key.did(), didProof=did_proof(key, options, "dave"))
        status, answer, _ = server.ask("POST", "/register", form, Origin="https://evil.example.org")
        assert status == 403, answer

    def hides_accounts():
        stranger = Authenticator(server.origin)
        stranger.user = known["authenticator"].user
        expect(sign_in(server, stranger, "/authenticate/alice"), 403, "not-signed-in")
        expect(sign_in(server, stranger, "/authenticate/nobodyhere"), 403, "not-signed-in")

    yield "a registration signs in, with the token in the body and in a field", registers
    yield "both fields of a token are accepted", both_fields
    yield "a sign-in needs the passkey alone", signs_in
    yield "an authenticator that does not verify its user is refused", needs_verification
    yield "a proof by another key is refused", needs_own_proof
    yield "a passkey for another origin is refused", needs_own_origin
    yield "a wrong passkey is refused alike with and without an account", hides_accounts


def accounts(port):
    server = Server(port)
    for claim, check in claims(server):
        failure = None
        try:
            check()
        except Exception as error:  # each is a line of the report
            failure = f"{type(error).__name__}: {error}"
        print(json.dumps({"claim": claim, "failure": failure}), flush=True)


def examples(port, count):
    import hypothesis
    import schemathesis

    schema = schemathesis.openapi.from_url(f"http://localhost:{port}/openapi.json")
    chosen = hypothesis.settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    for result in schema.get_all_operations():
        operation, sent = result.ok(), []

        @chosen
        @hypothesis.given(case=operation.as_strategy())
        def check(case):
            answer = case.call(base_url=f"http://localhost:{port}", timeout=60)
            sent.append(answer.status_code)
            assert answer.status_code < 500, (answer.status_code, answer.text)
            if answer.status_code >= 400:
                assert "error" in answer.json(), answer.text

        failure = None
        try:
            check()
        except Exception as error:  # each is a line of the report
            failure = f"{type(error).__name__}: {error}"
        print(json.dumps({"operation": operation.label, "count": len(sent), "failure": failure}), flush=True)


def main(words):
    if words[0] == "check":
        return print(missing())
    {"accounts": accounts, "examples": examples}[words[0]](*map(int, words[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
