"""Applies the options of the system unit without systemd: mounts, capabilities and a seccomp filter.

`check` starts this file again in namespaces of its own (`enter`), where it sets up the sandbox and replaces itself with
the probe or the program. A socket of the check receives the notifications that systemd would receive.
"""

import contextlib
import ctypes
import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

# An account without a name, as a user of its own would be.
USER_ID = 64990
PLACE = "/var/lib/runar-service-check"
HOME = f"{PLACE}/home"
PROBE = f"{PLACE}/service_probe.py"
DEVICES = ("null", "zero", "full", "random", "urandom")
READY_SECONDS = 20
WATCHDOG_MICROSECONDS = 1_000_000

PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
LAST_CAPABILITY = 63

SCMP_ACT_ALLOW, SCMP_ACT_EPERM = 0x7FFF0000, 0x00050000 | errno.EPERM
SCMP_ACT_NO_FAMILY = 0x00050000 | errno.EAFNOSUPPORT
SCMP_CMP_NE, SCMP_CMP_MASKED_EQ = 1, 7
NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
PROT_WRITE, PROT_EXEC = 2, 4
SET_ID_MODES = (0o4000, 0o2000)

# The options that need systemd, or a cgroup, and the checks that need its restarts.
NOT_ENFORCED = {
    "PrivateUsers=": "this check keeps the user namespace",
    "DevicePolicy=": "a control group enforces it; /dev has only five devices here",
    "RemoveIPC=": "systemd removes the objects after the end",
    "StateDirectory=": "the check makes the home",
    "Restart=, WatchdogSec=": "systemd restarts the node; only the notifications are checked",
    "runar-init.service": "the check calls `runar init`",
}


class Comparison(ctypes.Structure):
    """A condition on one argument of a system call: scmp_arg_cmp."""

    _fields_ = [
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    ]


def allowed_calls():
    """The names of SystemCallFilter=: those of @system-service without @privileged and @resources, and setpriority."""
    calls = calls_of("@system-service") - calls_of("@privileged") - calls_of("@resources")
    return sorted(calls | {"setpriority"})


def calls_of(group):
    found, pending = set(), [group]
    while pending:
        command = ["systemd-analyze", "syscall-filter", "--no-pager", pending.pop()]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for name in (line.strip() for line in listed.splitlines()[1:]):
            if name.startswith("@"):
                pending.append(name)
            elif name and not name.startswith("#"):
                found.add(name)
    return found


class Filter:
    """A seccomp filter, made by libseccomp."""

    def __init__(self, calls):
        self.library = ctypes.CDLL("libseccomp.so.2")
        self.library.seccomp_init.restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.library.seccomp_init(SCMP_ACT_ALLOW))
        names = set(calls)
        for number in range(1024):
            name = self.name(number)
            if name and name not in names:
                self.refuse(name)
        for flag in NAMESPACES:  # RestrictNamespaces=
            for name in ("clone", "unshare"):
                self.refuse(name, Comparison(0, SCMP_CMP_MASKED_EQ, flag, flag))
        self.refuse("setns")
        both = PROT_WRITE | PROT_EXEC  # MemoryDenyWriteExecute=
        self.refuse("mmap", Comparison(2, SCMP_CMP_MASKED_EQ, both, both))
        for name in ("mprotect", "pkey_mprotect"):
            self.refuse(name, Comparison(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC))
        for mode in SET_ID_MODES:  # RestrictSUIDSGID=
            for name, place in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2)):
                self.refuse(name, Comparison(place, SCMP_CMP_MASKED_EQ, mode, mode))
        self.refuse("personality", Comparison(0, SCMP_CMP_NE, 0, 0))  # LockPersonality=
        self.restrict_families()

    def name(self, number):
        self.library.seccomp_syscall_resolve_num_arch.restype = ctypes.c_void_p
        found = self.library.seccomp_syscall_resolve_num_arch(0, number)
        return ctypes.cast(found, ctypes.c_char_p).value.decode() if found else None

    def refuse(self, name, *conditions, action=SCMP_ACT_EPERM):
        number = self.library.seccomp_syscall_resolve_name(name.encode())
        array = (Comparison * max(1, len(conditions)))(*conditions)
        status = self.library.seccomp_rule_add_array(self.context, action, number, len(conditions), array)
        if status not in (0, -errno.EACCES, -errno.EEXIST):
            raise OSError(-status, f"no rule for {name}")

    def restrict_families(self):
        allowed = {socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK}
        mask = 0xFFFFFFFF
        for family in set(range(64)) - allowed:
            condition = Comparison(0, SCMP_CMP_MASKED_EQ, mask, family)
            self.refuse("socket", condition, action=SCMP_ACT_NO_FAMILY)

    def load(self):
        if status := self.library.seccomp_load(self.context):
            raise OSError(-status, "the filter was refused")


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def set_up_mounts():
    """Makes every mount read-only but the home, and replaces /home, /root, /run/user, /tmp, /dev and /proc."""
    mount("--bind", HOME, HOME)
    with open("/proc/self/mounts", encoding="utf-8") as file:
        places = [line.split()[1].encode().decode("unicode_escape") for line in file]
    for place in places:
        if place != HOME and not place.startswith(("/proc", "/dev")):
            subprocess.run(["mount", "-o", "remount,bind,ro", place], stderr=subprocess.DEVNULL)
    for place in ("/home", "/root", "/run/user"):
        if os.path.isdir(place):
            mount("-t", "tmpfs", "-o", "mode=0,ro", "tmpfs", place)
    mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/tmp")
    mount("--rbind", "/dev", f"{PLACE}/dev")
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", "/dev")
    for name in DEVICES:
        open(f"/dev/{name}", "wb").close()
        mount("--bind", f"{PLACE}/dev/{name}", f"/dev/{name}")
    subprocess.run(["umount", "--recursive", f"{PLACE}/dev"], check=True)
    mount("-t", "proc", "-o", "nosuid,nodev,noexec,hidepid=invisible,subset=pid", "proc", "/proc")


