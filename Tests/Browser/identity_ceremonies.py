"""Ceremonies of a real browser, which other implementations verify after the server accepted them."""

import base64
import json
import pathlib
import subprocess
import sys
import tempfile

PEER = pathlib.Path(__file__).parents[1] / "Interop" / "webauthn_peer.py"

# Keeps the responses of the authenticator as the pages send them.
RECORDER = """(() => {
    for (const name of ["create", "get"]) {
        const usual = navigator.credentials[name].bind(navigator.credentials);
        navigator.credentials[name] = async options => {
            const credential = await usual(options);
            sessionStorage.setItem(`ceremony.${name}`, JSON.stringify(credential.toJSON()));
            return credential;
        };
    }
})()"""


def record(page):
    """From the next page on the browser keeps the responses of its authenticator."""
    page.call("Page.addScriptToEvaluateOnNewDocument", source=RECORDER)


def verify(origin, registration, assertion):
    """py_webauthn and fido2 accept the registration and the sign-in."""
    ceremony = {
        "rp_id": "localhost",
        "origin": origin,
        "registration_challenge": challenge(registration),
        "registration": registration,
        "assertion_challenge": challenge(assertion),
        "assertion": assertion,
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(json.dumps(ceremony) + "\n")
        file.flush()
        run = subprocess.run([sys.executable, "-B", str(PEER), file.name], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == {"py_webauthn": "accepted: none", "fido2": "accepted: none"}, run.stdout


def recorded(page, name):
    """Returns the last response to `create` or `get`."""
    return json.loads(page.js(f"sessionStorage.getItem('ceremony.{name}')"))


def challenge(response):
    """The challenge that the browser signed; the server, which issued it, has compared it."""
    text = response["response"]["clientDataJSON"]
    data = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return data["challenge"]
