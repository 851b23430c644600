"""Verifies transactions of StoreKit with app-store-server-library; `check` says what is missing for that.

Each line of the file of the first argument is a request in JSON, answered by a line:
{"root": DER in base64, "bundleId": text, "sandbox": whether test accounts may buy, "strict": bool, "jws": text} by
{"accepted": true, "status": "OK"} or {"accepted": false, "status": name}. The library asks nothing online, so that it
validates the certificates at the time of the signature, and leaves the claims of a subscription to its caller. Apple's
mock certificates lack identifiers of keys: the library's own tests, too, verify them without OpenSSL's strict flag.
"""

import base64
import json
import sys

try:
    from appstoreserverlibrary.models.Environment import Environment
    from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
except ImportError as error:
    print(f"{error}; run ./scripts/python-env.sh")
    sys.exit(0)


def verify(request, environment):
    # Any identifier of an app: transactions have none.
    verifier = SignedDataVerifier([base64.b64decode(request["root"])], False, environment, request["bundleId"], 1)
    verifier._chain_verifier.enable_strict_checks = request["strict"]
    try:
        verifier.verify_and_decode_signed_transaction(request["jws"])
    except VerificationException as error:
        return error.status.name
    except Exception as error:
        # The claims are decoded after the verification, by a library that has errors of its own.
        return type(error).__name__
    return "OK"


def answer(request):
    status = verify(request, Environment.PRODUCTION)
    if status != "OK" and request["sandbox"]:
        status = verify(request, Environment.SANDBOX)
    return {"accepted": status == "OK", "status": status}


if sys.argv[1] == "check":
    print("")
    sys.exit(0)
for line in open(sys.argv[1], encoding="utf-8"):
    print(json.dumps(answer(json.loads(line))), flush=True)
