"""What a scenario plays with: devices, each a node and a browser with its console, and the cameras between them."""

import os
import re
import shutil
import tempfile
import threading
import time

from camera import Camera
from devtools import Browser
from node import Node
from page import PATIENCE, Page, matches

PICTURES = os.environ.get("CONSOLE_SCREENSHOTS", "")

# What the browser writes down of a node that a scenario stops.
NODE_GONE = re.compile(r"net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE)")


class Device:
    """A node and its console in a browser of its own."""

    def __init__(self, scene, name, **options):
        self.scene = scene
        self.name = name
        self.folder = os.path.join(scene.folder, name)
        os.mkdir(self.folder)
        self.node = Node(self.folder, name, **options)
        self.browser = self.camera = self.page = None

    def start(self, camera=True, size=(1280, 800)):
        """Starts both; `camera` is True for one of its own, None for none, and "denied"."""
        self.node.init()
        self.node.start()
        film = os.path.join(self.folder, "camera.mjpeg") if camera is True else camera
        self.browser = Browser(camera=film)
        self.camera = Camera(self.folder, self.browser) if camera is True else None
        self.page = Page(self.browser, *size, name=self.name)
        self.page.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.folder)

    def sign_in(self):
        """Opens the console as `runar console` does."""
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
        """Keeps a picture of the page, once nothing moves any more that comes to an end."""
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
        asked = [address for page in self.browser.pages for address in page.requests]
        return [address for address in asked if not address.startswith(own)]

    def complaints(self):
        """What stands in red in the browser's console and does not belong to the scenario."""
        known = [*self.scene.expected, *self.scene.refusals]
        return [text for text in self.errors() if not any(pattern.search(text) for pattern in known)]

    def errors(self):
        """What stands in red, whatever the page."""
        return [text for page in self.browser.pages for text in page.errors()]

    def close(self):
        if self.browser:
            self.browser.close()
        if self.node.process:
            self.node.stop()


class Scene:
    """Everything that one scenario has started; all of it ends with the scenario, whatever happens."""

    def __init__(self, name):
        self.name = name
        self.folder = tempfile.mkdtemp(prefix="console-")
        self.devices = []
        self.expected = []
        self.refusals = []

    def device(self, name, passphrase=None, listen="127.0.0.1:0", **options):
        """A device whose person has opened the console; a passphrase opens its keys if there is one."""
        device = Device(self, name, passphrase=passphrase, listen=listen)
        self.devices.append(device)
        device.start(**options)
        return device.sign_in()

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
        """The browser may tell of an answer later than the page does."""
        deadline = time.monotonic() + PATIENCE
        while missing := [one.pattern for one in self.refusals if not self.was_heard(one)]:
            assert time.monotonic() < deadline, f"nothing was refused as expected: {missing}"
            for device in self.devices:
                device.browser.receive(0.02)

    def was_heard(self, refusal):
        return any(refusal.search(text) for device in self.devices for text in device.errors())

    def tell_failure(self):
        """Everything that helps to see what went wrong."""
        for device in self.devices:
            if not device.page:
                continue
            place = self.keep(f"failed-{self.name}-{device.name}.png", device.page.picture())
            print(f"--- {device.name}: {device.page.js('location.href')}, picture: {place}")
            print(device.page.text())
            for level, text in device.page.messages[-20:]:
                print(f"    {level}: {text}")

    def close(self):
        for device in self.devices:
            device.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def measured(what, milliseconds):
    """Prints a time; times are looked at, not asserted."""
    print(f"measured: {what}: {milliseconds:.0f} ms")


def end_with_parent():
    """Ends this process, and thereby its nodes and browsers, when the one that started it is gone."""

    def watch():
        while os.read(0, 1024):
            pass
        os.kill(os.getpid(), 15)

    threading.Thread(target=watch, daemon=True).start()
