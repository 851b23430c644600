"""A person at the pages of the identity server, with an authenticator that the browser simulates."""

import itertools
import re
import secrets

from identity_server import shared_server
from scene import Device

NUMBERS = itertools.count(1)

# The pages ask whether a handle has an account, and the browser notes that one has not.
FREE = re.compile(r"responded with a status of 404 .*resolveHandle")

# What the pages have asked the browser to tell those that keep passkeys.
SPY = """(() => {
    window.signals = [];
    for (const name of ["signalAllAcceptedCredentials", "signalUnknownCredential"])
        PublicKeyCredential[name] = async details => { signals.push([name, details]); };
})()"""

# How the pages ask for a passkey: "conditional" is the offer in a field. A dialog opens only after `openDialog`: an
# authenticator that is not touched at that moment never answers.
MEDIATIONS = """(() => {
    const usual = navigator.credentials.get.bind(navigator.credentials);
    const mayOpen = new Promise(resolve => { window.openDialog = resolve; });
    window.mediations = [];
    navigator.credentials.get = async options => {
        mediations.push(options.mediation ?? "dialog");
        if (!options.mediation) await mayOpen;
        return usual(options);
    };
})()"""

AUTHENTICATOR = {
    "protocol": "ctap2",
    "ctap2Version": "ctap2_1",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def new_handle():
    """Returns a handle that no scenario and no earlier run has."""
    return f"p{next(NUMBERS)}-{secrets.token_hex(4)}"


def base64url(text):
    """Returns base64 as the pages write it."""
    return text.rstrip("=").replace("+", "-").replace("/", "_")


class Visitor(Device):
    """A browser context at the pages, with a passkey provider of its own."""

    def __init__(self, scene, name="visitor"):
        super().__init__(scene, name, shared=shared_server(scene.stage))
        scene.devices.append(self)
        scene.expected.append(FREE)
        self.start()
        self.page.call("WebAuthn.enable", enableUI=False)
        self.authenticator = self.attach("internal", defaultBackupEligibility=True, defaultBackupState=True)

    def attach(self, transport, **options):
        """Connects an authenticator and returns its id."""
        options = {**AUTHENTICATOR, "transport": transport, **options}
        return self.page.call("WebAuthn.addVirtualAuthenticator", options=options)["authenticatorId"]

    def credentials(self, authenticator=None):
        found = self.page.call("WebAuthn.getCredentials", authenticatorId=authenticator or self.authenticator)
        return found["credentials"]

    def credential_ids(self, authenticator=None):
        """The ids of the passkeys of an authenticator, as the pages write them."""
        return [base64url(credential["credentialId"]) for credential in self.credentials(authenticator)]

    def refuse(self, refuses=True):
        """From now on the person is not verified, as after a wrong finger or a cancelled dialog."""
        self.page.call("WebAuthn.setUserVerified", authenticatorId=self.authenticator, isUserVerified=not refuses)

    def touch(self, does):
        """Whether the authenticator is touched when it asks for that."""
        call = "WebAuthn.setAutomaticPresenceSimulation"
        self.page.call(call, authenticatorId=self.authenticator, enabled=does)

    def go_to_address(self, path):
        """Opens a page of the server by the address of this machine, which is another origin."""
        self.page.open(f"{self.node.origin.replace('localhost', '127.0.0.1')}{path}")

    def strangers(self):
        own = self.node.origin.replace("localhost", "127.0.0.1")
        return [address for address in super().strangers() if not address.startswith(f"{own}/")]

    def go(self, path):
        self.page.open(f"{self.node.origin}{path}")
        self.page.find("heading")

    def expect_refusal(self, status, path):
        """The person provokes an answer of that status."""
        self.scene.refusals.append(re.compile(rf"responded with a status of {status} .*{path}"))

    def asked(self, path):
        """The requests of the pages below a path."""
        return [address for address in self.page.requests if address.startswith(f"{self.node.origin}{path}")]

    def register(self, handle=None):
        """Registers an account and stays at its welcome; returns the handle."""
        handle = handle or new_handle()
        self.go("/register")
        self.page.fill("Handle", handle)
        self.page.click("checkbox")
        self.page.click("button", "Create a passkey")
        self.page.see(f"Welcome, {handle}.")
        return handle

    def open_account(self):
        self.page.click("link", "Go to your account")
        self.page.find("heading", "Your account")

    def watch_requests(self):
        """From the next page on the browser notes how each passkey is asked for, and opens a dialog when told to."""
        self.page.call("Page.addScriptToEvaluateOnNewDocument", source=MEDIATIONS)

    def await_mediations(self, wanted, problem):
        self.page.until(lambda: self.page.js("mediations.join()") == wanted, problem)

    def open_dialog(self):
        """Touches the authenticator at the dialog that the page asks for."""
        self.touch(True)
        self.page.js("openDialog()")

    def spy(self):
        self.page.js(f"{SPY}; 0")

    def signals(self):
        return self.page.js("signals")
