"""A page as a person uses it: by what it says and by the roles and names that a screen reader tells.

Nothing here knows the markup: a button without a name cannot be pressed, and a field without a label cannot be filled.
"""

import base64
import json
import re
import threading
import time

from devtools import ProtocolError

KEYS = {
    "Enter": (13, "\r"),
    "Escape": (27, ""),
    "Tab": (9, ""),
    " ": (32, " "),
    "ArrowDown": (40, ""),
    "ArrowUp": (38, ""),
    "ArrowRight": (39, ""),
    "End": (35, ""),
    "Home": (36, ""),
    "PageDown": (34, ""),
}


# They keep the direction of a name from changing that of the words around it.
MARKS = {number: None for number in range(0x2066, 0x206A)}


# How long something may take on a busy machine; what is wrong takes as long to be found.
PATIENCE = 45


class Unseen(Exception):
    """What a person would wait for did not come."""


def matches(wanted, text):
    """Whether a name is the wanted one: a text is compared whole, a pattern is searched for."""
    return wanted is None or (wanted == text if isinstance(wanted, str) else wanted.search(text) is not None)


# Reports changes of the page from a world of its own, where no script of the page sees it: the first change at once,
# further ones at most every 40 ms.
OBSERVER = """(() => {
    let isQuiet = true, isChanged = false;
    const tell = () => {
        isQuiet = isChanged = false;
        pageChanged("");
        setTimeout(() => { isQuiet = true; if (isChanged) tell(); }, 40);
    };
    const note = () => { if (isQuiet) tell(); else isChanged = true; };
    new MutationObserver(note)
        .observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    const events = ["focusin", "focusout", "input", "change", "scroll", "toggle", "close"];
    events.push("transitionend", "animationend");
    for (const kind of events) addEventListener(kind, note, true);
})()"""

# The console loads its views ahead, 1.5 s after it was opened, so that each is there while the node is not. That is half of
# the work of opening a page, and a scenario that shows few views needs few of them: each is loaded when it is shown.
ON_DEMAND = """{ const usual = setTimeout;
    window.setTimeout = (act, time, ...more) => time === 1500 && String(act).includes("routes") ? 0 : usual(act, time, ...more); }"""

# A page may change without a report, for example by a media query, and some conditions look at files or nodes: they
# are checked at least this often.
CHECK_SECONDS = 0.2

# The events after which a condition may have become true.
WAKING = {
    "Runtime.bindingCalled",
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Log.entryAdded",
    "Network.requestWillBeSent",
    "Page.loadEventFired",
}


