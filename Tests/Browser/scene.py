"""The devices of a scenario, each a node and a browser context with its console."""

import contextlib
import os
import re
import signal
import traceback

from camera import Desk
from devtools import Browser
from node import Node
from page import Page, matches

PICTURES = os.environ.get("CONSOLE_SCREENSHOTS", "")
# Whether the pictures of what went well are taken, too: for documents, and for those who look at the console.
TAKES_ALL = os.environ.get("CONSOLE_SCREENSHOTS_OF", "") == "all"

# What the browser writes down of a node that a scenario stops.
NODE_GONE = re.compile(
    r"net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|CONTENT_LENGTH_MISMATCH|EMPTY_RESPONSE)"
)


class Device:
    """A node and its console in a browser context of its own; a `shared` node belongs to the stage.

    `home` is the node of which this one gets a copy of the data directory; without it the directory is new.
    """

    def __init__(self, scene, name, shared=None, home=None, **options):
        self.scene = scene
        self.name = name
        self.folder = os.path.join(scene.folder, name)
        os.mkdir(self.folder)
        self.is_shared = shared is not None
        self.home = home
        self.node = shared or Node(self.folder, name, guard=scene.stage.guard, **options)
        self.browser = self.camera = self.context = self.page = None

    def start(self, camera=None, size=(1280, 800), has_page=True, **options):
        """Starts the node and opens a page; `camera` is True for a camera, "denied" for one that may not be used.

        A page costs twice as much as a node, so a device has none if nothing is looked at on it. The other options are
        those of the page.
        """
        if not self.is_shared:
            self.scene.stage.furnish(self.node, self.scene.devices.index(self), self.home)
            self.node.start()
        if not has_page:
            return
        if camera == "denied":
            self.browser = Browser(self.scene.stage.guard, camera=camera)
            self.context = self.browser.context(self.folder)
        elif camera:
            self.camera = self.scene.stage.take_camera()
            self.context = self.camera.browser.context(self.folder)
        else:
            self.context = self.scene.stage.context(self.folder)
        self.page = Page(self.context, *size, name=self.name, **options)
        self.page.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def sign_in(self):
        """Opens the console as `runar console` does, if the device has a page."""
        if self.page:
            self.page.open(self.node.address())
            self.page.find("heading")
        return self

    def go(self, place):
        """Opens a view, such as `/peers`, and waits until the one before is gone."""
        self.page.js("for (const view of document.querySelectorAll('.view')) view.dataset.at = location.hash; 0")
        self.page.open(f"{self.node.origin}/#{place}")
        views = "[...document.querySelectorAll('.view')].map(view => view.dataset.at)"
        self.page.until(
            lambda: self.page.js(
                f"(all => all.length > 0 && all.every(at => [undefined, location.hash].includes(at)))({views})"
            ),
            lambda: f"{place} does not come: {self.page.text()}",
        )
        # What comes later moves what is below it away from under the mouse.
        self.page.until(
            lambda: self.page.js("!document.querySelector('.view .loading')"),
            lambda: f"still waiting: {self.page.text()}",
        )

    def keep(self, name, **options):
        """Keeps an image of the page, once the animations that end have ended, if pictures are wanted."""
        if not PICTURES or not TAKES_ALL:
            return None
        self.page.js(
            "Promise.all(document.getAnimations().filter(one => one.effect.getComputedTiming().endTime < 5000)"
            ".map(one => one.finished.catch(() => 0))).then(() => 0)"
        )
        return self.scene.keep(f"{name}.png", self.page.picture(**options))

    def saved(self, name):
        """Waits for a file that the page gives to keep, and returns its path."""

        def whole():
            paths = [os.path.join(self.folder, one) for one in os.listdir(self.folder) if matches(name, one)]
            # The browser takes the name with an empty file before it has written another one.
            return next((path for path in paths if os.path.getsize(path)), None)

        return self.page.until(whole, lambda: f"{name} is not among {os.listdir(self.folder)}")

    def file(self, name, content):
        """A file that the person has, with that content; its path."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def strangers(self):
        """What the pages asked for that their node does not serve."""
        own = (f"{self.node.origin}/", "blob:", "data:", "about:")
        asked = [address for page in self.pages() for address in page.requests]
        return [address for address in asked if not address.startswith(own)]

    def complaints(self):
        """What stands in red in the browser's console and does not belong to the scenario."""
        known = [*self.scene.expected, *self.scene.refusals]
        return [text for text in self.errors() if not any(pattern.search(text) for pattern in known)]

    def errors(self):
        """What stands in red, whatever the page."""
        return [text for page in self.pages() for text in page.errors()]

    def pages(self):
        return self.context.pages if self.context else []

    def close(self):
        with contextlib.ExitStack() as ends:
            if self.node.process and not self.is_shared:
                # Scenarios in which the end of a node matters stop it themselves.
                ends.callback(self.node.stop, signal.SIGKILL)
            if self.camera:
                ends.callback(self.scene.stage.give_back, self.camera)
            if self.browser:
                ends.callback(self.browser.close)
            if self.context:
                ends.callback(self.context.close)


