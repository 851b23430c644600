"""Verifies ceremonies of passkeys with py_webauthn and fido2; `check` says what is missing for that.

Each line of the file of the first argument is a ceremony in JSON, with the responses in the form of Level 3:
{"rp_id", "origin", "registration_challenge", "registration", "assertion_challenge", "assertion"}. It is answered by a line
{"py_webauthn": result, "fido2": result}, in which a result is "accepted" and the kind of attestation, or the error.
"""

import json
import sys

try:
    import webauthn
    from fido2.attestation import Attestation
    from fido2.server import Fido2Server
    from fido2.webauthn import AttestedCredentialData, PublicKeyCredentialRpEntity
    from webauthn.helpers import base64url_to_bytes
except ImportError as error:
    print(f"{error}; run ./scripts/python-env.sh")
    sys.exit(0)


def with_py_webauthn(ceremony):
    new = webauthn.verify_registration_response(
        credential=ceremony["registration"],
        expected_challenge=base64url_to_bytes(ceremony["registration_challenge"]),
        expected_rp_id=ceremony["rp_id"],
        expected_origin=ceremony["origin"],
        require_user_verification=True,
    )
    webauthn.verify_authentication_response(
        credential=ceremony["assertion"],
        expected_challenge=base64url_to_bytes(ceremony["assertion_challenge"]),
        expected_rp_id=ceremony["rp_id"],
        expected_origin=ceremony["origin"],
        credential_public_key=new.credential_public_key,
        credential_current_sign_count=new.sign_count,
        require_user_verification=True,
    )
    return str(new.fmt)


def with_fido2(ceremony):
    kinds = []

    def verify(attestation, client_data_hash):
        result = Attestation.for_type(attestation.fmt)().verify(
            attestation.att_stmt, attestation.auth_data, client_data_hash
        )
        kinds.append(result.attestation_type.name.lower())

    server = Fido2Server(
        PublicKeyCredentialRpEntity(id=ceremony["rp_id"], name="test"),
        attestation="direct",
        verify_origin=lambda origin: origin == ceremony["origin"],
        verify_attestation=verify,
    )
    state = {"challenge": ceremony["registration_challenge"], "user_verification": "required"}
    data = server.register_complete(state, ceremony["registration"])
    credential = AttestedCredentialData(data.credential_data)
    state = {"challenge": ceremony["assertion_challenge"], "user_verification": "required"}
    server.authenticate_complete(state, [credential], ceremony["assertion"])
    return kinds[0]


def result(verify, ceremony):
    try:
        return f"accepted: {verify(ceremony)}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if sys.argv[1] == "check":
    print("")
    sys.exit(0)
for line in open(sys.argv[1], encoding="utf-8"):
    ceremony = json.loads(line)
    reply = {"py_webauthn": result(with_py_webauthn, ceremony), "fido2": result(with_fido2, ceremony)}
    print(json.dumps(reply), flush=True)
