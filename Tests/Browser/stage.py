"""The browser, the cameras and the nodes that the scenarios of one run share."""

import os
import tempfile
import threading

from camera import Camera, Desk
from devtools import Browser
from guard import Guard
from node import Node

# The nodes that several scenarios look at, at the same time, and the networks that each owns. A scenario that changes
# anything of a node, or depends on what is known only to a new one, has a node of its own.
SHARED = {"new": [], "owner": ["Home"]}


class Stage:
    """Everything that outlives a scenario; every thread may use it."""

    def __init__(self):
        self.guard = Guard()
        self.folder = self.guard.folder("console-stage-")
        self.lock = threading.Lock()
        self.made = {}
        self.cameras = []
        self.count = 0

    def once(self, name, make):
        """Returns the thing of that name; the first caller makes it, and the others wait for that."""
        with self.lock:
            lock, things = self.made.setdefault(name, (threading.Lock(), []))
        with lock:
            if not things:
                things.append(make())
            return things[0]

    def context(self, downloads=None):
        """Opens an isolated context in the shared browser."""
        return self.once("browser", lambda: Browser(self.guard)).context(downloads)

    def take_camera(self):
        """Returns a camera that films nothing; `give_back` ends its use."""
        with self.lock:
            if self.cameras:
                return self.cameras.pop()
            self.count += 1
            folder = os.path.join(self.folder, f"camera-{self.count}")
        os.mkdir(folder)
        return Camera(self.guard, folder, Desk(self.context()))

    def give_back(self, camera):
        camera.look_at_nothing()
        with self.lock:
            self.cameras.append(camera)

    def furnish(self, node, place, home=None):
        """Makes the data directory of a node: as a copy of `home`, or new; `place` is the number of the device in its
        scenario.

        The devices of one scenario are different ones. Those of different scenarios do not meet, so each device of that
        number is a copy of the same one, made once by `runar init`. What is copied has no port and no addresses of an
        earlier run: a node prefers them, and nodes of different scenarios must not meet.
        """
        if node.passphrase_file:
            node.init()
        else:
            node.copy(home or self.template(place))

    def template(self, place):
        """Returns the node whose data directory new devices of that number get."""
        return self.once(f"template {place}", lambda: self.make_template(place))

    def make_template(self, place):
        node = Node(self.folder, f"template-{place}")
        node.init()
        return node

    def prepared(self, name, make):
        """Returns the nodes whose data directories devices get; `make` gets a folder for them, once for each name."""
        return self.once(f"prepared {name}", lambda: make(self, tempfile.mkdtemp(dir=self.folder)))

    def node(self, group):
        """Returns the running node of a group of scenarios that leave it as it is."""
        return self.once(f"node {group}", lambda: self.start(group))

    def start(self, group):
        folder = os.path.join(self.folder, group)
        os.mkdir(folder)
        node = Node(folder, "laptop", guard=self.guard)
        node.init()
        node.start()
        for network in SHARED[group]:
            node.create(network)
        return node

    def end(self):
        """Ends all processes and deletes all folders of the run, also those of scenarios that are being played."""
        self.guard.end()
