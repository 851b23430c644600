"""How fast the console is there, how fast it knows, and what it says when the node goes away and comes back."""

import json
import re
import signal
import statistics

import household
from eyes import look_at
from page import Page
from using import open_peer

# Notes when a text first stands on the page: `seenAt` in milliseconds since the page began, `seenTime` by the clock.
# Drawn means after the frame in which it was put there.
WATCH = """new MutationObserver((_, observer) => {
    if (!document.body?.textContent.includes(%s)) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => {
        window.seenAt = performance.now();
        window.seenTime = Date.now();
    }));
}).observe(document, { subtree: true, childList: true, characterData: true })"""

# The time at the node of the first line of activity that a condition fits, from those that it kept.
EVENT_TIME = """(async condition => {
    const { token } = JSON.parse(localStorage.getItem("runar.session"));
    const stop = new AbortController(), headers = { Authorization: `Bearer ${token}` };
    const { boot } = await (await fetch("/api/v1/node", { headers })).json();
    const answer = await fetch(`/api/v1/activity?since=0&boot=${boot}`, { headers, signal: stop.signal });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ;) {
        text += (await reader.read()).value;
        const found = text.split("\\n").slice(0, -1).map(line => JSON.parse(line)).find(condition);
        if (found) { stop.abort(); return found.at; }
    }
})(%s)"""

# As another window would, without a word to this one.
RENAME = """(async name => {
    const { token } = JSON.parse(localStorage.getItem("runar.session"));
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    await fetch(`/api/v1/networks/${location.hash.split("/")[2]}`, { method: "PATCH", headers,
        body: JSON.stringify({ name }) });
})(%s)"""


def first_paint(scene):
    """From the address to a screen that says something, in a browser that was let in."""
    laptop = scene.visit("laptop", "owner")
    times = []
    for _ in range(3):
        page = Page(laptop.context, name="laptop")
        page.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH % '"You own it"')
        page.open(laptop.node.origin)
        times.append(page.until(lambda: page.js("window.seenAt"), "the network is not shown"))
        page.close()
    tell(scene, "opening to first useful paint", times)


def live_update(scene):
    """From what the node notices to what is drawn, by the same clock."""
    laptop, phone = household.make(scene, phone={"has_page": False})
    open_peer(laptop, "phone")
    page = laptop.page
    times = []
    for number in range(10):
        words = f"message number {number}"
        page.js(f"window.seenTime = 0; {WATCH % json.dumps(words)}; 0")
        phone.node.send(laptop.node.peer, words)
        seen = page.until(lambda: page.js("window.seenTime"), f"{words} does not arrive")
        happened = page.js(EVENT_TIME % f"line => line.message?.text === {json.dumps(words)}")
        times.append(seen - happened)
    tell(scene, "node's event to drawn message", times)
    laptop.go("/peers")
    page.see("Direct")
    page.js(f"window.seenTime = 0; {WATCH % json.dumps('Not connected')}; 0")
    phone.node.stop(signal.SIGTERM)
    seen = page.until(lambda: page.js("window.seenTime"), "the phone is still shown as connected")
    happened = page.js(EVENT_TIME % "line => line.event === 'peerLeft'")
    scene.measured("node's event to “not connected”", seen - happened)
    scene.expect_absence()


def pressing(scene):
    """What is being pressed keeps still, so that a press counts although the page changes meanwhile."""
    laptop = scene.device("laptop")
    page = laptop.page
    laptop.node.create("Home")
    page.click("link", re.compile("Home"))
    place = place_of(page, "link", "Invite a device")
    # The page waits ten seconds for the end of a press; here its clock is turned by hand.
    page.js(
        "window.usualTimeout = setTimeout; window.setTimeout = (act, time, ...more) =>"
        " time === 10000 ? void (window.endOfPress = act) : usualTimeout(act, time, ...more); 0"
    )
    mouse(page, "mousePressed", place)
    rename(page, "Cabin")
    assert page.has("heading", "Home")
    mouse(page, "mouseReleased", place)
    page.find("button", "Show the invitation")
    page.see("Cabin")
    # The same with a key.
    page.click("link", "Cabin")
    page.call("DOM.focus", backendNodeId=page.find("button", "Rename"))
    key(page, "keyDown")
    rename(page, "Boat")
    key(page, "keyUp")
    page.find("dialog")
    page.press("Escape")
    page.find("heading", "Boat")
    # The end of a press may never be reported.
    mouse(page, "mousePressed", place_of(page, "link", "Invite a device"))
    rename(page, "Shed")
    assert page.has("heading", "Boat")
    page.js("endOfPress(); 0")
    page.find("heading", "Shed")