class Page:
    """A tab of a browser context, with everything that it has logged and asked for."""

    def __init__(self, context, width=1280, height=800, name="page", loads_ahead=False, moves=False):
        self.context = context
        self.browser = context.browser
        self.name = name
        self.messages = []
        self.requests = []
        self.changes = []
        self.loads = 0
        self.reports = 0
        self.changed = threading.Condition()
        context.pages.append(self)
        self.target, self.session = context.open(self.take)
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        # Only the addresses are used. A page with a camera sends megabytes of grey bytes every second.
        self.call("Network.enable", maxTotalBufferSize=0, maxResourceBufferSize=0, maxPostDataSize=1)
        self.call("Runtime.addBinding", name="pageChanged", executionContextName="observer")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=OBSERVER, worldName="observer")
        if not loads_ahead:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=ON_DEMAND)
        # Each frame of a movement is drawn by the processor, and a page that waits for something turns a wheel.
        if not moves:
            self.prefer(reduced_motion="reduce")
        self.resize(width, height)

    def call(self, method, seconds=30, **parameters):
        return self.browser.call(method, parameters, self.session, seconds)

    def close(self):
        self.browser.call("Target.closeTarget", {"targetId": self.target})

    def take(self, event, details):
        """Keeps what happened in the page; runs on the reader thread."""
        if event == "Runtime.consoleAPICalled":
            words = [str(value.get("value", value.get("description"))) for value in details["args"]]
            self.messages.append((details["type"], " ".join(words)))
        elif event == "Runtime.exceptionThrown":
            problem = details["exceptionDetails"]
            text = problem.get("exception", {}).get("description") or problem.get("text")
            self.messages.append(("error", f"uncaught: {text}"))
        elif event == "Log.entryAdded":
            entry = details["entry"]
            self.messages.append((entry["level"], f"{entry['text']} {entry.get('url', '')}"))
        elif event == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
        elif event == "Page.loadEventFired":
            self.loads += 1
        elif event == "Fetch.requestPaused":
            # The reader thread must not wait for answers.
            threading.Thread(target=self.change_or_tell, args=[details], daemon=True).start()
        if event in WAKING:
            with self.changed:
                self.reports += 1
                self.changed.notify_all()

    def change_or_tell(self, paused):
        """Changes an answer; a failure is an error on the page."""
        try:
            self.change(paused)
        except Exception as error:
            # The page may have cancelled the request meanwhile.
            if not isinstance(error, ProtocolError) or not re.search("InterceptionId|is gone|Session", str(error)):
                self.messages.append(("error", f"the answer was not changed: {error!r}"))

    def rewrite(self, address, change):
        """From now on `change(object, url)` makes what the page gets from an address that the pattern fits."""
        self.changes.append((re.compile(address), change))
        self.call("Fetch.enable", patterns=[{"urlPattern": "*/api/*", "requestStage": "Response"}])

    def change(self, paused):
        url, number = paused["request"]["url"], paused["requestId"]
        change = next((change for address, change in self.changes if address.search(url)), None)
        if not change or paused.get("responseStatusCode") != 200:
            self.call("Fetch.continueRequest", requestId=number)
            return
        content = self.call("Fetch.getResponseBody", requestId=number)
        body = base64.b64decode(content["body"]) if content["base64Encoded"] else content["body"]
        changed = json.dumps(change(json.loads(body), url)).encode()
        self.call(
            "Fetch.fulfillRequest",
            requestId=number,
            responseCode=200,
            responseHeaders=[{"name": "Content-Type", "value": "application/json"}],
            body=base64.b64encode(changed).decode(),
        )

    # Looking

    def keep_notices(self):
        """From now on what is told stays until somebody puts it away: there may be no time to press what is in it."""
        # By the time that lib/dialog.js gives them.
        self.js(
            "window.usualTimeout ??= setTimeout; window.setTimeout = (act, time, ...more) =>"
            " usualTimeout(act, time === 7000 ? 600000 : time, ...more); 0"
        )

    def resize(self, width, height, is_phone=False):
        self.size = (width, height)
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_phone
        )

    def prefer(self, **features):
        """Sets what a person prefers, such as `color_scheme="dark"` or `reduced_motion="reduce"`."""
        wanted = [{"name": f"prefers-{name.replace('_', '-')}", "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=wanted)

    def open(self, url):
        """Goes to an address and waits until the page is loaded; only the fragment may be another than before."""
        before = self.loads
        answer = self.call("Page.navigate", url=url)
        if answer.get("errorText"):
            raise ProtocolError(f"{url}: {answer['errorText']}")
        if "loaderId" in answer:
            self.until(lambda: self.loads > before, f"{url} is not loaded")

    def js(self, expression, seconds=30):
        """The value of an expression, or what its promise gives."""
        answer = self.call(
            "Runtime.evaluate",
            seconds=seconds,
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        if "exceptionDetails" in answer:
            raise ProtocolError(answer["exceptionDetails"].get("exception", {}).get("description", str(answer)))
        return answer["result"].get("value")

    def until(self, condition, problem, seconds=PATIENCE):
        """Waits for a condition and returns its value; meanwhile the browser may go to another page.

        The condition is checked when the page reports a change.
        """
        deadline = time.monotonic() + seconds
        while True:
            before = self.reports
            try:
                found = condition()
            except ProtocolError as error:
                # A page that is being left has no values.
                if not re.search("context|Cannot find|find object|navigated or closed", str(error)):
                    raise
                found = None
            if found:
                return found
            if time.monotonic() > deadline:
                raise Unseen(f"{self.name}: {problem() if callable(problem) else problem}")
            self.wait(before)

    def wait(self, reports):
        """Waits until the page has reported a change since it had reported that many, or for `CHECK_SECONDS`."""
        with self.changed:
            self.changed.wait_for(lambda: self.reports != reports, CHECK_SECONDS)

    def text(self):
        """Everything that can be read on the page now, without the invisible marks around names."""
        return self.js("document.body ? document.body.innerText : ''").translate(MARKS)

    def see(self, wanted, seconds=PATIENCE):
        """Waits until the page shows a text or a pattern, and returns the match of a pattern."""
        pattern = re.compile(re.escape(wanted)) if isinstance(wanted, str) else wanted
        return self.until(
            lambda: pattern.search(self.text()),
            lambda: f"“{pattern.pattern}” is not to be read; there is:\n{self.text()}",
            seconds,
        )

    def see_no_more(self, wanted, seconds=PATIENCE):
        """Waits until the page shows a text no longer."""
        self.until(lambda: wanted not in self.text(), f"“{wanted}” is still to be read", seconds)

    # Acting

    def nodes(self, role):
        """The things of a role that a screen reader meets now, with their names.

        The browser looks for the role: the whole tree is many times as much to make, to send and to read.
        """
        found = self.call("Accessibility.queryAXTree", objectId=self.document(), role=role)["nodes"]
        return [
            (node.get("name", {}).get("value", "").translate(MARKS).strip(), node["backendDOMNodeId"])
            for node in found
            if not node.get("ignored") and "backendDOMNodeId" in node
        ]

    def document(self):
        """The browser's handle of the document; the one before is released with the document."""
        return self.call("Runtime.evaluate", expression="document", objectGroup="document")["result"]["objectId"]

    def find(self, role, name=None, seconds=PATIENCE):
        """Waits for the first thing of a role with that name."""
        return self.until(
            lambda: next((node for text, node in self.nodes(role) if matches(name, text)), None),
            lambda: f"no {role} “{getattr(name, 'pattern', name)}”, but "
            f"{[text for text, _ in self.nodes(role)]} on:\n{self.text()}",
            seconds,
        )

    def find_name(self, role, pattern):
        """Waits for the first thing of a role whose name a pattern fits, and returns that name."""
        return self.until(
            lambda: next((text for text, _ in self.nodes(role) if pattern.search(text)), None),
            lambda: f"no {role} “{pattern.pattern}”, but {[text for text, _ in self.nodes(role)]}",
        )

    def has(self, role, name=None):
        """Whether there is such a thing now."""
        return any(matches(name, text) for text, _ in self.nodes(role))

    def click(self, role, name=None, seconds=PATIENCE):
        """Presses the mouse on the middle of the first thing of a role with that name."""
        x, y = self.until(
            lambda: self.middle(self.find(role, name, seconds)), f"{role} {name} moves, or lies under something"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def middle(self, node):
        """Where a click on a thing hits it; nothing while it moves or lies under something, or if it was replaced."""
        places = []
        try:
            self.call("DOM.scrollIntoViewIfNeeded", backendNodeId=node)
            for _ in range(2):
                self.js("new Promise(requestAnimationFrame)")
                corners = self.call("DOM.getContentQuads", backendNodeId=node)["quads"][0]
                places.append((sum(corners[0::2]) / 4, sum(corners[1::2]) / 4))
            return places[0] if places[0] == places[1] and self.is_hit(node, *places[0]) else None
        except (ProtocolError, IndexError):
            return None

    def is_hit(self, node, x, y):
        """Whether a click at a place reaches a thing."""
        return self.call(
            "Runtime.callFunctionOn",
            objectId=self.call("DOM.resolveNode", backendNodeId=node)["object"]["objectId"],
            functionDeclaration="""function(x, y) {
                const hit = document.elementFromPoint(x, y);
                return this.contains(hit) || (hit?.closest("label")?.control ?? null) === this;
            }""",
            arguments=[{"value": x}, {"value": y}],
            returnByValue=True,
        )["result"].get("value")

    def fill(self, name, text, role="textbox"):
        """Puts a text into the field of that label, in place of what is there."""
        node = self.find(role, name)
        self.call("DOM.focus", backendNodeId=node)
        self.js("document.activeElement.select && document.activeElement.select()")
        self.call("Input.insertText", text=text)

    def choose(self, name, option):
        """Takes an option of the list of that label."""
        object_id = self.call("DOM.resolveNode", backendNodeId=self.find("combobox", name))["object"]["objectId"]
        self.call(
            "Runtime.callFunctionOn",
            objectId=object_id,
            functionDeclaration="""function(text) {
                const option = [...this.options].find((option) => option.text.includes(text));
                if (!option) throw new Error(`no option ${text}`);
                this.value = option.value;
                for (const kind of ["input", "change"]) this.dispatchEvent(new Event(kind, { bubbles: true }));
            }""",
            arguments=[{"value": option}],
        )

    def attach(self, selector, path):
        """Gives a file to the file field of a selector: the system's own dialog is no part of the page."""
        self.until(lambda: self.js(f"!!document.querySelector({json.dumps(selector)})"), f"there is no {selector}")
        document = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=document, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[path])

    def press(self, key):
        code, text = KEYS[key]
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text)

    def picture(self, kind="png", **options):
        """What the page looks like now, as the bytes of a picture."""
        # The optimization is one for the encoder: the image has the same pixels.
        answer = self.call("Page.captureScreenshot", format=kind, optimizeForSpeed=True, **options)
        return base64.b64decode(answer["data"])

    def errors(self):
        """What a developer would see in red."""
        return [text for level, text in self.messages if level in ("error", "assert")]
