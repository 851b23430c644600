"""Cleanup that outlives this process: a child process kills what is still running and deletes what is still there.

The guard is forked before the first thread starts. It reads its orders from a pipe, so it notices the end of this
process however that comes, also by SIGKILL.
"""

import contextlib
import os
import shutil
import signal
import tempfile
import threading


class Guard:
    """The processes and folders that must not survive this process."""

    def __init__(self):
        self.lock = threading.Lock()
        self.is_over = False
        orders, self.pipe = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.pipe)
            watch(orders)
        os.close(orders)

    def start(self, spawn):
        """Starts a process with `spawn`, registers the number that it returns, and returns that number."""
        with self.lock:
            if self.is_over:
                raise RuntimeError("the run is over: nothing is started")
            pid = spawn()
            self.write(f"+pid {pid}")
            return pid

    def ended(self, pid):
        """Withdraws a process that has ended."""
        self.send(f"-pid {pid}")

    def folder(self, prefix):
        """Makes a temporary folder and returns its path."""
        path = tempfile.mkdtemp(prefix=prefix)
        self.send(f"+folder {path}")
        return path

    def delete(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        self.send(f"-folder {folder}")

    def send(self, order):
        with self.lock:
            if not self.is_over:
                self.write(order)

    def write(self, order):
        os.write(self.pipe, f"{order}\n".encode())

    def end(self):
        """Kills and deletes everything that is registered, and starts nothing from now on."""
        with self.lock:
            if self.is_over:
                return
            self.is_over = True
            os.close(self.pipe)
        os.waitpid(self.pid, 0)


def watch(orders):
    """Runs in the child process until the pipe ends, cleans up, and exits."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    # A reader of our standard output must see its end, although this process is still there.
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    kept = {}
    with open(orders, encoding="utf-8") as lines:
        for line in lines:
            order = line.rstrip("\n")
            if order.startswith("+"):
                kept[order[1:]] = True
            else:
                kept.pop(order[1:], None)
    found = [one.split(" ", 1) for one in kept]
    for pid in [int(value) for kind, value in found if kind == "pid"]:
        kill(pid)
    for folder in [value for kind, value in found if kind == "folder"]:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def kill(pid):
    """Kills a process, and its group if it leads one."""
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(pid, signal.SIGKILL)
