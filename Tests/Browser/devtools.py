"""A client of the Chrome DevTools protocol over `--remote-debugging-pipe`, with nothing but the standard library.

One browser is one process with a profile of its own, which is deleted with it. There is no port to race for and no
thread: whoever waits for an answer reads on until it is there, and what happened meanwhile is kept with its page.
"""

import fcntl
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
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

# A name that is not of this machine leads nowhere, so that a page which asks for one fails at once.
THIS_MACHINE_ONLY = "MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1 , EXCLUDE [::1]"

FLAGS = [
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--mute-audio",
    "--no-first-run",
    "--password-store=basic",
    "--use-mock-keychain",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--hide-scrollbars",
]


class ProtocolError(Exception):
    """The browser refused a command, did not answer it, or is gone."""


def find_browser():
    """The path of a Chromium, or nothing."""
    return next((path for path in map(shutil.which, PLACES) if path), None)


def out_of_the_way(pipe):
    """The same pipe with other descriptors than 3 and 4."""
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipe]
    for end in pipe:
        os.close(end)
    return ends


class Browser:
    """A Chromium without a window. `camera` is a film that it sees; "denied" refuses it, and None has no camera."""

    def __init__(self, camera=None, resolver_rules=THIS_MACHINE_ONLY, flags=()):
        self.profile = tempfile.mkdtemp(prefix="console-browser-")
        self.numbers = itertools.count(1)
        self.unread = b""
        self.answers = {}
        self.sessions = {}
        self.pages = []
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
        its_input, our_output = out_of_the_way(os.pipe())
        self.input, its_output = out_of_the_way(os.pipe())
        self.output = os.fdopen(our_output, "wb")

        def arrange():
            os.dup2(its_input, 3)
            os.dup2(its_output, 4)

        self.process = subprocess.Popen(
            command,
            preexec_fn=arrange,
            pass_fds=(3, 4),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.profile, "DBUS_SESSION_BUS_ADDRESS": "disabled:"},
            start_new_session=True,
        )
        os.close(its_input)
        os.close(its_output)

    def call(self, method, parameters=None, session=None, seconds=30):
        """Carries out a command and returns its result."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        self.output.write(json.dumps(message).encode() + b"\0")
        self.output.flush()
        deadline = time.monotonic() + seconds
        while number not in self.answers:
            if not self.receive(deadline - time.monotonic()):
                raise ProtocolError(f"{method} was not answered within {seconds} s")
        answer = self.answers.pop(number)
        if "error" in answer:
            raise ProtocolError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def receive(self, seconds):
        """Takes in what the browser says next; False if it says nothing for so long."""
        if not select.select([self.input], [], [], max(seconds, 0))[0]:
            return False
        chunk = os.read(self.input, 1 << 20)
        if not chunk:
            raise ProtocolError("the browser is gone")
        *messages, self.unread = (self.unread + chunk).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            elif message.get("sessionId") in self.sessions:
                self.sessions[message["sessionId"]](message["method"], message["params"])
        return True

    def attach(self, target, on_event):
        """Begins to command a page; `on_event` gets what happens in it."""
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self.sessions[session] = on_event
        return session

    def close(self):
        try:
            self.call("Browser.close", seconds=5)
            self.process.wait(5)
        except (ProtocolError, OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.input)
        self.output.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
