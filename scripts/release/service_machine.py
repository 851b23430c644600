"""A small Debian system that boots systemd as process 1 in namespaces of its own, with the program and its units."""

import os
import shutil
import signal
import subprocess
import tempfile
import time

PACKAGES = "systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,libgnutls30,python3"
SUITE = "bookworm"

# The time for a boot, and for one command in the machine.
BOOT_SECONDS = 60
COMMAND_SECONDS = 60
TURN_SECONDS = 0.1

UNITS = {
    "packaging/systemd/system/runar.service": "/usr/lib/systemd/system/runar.service",
    "packaging/systemd/system/runar-init.service": "/usr/lib/systemd/system/runar-init.service",
    "packaging/systemd/system/runar.sysusers": "/usr/lib/sysusers.d/runar.conf",
    "packaging/systemd/user/runar.service": "/usr/lib/systemd/user/runar.service",
    "scripts/release/service_probe.py": "/usr/share/service_probe.py",
}


class NoMachine(Exception):
    """systemd cannot be started here as process 1."""


def missing_requirement():
    """The reason for which no machine can be started, or None."""
    if os.geteuid() != 0:
        return "it needs root"
    for tool in ("systemd-nspawn", "nsenter", "debootstrap"):
        if not shutil.which(tool, path=f"{os.environ.get('PATH', '')}:/usr/sbin"):
            return f"{tool} is not installed"
    return None


def make_root(path):
    """Installs a minimal Debian system in the directory `path`, unless it is complete already."""
    if os.path.exists(f"{path}/usr/bin/python3") and os.path.exists(f"{path}/lib/systemd/systemd"):
        return
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(f"{path}.log", "wb") as log:
        command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, path]
        if subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode:
            raise NoMachine(f"debootstrap failed, see {path}.log")


def libraries(binary):
    """The files of the shared libraries that the program loads, by the path under which it looks for them."""
    listed = subprocess.run(["ldd", binary], capture_output=True, text=True).stdout
    words = [line.split() for line in listed.splitlines()]
    return {one[2]: os.path.realpath(one[2]) for one in words if len(one) > 2 and one[1] == "=>"}


class Machine:
    """A running system. Its changes are kept in memory, and end with it."""

    def __init__(self, root, binary):
        binds = {binary: "/usr/bin/runar", **UNITS}
        binds |= {file: path for path, file in libraries(binary).items() if not os.path.exists(root + path)}
        self.log = tempfile.NamedTemporaryFile(prefix="service-check-", suffix=".log")
        self.leader = None
        command = ["systemd-nspawn", "--quiet", f"--directory={root}", "--volatile=overlay", "--boot"]
        command += ["--register=no", "--keep-unit", "--private-network", "--console=pipe"]
        # System calls that systemd-nspawn refuses to a container, and a machine does not.
        command += ["--system-call-filter=@memlock syslog"]
        command += [f"--machine=service-check-{os.getpid()}"]
        command += [f"--bind-ro={os.path.abspath(file)}:{path}" for file, path in binds.items()]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def __enter__(self):
        try:
            self.wait_for_boot()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def wait_for_boot(self):
        deadline = time.monotonic() + BOOT_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
                self.leader = next(iter(file.read().split()), None)
            if self.leader and self.run("systemctl", "is-system-running").stdout.strip() in ("running", "degraded"):
                return
            time.sleep(TURN_SECONDS)
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            raise NoMachine(f"systemd did not start: {file.read()[-300:].strip() or 'no output'}")

    def command(self, *words, user=None, environment=()):
        """The words that run a command in the machine, as `user` or as root."""
        entry = ["nsenter", "-t", self.leader, "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w"]
        return entry + (["runuser", "-u", user, "--"] if user else []) + ["env", *environment, *words]

    def run(self, *words, user=None, environment=(), seconds=COMMAND_SECONDS):
        command = self.command(*words, user=user, environment=environment)
        try:
            return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, -1, "", f"no end within {seconds} s")

    def start(self, *words, user=None, environment=()):
        """Starts a command in the machine and returns its process."""
        command = self.command(*words, user=user, environment=environment)
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def write(self, path, text):
        """Writes a file of root, with its directories."""
        command = self.command("sh", "-c", f"mkdir -p {os.path.dirname(path)} && cat > {path}")
        subprocess.run(command, input=text, text=True, check=True)

    def end(self):
        """Ends the machine with all its processes."""
        if self.leader and self.process.poll() is None:
            os.kill(int(self.leader), signal.SIGKILL)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.log.close()
