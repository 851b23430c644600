"""Plays a scenario of this folder: real nodes, a real Chromium, and what a person would see and do.

run.py check               says what is missing, or an empty line
run.py list                names the scenarios
run.py MODULE.SCENARIO     plays a function of a module, which gets a Scene; exit status 1 and everything that helps if
                           it fails

Environment: RUNAR, the command; CONSOLE_SCREENSHOTS, a folder for pictures.
"""

import importlib
import importlib.util
import inspect
import pathlib
import signal
import sys
import traceback

from devtools import find_browser
from scene import Scene, end_with_parent


def missing():
    """What is not installed, or nothing."""
    if not find_browser():
        return "there is no Chromium; run ./scripts/install-dependencies.sh test"
    if not importlib.util.find_spec("axe_playwright_python"):
        return "axe-core is missing; run ./scripts/python-env.sh"
    return ""


def scenarios():
    """What can be played: the functions that take a scene and nothing else."""
    for file in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        if file.stem == "run":
            continue
        for name, value in vars(importlib.import_module(file.stem)).items():
            if inspect.isfunction(value) and value.__module__ == file.stem:
                if list(inspect.signature(value).parameters) == ["scene"]:
                    yield f"{file.stem}.{name}"


def play(name):
    module, function = name.split(".")
    scene = Scene(name)
    try:
        getattr(importlib.import_module(module), function)(scene)
        scene.end_well()
    except Exception:
        traceback.print_exc(file=sys.stdout)
        try:
            scene.tell_failure()
        except Exception as error:
            print(f"(the pages tell no more: {error})")
        return 1
    finally:
        scene.close()
    return 0


def main(words):
    if words == ["check"]:
        print(missing())
        return 0
    if words == ["list"]:
        print(*scenarios(), sep="\n")
        return 0
    # An end from outside goes the way of every end, so that no process is left.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    end_with_parent()
    return play(words[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