def drop_privileges():
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(LAST_CAPABILITY + 1):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([])
    os.setresgid(USER_ID, USER_ID, USER_ID)
    os.setresuid(USER_ID, USER_ID, USER_ID)
    os.umask(0o077)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_NO_NEW_PRIVS")


def enter(words):
    """Sets up the sandbox, and replaces this process with the command `words`."""
    rules = Filter(allowed_calls())
    set_up_mounts()
    drop_privileges()
    rules.load()
    os.execv(words[0], words)


def command(*words):
    spaces = ["unshare", "--mount", "--uts", "--ipc"]
    return [*spaces, sys.executable, "-B", os.path.abspath(__file__), *words]


@contextlib.contextmanager
def prepared(binary):
    """The directory with the program, the probe and a home."""
    shutil.rmtree(PLACE, ignore_errors=True)
    os.makedirs(f"{PLACE}/dev")
    os.mkdir(HOME, 0o700)
    os.chown(HOME, USER_ID, USER_ID)
    shutil.copy(binary, f"{PLACE}/runar")
    shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "service_probe.py"), PROBE)
    try:
        yield f"{PLACE}/runar"
    finally:
        shutil.rmtree(PLACE)


def check(report, unit, binary):
    """Adds the checks, and the options that they leave out."""
    if os.geteuid() != 0:
        report.note(f"not checked: the sandbox of {unit}, which needs root")
        return
    with prepared(binary) as program:
        environment = {"PATH": "/usr/bin:/bin", "RUNAR_HOME": HOME}
        made = subprocess.run(
            command(program, "init", "--no-passphrase"), env=environment, capture_output=True, text=True
        )
        report.check("by hand: `runar init` makes a home", made.returncode == 0, made.stderr)
        check_probe(report, environment)
        check_node(report, program, environment)
    for option, reason in NOT_ENFORCED.items():
        report.note(f"not enforced: {option} ({reason})")


def check_probe(report, environment):
    result = f"{HOME}/probe.json"
    paths = ["!/root/", "-/srv/", "!/proc/1/status", "!/proc/kallsyms", "!/dev/kmsg", "!/dev/tty"]
    words = ["/usr/bin/python3", PROBE, result, HOME, *paths]
    ran = subprocess.run(command(*words), env=environment, capture_output=True, text=True)
    if not report.check("by hand: the probe ran in the sandbox", ran.returncode == 0, ran.stderr[-300:]):
        return
    with open(result, encoding="utf-8") as file:
        report.outcomes("by hand", json.load(file), {})
    os.unlink(result)


def check_node(report, program, environment):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        path = f"{PLACE}/notify"
        manager.bind(path)
        os.chmod(path, 0o666)
        manager.settimeout(READY_SECONDS)
        environment = {**environment, "NOTIFY_SOCKET": path, "WATCHDOG_USEC": str(WATCHDOG_MICROSECONDS)}
        node = subprocess.Popen(command(program, "up"), env=environment, stdout=subprocess.DEVNULL)
        try:
            report.check("by hand: the node reports READY", expects(manager, "READY=1"))
            report.check("by hand: the node notifies the watchdog", expects(manager, "WATCHDOG=1"))
            node.send_signal(signal.SIGTERM)
            report.check("by hand: the node reports STOPPING", expects(manager, "STOPPING=1"))
            report.check("by hand: the node ends with 0", node.wait(timeout=READY_SECONDS) == 0)
        finally:
            if node.poll() is None:
                node.kill()
                node.wait()


def expects(manager, message):
    """Whether the message arrives in time."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        try:
            text = manager.recv(4096).decode()
        except TimeoutError:
            return False
        if message in text.split("\n"):
            return True
    return False


if __name__ == "__main__":
    enter(sys.argv[1:])
