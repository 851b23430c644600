"""The passkeys of an account, and the ceremony of a command, on the pages of the identity server."""

import re

from identity_command import DIDKey, result
from identity_visitor import Visitor, base64url, new_handle


def changing(scene):
    """A passkey is added and removed with the consent of another one; the only one stays."""
    alice = Visitor(scene)
    page, handle = alice.page, alice.register()
    alice.open_account()
    page.see("This is your only passkey. To remove it, add another one first.")
    assert not page.has("button", re.compile("^Remove"))
    alice.spy()
    page.fill("Name of the new passkey (optional)", "Blue key")
    page.click("button", "Add a passkey")
    page.see("Confirmed. Now choose where the new passkey is kept")
    # The device that has a passkey of the account does not answer; the key does.
    alice.touch(False)
    key = alice.attach("usb")
    page.click("button", "Create the passkey")
    page.find("heading", "Blue key")
    page.see("on one device only")
    # Two passkeys of one second have no order.
    (first,), (second,) = alice.credential_ids(), alice.credential_ids(key)
    assert set(alice.signals()[-1][1]["allAcceptedCredentialIds"]) == {first, second}, alice.signals()
    page.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=key)
    alice.touch(True)
    page.click("button", "Remove Blue key")
    page.see("Remove Blue key?")
    page.click("button", "Cancel")
    page.click("button", "Remove Blue key")
    page.click("button", "Remove")
    page.see("This is your only passkey. To remove it, add another one first.")
    assert not page.has("heading", "Blue key")
    all_accepted, unknown = alice.signals()[-2:]
    assert all_accepted[0] == "signalAllAcceptedCredentials", all_accepted
    assert all_accepted[1]["allAcceptedCredentialIds"] == [first], all_accepted
    assert unknown == ["signalUnknownCredential", {"rpId": "localhost", "credentialId": second}], unknown
    # The user handle is that of the passkey, encoded once.
    (credential,) = alice.credentials()
    of_passkey = base64url(credential["userHandle"])
    assert all_accepted[1]["userId"] == of_passkey, (all_accepted, of_passkey)
    assert handle in page.text()


def command(scene):
    """The page of a command's ceremony shows the number and the address, and the token goes to the command alone."""
    alice = Visitor(scene)
    page, server, handle = alice.page, alice.node, new_handle()
    key = DIDKey()
    begun = server.ask("POST", "/ceremonies", key.registration(server, handle))
    page.open(begun["link"])
    page.see(f"{handle}.localhost.test")
    page.click("button", "It is the same: continue")
    page.see("To register, read the agreement and check this box.")
    page.click("checkbox")
    page.click("button", "It is the same: continue")
    page.see(f"The command is signed in as {handle}.localhost.test.")
    assert result(server, begun)["signedIn"]["did"] == key.did
    stopped = server.ask("POST", "/ceremonies", {"purpose": "authenticate"})
    page.open(stopped["link"])
    page.see("Is this the number that your command shows?")
    page.click("button", "It is another: stop")
    page.see("Nothing was sent to the command.")
    assert result(server, stopped)["state"] == "failed"
    ceremony = server.ask("POST", "/ceremonies", {"purpose": "authenticate"})
    page.open(ceremony["link"])
    page.find("image", f"Number: {' '.join(ceremony['number'])}")
    page.see(f"{ceremony['number'][:3]} {ceremony['number'][3:]}")
    page.see("127.0.0.1")
    page.see("The person who runs that command gets access to the account.")
    page.click("button", "It is the same: continue")
    page.see("The command is signed in.")
    page.see("You can close this page.")
    answer = result(server, ceremony)
    assert answer["state"] == "done" and answer["signedIn"]["handle"] == f"{handle}.localhost.test", answer
    assert answer["signedIn"]["token"] not in page.js("JSON.stringify([sessionStorage, document.body.innerHTML])")
    alice.expect_refusal("4\\d\\d", f"/ceremonies/{ceremony['id']}/options")
    page.open(ceremony["link"])
    page.see("A link works once, for ten minutes.")
