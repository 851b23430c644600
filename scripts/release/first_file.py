"""first_file.py DEB: measures the way from two bare systems of Debian 12 to a file that one sends to the other, as root.

The commands are those of docs/install.md and docs/runar-command.md, one after the other, without the time of a person who
reads, types and carries the invitation. The devices are two systems of this machine, which use the network of the machine
while apt runs, and then a virtual cable. A line is printed for each step; the exit status is 1 at a failure.
"""

import contextlib
import os
import re
import shutil
import sys
import tempfile
import time

from package_system import Pair, System, installed, wait_until

SUITE = "bookworm"
# What the installer of Debian writes.
SOURCES = f"""deb http://deb.debian.org/debian {SUITE} main
deb http://deb.debian.org/debian {SUITE}-updates main
deb http://security.debian.org/debian-security {SUITE}-security main
"""
UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}
APT_SECONDS = 600
STEP_SECONDS = 120
FILE_BYTES = 3_000_000
INCOMING = "/srv/incoming"
DEVICES = {"west": "laptop", "east": "phone"}


class Failure(Exception):
    """A step that did not succeed."""


class Steps:
    """Measures steps and prints a line for each."""

    def __init__(self):
        self.seconds = self.bytes = 0

    def step(self, name, function, *words):
        began = time.monotonic()
        text = function(*words)
        seconds = time.monotonic() - began
        self.seconds += seconds
        fetched = fetched_bytes(text)
        self.bytes += fetched
        print(f"{seconds:7.1f} s  {name}{f': {fetched / 1e6:.1f} MB fetched' if fetched else ''}", flush=True)
        return text


def fetched_bytes(text):
    """Returns the bytes in the reports of apt."""
    found = re.findall(r"^Fetched ([\d,.]+) ([kMG]?)B in", text, re.MULTILINE)
    return sum(float(number.replace(",", "")) * UNITS[unit] for number, unit in found)


def succeed(outcome):
    text = outcome.stdout + outcome.stderr
    if outcome.returncode:
        raise Failure(f"{outcome.returncode} {' '.join(text.split())[-400:]}")
    return text


def bare_system():
    """Returns a system without lists and packages of apt."""
    system = System(installed("bare", SUITE))
    for place in ("/var/lib/apt/lists", "/var/cache/apt/archives"):
        shutil.rmtree(system.root + place)
        os.makedirs(f"{system.root}{place}/partial")
    with open(f"{system.root}/etc/apt/sources.list", "w", encoding="utf-8") as file:
        file.write(SOURCES)
    system.put("/etc/resolv.conf", "/etc/resolv.conf")
    return system


def install(steps, system, device, package):
    name = os.path.basename(package)
    system.put(package, f"/srv/{name}")

    def apt(words):
        return succeed(system.run(f"cd /srv && {words}", APT_SECONDS, has_network=True))

    steps.step(f"{device}: apt update", apt, "apt update --error-on=any")
    text = steps.step(f"{device}: apt install ./{name}", apt, f"apt install --yes ./{name}")
    for line in re.findall(r"^(?:\d+ upgraded|Need to get|After this operation).*$", text, re.MULTILINE):
        print(f"           apt: {line}")


def invite_and_join(pair):
    """Hands the link of an invitation from one device to the other."""
    with tempfile.NamedTemporaryFile() as output:
        inviter = pair.start("west", "runar network invite --preallow --label phone", output)
        link = []

        def is_shown():
            with open(output.name, encoding="utf-8") as file:
                link[:] = re.findall(r"^runar://join/\S+$", file.read(), re.MULTILINE)
            return bool(link) or inviter.poll() is not None

        wait_until(is_shown, STEP_SECONDS)
        if not link:
            raise Failure("no invitation is shown")
        with open(f"{pair.roots['east']}/srv/invitation", "w", encoding="ascii") as file:
            file.write(link[0])
        text = succeed(pair.run("east", "runar join < /srv/invitation", STEP_SECONDS))
        if inviter.wait(STEP_SECONDS):
            raise Failure(f"network invite ended with {inviter.returncode}")
    return text


def exchange(steps, pair):
    def run(side, command):
        return succeed(pair.run(side, command, STEP_SECONDS))

    for side, device in DEVICES.items():
        steps.step(f"{device}: runar init --no-passphrase", run, side, "runar init --no-passphrase")
        command = f"runar up --detach --accept-files {INCOMING}"
        run(side, f"mkdir {INCOMING}")
        steps.step(f"{device}: {command}", run, side, command)
    steps.step("laptop: runar network create Home", run, "west", "runar network create Home")
    steps.step("both: runar network invite --preallow --label phone; runar join", invite_and_join, pair)
    run("west", f"head --bytes {FILE_BYTES} /dev/urandom > /srv/photo")
    name = f"laptop: runar send phone --file photo, {FILE_BYTES / 1e6:.0f} MB"
    steps.step(name, run, "west", "runar send phone --file /srv/photo")
    sums = [run("west", "sha256sum < /srv/photo"), run("east", f"sha256sum < {INCOMING}/photo")]
    if sums[0] != sums[1]:
        raise Failure("the file that arrived is another one")


def measure(package):
    steps = Steps()
    with contextlib.ExitStack() as stack:
        systems = []
        for device in DEVICES.values():
            systems.append(bare_system())
            stack.callback(systems[-1].remove)
            install(steps, systems[-1], device, package)
        exchange(steps, stack.enter_context(Pair(*systems)))
    print(f"{steps.seconds:7.1f} s  in total: {steps.seconds / 60:.1f} minutes for two devices one after the other, "
          f"{steps.bytes / 1e6:.1f} MB fetched by apt, and twice the package with {os.path.getsize(package) / 1e6:.1f} MB")


def main(package):
    try:
        measure(package)
    except Failure as failure:
        print(f"FAIL  {failure}")
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
