"""package_check.py DEB [OLDER]: installs the Debian package in fresh systems of Debian 12 and 13 and uses it, as root.

OLDER is the program of the release before, for the upgrade and the way back. One line is printed for each check; the exit
status is 1 at a failure.
"""

import json
import os
import subprocess
import sys
import tempfile

import package_pair
from package_system import System, installed

# The systems with the package that has GnuTLS.
SYSTEMS = {"bookworm": "libgnutls30", "trixie": "libgnutls30t64"}
DEMO_SECONDS = 180


class Checks:
    def __init__(self, suite):
        self.suite, self.failed = suite, 0

    def check(self, name, is_met, detail=""):
        self.failed += not is_met
        detail = "" if is_met else f": {' '.join(str(detail).split())[-400:]}"
        print(f"{'ok  ' if is_met else 'FAIL'}  {self.suite}: {name}{detail}", flush=True)

    def succeeds(self, name, outcome, *words):
        text = outcome.stdout + outcome.stderr
        self.check(name, outcome.returncode == 0 and all(word in text for word in words), f"{outcome.returncode} {text}")
        return text


def check_installation(checks, system):
    before = system.files()
    checks.succeeds("installs", system.run("dpkg --install /tmp/runar.deb"))
    listed = set(system.run("dpkg --listfiles runar").stdout.split("\n"))
    real = {os.path.realpath(system.root + name)[len(system.root):] for name in listed if name}
    strange = {name for name in system.files() - before if name not in listed | real}
    checks.check("writes no file that the package does not list", not strange, sorted(strange)[:5])
    outcome = system.run("dpkg --verify runar")
    checks.check("dpkg --verify finds no difference", outcome.returncode == 0 and not outcome.stdout, outcome.stdout)
    checks.succeeds("starts with a system that has GnuTLS alone", system.run("runar --version"))
    checks.succeeds("prints licences", system.run("runar --licenses"), "GnuTLS")
    checks.succeeds("has a man page of each command", system.run("test -s /usr/share/man/man1/runar-circle-add.1.gz"))
    checks.succeeds("init makes a home", system.run("runar init --no-passphrase"), "peer")
    outcome = system.run("runar demo --json", DEMO_SECONDS)
    try:
        is_right = outcome.returncode == 0 and json.loads(outcome.stdout)["ok"]
    except (ValueError, KeyError):
        is_right = False
    text = outcome.stdout + outcome.stderr
    checks.check("the demo: nodes of the package meet, admit, connect and exchange", is_right, text)


def check_upgrade(checks, system):
    """From the home of an older program to this one, and back."""
    old, place = "/opt/older/runar", "/srv/upgraded"
    home = {"RUNAR_HOME": place}
    outcome = system.run(f"{old} init --no-passphrase && {old} network create Mine", **home)
    checks.succeeds("the older program makes a home", outcome)
    outcome = system.run("runar network list", **home)
    text = checks.succeeds("the newer program migrates it after a copy", outcome, "Mine", "a copy")
    state = f"{place}/state.sqlite"
    sums = system.run(f"sha256sum {state}").stdout
    outcome = system.run(f"{old} network list", **home)
    is_refused = outcome.returncode == 65 and system.run(f"sha256sum {state}").stdout == sums
    checks.check("the older program refuses the newer data and changes nothing", is_refused, outcome.stderr)
    copies = system.run(f"ls {place}").stdout.split()
    copy = next((name for name in copies if name.startswith("state.sqlite-version-")), "")
    checks.check("the copy is there", copy in text and bool(copy), copies)
    system.run(f"rm -f {state}-wal {state}-shm && mv {place}/{copy} {state}")
    checks.succeeds("the older program goes on with the copy", system.run(f"{old} network list", **home), "Mine")


def check_removal(checks, system):
    peer = system.run("runar status --json").stdout
    text = checks.succeeds("is removed", system.run("dpkg --remove runar"), "~/.local/share/runar")
    checks.check("removal leaves the data of users", os.path.exists(f"{system.root}/root/.local/share/runar/vault"), text)
    checks.check("removal leaves no program", not os.path.exists(f"{system.root}/usr/bin/runar"))
    checks.succeeds("is purged", system.run("dpkg --purge runar"))
    checks.succeeds("installs again", system.run("dpkg --install /tmp/runar.deb"))
    identity = lambda text: json.loads(text or "{}").get("peerId")
    again = system.run("runar status --json").stdout
    checks.check("finds its home again", identity(again) == identity(peer) is not None, again)


def check_file(package):
    """Looks at the package without installing it."""
    checks = Checks("package")
    command = ["lintian", "--allow-root", "--fail-on", "error,warning", package]
    found = subprocess.run(command, capture_output=True, text=True)
    checks.check("lintian finds no error and no warning", found.returncode == 0, found.stdout + found.stderr)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
        pages = os.path.join(folder, "usr/share/man/man1")
        subprocess.run(["gunzip", "--recursive", pages], check=True)
        names = [os.path.join(pages, name) for name in sorted(os.listdir(pages))]
        found = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *names], capture_output=True, text=True)
        is_clean = found.returncode == 0 and not found.stdout
        checks.check(f"mandoc finds nothing in {len(names)} man pages", is_clean, found.stdout)
    return checks.failed


def check_suite(suite, package, older, previous):
    checks, system = Checks(suite), System(installed(suite, suite, f"--include={SYSTEMS[suite]}"))
    try:
        system.put(package, "/tmp/runar.deb")
        check_installation(checks, system)
        package_pair.check_meeting(checks, system)
        if older:
            system.put(older, "/opt/older/runar")
            system.put(previous, "/tmp/previous.deb")
            check_upgrade(checks, system)
            package_pair.check_upgrade(checks, system)
        check_removal(checks, system)
    finally:
        system.remove()
    return checks.failed


def main(package, older=None):
    failed = check_file(package)
    with tempfile.TemporaryDirectory() as folder:
        previous = older and package_pair.previous_package(folder, package, older)
        failed += sum(check_suite(suite, package, older, previous) for suite in SYSTEMS)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
