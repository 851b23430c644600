"""Systems in which packages are checked: copies of a freshly installed Debian, alone or two joined by a cable. As root."""

import os
import select
import shutil
import subprocess
import tempfile
import time

from project import WORK

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What dpkg, apt and the tests themselves write.
OWN_PLACES = ("/var/lib/dpkg/", "/var/cache/", "/var/log/", "/tmp/", "/root/", "/etc/passwd", "/etc/group", "/etc/shadow",
              "/etc/gshadow", "/run/", "/proc/", "/dev/", "/sys/", "/opt/")
UNSHARE = ("unshare", "--mount", "--pid", "--fork", "--ipc", "--uts", "--kill-child")
# For a system without a network but its own loopback.
ALONE = "ip link set lo up; ip route add multicast 224.0.0.0/4 dev lo;"
# Two network namespaces and the cable between them. The shell is process 1: it reaps processes whose parents have ended,
# and all processes of the systems end with it, at the latest when its standard input is closed.
CABLE = """
mount -t tmpfs tmpfs /run
ip netns add west
ip netns add east
ip -n west link add name cable type veth peer name cable netns east
ip -n west address add 10.77.0.1/24 dev cable
ip -n east address add 10.77.0.2/24 dev cable
for side in west east; do
    ip -n $side link set lo up
    ip -n $side link set cable up
done
for root; do mount -t proc proc "$root/proc"; done
echo ready
cat
exit
"""
SIDES = ("west", "east")
START_SECONDS = 20
TURN_SECONDS = 0.2


def environment(more):
    base = {"PATH": PATH, "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    return {**os.environ, **base, **more}


def completed(words, seconds, more):
    """Runs a command to its end, which is a failure if it takes longer."""
    try:
        return subprocess.run(
            words,
            env=environment(more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, -1, "", f"no end within {seconds} s")


def wait_until(condition, seconds=START_SECONDS):
    """Returns whether the condition holds within that time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(TURN_SECONDS)
    return False


def installed(name, suite, *options):
    """Returns the folder of a Debian system, which is installed once and kept."""
    base = os.path.join(WORK, "roots", name)
    if not os.path.exists(f"{base}.complete"):
        shutil.rmtree(base, ignore_errors=True)
        os.makedirs(os.path.dirname(base), exist_ok=True)
        with open(f"{base}.log", "wb") as log:
            command = ["debootstrap", "--variant=minbase", *options, suite, base]
            subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=True)
        with open(f"{base}.complete", "wb"):
            pass
    return base


class System:
    """A copy of an installed system, in namespaces of its own."""

    def __init__(self, base):
        self.root = tempfile.mkdtemp(prefix=f"{os.path.basename(base)}-", dir=os.path.dirname(base))
        subprocess.run(["cp", "--archive", f"{base}/.", self.root], check=True)

    def run(self, command, seconds=60, has_network=False, **more):
        """Runs a command of a shell in the system, with the network of the machine or without any."""
        words = [*UNSHARE] if has_network else [*UNSHARE, "--net"]
        script = 'mount -t proc proc "$0/proc"; mount -t sysfs sysfs "$0/sys"; exec chroot "$0" sh -c "$1"'
        words += ["sh", "-ec", script if has_network else ALONE + script, self.root, command]
        return completed(words, seconds, more)

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


class Pair:
    """Two systems in network namespaces that a cable joins; the same system on both sides shares its files."""

    def __init__(self, west, east):
        self.roots = {"west": west.root, "east": east.root}
        words = [*UNSHARE, "sh", "-ec", CABLE, "pair", *dict.fromkeys(self.roots.values())]
        self.holder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment({}), text=True)

    def __enter__(self):
        is_readable = select.select([self.holder.stdout], [], [], START_SECONDS)[0]
        if not is_readable or self.holder.stdout.readline() != "ready\n":
            self.__exit__()
            raise RuntimeError("two network namespaces cannot be joined here")
        with open(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children", encoding="ascii") as file:
            self.leader = file.read().split()[0]
        return self

    def __exit__(self, *_):
        self.holder.kill()
        self.holder.communicate(timeout=START_SECONDS)

    def words(self, side, command):
        enter = ["nsenter", f"--target={self.leader}", "--mount", "--pid", "--ipc", "--uts"]
        script = 'mount -t sysfs sysfs "$0/sys"; exec chroot "$0" sh -c "$1"'
        return [*enter, "ip", "netns", "exec", side, "sh", "-ec", script, self.roots[side], command]

    def run(self, side, command, seconds=60, **more):
        """Runs a command of a shell in the system of one side."""
        return completed(self.words(side, command), seconds, more)

    def start(self, side, command, output, **more):
        """Starts a command of a shell, whose output goes to a file, and returns its process."""
        return subprocess.Popen(
            self.words(side, command),
            env=environment(more),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def limit(self, side, rate):
        """Limits what a side sends, as in 40mbit."""
        enter = ["nsenter", f"--target={self.leader}", "--mount", "tc", "-n", side]
        limits = ["qdisc", "replace", "dev", "cable", "root", "tbf", "rate", rate, "burst", "64kb", "latency", "100ms"]
        return completed([*enter, *limits], START_SECONDS, {}).returncode == 0
