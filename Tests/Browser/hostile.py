"""Pages of strangers in the same browser, and names that want to be more than names."""

import http.server
import json
import re
import threading

import eyes
import household
import screens
from page import Page

# The attempts of a page of another origin on the console at `console`; each reports its result.
ATTEMPTS = """(async (console, token, network) => {
    const api = `${console}/api/v1`, key = { Authorization: `Bearer ${token}` };
    const got = answer => answer.type === "opaque" ? "opaque" : `status ${answer.status}`;
    const ask = (path, options) => fetch(path, options).then(got, error => "refused");
    const load = (tag, address) => new Promise(done => {
        const element = document.createElement(tag);
        element.onload = () => done("loaded");
        element.onerror = () => done("refused");
        element.src = address;
        document.body.append(element);
    });
    const json = { "Content-Type": "application/json" };
    return {
        "reads the status": await ask(`${api}/status`),
        "reads the status with the token": await ask(`${api}/status`, { headers: key }),
        "reads the status with cookies": await ask(`${api}/status`, { credentials: "include" }),
        "reads what is measured with the token": await ask(`${console}/metrics`, { headers: key }),
        "makes a network with the token": await ask(`${api}/networks`,
            { method: "POST", headers: { ...key, ...json }, body: '{"name":"Theirs"}' }),
        "leaves the network with the token": await ask(`${api}/networks/${encodeURIComponent(network)}`,
            { method: "DELETE", headers: key }),
        "uses a script of the console": await load("script", `${console}/app.js`),
        "shows a picture of the console": await load("img", `${console}/icon.svg`),
        "opens a session with a guess": await ask(`${api}/session`,
            { method: "POST", headers: json, body: '{"secret":"guess"}' }),
        // Requests that need no permission: the page may send them, and must get nothing and change nothing.
        "stops the node with a simple request": await ask(`${api}/node/stop`, { method: "POST", mode: "no-cors" }),
        "posts a form": await ask(`${api}/networks`, { method: "POST", mode: "no-cors", body: '{"name":"Theirs"}' }),
    };
})"""

FRAMED = """(console => new Promise(done => {
    const frame = document.createElement("iframe");
    frame.onload = () => {
        try { done(frame.contentDocument ? "readable" : "unreadable"); } catch { done("unreadable"); }
    };
    frame.src = console;
    document.body.append(frame);
}))"""


class StrangersSite:
    """A web server of somebody else's on this machine."""

    def __init__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = b"<!doctype html><title>Stranger</title><body><h1>Win a prize</h1>"
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def networks(node):
    return [network["name"] for network in node.networks()]


def refuse_page_at(scene, host):
    """A page of `host` on another port tries everything in the browser in which the console is open."""
    owner = scene.visit("owner", "owner")
    network = owner.node.network()["networkId"]
    token = json.loads(owner.page.js("localStorage.getItem('runar.session')"))["token"]
    assert own_request(owner.page, token) == 200
    with StrangersSite() as site:
        context = scene.context()
        for console in (owner.node.origin, owner.node.origin.replace("127.0.0.1", "localhost")):
            page = Page(context, name="stranger")
            page.open(f"http://{host}:{site.port}/")
            got = page.js(f"{ATTEMPTS}({json.dumps(console)}, {json.dumps(token)}, {json.dumps(network)})")
            wrong = {what: answer for what, answer in got.items() if answer not in ("refused", "opaque")}
            assert not wrong, f"a page at {host} {wrong}"
            assert len(got) == 11 and list(got.values()).count("opaque") <= 2, got
            page.js(f"{FRAMED}({json.dumps(console)})")
            frames = page.call("Page.getFrameTree")["frameTree"].get("childFrames", [])
            shown = [frame["frame"].get("unreachableUrl") for frame in frames]
            assert shown and all(shown), f"the console is shown in a frame: {frames}"
    assert networks(owner.node) == ["Home"], networks(owner.node)
    # The node is still there, and its own page is still let in.
    assert own_request(owner.page, token) == 200


def own_request(page, token):
    return page.js(
        "fetch('/api/v1/status', { headers: { Authorization: `Bearer ${%s}` } }).then(answer => answer.status)"
        % json.dumps(token)
    )


def another_port(scene):
    refuse_page_at(scene, "127.0.0.1")


def another_site(scene):
    refuse_page_at(scene, "stranger.example")


def rebinding(scene):
    """A name of a stranger leads to this machine: the browser takes the console for the stranger's own site."""
    owner = scene.visit("owner", "owner")
    token = json.loads(owner.page.js("localStorage.getItem('runar.session')"))["token"]
    page = Page(scene.context(), name="stranger")
    site = f"http://stranger.example:{owner.node.port}/"
    # A page that the stranger served before the name led here would not be bound by the console's policy.
    page.call("Page.setBypassCSP", enabled=True)
    page.open(site)
    assert page.js("location.origin") == site.rstrip("/"), page.text()
    assert not page.js("!!document.querySelector('script')"), "the console is shown under a stranger's name"
    # This page is of the same origin as what it asks for: nothing but the name tells that it is a stranger's.
    status = page.js(
        f"fetch('/api/v1/status', {{ headers: {{ Authorization: 'Bearer {token}' }} }})"
        ".then(answer => answer.status)"
    )
    assert status in (403, 421), status
    assert own_request(owner.page, token) == 200


