"""Many windows of one browser at once: it opens six connections to one address at most, for all of them together."""

import json
import re
import signal

import household
from liveness import WATCH
from page import Page
from using import open_peer

COUNT = 8

# How many pages read what happens at the node, and how many wait for their turn.
TURNS = """navigator.locks.query().then(({ held, pending }) =>
    [held, pending].map(list => list.filter(({ name }) => name === "runar.activity").length))"""

# The name of the node by its API, or nothing within half a minute.
ASK = """(async () => {
    const { token } = JSON.parse(localStorage.getItem("runar.session"));
    const headers = { Authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(30000);
    return (await (await fetch("/api/v1/node", { headers, signal, cache: "no-store" })).json()).peerId;
})().catch(() => "")"""

# What a page notices when another window or another program is put before it.
HIDE = """Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange")); 0"""


def many(scene):
    """All windows are live, each gets answers, and nothing is lost or shown twice when the one that reads goes away."""
    laptop, phone = household.make(scene, phone={"has_page": False})
    open_peer(laptop, "phone")
    place = laptop.page.js("location.href")
    pages = [laptop.page, *(window(laptop, place) for _ in range(COUNT - 1))]

    def say(words):
        phone.node.send(laptop.node.peer, words)
        for page in pages:
            page.until(lambda page=page: shown(page, words), f"“{words}” is not shown in window {pages.index(page)}")
        for page in pages:
            assert shown(page, words) == 1, f"“{words}” is shown {shown(page, words)} times"
            assert page.js(ASK) == laptop.node.peer, f"window {pages.index(page)} gets no answer"
        wait_for_turns()

    def wait_for_turns():
        turns = [1, len(pages) - 1]
        laptop.page.until(lambda: laptop.page.js(TURNS) == turns, lambda: f"{laptop.page.js(TURNS)}, not {turns}")

    assert not any(page.js("document.hidden") for page in pages)
    for page in pages:
        page.find("textbox", "Write a message")
        page.see("The node is running")
    say("to every window")

    forget(pages)
    pages.pop().close()
    # It may read for a moment after its end was asked for.
    wait_for_turns()
    say("the last window was closed")
    reader = only_reader(pages)

    forget(pages)
    reader.js(HIDE)
    say("the window that reads was covered")
    assert only_reader(pages) != reader

    scene.expect_absence()
    for page in pages:
        page.js(f"window.seenAt = 0; {WATCH % json.dumps('The node was restarted.')}; 0")
    laptop.node.stop(signal.SIGTERM)
    for page in pages:
        page.see("The node does not answer")
    laptop.node.start()
    for page in pages:
        page.until(lambda page=page: page.js("window.seenAt"), "a window does not say that the node was restarted")
        page.see("The node is running")
    household.connect(phone, laptop)
    say("after a restart")


def feeds(scene):
    """Feeds of all windows leave room for questions; who gets no place for one reads so, and gets it when one is free."""
    laptop = scene.device("laptop")
    laptop.node.create("Home")
    laptop.go("/data/topics")
    other = window(laptop, laptop.page.js("location.href"))
    third = window(laptop, laptop.page.js("location.href"))
    for page, topic in [(laptop.page, "a"), (laptop.page, "b"), (laptop.page, "c"), (other, "d")]:
        listen(page, topic)
        page.until(lambda page=page, topic=topic: is_live(page, topic), f"{topic} is not live")
    listen(third, "e")
    third.see("too many feeds")
    for page in (laptop.page, other, third):
        assert page.js(ASK) == laptop.node.peer, "a window gets no answer"
    laptop.page.click("button", "Stop listening to b")
    third.until(lambda: is_live(third, "e"), "e is not live")
    third.see_no_more("too many feeds")
    laptop.node.create("Later")
    other.js("location.hash = '#/networks'")
    other.see("Later")


def window(device, place):
    page = Page(device.context, name=device.name)
    page.call("Emulation.setFocusEmulationEnabled", enabled=True)
    page.open(place)
    return page


def shown(page, words):
    return page.js("document.querySelector('main').innerText").count(words)


def forget(pages):
    for page in pages:
        page.requests.clear()


def only_reader(pages):
    """The one page that has begun to read for all of them."""
    reads = re.compile(r"/activity(?!.*follow=false)")
    found = [page for page in pages if any(map(reads.search, page.requests))]
    assert len(found) == 1, [page.requests for page in pages]
    return found[0]


def listen(page, topic):
    page.fill("Topic", topic)
    page.click("button", "Listen")


def is_live(page, topic):
    feed = page.js(f"document.querySelector('section[aria-label=\"Feed of {topic}\"]')?.innerText")
    return feed and "Starting" not in feed and "Trying" not in feed
