"""Writes purchases.json beside it with `cryptography`: chains like those of the App Store, and transactions with one
thing wrong each. The keys are new at every run.

    python3 -m venv .venv && .venv/bin/pip install "cryptography>=48"
    .venv/bin/python Tests/Vectors/TokenIssuer/generate_purchases.py

`error` is the case of the error of `PurchaseProof`, and with `rule` that of `ChainPolicyError`. `difference` is the
reason why app-store-server-library accepts a transaction that is refused here.
"""

import base64
import datetime
import hashlib
import hmac
import json
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
LEAF_END = datetime.datetime(2028, 1, 1, tzinfo=datetime.timezone.utc)
END = datetime.datetime(2049, 12, 31, tzinfo=datetime.timezone.utc)
NOW = datetime.datetime(2027, 6, 1, 12, tzinfo=datetime.timezone.utc)
# A year after the leaf has expired.
LATER = datetime.datetime(2029, 1, 1, tzinfo=datetime.timezone.utc)
LEAF_OID = "1.2.840.113635.100.6.11.1"
AUTHORITY_OID = "1.2.840.113635.100.6.2.1"
OFFLINE = "offline it validates the certificates at signedDate and bounds its age by nothing"
CLAIMS = "its caller decides about the claims of a subscription"
STRICT = "it reads segments and JSON less strictly"


def key():
    return ec.generate_private_key(ec.SECP256R1())


def name(text):
    return x509.Name([
        x509.NameAttribute(x509.NameOID.COMMON_NAME, text), x509.NameAttribute(x509.NameOID.COUNTRY_NAME, "ZZ")
    ])


def certificate(subject, own, issuer, issuer_key, *, end=END, authority=False, length=None, oid=None, usage=None,
                critical=None):
    builder = x509.CertificateBuilder(
        subject_name=name(subject), issuer_name=name(issuer), public_key=own.public_key(),
        serial_number=x509.random_serial_number(), not_valid_before=START, not_valid_after=end,
    )
    usages = dict.fromkeys(
        ["digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
         "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"], False)
    usages |= {use: True for use in usage or (["key_cert_sign", "crl_sign"] if authority else ["digital_signature"])}
    extensions = [
        (x509.BasicConstraints(authority, length), True), (x509.KeyUsage(**usages), True),
        (x509.SubjectKeyIdentifier.from_public_key(own.public_key()), False),
    ]
    if own is not issuer_key:
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
        extensions.append((identifier, False))
    if oid:
        extensions.append((x509.UnrecognizedExtension(x509.ObjectIdentifier(oid), b"\x05\x00"), False))
    if critical:
        extensions.append((x509.UnrecognizedExtension(x509.ObjectIdentifier(critical), b"\x05\x00"), True))
    for extension, is_critical in extensions:
        builder = builder.add_extension(extension, critical=is_critical)
    return builder.sign(issuer_key, hashes.SHA256() if isinstance(own, rsa.RSAPrivateKey) else hashes.SHA384())


def der(value):
    return value.public_bytes(Encoding.DER)


def url(value):
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def milliseconds(time):
    return int(time.timestamp() * 1000)


ROOT_KEY, AUTHORITY_KEY, LEAF_KEY = key(), key(), key()
ROOT = certificate("Test Root", ROOT_KEY, "Test Root", ROOT_KEY, authority=True)
AUTHORITY = certificate("Test Authority", AUTHORITY_KEY, "Test Root", ROOT_KEY, authority=True, length=0,
                        oid=AUTHORITY_OID)


def leaf(own=LEAF_KEY, issuer="Test Authority", issuer_key=AUTHORITY_KEY, **options):
    options = {"end": LEAF_END, "oid": LEAF_OID} | options
    return certificate("Test Signer", own, issuer, issuer_key, **options)


LEAF = leaf()
CHAIN = [LEAF, AUTHORITY, ROOT]


def claims(now=NOW, **changes):
    fields = {
        "transactionId": "2000000000000002", "originalTransactionId": "2000000000000001",
        "bundleId": "com.example.exit", "productId": "com.example.exit.month", "type": "Auto-Renewable Subscription",
        "environment": "Production", "purchaseDate": milliseconds(now) - 86_400_000,
        "expiresDate": milliseconds(now) + 86_400_000, "signedDate": milliseconds(now) - 60_000,
        "inAppOwnershipType": "PURCHASED", "quantity": 1, "price": 4990, "currency": "EUR", "isUpgraded": False,
    } | changes
    return {field: value for field, value in fields.items() if value is not None}


