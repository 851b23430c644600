"""More than a screen can show: the node's answers are made larger on their way to the page."""

import base64
import re
import time
from urllib.parse import parse_qs, urlsplit

import household
from scene import measured

FIRST_RECORD = """(async () => {
    const headers = { Authorization: `Bearer ${JSON.parse(localStorage.getItem("runar.session")).token}` };
    const { networks } = await (await fetch("/api/v1/networks", { headers })).json();
    const address = `/api/v1/networks/${encodeURIComponent(networks[0].networkId)}/records`;
    return (await (await fetch(address, { headers })).json()).records[0];
})()"""

# Scrolls through the page and says how long each frame took, in milliseconds.
SCROLLING = """new Promise(done => {
    const frames = [], step = document.documentElement.scrollHeight / 60;
    let last = performance.now();
    scrollTo(0, 0);
    requestAnimationFrame(function next(now) {
        frames.push(now - last);
        last = now;
        scrollBy(0, step);
        if (frames.length < 60) requestAnimationFrame(next); else done(frames);
    });
})"""


def long_lists(scene):
    """10 000 peers and 100 000 values: the page holds only what is in sight, and the last one is a key away."""
    laptop, phone = household.make(scene)
    laptop.node.command("put", "sensor", "1")
    page = laptop.page
    record = page.js(FIRST_RECORD)
    page.rewrite("/api/v1/peers", lambda answer, _: {**answer, "peers": peers(answer["peers"][0])})
    page.rewrite("/records[?]", lambda _, url: records(record, url))
    page.open("about:blank")
    for place, label, count, last in (
        ("/peers", "Devices", 10_000, "device 9999"),
        ("/data/records", "Values", 100_000, "sensor/099999"),
    ):
        laptop.go("/settings/device")
        page.see("The node")
        begun = time.monotonic()
        laptop.go(place)
        page.see(re.compile("device 0|sensor/000000"))
        measured(f"{count} rows at {place} to the first", (time.monotonic() - begun) * 1000)
        rows = f"document.querySelectorAll('[aria-label=\"{label}\"] > li')"
        assert page.js(f"{rows}.length") < 100
        assert page.js(f"{rows}[0].getAttribute('aria-setsize')") == str(count)
        page.js(f"{rows}[0].querySelector('a, button').focus()")
        begun = time.monotonic()
        page.press("End")
        page.see(last)
        measured(f"{count} rows at {place} to the last", (time.monotonic() - begun) * 1000)
        assert page.js(f"{rows}.length") < 100
        assert last in page.js("document.activeElement.textContent")
        frames = page.js(SCROLLING)
        measured(f"{count} rows at {place}, longest frame while scrolling", max(frames))
    laptop.keep("crowd")


def peers(one):
    return [
        {
            **one,
            "peerId": base64.b64encode(number.to_bytes(32, "big")).decode(),
            "peerIdText": f"{number:058d}",
            "label": f"device {number}",
            "connected": False,
        }
        for number in range(10_000)
    ]


def records(one, url):
    """The page of records that an address asks for."""
    asked = parse_qs(urlsplit(url).query)
    start, limit = (int(asked.get(name, [default])[0]) for name, default in (("offset", 0), ("limit", 100)))
    numbers = range(start, min(start + limit, 100_000))
    found = [{**one, "key": f"sensor/{number:06}", "keyHex": f"{number:064x}"} for number in numbers]
    return {"total": 100_000, "records": found}
