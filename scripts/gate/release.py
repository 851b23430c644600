"""What the gate leaves out and a release needs. Each part is a command of its own; its result is kept, so that a later
call continues with the parts that have not passed for the same commit."""

import json
import os
import subprocess
import time

from report import say

RESULTS = ".build/release-check.json"

PREVIOUS = ".build-release/previous/link/runar"


def make(*words):
    return ["make", "--no-print-directory", *words]


# The order puts parts that share a release build next to each other.
PARTS = {
    "library": (make("library"), {}),
    "attacks": (make("attacks"), {}),
    "release": (make("release"), {}),
    "previous": (make("previous"), {}),
    "packages": (make("check-packages", f"OLDER={PREVIOUS}"), {}),
    "wire": (make("check-wire"), {}),
    "upgrades": (make("check-upgrades"), {}),
    "suites": (make("check-suites"), {}),
    "reproducible": (make("reproducible"), {}),
    "soak": (make("soak"), {"SOAK_SECONDS": "300"}),
    "bench": (make("bench"), {"ROUNDS": "1"}),
    "outside": (make("outside"), {}),
    "sanitize": (make("sanitize"), {}),
    "fuzz": (make("fuzz"), {}),
}

# The parts whose programs or packages a part uses. Where one of them failed, those of another commit would be checked.
NEEDS = {
    "packages": ["release", "previous"],
    "wire": ["release", "previous"],
    "upgrades": ["release", "previous"],
    "suites": ["release"],
}


def commit():
    """The commit that is checked, marked if there are changes."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    changed = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True).stdout
    return head + ("+changes" if changed.strip() else "")


def load():
    """The results of this commit so far."""
    try:
        with open(RESULTS, encoding="utf-8") as file:
            kept = json.load(file)
    except (FileNotFoundError, ValueError):
        return {}
    return kept.get("parts", {}) if kept.get("commit") == commit() else {}


def keep(results):
    os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
    with open(f"{RESULTS}.new", "w", encoding="utf-8") as file:
        json.dump({"commit": commit(), "parts": results}, file)
    os.replace(f"{RESULTS}.new", RESULTS)


def check(names):
    """Runs the parts of these names, or those that have not passed yet; returns the exit status."""
    if unknown := [name for name in names if name not in PARTS]:
        say(f"there is no part {', '.join(unknown)}; the parts are: {', '.join(PARTS)}")
        return 64
    results = load()
    for name in names or [one for one in PARTS if not results.get(one, {}).get("passed")]:
        say(f"\n== {name}")
        began = time.monotonic()
        results[name] = {"passed": run(name, results), "seconds": time.monotonic() - began}
        keep(results)
    return report(results)


def run(name, results):
    """Runs one part and returns whether it passed."""
    if failed := [one for one in NEEDS.get(name, []) if one in results and not results[one]["passed"]]:
        say(f"not run, because it uses what these parts make: {', '.join(failed)}")
        return False
    command, environment = PARTS[name]
    return subprocess.run(command, env={**os.environ, **environment, "SUITES": ""}).returncode == 0


def report(results):
    say("\n== release check")
    for name in PARTS:
        found = results.get(name)
        verdict = "not run" if found is None else "passed" if found["passed"] else "FAILED"
        say(f"{name:12}  {found['seconds'] if found else 0:7.0f} s  {verdict}")
    missing = [name for name in PARTS if not results.get(name, {}).get("passed")]
    say(f"{'in all':12}  {sum(one['seconds'] for one in results.values()):7.0f} s")
    if missing:
        say(f"to continue: make release-check PARTS=\"{' '.join(missing)}\"")
    return 1 if missing else 0
