"""Accounts on the pages of the identity server: registering, signing in, and deleting."""

import re

import identity_ceremonies as ceremonies
from identity_visitor import Visitor, new_handle

RESOLVE = "/xrpc/com.atproto.identity.resolveHandle?handle"

# The key that a registration leaves in the browser, as far as a script sees it.
STORED_KEY = """new Promise((resolve, reject) => {
    const opening = indexedDB.open("runar-identity", 1);
    opening.onsuccess = () => {
        const all = opening.result.transaction("keys").objectStore("keys").getAll();
        all.onsuccess = () => resolve(all.result.map(({ did, handle, privateKey }) =>
            [did, handle, privateKey.extractable, privateKey.usages.join()]));
        all.onerror = reject;
    };
    opening.onerror = reject;
})"""


def registering(scene):
    """Nothing is sent without the agreement; then one passkey and one DID key make an account, which signs in again."""
    alice = Visitor(scene)
    page, handle = alice.page, new_handle()
    ceremonies.record(page)
    alice.go("/register")
    page.fill("Handle", handle)
    page.see(f"{handle}.localhost.test is available.")
    page.click("button", "Create a passkey")
    page.see("To register, read the agreement and check this box.")
    assert page.js("document.activeElement.name") == "agree"
    assert not alice.asked("/register/") and not alice.credentials()
    page.click("checkbox", re.compile("I have read the agreement, version"))
    page.click("button", "Create a passkey")
    page.find("heading", f"Welcome, {handle}.localhost.test")
    did = page.see(re.compile(r"did:key:zDn\w{46}"))[0]
    assert page.js(STORED_KEY) == [[did, f"{handle}.localhost.test", False, "sign"]]
    assert alice.node.ask("GET", f"{RESOLVE}={handle}.localhost.test") == {"did": did}
    (credential,) = alice.credentials()
    assert credential["isResidentCredential"] and credential["userName"].startswith(handle)
    # The token is in no address and in no storage that outlives the tab.
    assert page.js("Object.keys(localStorage).length + document.cookie.length") == 0
    token = page.js("JSON.parse(sessionStorage.getItem('identity.session')).token")
    assert token and not [address for address in page.requests if token in address]
    registration = ceremonies.recorded(page, "create")
    alice.open_account()
    page.see("in this browser")
    page.see("synced between your devices")
    page.click("button", "Sign out of this browser")
    page.find("heading", "You are signed out")
    # The authenticator takes the offer in the field by itself.
    alice.go("/my-account")
    page.find("heading", "Your account")
    ceremonies.verify(alice.node.origin, registration, ceremonies.recorded(page, "get"))


def handles(scene):
    """A handle that breaks a rule is refused in words and not repaired; availability is one of three answers."""
    alice, bob = Visitor(scene, "alice"), Visitor(scene, "bob")
    taken = alice.register()
    page = bob.page
    bob.go("/register")
    for text, words in [
        ("Al", "no capital letters. Type “A” as a small letter"),
        ("al ice", "has no spaces"),
        ("alice.test", "has no dots"),
        ("alicé", "and not “é”"),
        ("٣٣٣", "and not “٣”"),
        ("-alice", "neither begins nor ends with a hyphen"),
        ("xn--alice", "does not begin with “xn--”"),
        ("a" * 19, "has at most 18 characters"),
    ]:
        page.fill("Handle", text)
        page.see(words)
        assert page.js("document.querySelector('[name=handle]').value") == text
    for text, words in [("al", "has at least 3 characters"), ("alice-", "neither begins nor ends with a hyphen")]:
        page.fill("Handle", text)
        page.click("button", "Create a passkey")
        page.see(words)
    assert not bob.asked("/xrpc/")
    page.fill("Handle", taken)
    page.see(f"{taken}.localhost.test is taken. Choose another handle.")
    page.click("button", "Create a passkey")
    assert page.js("document.activeElement.name") == "handle" and not bob.asked("/register/")
    # An answer that is neither 200 nor 404 does not tell that a handle is available.
    page.js("window.usualFetch = fetch; window.fetch = async () => new Response('', { status: 500 }); 0")
    page.fill("Handle", new_handle())
    page.see("cannot tell now")
    page.js("window.fetch = usualFetch; 0")
    page.fill("Handle", handle := new_handle())
    page.see(f"{handle}.localhost.test is available.")
    # The list of reserved names is the server's.
    page.fill("Handle", "support")
    page.click("checkbox")
    bob.expect_refusal("4\\d\\d", "/register/support")
    page.click("button", "Create a passkey")
    page.see("reserved")


