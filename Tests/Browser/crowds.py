"""More than a screen can show."""

import contextlib
import hashlib
import os
import re
import sqlite3
import time
from urllib.parse import parse_qs, urlsplit

import household

KEYS = [f"sensor/{number:06}" for number in range(100_000)]

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
    """10 000 peers and 100 000 values: the page holds only what is in sight, and the last one is a key away.

    The node knows the peers; of values there are more than it may keep, so its answers are made larger on their way.
    """
    laptop = scene.device("laptop")
    laptop.node.create(household.NETWORK)
    laptop.node.put("sensor", "1")
    scene.expect_absence()
    laptop.node.stop()
    admit_crowd(laptop.node)
    laptop.node.start()
    page = laptop.page
    record = page.js(FIRST_RECORD)
    page.rewrite("/records[?]", lambda _, url: records(record, url))
    page.open("about:blank")
    for place, label, count, last, wanted in (
        ("/peers", "Devices", 10_000, "device 9999", ("Search by name or id", "device 999", 11, "device 9990")),
        ("/data/records", "Values", 100_000, "sensor/099999", ("Key", "sensor/09999", 10, "sensor/099999")),
    ):
        laptop.go("/settings/device")
        page.see("The node")
        begun = time.monotonic()
        laptop.go(place)
        page.see(re.compile("device 0|sensor/000000"))
        scene.measured(f"{count} rows at {place} to the first", (time.monotonic() - begun) * 1000)
        rows = f"document.querySelectorAll('[aria-label=\"{label}\"] > li')"
        assert page.js(f"{rows}.length") < 100
        assert page.js(f"{rows}[0].getAttribute('aria-setsize')") == str(count)
        page.js(f"{rows}[0].querySelector('a, button').focus()")
        begun = time.monotonic()
        page.press("End")
        page.see(last)
        scene.measured(f"{count} rows at {place} to the last", (time.monotonic() - begun) * 1000)
        assert page.js(f"{rows}.length") < 100
        assert last in page.js("document.activeElement.textContent")
        frames = page.js(SCROLLING)
        scene.measured(f"{count} rows at {place}, longest frame while scrolling", max(frames))
        move_by_keys(page, rows, count)
        narrow_down(scene, page, rows, place, *wanted)
    laptop.keep("crowd")


def move_by_keys(page, rows, count):
    """From the first row downwards: by one, by a screen, and from the very end back to the beginning."""
    at = "Number(document.activeElement.closest('li')?.getAttribute('aria-posinset'))"
    page.js("scrollTo(0, 0)")
    page.until(lambda: page.js(f"{rows}[0].getAttribute('aria-posinset')") == "1", "the first row does not come back")
    page.js(f"{rows}[0].querySelector('a, button').focus()")
    for key, fits in (
        ("ArrowDown", lambda number: number == 2),
        ("PageDown", lambda number: 5 < number < 30),
        ("ArrowUp", lambda number: 4 < number < 29),
        ("End", lambda number: number == count),
        ("Home", lambda number: number == 1),
    ):
        page.press(key)
        page.until(lambda fits=fits: fits(page.js(at)), lambda key=key: f"{key} leads to row {page.js(at)}")
    assert page.js(f"{rows}.length") < 100


def narrow_down(scene, page, rows, place, field, words, count, last):
    """Typing leaves only what fits; taking it back brings all back."""
    begun = time.monotonic()
    page.fill(field, words, role="searchbox")
    shown = f"{rows}.length && {rows}[0].getAttribute('aria-setsize')"
    page.until(lambda: page.js(shown) == str(count), lambda: f"{page.js(shown)} rows fit “{words}”")
    page.see(last)
    scene.measured(f"{place} narrowed down to {count} rows", (time.monotonic() - begun) * 1000)
    page.fill(field, "no such thing", role="searchbox")
    page.see(re.compile("No (device|key) matches"))


def admit_crowd(node):
    """Writes 10 000 members into a stopped node's store, as if it had given each a token and met it."""
    with contextlib.closing(sqlite3.connect(os.path.join(node.home, "state.sqlite"))) as database, database:
        network = database.execute("SELECT network_id FROM networks").fetchone()[0]
        members = [(hashlib.sha256(b"%d" % number).digest(), f"device {number}") for number in range(10_000)]
        now = int(time.time())
        tokens = [(network, peer, now, label) for peer, label in members]
        database.executemany(
            "INSERT INTO issued_tokens (network_id, peer_id, issued_at, label) VALUES (?, ?, ?, ?)", tokens
        )
        met = [(peer, now, now) for peer, _ in members]
        database.executemany("INSERT INTO peers (peer_id, first_seen, last_seen) VALUES (?, ?, ?)", met)
        database.executemany(
            "INSERT INTO evidence (peer_id, network_id, source, seen_at) VALUES (?, ?, 'admission', ?)",
            [(peer, network, now) for peer, _ in members],
        )


def records(one, url):
    """The page of records that an address asks for."""
    asked = parse_qs(urlsplit(url).query)
    start, limit = (int(asked.get(name, [default])[0]) for name, default in (("offset", 0), ("limit", 100)))
    wanted = asked.get("search", [""])[0]
    fitting = [number for number, key in enumerate(KEYS) if wanted in key] if wanted else range(len(KEYS))
    numbers = fitting[start : start + limit]
    found = [{**one, "key": KEYS[number], "keyHex": f"{number:064x}"} for number in numbers]
    return {"total": len(fitting), "records": found}
