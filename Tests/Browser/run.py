"""Plays the scenarios of this folder: real nodes, a real Chromium, and what a person would see and do.

run.py check               says what is missing, or an empty line
run.py list                names the scenarios
run.py MODULE.SCENARIO [ORIGIN]
                           plays a function of a module, which gets a Scene; exit status 1 and everything that helps if
                           it fails; ORIGIN is that of a running identity server
run.py serve [COUNT]       plays the scenarios whose names are read from standard input, COUNT of them at the same time;
                           writes a line of JSON for each (name, status, seconds, lines); ends with its input

Environment: RUNAR, the command; CONSOLE_SCREENSHOTS, a folder for pictures of failures, and of everything with
CONSOLE_SCREENSHOTS_OF=all; IDENTITY_ORIGIN, the address of a running identity server, without which the run starts one.
"""

import functools
import importlib
import importlib.util
import inspect
import itertools
import json
import os
import pathlib
import queue
import signal
import sys
import threading
import time
import traceback

from devtools import find_browser
from identity_server import ORIGIN
from scene import Scene
from stage import Stage

# Two processors are busy with these; with many more, each takes long enough to reach time limits.
AT_ONCE = 4

# The longest ones are begun first, so that none is left over when all others have ended.
LONGEST = ["screens.full_screens", "files.sender_stops", "crowds.long_lists", "files.receiver_stops"]
LONGEST += ["lan.other_screens", "mistakes.connecting", "hostile.names", "windows.many", "screens.empty_screens"]
LONGEST += ["screens.steps_of_joining"]


def missing():
    """Returns what is not installed, or an empty text."""
    if not find_browser():
        return "there is no Chromium; run ./scripts/install-dependencies.sh test"
    if not importlib.util.find_spec("axe_playwright_python"):
        return "axe-core is missing; run ./scripts/python-env.sh"
    return ""


@functools.cache
def scenarios():
    """Returns the names of what can be played: the functions that take a scene and nothing else."""
    return list(find_scenarios())


def find_scenarios():
    for file in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        if file.stem == "run":
            continue
        for name, value in vars(importlib.import_module(file.stem)).items():
            if inspect.isfunction(value) and value.__module__ == file.stem:
                if list(inspect.signature(value).parameters) == ["scene"]:
                    yield f"{file.stem}.{name}"


def play(name, stage):
    """Plays a scenario; returns its status and its lines."""
    if name not in scenarios():
        return 1, [f"there is no scenario {name}"]
    module, function = name.split(".")
    try:
        scene = Scene(name, stage)
        return scene.play(getattr(importlib.import_module(module), function)), scene.lines
    except Exception:
        return 1, traceback.format_exc().splitlines()


class Server:
    """Plays scenarios on threads and writes their results to standard output."""

    def __init__(self, stage, count):
        self.stage = stage
        self.names = queue.PriorityQueue()
        self.numbers = itertools.count()
        self.lock = threading.Lock()
        for _ in range(count):
            threading.Thread(target=self.work, daemon=True).start()

    def take(self, name):
        rank = LONGEST.index(name) if name in LONGEST else len(LONGEST)
        self.names.put((rank, next(self.numbers), name))

    def work(self):
        while True:
            _, _, name = self.names.get()
            begun = time.monotonic()
            status, lines = play(name, self.stage)
            result = {"name": name, "status": status, "seconds": round(time.monotonic() - begun, 2), "lines": lines}
            with self.lock:
                print(json.dumps(result), flush=True)


def serve(count):
    """Plays what standard input names until that ends; what is being played then ends unfinished."""
    scenarios()
    with_stage(lambda stage: read_names(Server(stage, count)))


def read_names(server):
    for line in sys.stdin:
        if line.strip():
            server.take(line.strip())


def with_stage(body):
    """Runs `body` with a stage, and ends this process with everything that it started."""
    status = 143
    # An end from outside goes the way of every end.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    stage = Stage()
    try:
        status = body(stage) or 0
    except SystemExit as end:
        status = end.code
    except Exception:
        traceback.print_exc()
    finally:
        stage.end()
        sys.stdout.flush()
        # The threads of unfinished scenarios have nothing left that they could end.
        os._exit(status)


def play_alone(name, stage):
    status, lines = play(name, stage)
    print(*lines, sep="\n", end="\n" if lines else "")
    return status


def main(words):
    if words == ["check"]:
        print(missing())
    elif words == ["list"]:
        print(*scenarios(), sep="\n")
    elif words[:1] == ["serve"]:
        serve(int(words[1]) if words[1:] else AT_ONCE)
    else:
        if words[1:]:
            os.environ[ORIGIN] = words[1]
        with_stage(lambda stage: play_alone(words[0], stage))


if __name__ == "__main__":
    main(sys.argv[1:])