def signing_in(scene):
    """The dialog signs in with a handle or without one, the autofill of the field without a press."""
    alice = Visitor(scene)
    page, handle = alice.page, alice.register()
    alice.open_account()
    page.click("button", "Sign out of this browser")
    page.find("heading", "You are signed out")
    # No authenticator answers the offer in the field by itself.
    alice.touch(False)
    alice.watch_requests()
    page.click("link", "Sign in")
    page.find("heading", "Sign in")
    alice.await_mediations("conditional", "no passkey is offered in the field")
    assert page.js("document.querySelector('[name=username]').autocomplete") == "username webauthn"
    page.fill("Handle (optional)", handle)
    page.click("button", "Sign in with a passkey")
    alice.await_mediations("conditional,dialog", "no dialog was opened for the handle")
    assert alice.asked(f"/authenticate/{handle}")
    alice.open_dialog()
    page.find("heading", "Your account")
    page.see(f"{handle}.localhost.test")
    page.click("button", "Sign out everywhere")
    page.see("All sessions of your account have ended.")
    assert page.js("sessionStorage.length") == 0
    # The authenticator takes the offer by itself, as a person who chooses a passkey in the list of the field.
    alice.go("/my-account")
    page.find("heading", "Your account")
    assert alice.asked("/sign-in")


def failing(scene):
    """A cancelled dialog, an existing passkey, a lost connection and a wrong address are different failures."""
    alice = Visitor(scene)
    page = alice.page
    alice.go("/register")
    page.fill("Handle", handle := new_handle())
    page.click("checkbox")
    alice.refuse()
    page.click("button", "Create a passkey")
    page.see("Nothing was changed: the passkey dialog was cancelled, or it timed out.")
    assert "already" not in page.text() and not alice.credentials()
    alice.refuse(False)
    page.click("button", "Try again")
    page.see(f"Welcome, {handle}.")
    assert len(page.js("indexedDB.databases()")) == 1
    alice.open_account()
    page.click("button", "Add a passkey")
    page.see("Confirmed.")
    page.click("button", "Create the passkey")
    page.see("has a passkey of this account already")
    page.js("window.usualFetch = fetch; window.fetch = async () => { throw new TypeError('offline'); }; 0")
    page.click("button", "Sign out of this browser")
    page.see("The server cannot be reached. Check the connection, then try again.")
    page.js(
        "window.fetch = async () => new Response('{\"error\":{\"code\":\"too-many\"}}',"
        " { status: 429, headers: { 'Retry-After': '7' } }); 0"
    )
    page.click("button", "Sign out everywhere")
    page.see("Too many attempts. Wait 7 seconds, then try again.")
    page.js("window.fetch = usualFetch; 0")
    # The same server under another name: the browser refuses its passkeys there.
    bob = Visitor(scene, "bob")
    bob.go_to_address("/sign-in")
    bob.page.see("Passkeys of this server do not work at this address.")
    bob.page.click("button", "Sign in with a passkey")
    alert = "document.querySelector('.note[role=alert]')?.innerText"
    bob.page.until(lambda: "do not work at this address" in (bob.page.js(alert) or ""), "no alert")
    bob.page.click("link", f"Open this page at {alice.node.origin}")
    bob.page.until(lambda: bob.page.js("location.origin") == alice.node.origin, "the page is still the other one")
    bob.page.find("heading", "Sign in")


def deleting(scene):
    """An account is deleted after its handle was typed and a passkey confirmed it; its key only if that is wanted."""
    alice = Visitor(scene)
    page, handle = alice.page, alice.register()
    did = page.see(re.compile(r"did:key:zDn\w{46}"))[0]
    alice.open_account()
    alice.spy()
    page.click("button", "Delete the account")
    page.see(f"Delete the account {handle}.localhost.test?")
    page.fill(f"Type “{handle}” to confirm", f"{handle}x")
    page.press("Enter")
    page.fill(f"Type “{handle}” to confirm", handle)
    page.press("Enter")
    page.find("heading", "Your account is deleted")
    ((name, details),) = alice.signals()
    assert name == "signalAllAcceptedCredentials" and details["allAcceptedCredentialIds"] == [], (name, details)
    assert details["rpId"] == "localhost" and len(details["userId"]) == 22, details
    assert alice.node.status(f"{RESOLVE}={handle}.localhost.test") == 404
    assert [key[0] for key in page.js(STORED_KEY)] == [did]
    page.click("button", "Delete the key")
    page.see("The key of the DID is deleted.")
    assert page.js(STORED_KEY) == []
