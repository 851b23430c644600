"""package_check.py DEB [OLDER]: installs the Debian package in fresh systems of Debian 12 and 13 and uses it, as root.

OLDER is the program of the release before, for the upgrade and the way back. One line is printed for each check; the exit
status is 1 at a failure.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from project import WORK

# The systems with the package that has GnuTLS.
SYSTEMS = {"bookworm": "libgnutls30", "trixie": "libgnutls30t64"}
# What dpkg, apt and the tests themselves write.
OWN_PLACES = ("/var/lib/dpkg/", "/var/cache/", "/var/log/", "/tmp/", "/root/", "/etc/passwd", "/etc/group", "/etc/shadow",
              "/etc/gshadow", "/run/", "/proc/", "/dev/", "/sys/", "/opt/")
DEMO_SECONDS = 180


class System:
    """A copy of a freshly installed system, in namespaces of its own."""

    def __init__(self, suite):
        base = os.path.join(WORK, "roots", suite)
        if not os.path.exists(f"{base}.complete"):
            shutil.rmtree(base, ignore_errors=True)
            os.makedirs(os.path.dirname(base), exist_ok=True)
            with open(f"{base}.log", "wb") as log:
                command = ["debootstrap", "--variant=minbase", f"--include={SYSTEMS[suite]}", suite, base]
                subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=True)
            with open(f"{base}.complete", "wb"):
                pass
        self.root = tempfile.mkdtemp(prefix=f"{suite}-", dir=os.path.join(WORK, "roots"))
        subprocess.run(["cp", "--archive", f"{base}/.", self.root], check=True)

    def run(self, command, seconds=60, **environment):
        """Runs a command of a shell in the system, without a network but its own loopback."""
        words = ["unshare", "--mount", "--pid", "--fork", "--ipc", "--uts", "--net", "--kill-child", "sh", "-ec"]
        words += [
            'mount -t proc proc "$0/proc"; mount -t sysfs sysfs "$0/sys"; ip link set lo up;'
            ' ip route add multicast 224.0.0.0/4 dev lo; exec chroot "$0" sh -c "$1"',
            self.root,
            command,
        ]
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        environment = {"PATH": path, "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", **environment}
        try:
            return subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, -1, "", f"no end within {seconds} s")

    def files(self):
        """Returns the files of the system."""
        found = set()
        for place, _, names in os.walk(self.root):
            found |= {os.path.join(place, name)[len(self.root):] for name in names}
        return {name for name in found if not name.startswith(OWN_PLACES)}

    def put(self, path, inner):
        os.makedirs(os.path.dirname(self.root + inner), exist_ok=True)
        shutil.copy(path, self.root + inner)

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)


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
    checks.check("the demo: nodes of the package meet, admit, connect and exchange", is_right, outcome.stdout + outcome.stderr)


def check_upgrade(checks, system):
    """From the home of an older program to this one, and back."""
    old, place = "/opt/older/runar", "/srv/upgraded"
    home = {"RUNAR_HOME": place}
    checks.succeeds("the older program makes a home", system.run(f"{old} init --no-passphrase && {old} network create Mine", **home))
    text = checks.succeeds("the newer program migrates it after a copy", system.run("runar network list", **home), "Mine", "a copy")
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
    found = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", package], capture_output=True, text=True)
    checks.check("lintian finds no error and no warning", found.returncode == 0, found.stdout + found.stderr)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
        pages = os.path.join(folder, "usr/share/man/man1")
        subprocess.run(["gunzip", "--recursive", pages], check=True)
        names = [os.path.join(pages, name) for name in sorted(os.listdir(pages))]
        found = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *names], capture_output=True, text=True)
        checks.check(f"mandoc finds nothing in {len(names)} man pages", found.returncode == 0 and not found.stdout, found.stdout)
    return checks.failed


def main(package, older=None):
    failed = check_file(package)
    for suite in SYSTEMS:
        checks, system = Checks(suite), System(suite)
        try:
            system.put(package, "/tmp/runar.deb")
            check_installation(checks, system)
            if older:
                system.put(older, "/opt/older/runar")
                check_upgrade(checks, system)
            check_removal(checks, system)
        finally:
            system.remove()
        failed += checks.failed
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
