"""Writes policies.json beside it with `cryptography`: chains, the pinned roots for each, and the rule that it breaks.

    python3 -m venv .venv && .venv/bin/pip install "cryptography>=48"
    .venv/bin/python Tests/Vectors/Certificates/generate_policies.py
"""

import base64
import datetime
import hashlib
import json
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
END = datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc)
AT = int(datetime.datetime(2027, 1, 1, tzinfo=datetime.timezone.utc).timestamp())
LEAF, MIDDLE = "1.2.3.4.1", "1.2.3.4.2"
MESSAGE = b"message"


def key():
    return ec.generate_private_key(ec.SECP256R1())


def name(text):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def issue(subject, own, issuer, issuer_key, authority=False, length=None, oid=None, end=END, usage="", extra=None):
    hash = hashes.SHA256() if isinstance(issuer_key, rsa.RSAPrivateKey) else hashes.SHA384()
    builder = x509.CertificateBuilder(
        subject_name=name(subject), issuer_name=name(issuer), public_key=own.public_key(),
        serial_number=x509.random_serial_number(), not_valid_before=START, not_valid_after=end,
    )
    if authority is not None:
        builder = builder.add_extension(x509.BasicConstraints(authority, length), critical=True)
    if usage:
        usages = [use == usage for use in ("sign", "", "", "", "", "certify", "", "", "")]
        builder = builder.add_extension(x509.KeyUsage(*usages), critical=True)
    if oid:
        builder = builder.add_extension(x509.UnrecognizedExtension(x509.ObjectIdentifier(oid), b"\x05\x00"), False)
    if extra:
        builder = builder.add_extension(*extra)
    return builder.sign(issuer_key, hash)


def der(certificate):
    return base64.b64encode(certificate.public_bytes(Encoding.DER)).decode()


root_key, middle_key, second_key, leaf_key, rsa_key = key(), key(), key(), key(), rsa.generate_private_key(65537, 2048)
root = issue("Root", root_key, "Root", root_key, True)
middle = issue("Middle", middle_key, "Root", root_key, True, 0, MIDDLE)
leaf = issue("Leaf", leaf_key, "Middle", middle_key, oid=LEAF)
vectors = []


def add(label, chain, rule=None, roots=None, length=3, at=AT, leaf_oids=(LEAF,), middle_oids=(MIDDLE,)):
    fields = {
        "name": label, "chain": [each if isinstance(each, str) else der(each) for each in chain],
        "roots": [der(each) for each in roots or [root]], "length": length, "at": at,
        "leafExtensions": list(leaf_oids), "intermediateExtensions": list(middle_oids), "rule": rule,
    }
    vectors.append({field: value for field, value in fields.items() if value is not None})


whole = [leaf, middle, root]
start, end = int(START.timestamp()), int(END.timestamp())
add("three certificates", whole)
add("another root is pinned, too", whole, roots=[issue("Root", second_key, "Root", second_key, True), root])
add("the last certificate is another one", [leaf, middle, "AA=="])
add("no extensions are required", whole, leaf_oids=(), middle_oids=())
add("the first second", whole, at=start)
add("the last second", whole, at=end)
direct = issue("Leaf", leaf_key, "Root", root_key, oid=LEAF)
add("two certificates", [direct, root], length=2)
rsa_root = issue("RSA", rsa_key, "RSA", rsa_key, True)
add("an RSA root", [issue("Leaf", leaf_key, "RSA", rsa_key, oid=LEAF), rsa_root], length=2, roots=[rsa_root])
upper = issue("Upper", second_key, "Root", root_key, True, 1, MIDDLE)
lower = issue("Middle", middle_key, "Upper", second_key, True, 0, MIDDLE)
add("four certificates", [leaf, lower, upper, root], length=4)
add("the purposes by key usage", [
    issue("Leaf", leaf_key, "Middle", middle_key, oid=LEAF, usage="sign"),
    issue("Middle", middle_key, "Root", root_key, True, 0, MIDDLE, usage="certify"), root])

add("one certificate more than allowed", [leaf, lower, upper, root], "wrongLength")
add("one certificate less than required", [direct, root], "wrongLength")
add("no certificate", [], "wrongLength")
add("a leaf that is no certificate", ["AA==", middle, root], "malformed")
add("bytes behind an intermediate", [
    leaf, base64.b64encode(middle.public_bytes(Encoding.DER) + b"\0").decode(), root], "malformed")
