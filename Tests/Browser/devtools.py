"""A client of the Chrome DevTools protocol over `--remote-debugging-pipe`, with nothing but the standard library.

One browser process serves many threads. A reader thread hands every answer to the thread that waits for it and every
event to the page of its session. There is no port to race for.
"""

import fcntl
import itertools
import json
import os
import shutil
import signal
import threading
import time

# Debian's command is a shell script around the program in the second place.
PLACES = [
    "/usr/lib/chromium/chromium-headless-shell",
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
]

# A name that is not of this machine leads nowhere, so that a page which asks for one fails at once. The site of the
# hostile scenarios is on this machine.
THIS_MACHINE_ONLY = "MAP stranger.example 127.0.0.1 , MAP * ~NOTFOUND"
THIS_MACHINE_ONLY += " , EXCLUDE localhost , EXCLUDE 127.0.0.1 , EXCLUDE [::1]"

FLAGS = [
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    # A spare renderer for each new context would stay unused: most scenarios open one page in each.
    "--disable-features=SpareRendererForSitePerProcess",
    "--mute-audio",
    "--no-first-run",
    "--password-store=basic",
    "--use-mock-keychain",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--hide-scrollbars",
]


# Events that no page looks at. They are most of the traffic, and reading them is most of the work of this process.
UNUSED = tuple(
    f'{{"method":"Network.{name}'.encode()
    for name in ("responseReceived", "dataReceived", "loading", "requestWillBeSentExtraInfo", "requestServed", "policy")
)


class ProtocolError(Exception):
    """The browser refused a command, did not answer it, or is gone."""


def find_browser():
    """Returns the path of a Chromium, or None."""
    return next((path for path in map(shutil.which, PLACES) if path), None)


def out_of_the_way(pipe):
    """Returns the same pipe with other descriptors than 3 and 4."""
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipe]
    for end in pipe:
        os.close(end)
    return ends


class Browser:
    """A Chromium process without a window.

    `camera` is the film that its camera shows; "denied" refuses the camera, and None has no camera.
    """

    def __init__(self, guard, camera=None, resolver_rules=THIS_MACHINE_ONLY, flags=()):
        self.guard = guard
        self.profile = guard.folder("console-browser-")
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()
        self.pending = {}
        self.sessions = {}
        self.is_gone = False
        arguments = [*FLAGS, f"--user-data-dir={self.profile}", f"--host-resolver-rules={resolver_rules}", *flags]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        if camera == "denied":
            arguments += ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream=deny"]
        elif camera:
            arguments += ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
            arguments.append(f"--use-file-for-fake-video-capture={os.path.abspath(camera)}")
        self.start([find_browser(), *arguments, "--remote-debugging-pipe", "about:blank"])

    def start(self, command):
        """Runs `command` with descriptors 3 (it reads) and 4 (it writes) as the two ends of the protocol."""
        its_input, self.output = out_of_the_way(os.pipe())
        self.input, its_output = out_of_the_way(os.pipe())
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        actions = [(os.POSIX_SPAWN_DUP2, nothing, number) for number in (0, 1, 2)]
        actions += [(os.POSIX_SPAWN_DUP2, its_input, 3), (os.POSIX_SPAWN_DUP2, its_output, 4)]
        environment = {**os.environ, "HOME": self.profile, "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
        # `subprocess` can choose the descriptors only with code that runs after a fork, which threads forbid.
        self.pid = self.guard.start(
            lambda: os.posix_spawn(command[0], command, environment, file_actions=actions, setsid=True)
        )
        for end in (its_input, its_output, nothing):
            os.close(end)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        """Hands on what the browser says until it is gone."""
        unread = []
        try:
            while chunk := os.read(self.input, 1 << 20):
                # A long message comes in many pieces, which are joined once.
                first, *others = chunk.split(b"\0")
                unread.append(first)
                if not others:
                    continue
                messages = [b"".join(unread), *others[:-1]]
                unread = [others[-1]]
                for message in messages:
                    if not message.startswith(UNUSED):
                        self.deliver(json.loads(message))
        except OSError:
            # The pipe was closed on our side.
            pass
        with self.lock:
            self.is_gone = True
            waiting, self.pending = self.pending, {}
        for one in waiting.values():
            one.put({"error": {"message": "the browser is gone"}})

    def deliver(self, message):
        if "id" in message:
            with self.lock:
                waiting = self.pending.pop(message["id"], None)
            if waiting:
                waiting.put(message)
        elif take := self.sessions.get(message.get("sessionId")):
            take(message["method"], message["params"])

    def call(self, method, parameters=None, session=None, seconds=30):
        """Sends a command and returns its result; every thread may call it but the reader thread."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        answer = Answer()
        with self.lock:
            if self.is_gone:
                raise ProtocolError("the browser is gone")
            self.pending[number] = answer
            self.write(json.dumps(message).encode() + b"\0")
        found = answer.get(seconds)
        if found is None:
            with self.lock:
                self.pending.pop(number, None)
            raise ProtocolError(f"{method} was not answered within {seconds} s")
        if "error" in found:
            raise ProtocolError(f"{method}: {found['error'].get('message')}")
        return found["result"]

    def write(self, content):
        try:
            while content:
                content = content[os.write(self.output, content) :]
        except OSError as error:
            raise ProtocolError("the browser is gone") from error

    def context(self, downloads=None):
        """Opens an isolated context: cookies, storage, cache and connections of its own, like another profile."""
        return Context(self, downloads)

    def close(self):
        try:
            self.call("Browser.close", seconds=5)
        except ProtocolError:
            pass
        if not self.has_ended(5):
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.guard.ended(self.pid)
        self.reader.join(5)
        os.close(self.input)
        os.close(self.output)
        self.guard.delete(self.profile)

    def has_ended(self, seconds):
        deadline = time.monotonic() + seconds
        while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                return False
            # The system reports the end of a child to `waitpid` only.
            time.sleep(0.01)
        return True


class Answer:
    """The answer to one command, for the one thread that waits for it."""

    def __init__(self):
        self.ready = threading.Lock()
        self.ready.acquire()
        self.value = None

    def put(self, value):
        self.value = value
        self.ready.release()

    def get(self, seconds):
        """Returns the answer, or None if it does not come in time."""
        return self.value if self.ready.acquire(timeout=seconds) else None


class Context:
    """The pages of one person in a browser; `downloads` is the folder for saved files."""

    def __init__(self, browser, downloads):
        self.browser = browser
        self.pages = []
        self.id = browser.call("Target.createBrowserContext", {"disposeOnDetach": True})["browserContextId"]
        if downloads:
            self.call_here("Browser.setDownloadBehavior", behavior="allow", downloadPath=downloads)

    def call_here(self, method, **parameters):
        """Sends a command that takes the identifier of a context."""
        return self.browser.call(method, {**parameters, "browserContextId": self.id})

    def open(self, take):
        """Opens a tab and returns its target and its session; `take` gets its events on the reader thread."""
        target = self.call_here("Target.createTarget", url="about:blank")["targetId"]
        session = self.browser.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self.browser.sessions[session] = take
        return target, session

    def close(self):
        try:
            self.browser.call("Target.disposeBrowserContext", {"browserContextId": self.id})
        except ProtocolError:
            # A browser that is gone has no contexts.
            pass
        for page in self.pages:
            self.browser.sessions.pop(page.session, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