EVIL = '<img src=x onerror="hacked=1"><script>hacked=1</script>'
REVERSED = "\u202e\u2066gnp.exe\u202d"


def names(scene):
    """What somebody else chose is shown as the characters that it is, and stays in its place.

    Names of networks and devices cannot hold characters that turn text: the node refuses them. All else can.
    """
    laptop, phone = household.make(scene, network=EVIL, label=EVIL, phone={"has_page": False})
    phone.node.put(EVIL, EVIL)
    phone.node.put(REVERSED + "key", REVERSED)
    phone.node.send(laptop.node.peer, EVIL)
    phone.node.send(laptop.node.peer, REVERSED)
    laptop.go("/data/topics")
    laptop.page.fill("Topic", ">")
    laptop.page.click("button", "Listen")
    laptop.page.see("Live")
    phone.node.publish("home/door", EVIL)
    shown = "document.querySelector('.feed')?.innerText ?? ''"
    laptop.page.until(lambda: "onerror" in laptop.page.js(shown), "the event does not come")
    with phone.node.running("serve", "evil", "run=cat", "--about", EVIL, "--name", EVIL):
        laptop.go("/data/services")
        laptop.page.see("Offered by")
        look_for_harm(laptop, "/data/services")
        laptop.page.see(EVIL)
    network = screens.path_part(laptop.node.network()["networkId"])
    peer = screens.path_part(phone.node.peer)
    for place in [*screens.FULL, f"/networks/{network}", f"/networks/{network}/admit", f"/networks/{network}/share"]:
        look_for_harm(laptop, place)
    look_for_harm(laptop, f"/peers/{peer}")
    laptop.page.see(EVIL)
    laptop.keep("hostile-names")


def look_for_harm(device, place):
    device.go(place)
    eyes.settle(device.page)
    assert not device.page.js("window.hacked"), f"a script of a name ran at {place}"
    assert not device.page.js("!!document.querySelector('img[src=x]')"), f"a name became markup at {place}"
    loose = device.page.js(LOOSE)
    assert not loose, f"at {place} a name can turn the text around it: {loose}"


# Texts in which a character that turns the direction is neither taken out nor kept within its element or its marks.
LOOSE = """(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    for (let node; (node = walker.nextNode());) {
        const closed = node.data.replace(/[\\u2066-\\u2068][^\\u2066-\\u2069]*\\u2069/g, "");
        if (!/[\\u202a-\\u202e\\u2066-\\u2069]/.test(closed)) continue;
        const parent = node.parentElement, style = getComputedStyle(parent);
        const isAlone = parent.textContent === node.data && style.display !== "inline";
        // What an open isolate within an element takes in goes on behind the element.
        const isKept = isAlone || (/isolate|plaintext/.test(style.unicodeBidi) && !/[\\u2066-\\u2068]/.test(closed));
        if (!isKept) found.push(parent.outerHTML.slice(0, 160));
    }
    return found;
})()"""


def events_and_log(scene):
    """What members publish under whatever topic, and whatever stands in the log, is text in its place as well."""
    laptop, phone = household.make(scene, phone={"has_page": False})
    page = laptop.page
    laptop.go("/data/topics")
    page.fill("Topic", ">")
    page.click("button", "Listen")
    page.see("Live")
    hebrew = "home/\u05d3\u05dc\u05ea"
    events = [(f"home/{EVIL}", EVIL), (hebrew, f"{REVERSED}\n{EVIL}"), ("home/" + "x" * 500, REVERSED * 500)]
    for number, event in enumerate(events):
        phone.node.publish(*event)
        page.see(f"{number + 1} event")
    look_for_harm(laptop, "/data/topics")
    page.see(EVIL)
    page.see(hebrew)
    laptop.keep("hostile-events")
    # A topic with bidirectional control characters is refused, and the reason is displayed in the right order.
    page.js("document.querySelector('form[aria-label=Publish] input').select()")
    page.call("Input.insertText", text=REVERSED)
    page.fill("Text", "never")
    scene.expect_refusal(400, "/networks/[^/]+/events")
    page.click("button", "Publish")
    page.see("is no topic: it has an invisible character")
    look_for_harm(laptop, "/data/topics")
    assert not re.search("[\u202a-\u202e]", page.js("document.querySelector('form[aria-label=Publish]').innerText"))

    page.rewrite("/api/v1/logs", with_hostile_lines)
    look_for_harm(laptop, "/settings/logs")
    page.see("Critical")
    page.see(EVIL)
    page.see("gnp.exe")
    laptop.keep("hostile-log")
    page.fill("Search", "=nothing", role="searchbox")
    page.see_no_more("gnp.exe")
    page.see(EVIL)


def with_hostile_lines(answer, _):
    """The same lines of the log, and some in which somebody else has chosen every word."""
    number = answer["lines"][-1]["seq"] if answer["lines"] else 0
    for words in (EVIL, f"{REVERSED}{EVIL}", "nothing", "turned " + REVERSED):
        number += 1
        line = {"seq": number, "at": 1000 * number, "level": "critical", "subsystem": EVIL, "message": words}
        answer["lines"].append({**line, "metadata": {EVIL: words}})
    return answer
