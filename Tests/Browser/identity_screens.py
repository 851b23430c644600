"""The screens of the identity server: axe-core, light and dark, a phone, and nothing that the policy refuses."""

from eyes import look
from identity_visitor import Visitor, new_handle


def all_pages(scene):
    """Every page and its failures obey axe, fit on a phone, and need nothing but files of the server."""
    alice = Visitor(scene)
    page, server, findings = alice.page, alice.node, []
    policy = server.policy()
    assert "'self'" in policy and "unsafe" not in policy, policy
    look_at = lambda name: look(page, name, findings, alice.keep)
    alice.go("/")
    look_at("identity-home")
    alice.go("/register")
    page.fill("Handle", "Al")
    page.click("button", "Create a passkey")
    page.see("no capital letters")
    look_at("identity-register")
    alice.refuse()
    page.fill("Handle", new_handle())
    page.click("checkbox")
    page.click("button", "Create a passkey")
    page.see("Nothing was changed")
    look_at("identity-register-failed")
    alice.refuse(False)
    page.click("button", "Try again")
    page.see("Welcome, ")
    look_at("identity-welcome")
    alice.open_account()
    page.see("only passkey")
    look_at("identity-account")
    page.click("button", "Delete the account")
    page.see("to confirm")
    look_at("identity-deletion")
    page.press("Escape")
    page.open(server.ask("POST", "/ceremonies", {"purpose": "authenticate"})["link"])
    page.see("Is this the number")
    look_at("identity-ceremony")
    page.js("sessionStorage.clear()")
    alice.touch(False)
    alice.go("/sign-in")
    look_at("identity-sign-in")
    assert not findings, "\n".join(findings)
    # Everything can be reached and pressed with the keyboard, in the order of the page.
    alice.go("/register")
    stops = []
    for _ in range(4):
        page.press("Tab")
        stops.append(page.js("document.activeElement.name || document.activeElement.className || 'none'"))
    assert stops == ["handle", "agreement", "agree", "button primary"], stops
