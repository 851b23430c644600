"""Starts the drivers, keeps servers alive between measurements, and watches who else uses the machine."""

import json
import os
import resource
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGESIZE")


class Failed(Exception):
    """A driver did not answer as it should."""


def pinned(core):
    """What a child does first when it must stay on one core, or None."""
    return None if core is None else lambda: os.sched_setaffinity(0, {core})


class Server:
    """A driver's server process. It says its id and address in one line and ends when its input ends."""

    def __init__(self, command, core=None, preload=None):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=pinned(core),
            env={**os.environ, "LD_PRELOAD": preload} if preload else None,
        )
        line = self.process.stdout.readline()
        if not line.startswith("{"):
            self.stop()
            raise Failed(f"{command[0]} did not start: {line!r}")
        self.said = json.loads(line)

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * PAGE

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def run(command, core=None, limit_seconds=120):
    """Runs a client to its end and returns the object that it prints."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=limit_seconds,
            preexec_fn=pinned(core),
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)}: no end after {limit_seconds} s") from None
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise Failed(f"{' '.join(command)}: exit {done.returncode}")
    return json.loads(lines[-1])


def machine_busy_seconds():
    """Processor seconds that the whole machine has spent on anything but idling."""
    with open("/proc/stat") as file:
        fields = [int(word) for word in file.readline().split()[1:]]
    return (sum(fields[:3]) + sum(fields[5:8])) / TICKS


class Watch:
    """Says which share of the machine went to processes that are not ours while a measurement ran."""

    def __init__(self, servers):
        self.servers = servers

    def own(self):
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        this = resource.getrusage(resource.RUSAGE_SELF)
        used = children.ru_utime + children.ru_stime + this.ru_utime + this.ru_stime
        return used + sum(server.cpu_seconds() for server in self.servers)

    def __enter__(self):
        self.started, self.busy, self.used = time.monotonic(), machine_busy_seconds(), self.own()
        return self

    def __exit__(self, *_):
        elapsed = max(time.monotonic() - self.started, 1e-6)
        others = (machine_busy_seconds() - self.busy) - (self.own() - self.used)
        self.others = max(0.0, others / elapsed / os.cpu_count())