add("a certificate beyond the limit", [base64.b64encode(bytes(8_193)).decode(), middle, root], "malformed")
add("a leaf of another issuer", [issue("Leaf", leaf_key, "Other", middle_key, oid=LEAF), middle, root],
    "notIssuedByNext")
add("a leaf signed by another key", [issue("Leaf", leaf_key, "Middle", second_key, oid=LEAF), middle, root],
    "notIssuedByNext")
add("a root that is not pinned", whole, "unknownRoot", roots=[issue("Root", second_key, "Root", second_key, True)])
add("a pinned key under another name", whole, "unknownRoot", roots=[issue("Other", root_key, "Other", root_key, True)])
add("a second after the end", whole, "expired", at=end + 1)
add("a second before the start", whole, "notYetValid", at=start - 1)
old_root = issue("Root", root_key, "Root", root_key, True, end=START + datetime.timedelta(1))
add("a root that was renewed with one key", whole, roots=[old_root, root])
add("an expired root", whole, "expired", roots=[old_root])
add("a leaf without its extension", [issue("Leaf", leaf_key, "Middle", middle_key), middle, root], "missingExtension")
add("an intermediate without its extension", [leaf, issue("Middle", middle_key, "Root", root_key, True, 0), root],
    "missingExtension")
add("a second intermediate without its extension", [
    leaf, lower, issue("Upper", second_key, "Root", root_key, True, 1), root], "missingExtension", length=4)
add("a leaf that may only certify", [
    issue("Leaf", leaf_key, "Middle", middle_key, oid=LEAF, usage="certify"), middle, root], "wrongKeyUsage")
add("an intermediate that may only sign", [
    leaf, issue("Middle", middle_key, "Root", root_key, True, 0, MIDDLE, usage="sign"), root], "wrongKeyUsage")
add("an intermediate that is no authority", [
    leaf, issue("Middle", middle_key, "Root", root_key, False, None, MIDDLE), root], "pathRefused")
add("an intermediate without basic constraints", [
    leaf, issue("Middle", middle_key, "Root", root_key, None, None, MIDDLE), root], "pathRefused")
add("a path that is too long", [leaf, lower, issue("Upper", second_key, "Root", root_key, True, 0, MIDDLE), root],
    "pathRefused", length=4)
permitted = x509.NameConstraints([x509.DNSName("example.com")], None)
named = x509.SubjectAlternativeName([x509.DNSName("example.org")])
add("a name that the intermediate may not certify", [
    issue("Leaf", leaf_key, "Middle", middle_key, oid=LEAF, extra=(named, False)),
    issue("Middle", middle_key, "Root", root_key, True, 0, MIDDLE, extra=(permitted, True)), root], "pathRefused")
unknown = (x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.5"), b"\x05\x00"), True)
add("an unknown critical extension of the leaf", [
    issue("Leaf", leaf_key, "Middle", middle_key, oid=LEAF, extra=unknown), middle, root], "pathRefused")
add("an unknown critical extension of the intermediate", [
    leaf, issue("Middle", middle_key, "Root", root_key, True, 0, MIDDLE, extra=unknown), root], "pathRefused")

signature = leaf_key.sign(MESSAGE, ec.ECDSA(hashes.SHA256()))
r, s = decode_dss_signature(signature)
path = pathlib.Path(__file__).parent / "policies.json"
path.write_text(json.dumps({
    "vectors": vectors,
    "message": base64.b64encode(MESSAGE).decode(),
    "rawSignature": base64.b64encode(r.to_bytes(32, "big") + s.to_bytes(32, "big")).decode(),
    "derSignature": base64.b64encode(signature).decode(),
    "rsaLeaf": [der(issue("Leaf", rsa_key, "Middle", middle_key, oid=LEAF)), der(middle), der(root)],
    "roots": {
        "pem": (root.public_bytes(Encoding.PEM) + rsa_root.public_bytes(Encoding.PEM)).decode(),
        "der": der(root), "digest": hashlib.sha256(root.public_bytes(Encoding.DER)).hexdigest(), "leaf": der(leaf),
    },
}, indent=1) + "\n", encoding="utf-8")
