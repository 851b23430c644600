"""The account at an identity server in the console, which a person completes with a passkey on the server's page."""

import re

from identity_visitor import Visitor, new_handle
from node import Program

LINK = "[...document.querySelectorAll('a[target=_blank]')].find(one => one.innerText === 'Open the page').href"
SAME, OTHER = "It is the same: continue", "It is another: stop"


def complete(device, visitor, button=SAME, accepts=False):
    """Opens the page that the console names in another browser, and presses a button there."""
    page, other = device.page, visitor.page
    page.find("heading", "Continue on the server’s page")
    number = page.js("document.querySelector('.digits').innerText")
    assert re.fullmatch("[0-9]{6}", number), number
    other.open(page.js(LINK))
    other.find("image", f"Number: {' '.join(number)}")
    if accepts:
        other.click("checkbox")
    other.click("button", button)


def accept(page):
    """Reads the agreement of the server in the console, and accepts it."""
    page.find("heading", re.compile("^Agreement of "))
    page.click("button", "Continue")
    page.see("Read the agreement and check the box to continue.")
    page.click("checkbox", "I have read the agreement and accept it.")
    page.click("button", "Continue")


def registering(scene):
    """A person registers after some mistakes, logs out, and signs in again with the same passkey."""
    laptop, visitor = scene.device("laptop"), Visitor(scene)
    page, server, handle = laptop.page, visitor.node, new_handle()
    laptop.go("/settings/account")
    page.see("Not signed in")
    assert not page.has("link", re.compile("^Manage passkeys"))
    page.click("button", "Register")
    page.see("Type the handle that you want.")
    # No server answers there, and nothing was registered.
    scene.expect_refusal("5\\d\\d", "/account/agreement")
    page.fill("Handle", handle)
    page.fill("Identity server", "http://localhost:1")
    page.click("button", "Register")
    page.see("The identity server cannot be reached")
    page.fill("Identity server", server.origin)
    page.click("button", "Register")
    accept(page)
    # A person who sees another number stops there.
    complete(laptop, visitor, OTHER)
    visitor.page.see("Nothing was sent to the command.")
    page.click("button", "Try to Reconnect")
    complete(laptop, visitor, accepts=True)
    visitor.page.see(f"The command is signed in as {handle}.localhost.test.")
    page.see(f"You are signed in as {handle}.localhost.test.")
    page.find("link", re.compile("^Manage passkeys"))
    assert "not on this device" not in page.text(), page.text()
    account = laptop.node.api("GET", "/account")
    assert account["signedIn"] and all(check["passed"] for check in account["checks"]), account
    resolved = server.ask("GET", f"/xrpc/com.atproto.identity.resolveHandle?handle={handle}.localhost.test")
    assert resolved["did"] == account["did"], (resolved, account)
    page.click("button", "Log out")
    page.find("dialog", "Log out of the account?")
    page.click("button", "Log out")
    page.see("You are logged out.")
    page.see("Not signed in")
    page.click("button", "Sign in")
    complete(laptop, visitor)
    page.see(f"You are signed in as {handle}.localhost.test.")
    assert laptop.node.api("GET", "/account")["did"] == account["did"]
    signing_in(laptop, visitor)


def signing_in(device, visitor):
    """A command signs in: its last line is the account, and no longer the step that has ended."""
    # The page shows the account a moment before the sign-in of the console has ended.
    device.page.until(lambda: not device.node.api("GET", "/account")["busy"], "the account is busy")
    command = Program(device.node, "account", "login", "--no-browser")
    link = None
    while not link:
        link = command.event("account").get("link")
    visitor.page.open(link)
    visitor.page.click("button", SAME)
    report = command.last()
    assert command.wait() == 0 and report["signedIn"] and not report["busy"], report