def es256(message, signer):
    r, s = decode_dss_signature(signer.sign(message, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def sign(payload, chain=CHAIN, signer=LEAF_KEY, header=None, algorithm=es256):
    fields = {"alg": "ES256", "x5c": [base64.b64encode(der(each)).decode() for each in chain]} | (header or {})
    fields = {field: value for field, value in fields.items() if value is not None}
    text = payload if isinstance(payload, str) else json.dumps(payload)
    message = f"{url(json.dumps(fields).encode())}.{url(text.encode())}"
    return f"{message}.{url(algorithm(message.encode(), signer))}"


vectors = []


def add(label, jws, error=None, rule=None, now=NOW, sandbox=False, difference=None):
    fields = {"name": label, "jws": jws, "error": error, "rule": rule, "now": int(now.timestamp()),
              "allowsSandbox": sandbox, "difference": difference}
    vectors.append({field: value for field, value in fields.items() if value is not None})


def encoded(value):
    return base64.b64encode(der(value)).decode()


VALID = sign(claims())
HEADER, PAYLOAD, SIGNATURE = VALID.split(".")

add("a subscription", VALID)
add("a purchase without an end", sign(claims(type="Non-Consumable", expiresDate=None)))
add("a sandbox purchase at a test issuer", sign(claims(environment="Sandbox")), sandbox=True)
add("a null revocation", sign(json.dumps(claims() | {"revocationDate": None})))
add("a signature at the end of the grace", sign(claims(signedDate=milliseconds(NOW) + 60_000)))
add("a signature as old as allowed", sign(claims(signedDate=milliseconds(NOW) - 86_400_000)))
add("another certificate in the place of the root", sign(claims(), chain=[LEAF, AUTHORITY, LEAF]))

# Certificates.
add("a leaf without its extension", sign(claims(), chain=[leaf(oid=None), AUTHORITY, ROOT]), "untrusted",
    "missingExtension")
plain = certificate("Test Authority", AUTHORITY_KEY, "Test Root", ROOT_KEY, authority=True, length=0)
add("an intermediate without its extension", sign(claims(), chain=[LEAF, plain, ROOT]), "untrusted",
    "missingExtension")
add("swapped extensions", sign(claims(), chain=[leaf(oid=AUTHORITY_OID), AUTHORITY, ROOT]), "untrusted",
    "missingExtension")
add("an expired leaf", sign(claims(LATER)), "untrusted", "expired", now=LATER)
add("an expired leaf with a time of signature inside its validity",
    sign(claims(LATER, signedDate=milliseconds(LEAF_END) - 1_000)), "signedTooLongAgo", now=LATER, difference=OFFLINE)
add("a time of signature before the leaf is valid", sign(claims(signedDate=milliseconds(START) - 1_000)), "untrusted",
    "notYetValid")
early = certificate("Test Authority", AUTHORITY_KEY, "Test Root", ROOT_KEY, authority=True, length=0,
                    oid=AUTHORITY_OID, end=NOW - datetime.timedelta(days=1))
add("an expired intermediate", sign(claims(), chain=[LEAF, early, ROOT]), "untrusted", "expired")
add("the signature of another key", sign(claims(), signer=key()), "badSignature")
other_key = key()
other = certificate("Test Authority", other_key, "Test Root", ROOT_KEY, authority=True, length=0, oid=AUTHORITY_OID)
add("an intermediate of another key", sign(claims(), chain=[LEAF, other, ROOT]), "untrusted", "notIssuedByNext")
add("a missing intermediate", sign(claims(), chain=[LEAF, ROOT]), "untrusted", "wrongLength")
add("a leaf alone", sign(claims(), chain=[LEAF]), "untrusted", "wrongLength")
add("four certificates", sign(claims(), chain=[LEAF, AUTHORITY, AUTHORITY, ROOT]), "untrusted", "wrongLength")
add("no certificates", sign(claims(), chain=[]), "untrusted", "wrongLength")
add("certificates out of order", sign(claims(), chain=[AUTHORITY, LEAF, ROOT]), "untrusted", "notIssuedByNext")
own_key, own_authority_key = key(), key()
own_root = certificate("Test Root", own_key, "Test Root", own_key, authority=True)
own_authority = certificate("Test Authority", own_authority_key, "Test Root", own_key, authority=True, length=0,
                            oid=AUTHORITY_OID)
own_leaf = leaf(issuer_key=own_authority_key)
add("a self-made root of the same name", sign(claims(), chain=[own_leaf, own_authority, own_root]), "untrusted",
    "unknownRoot")
add("a self-made chain with the trusted root behind it", sign(claims(), chain=[own_leaf, own_authority, ROOT]),
    "untrusted", "unknownRoot")
middle = certificate("Test Signer", LEAF_KEY, "Test Authority", AUTHORITY_KEY, oid=AUTHORITY_OID)
end_key = key()
below = leaf(end_key, issuer="Test Signer", issuer_key=LEAF_KEY)
add("a certificate that a leaf issued", sign(claims(), chain=[below, middle, AUTHORITY], signer=end_key), "untrusted",
    "unknownRoot")
no_authority = certificate("Test Authority", AUTHORITY_KEY, "Test Root", ROOT_KEY, oid=AUTHORITY_OID,
                           usage=["key_cert_sign"])
add("an intermediate that is no authority", sign(claims(), chain=[LEAF, no_authority, ROOT]), "untrusted",
    "pathRefused")
no_signer = certificate("Test Authority", AUTHORITY_KEY, "Test Root", ROOT_KEY, authority=True, length=0,
                        oid=AUTHORITY_OID, usage=["digital_signature"])
add("an intermediate that may not sign certificates", sign(claims(), chain=[LEAF, no_signer, ROOT]), "untrusted",
    "wrongKeyUsage")
add("a leaf that may not sign messages", sign(claims(), chain=[leaf(usage=["key_agreement"]), AUTHORITY, ROOT]),
    "untrusted", "wrongKeyUsage", difference="it does not compare the key usage of the leaf")
add("an unknown critical extension", sign(claims(), chain=[leaf(critical="1.2.3.4"), AUTHORITY, ROOT]), "untrusted",
    "pathRefused")
damaged = bytearray(der(LEAF))
damaged[-1] ^= 1
add("a damaged leaf", sign(claims(), header={"x5c": [base64.b64encode(damaged).decode(), encoded(AUTHORITY),
                                                     encoded(ROOT)]}), "untrusted", "notIssuedByNext")
add("bytes behind a certificate", sign(claims(), header={
    "x5c": [base64.b64encode(der(LEAF) + b"\0").decode(), encoded(AUTHORITY), encoded(ROOT)]}), "untrusted",
    "malformed", difference="OpenSSL ignores bytes behind a certificate")
rsa_key = rsa.generate_private_key(65537, 2048)


def rs256(message, signer):
    return signer.sign(message, padding.PKCS1v15(), hashes.SHA256())


rsa_chain = [leaf(rsa_key), AUTHORITY, ROOT]
p384_key = ec.generate_private_key(ec.SECP384R1())


def es384(message, signer):
    r, s = decode_dss_signature(signer.sign(message, ec.ECDSA(hashes.SHA384())))
    return r.to_bytes(48, "big") + s.to_bytes(48, "big")


# Algorithms.
add("no algorithm", sign(claims(), header={"alg": "none"}, algorithm=lambda message, signer: b""), "algorithmRefused")
add("a missing algorithm", sign(claims(), header={"alg": None}), "algorithmRefused")
add("an algorithm in small letters", sign(claims(), header={"alg": "es256"}), "algorithmRefused")
add("RS256 by an RSA leaf", sign(claims(), rsa_chain, rsa_key, {"alg": "RS256"}, rs256), "algorithmRefused")
add("ES384 by a P-384 leaf", sign(claims(), [leaf(p384_key), AUTHORITY, ROOT], p384_key, {"alg": "ES384"}, es384),
    "algorithmRefused")
add("HS256 with the leaf as its secret", sign(
    claims(), header={"alg": "HS256"},
    algorithm=lambda message, signer: hmac.new(der(LEAF), message, hashlib.sha256).digest()), "algorithmRefused")
add("ES256 in the header of an RSA leaf", sign(claims(), rsa_chain, rsa_key, None, rs256), "badSignature")
add("ES256 in the header of a P-384 leaf", sign(claims(), [leaf(p384_key), AUTHORITY, ROOT], p384_key, None, es384),
    "badSignature")
add("a required extension of the header", sign(claims(), header={"crit": ["exp"], "exp": 1}), "malformed")
add("a signature in DER", sign(
    claims(), algorithm=lambda message, signer: signer.sign(message, ec.ECDSA(hashes.SHA256()))), "badSignature")
add("a signature of zeros", f"{HEADER}.{PAYLOAD}.{url(bytes(64))}", "badSignature")
add("a short signature", f"{HEADER}.{PAYLOAD}.{url(bytes(63))}", "badSignature")
add("an altered payload", f"{HEADER}.{url(json.dumps(claims(quantity=2)).encode())}.{SIGNATURE}", "badSignature")
other_header = json.dumps({"alg": "ES256", "x5c": [encoded(each) for each in CHAIN], "typ": "JWT"})
add("an altered header", f"{url(other_header.encode())}.{PAYLOAD}.{SIGNATURE}", "badSignature")

# Text.
add("trailing data", VALID + "AA", "badSignature")
add("a trailing line break", VALID + "\n", "malformed")
add("padding", VALID + "==", "malformed", difference=STRICT)
add("a fourth segment", VALID + ".AA", "malformed")
add("two segments", f"{HEADER}.{PAYLOAD}", "malformed")
add("an empty text", "", "malformed")
add("a huge text", sign(claims(appAccountToken="A" * 16_384)), "tooLong",
    difference="it has no bound on the size of its input")
add("a duplicate claim", sign(json.dumps(claims())[:-1] + ', "productId": "com.example.exit.month"}'), "malformed",
    difference=STRICT)
add("a payload that is no object", sign("[]"), "malformed")
add("certificates in base64url", sign(claims(), header={"x5c": [url(der(each)) for each in CHAIN]}), "malformed")
add("certificates that are no list", sign(claims(), header={"x5c": encoded(LEAF)}), "malformed")
add("no field of certificates", sign(claims(), header={"x5c": None}), "malformed")

# Claims.
add("another app", sign(claims(bundleId="com.example.other")), "otherApp")
add("a sandbox purchase", sign(claims(environment="Sandbox")), "environmentRefused")
add("a purchase of Xcode", sign(claims(environment="Xcode")), "environmentRefused", sandbox=True)
add("a purchase of a local test", sign(claims(environment="LocalTesting")), "environmentRefused", sandbox=True)
add("no environment", sign(claims(environment=None)), "invalidClaim")
add("a product without an allowance", sign(claims(productId="com.example.exit.other")), "unknownProduct",
    difference=CLAIMS)
add("a revoked purchase", sign(claims(revocationDate=milliseconds(NOW) - 1_000)), "revoked", difference=CLAIMS)
add("a purchase that an upgrade replaced", sign(claims(isUpgraded=True)), "replaced", difference=CLAIMS)
add("an expired subscription", sign(claims(expiresDate=milliseconds(NOW))), "expired", difference=CLAIMS)
add("a subscription without an end", sign(claims(expiresDate=None)), "invalidClaim", difference=CLAIMS)
add("a time of signature in the future", sign(claims(signedDate=milliseconds(NOW) + 61_000)), "signedInFuture",
    difference=OFFLINE)
add("an old signature", sign(claims(signedDate=milliseconds(NOW) - 86_401_000)), "signedTooLongAgo",
    difference=OFFLINE)
add("no time of signature", sign(claims(signedDate=None), chain=[leaf(end=END), AUTHORITY, ROOT]), "invalidClaim",
    difference="without signedDate it validates the certificates at the present time")
add("a fractional time", sign(claims(signedDate=milliseconds(NOW) + 0.5)), "invalidClaim", difference=STRICT)
add("a time as text", sign(claims(signedDate=str(milliseconds(NOW)))), "invalidClaim", difference=STRICT)
add("a time beyond all calendars", sign(claims(signedDate=2**64)), "invalidClaim")
add("no original transaction", sign(claims(originalTransactionId=None)), "invalidClaim", difference=CLAIMS)
add("an empty original transaction", sign(claims(originalTransactionId="")), "invalidClaim", difference=CLAIMS)

path = pathlib.Path(__file__).parent / "purchases.json"
document = {
    "root": encoded(ROOT), "bundleId": "com.example.exit", "productId": "com.example.exit.month", "allowance": 500,
    "originalTransactionId": "2000000000000001", "vectors": vectors,
}
path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
