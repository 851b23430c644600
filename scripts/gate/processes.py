"""Child processes: each in a session of its own, bounded in time, and none survives the gate."""

import ctypes
import os
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36

# What every job gets: SwiftNIO ends a process that uses an event loop that was shut down, instead of printing a line.
STRICT = {"SWIFTNIO_STRICT": "1"}


class Running:
    """A job that was started. Its output goes to `job.log`."""

    def __init__(self, job):
        self.job = job
        self.is_over_time = False
        self.started = time.monotonic()
        with open(job.log, "wb") as log:
            self.process = subprocess.Popen(
                job.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **STRICT, **job.environment},
                start_new_session=True,
            )

    def end(self, status, usage):
        """Takes the result of wait4, and ends helpers that outlived the process: they would disturb the next one."""
        self.status = self.process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.monotonic() - self.started
        self.processor_seconds = usage.ru_utime + usage.ru_stime
        kill_group(self.process.pid)

    def stop_if_over_time(self):
        if not self.is_over_time and time.monotonic() - self.started > self.job.limit_seconds:
            self.is_over_time = True
            kill_group(self.process.pid)


def reap(active):
    """Returns the jobs of `active` that have ended, and reaps the orphans that this process has adopted."""
    ended = []
    while True:
        try:
            process, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if process == 0:
            return ended
        for running in active:
            if running.process.pid == process:
                running.end(status, usage)
                ended.append(running)


def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # All of its processes have ended.


def adopt_orphans():
    """Makes grandchildren whose parents die children of this process, so that `kill_descendants` finds them."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def parents():
    """The parent of every process of this machine."""
    if sys.platform != "linux":
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True).stdout
        return {int(one.split()[0]): int(one.split()[1]) for one in listed.splitlines()}
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                found[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:
            continue  # It ended while it was looked at.
    return found


def kill_descendants():
    """Kills every process below this one, whatever session it is in."""
    for _ in range(10):
        tree, below = parents(), {os.getpid()}
        while more := {child for child, parent in tree.items() if parent in below} - below:
            below |= more
        below.discard(os.getpid())
        if not below:
            return
        for process in below:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return


def interrupt_on_signals():
    """Makes signals end the gate as Ctrl-C does.

    A signal with a handler has its default again in child processes, even if this process was started with it ignored.
    """

    def interrupt(*_):
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