def place_of(page, role, name):
    """Where to press on a thing, once it keeps still."""
    return page.until(lambda: page.middle(page.find(role, name)), f"{role} {name} does not keep still")


def mouse(page, kind, place):
    page.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)


def key(page, kind):
    page.call("Input.dispatchKeyEvent", type=kind, key=" ", code="Space", windowsVirtualKeyCode=32, text=" ")


def rename(page, name):
    """Gives the network that is shown another name, and waits until the page has had the time to show it."""
    before = len(page.requests)
    page.js(RENAME % json.dumps(name))
    # The change itself, and the question that follows from it.
    asked = lambda: [one for one in page.requests[before:] if "/api/v1/networks/" in one]
    page.until(lambda: len(asked()) > 1, "the page does not ask for what has changed")
    page.js("new Promise(resolve => setTimeout(resolve, 300))")


def tell(scene, what, times):
    scene.measured(f"{what}, median of {len(times)} (worst {max(times):.0f} ms)", statistics.median(times))


def restart(scene):
    """The node goes away and comes back: the page says so, keeps what was typed, and goes on by itself."""
    scene.expect_absence()
    laptop = scene.device("laptop", loads_ahead=True)
    page = laptop.page
    page.see("The node is running")
    laptop.go("/networks/new")
    page.fill("Name of the network", "Half typ")
    laptop.node.stop(signal.SIGKILL)
    page.see("The node does not answer")
    look_at(laptop, "node-away")
    laptop.node.start()
    page.see("The node was restarted.")
    page.see("The node is running")
    typed = "document.querySelector('input[name=name]').value"
    assert page.js(typed) == "Half typ"
    # The first network, from elsewhere, brings the master key: the page says so, and keeps it, too.
    laptop.node.create("Home")
    page.see("Use the master key of this device")
    assert page.js(typed) == "Half typ"
    laptop.go("/networks")
    page.see("You own it")
    # Also a page that was never shown is there while the node is not.
    page.until(lambda: any("/views/metrics.js" in one for one in page.requests), "no view is loaded ahead")
    page.js("import('/views/metrics.js').then(() => 0)")
    laptop.node.stop(signal.SIGKILL)
    page.see("The node does not answer")
    laptop.go("/settings/metrics")
    page.find("heading", re.compile("Metrics"))
    assert "This page could not be loaded" not in page.text()


def stopping(scene):
    """The person stops the node from its console: after a question, and the page says how to start it again."""
    scene.expect_absence()
    laptop = scene.device("laptop")
    laptop.go("/settings/device")
    laptop.page.click("button", "Stop the node")
    laptop.page.find("dialog")
    laptop.page.click("button", "Cancel")
    laptop.page.until(lambda: not laptop.page.has("dialog"), "the question stays")
    assert laptop.node.process.process.poll() is None
    laptop.page.click("button", "Stop the node")
    laptop.page.find("dialog")
    laptop.page.click("button", "Stop the node")
    assert laptop.node.process.wait() == 0
    laptop.page.see("The node does not answer")


def signing_out(scene):
    """Signing out everywhere ends the sessions of all browsers at once."""
    laptop = scene.device("laptop")
    other = Page(laptop.context, name="laptop")
    other.open(laptop.node.origin)
    other.see("No network yet")
    laptop.go("/settings/device")
    laptop.page.click("button", "Sign out everywhere")
    laptop.page.find("dialog")
    laptop.page.click("button", "Sign out everywhere")
    how = "In a terminal on this device, run:"
    laptop.page.see(how)
    other.js("location.hash = '#/peers'")
    other.see(how)