class Scene:
    """Everything that one scenario has started; all of it ends with the scenario, whatever happens."""

    def __init__(self, name, stage):
        self.name = name
        self.stage = stage
        self.folder = stage.guard.folder("console-")
        self.devices = []
        self.contexts = []
        self.expected = []
        self.refusals = []
        self.lines = []

    def device(self, name, passphrase=None, listen="127.0.0.1:0", home=None, **options):
        """A device whose person has opened the console; a passphrase opens its keys if there is one."""
        device = Device(self, name, home=home, passphrase=passphrase, listen=listen)
        self.devices.append(device)
        device.start(**options)
        return device.sign_in()

    def visit(self, name, group, **options):
        """A device whose node is shared with other scenarios: this one leaves the node as it is."""
        device = Device(self, name, shared=self.stage.node(group))
        self.devices.append(device)
        device.start(**options)
        return device.sign_in()

    def context(self, browser=None):
        """A browser context that belongs to no device."""
        context = browser.context() if browser else self.stage.context()
        self.contexts.append(context)
        return context

    def photograph(self, picture):
        """A photograph of an image of a screen, as JPEG."""
        return Desk(self.context()).photograph(picture)

    def measured(self, what, milliseconds):
        """Tells a time; times are looked at, not asserted."""
        self.lines.append(f"measured: {what}: {milliseconds:.0f} ms")

    def expect_absence(self):
        """A node goes away in this scenario, on purpose."""
        self.expected.append(NODE_GONE)

    def expect_refusal(self, status, path):
        """The person provokes an answer of that status: the page puts it into words, the browser writes it in red.

        `path` is a pattern of what follows `/api/v1`.
        """
        self.refusals.append(re.compile(rf"responded with a status of {status} .*/api/v1{path}(\?|$)"))

    def keep(self, name, content):
        """Keeps a file for whoever looks at the run, and returns its path."""
        if not PICTURES:
            return None
        os.makedirs(PICTURES, exist_ok=True)
        path = os.path.join(PICTURES, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def end_well(self):
        """What must hold at the end of every scenario."""
        self.wait_for_refusals()
        for device in self.devices:
            assert not device.strangers(), f"{device.name} asked elsewhere: {device.strangers()}"
            found = device.complaints()
            assert not found, f"errors in the console of {device.name}'s browser: {found}"

    def wait_for_refusals(self):
        """Waits until the browser has told of every expected refusal, which may be later than the page does."""
        missing = lambda: [one.pattern for one in self.refusals if not self.was_heard(one)]
        page = next(one.page for one in self.devices if one.page)
        page.until(lambda: not missing(), lambda: f"nothing was refused as expected: {missing()}")

    def was_heard(self, refusal):
        return any(refusal.search(text) for device in self.devices for text in device.errors())

    def play(self, function):
        """Plays the scenario and returns its exit status; `lines` then holds what there is to tell."""
        try:
            function(self)
            self.end_well()
            return 0
        except Exception as error:
            # The reason first: what follows may be cut.
            self.lines += f"{type(error).__name__}: {error}".splitlines()[:1]
            self.lines += traceback.format_exc().splitlines()
            try:
                self.tell_failure()
            except Exception as error:
                self.lines.append(f"(the pages tell no more: {error})")
            return 1
        finally:
            self.close()

    def tell_failure(self):
        """Collects everything that helps to see what went wrong."""
        for device in self.devices:
            if device.page:
                place = self.keep(f"failed-{self.name}-{device.name}.png", device.page.picture())
                self.lines.append(f"--- {device.name}: {device.page.js('location.href')}, picture: {place}")
                self.lines += device.page.text().splitlines()
                self.lines += [f"    {level}: {text}" for level, text in device.page.messages[-20:]]
            else:
                self.lines.append(f"--- {device.name}, without a page")
            self.lines += [f"    node: {line}" for line in device.node.last_words()]

    def close(self):
        with contextlib.ExitStack() as ends:
            ends.callback(self.stage.guard.delete, self.folder)
            for one in [*self.devices, *self.contexts]:
                ends.callback(one.close)
