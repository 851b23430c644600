"""Checks the systemd units: `python3 -B scripts/release/service_check.py BINARY [--root DIRECTORY]`. Prints a line for
each check.

BINARY is the program `runar`. The exposure is computed by systemd-analyze. Then a small Debian system boots systemd as
process 1 and runs both units; this needs root, systemd-nspawn and debootstrap. DIRECTORY keeps that system between runs
(.build/service-check/root). Otherwise, or with --by-hand, the check applies the options that do not need systemd, and
lists the others. The exit status is 1 if a check failed.
"""

import json
import os
import re
import subprocess
import sys
import time

import service_by_hand
import service_machine
from package_system import wait_until

SYSTEM_UNIT = "packaging/systemd/system/runar.service"
INIT_UNIT = "packaging/systemd/system/runar-init.service"
USER_UNIT = "packaging/systemd/user/runar.service"
EXPOSURE_LIMITS = {SYSTEM_UNIT: 2.5, INIT_UNIT: 2.5, USER_UNIT: 4.0}

HOME = "/var/lib/runar"
USER, USER_ID, OTHER = "alice", 1000, "bob"
USER_HOME = f"/home/{USER}/.local/share/runar"

# The drop-in for the user unit where the kernel refuses user namespaces.
WITHOUT_NAMESPACES = "PrivateUsers=no\nPrivateDevices=no\nProtectClock=no\nProtectKernelModules=no\n"

# The settings of the system unit that a probe as root leaves out: those of the unit, of the service and of its user.
NOT_FOR_ROOT = {
    *("Description", "After", "Wants", "Requires", "WantedBy", "Type", "NotifyAccess", "ExecStart", "TimeoutStopSec"),
    *("WatchdogSec", "Restart", "RestartSec", "RestartPreventExitStatus", "User", "Group", "Environment"),
    *("StateDirectory", "StateDirectoryMode", "RemoveIPC"),
}

# The limit of the watchdog during its check, in place of the 30 seconds of the unit.
WATCHDOG_SECONDS = 4
WAIT_SECONDS = 20

# The request that is in progress while the service stops.
REQUEST_SECONDS = 4


class Report:
    """Prints the result of each check and counts the failures."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, is_met, detail=""):
        if is_met:
            self.passed += 1
        else:
            self.failed += 1
        detail = " ".join(str(detail).split())[:300]
        print(f"{'ok  ' if is_met else 'FAIL'}  {name}{f': {detail}' if detail else ''}", flush=True)
        return is_met

    def note(self, text):
        print(f"      {text}", flush=True)

    def outcomes(self, name, found, control):
        """Adds the outcome of each operation of the probe; `control` has those without the sandbox."""
        for operation, reason in found["needed"].items():
            self.check(f"{name}: allowed: {operation}", reason is None, reason or "")
        for operation, reason in found["refused"].items():
            is_refused_anyway = control.get("refused", {}).get(operation) is not None
            detail = f"{reason}{'; also without the sandbox' if is_refused_anyway else ''}"
            self.check(f"{name}: refused: {operation}", reason is not None, detail if reason else "it succeeded")


def exposure(report):
    for unit, limit in EXPOSURE_LIMITS.items():
        command = ["systemd-analyze", "security", "--offline=true", "--no-pager", unit]
        try:
            ran = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            report.note("not checked: exposure, because systemd-analyze is not installed")
            return
        level = re.search(r"exposure level for \S+: ([0-9.]+)", ran.stdout)
        level = float(level.group(1)) if level else None
        is_met = level is not None and level <= limit
        report.check(f"exposure of {unit}, at most {limit}", is_met, level if level is not None else ran.stderr)


class Service:
    """One of the units in the machine, under the system's manager or under that of a user."""

    def __init__(self, machine, name, user, home, is_user_unit):
        self.machine = machine
        self.name = name
        self.user = user
        self.home = home
        self.is_user_unit = is_user_unit
        self.log_field = f"{'USER_' if is_user_unit else ''}UNIT=runar.service"
        self.drop_ins = f"/etc/systemd/{'user' if is_user_unit else 'system'}/runar.service.d"

    def systemctl(self, *words, **options):
        if not self.is_user_unit:
            return self.machine.run("systemctl", *words, **options)
        environment = [f"XDG_RUNTIME_DIR=/run/user/{USER_ID}"]
        return self.machine.run("systemctl", "--user", *words, user=self.user, environment=environment, **options)

    def runar(self, *words, **options):
        return self.machine.run("runar", *words, user=self.user, environment=[f"RUNAR_HOME={self.home}"], **options)

    def property(self, name):
        return self.systemctl("show", "-P", name, "runar").stdout.strip()

    def is_active(self):
        return self.systemctl("is-active", "runar").stdout.strip() == "active"

    def set(self, text):
        """Replaces the drop-in; None removes it."""
        if text is None:
            self.machine.run("rm", "-rf", self.drop_ins)
        else:
            self.machine.write(f"{self.drop_ins}/check.conf", f"[Service]\n{text}")
        self.systemctl("daemon-reload")
        self.systemctl("reset-failed", "runar")

    def journal(self):
        return self.machine.run("journalctl", "-n", "4", "-o", "cat", "--no-pager").stdout


def check_start(report, service):
    started = service.systemctl("start", "runar")
    report.check(f"{service.name}: the start succeeds", started.returncode == 0, started.stderr and service.journal())
    report.check(f"{service.name}: the unit is active", service.is_active())
    status = service.property("StatusText")
    report.check(f"{service.name}: the node has reported READY and its status", "listens on" in status, status)
    status = service.runar("status")
    report.check(f"{service.name}: a command reaches the node", status.returncode == 0, status.stderr)


def check_kill(report, service):
    before = service.property("MainPID")
    service.machine.run("sh", "-c", f"kill -KILL {before}")
    is_back = wait_until(lambda: service.is_active() and service.property("MainPID") not in ("0", before))
    restarts = service.property("NRestarts")
    report.check(f"{service.name}: a killed node is restarted", is_back and restarts == "1", f"restarts: {restarts}")


def check_watchdog(report, service):
    limit = service.property("WatchdogUSec")
    report.check(f"{service.name}: the watchdog waits for 30 s", limit == "30s", limit)
    service.set(f"WatchdogSec={WATCHDOG_SECONDS}\n")
    service.systemctl("restart", "runar")
    before = service.property("MainPID")
    time.sleep(WATCHDOG_SECONDS * 2)
    is_same = service.property("MainPID") == before and service.is_active()
    report.check(f"{service.name}: a node that runs is left alone by the watchdog", is_same)
    service.machine.run("sh", "-c", f"kill -STOP {before}")
    is_back = wait_until(lambda: service.is_active() and service.property("MainPID") not in ("0", before))
    logged = service.machine.run("journalctl", "-o", "cat", "--no-pager", "-g", "Watchdog timeout", service.log_field)
    is_met = is_back and "runar.service" in logged.stdout
    report.check(f"{service.name}: a node that hangs is restarted by the watchdog", is_met)
    service.set(None)


def check_configuration_error(report, service):
    service.set("Environment=RUNAR_DISCOVERY=sometimes\n")
    service.systemctl("restart", "runar")
    time.sleep(4)
    status, restarts = service.property("ExecMainStatus"), service.property("NRestarts")
    is_met = status == "78" and restarts == "0" and not service.is_active()
    report.check(f"{service.name}: a wrong setting is not tried again", is_met, f"status {status}, restarts {restarts}")
    service.set(None)


def check_sandbox(report, service, paths):
    result = f"{service.home}/probe.json"
    words = ["/usr/bin/python3", "/usr/share/service_probe.py", result, service.home, *paths]
    service.machine.run(*words, user=service.user)
    control = service.machine.run("cat", result).stdout
    service.machine.run("rm", "-f", result)
    service.set(f"ExecStartPre={' '.join(words)}\n")
    service.systemctl("restart", "runar")
    text = service.machine.run("cat", result).stdout
    service.machine.run("rm", "-f", result)
    service.set(None)
    if report.check(f"{service.name}: the probe ran in the sandbox", text, "" if text else service.journal()):
        report.outcomes(service.name, json.loads(text), json.loads(control or "{}"))


def check_as_root(report, machine):
    """Applies the options to root: then the options refuse an operation, and not the kernel because of the user."""
    with open(SYSTEM_UNIT, encoding="utf-8") as file:
        lines = [line.strip() for line in file if re.match(r"[A-Za-z]+=", line)]
    options = [line for line in lines if line.split("=")[0] not in NOT_FOR_ROOT]
    found = []
    for chosen in (options, ["PrivateMounts=yes"]):
        home = "/var/lib/service-check"
        words = ["/usr/bin/python3", "/usr/share/service_probe.py", f"{home}/probe.json", home, "-/srv/shared/"]
        properties = [f"--property={one}" for one in (*chosen, "StateDirectory=service-check")]
        ran = machine.run("systemd-run", "--quiet", "--wait", *properties, *words)
        found.append(json.loads(machine.run("cat", f"{home}/probe.json").stdout or "{}"))
        machine.run("rm", "-rf", home)
        if not report.check("as root: the probe ran", found[-1], "" if found[-1] else ran.stderr):
            return
    report.outcomes("as root", *found)


def check_peers(report, system, user):
    """Connects both nodes, sends a file, and stops the system's node during a request."""
    user.set(f"Environment=RUNAR_ACCEPT_FILES=/home/{USER}/incoming\n")
    user.machine.run("mkdir", f"/home/{USER}/incoming", user=USER)
    for service in (system, user):
        service.systemctl("restart", "runar")
    system.runar("network", "create", "Check")
    network = json.loads(system.runar("network", "show", "--json").stdout or "{}").get("text", "")
    peer = json.loads(user.runar("status", "--json").stdout or "{}").get("peerIdText", "")
    token = json.loads(system.runar("network", "issue", peer, "--json").stdout or "{}").get("text", "")
    joined = user.runar("join", network, token)
    report.check("both: the user's node joins a network of the system's node", joined.returncode == 0, joined.stderr)
    is_connected = wait_until(lambda: "connected" in system.runar("peers").stdout)
    report.check("both: the nodes discover each other by multicast and connect", is_connected)
    system.machine.write("/srv/file.txt", "received\n")
    system.machine.run("chmod", "644", "/srv/file.txt")
    sent = system.runar("send", peer, "--file", "/srv/file.txt")
    received = user.machine.run("cat", f"/home/{USER}/incoming/file.txt").stdout
    is_received = received == "received\n"
    report.check("user unit: a received file is written below the home directory", is_received, sent.stderr)
    check_received_file(report, system, user)
    check_relay(report, system, user)
    check_console(report, system)
    check_drain(report, system, user)
    user.set(None)


def check_received_file(report, system, user):
    """Lets the system's node receive a file, with the drop-in of the documentation."""
    folder = "/srv/files"
    system.machine.run("install", "-d", "-o", system.user, "-m", "700", folder)
    system.set(f"Environment=RUNAR_ACCEPT_FILES={folder}\nReadWritePaths={folder}\n")
    system.systemctl("restart", "runar")
    peer = json.loads(system.runar("status", "--json").stdout or "{}").get("peerIdText", "")
    is_back = wait_until(lambda: "connected" in system.runar("peers").stdout)
    report.check("system unit: a restarted node connects again", is_back)
    user.machine.run("cp", "/srv/file.txt", f"/home/{USER}/sent.txt", user=USER)
    sent = user.runar("send", peer, "--file", f"/home/{USER}/sent.txt")
    received = system.machine.run("cat", f"{folder}/sent.txt").stdout
    report.check("system unit: a file is received where the drop-in says", received == "received\n", sent.stderr)
    system.set(None)
    system.systemctl("restart", "runar")


def check_relay(report, system, user):
    """Connects a node of a third user, which knows only the system's node, with the user's node over it."""
    machine, home = system.machine, f"RUNAR_HOME=/home/{OTHER}/runar"
    settings = [home, "RUNAR_DISCOVERY=off", "RUNAR_HASH_TABLE=off", "RUNAR_CONSOLE=off", "RUNAR_LISTEN=127.0.0.1:0"]

    def third(*words):
        return machine.run("runar", *words, user=OTHER, environment=settings)

    third("init", "--no-passphrase")
    peer = json.loads(third("status", "--json").stdout or "{}").get("peerIdText", "")
    network = json.loads(system.runar("network", "show", "--json").stdout or "{}").get("text", "")
    third("join", network, json.loads(system.runar("network", "issue", peer, "--json").stdout or "{}").get("text", ""))
    node = machine.start("runar", "up", user=OTHER, environment=settings)
    status = json.loads(system.runar("status", "--json").stdout or "{}")
    relay, addresses = status.get("peerId", ""), status.get("addresses", [])
    place = f"127.0.0.1:{addresses[0].rsplit(':', 1)[-1]}" if addresses else ""
    is_connected = wait_until(lambda: third("connect", relay, "Check", place).returncode == 0)
    report.check("system unit: a device connects by the address", is_connected, third("connect", relay, "Check", place).stderr)
    wait_until(lambda: user.runar("peers").stdout.count("connected") > 0)
    target = json.loads(user.runar("status", "--json").stdout or "{}").get("peerIdText", "")
    answer = third("connect", target, "Check", "--relay", "--json")
    found = json.loads(answer.stdout or "{}")
    is_met = found.get("relayed") is True and found.get("relay") == relay
    report.check("system unit: the node relays for two others", is_met, answer.stdout + answer.stderr)
    sent = third("send", target, "over the relay")
    report.check("system unit: a message passes over it", sent.returncode == 0, sent.stderr)
    third("stop")
    node.communicate(timeout=WAIT_SECONDS)


def check_console(report, system):
    address = system.runar("console", "--print").stdout.strip()
    fetch = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=10).read().decode())"
    page = system.machine.run("python3", "-c", fetch, address.split("#")[0])
    report.check("system unit: the console answers", "<title>" in page.stdout, page.stderr or page.stdout)


def check_drain(report, system, user):
    environment = [f"RUNAR_HOME={HOME}"]
    action = f"go=sleep {REQUEST_SECONDS}; echo done"
    provider = system.machine.start("runar", "serve", "slow", action, user=system.user, environment=environment)
    wait_until(lambda: "slow/go" in user.runar("services").stdout)
    caller = user.machine.start("runar", "call", "slow/go", user=USER)
    time.sleep(1)
    began = time.monotonic()
    stopped = system.systemctl("stop", "runar")
    seconds = time.monotonic() - began
    answer = caller.communicate(timeout=WAIT_SECONDS)[0]
    provider.communicate(timeout=WAIT_SECONDS)
    is_met = stopped.returncode == 0 and 1 < seconds < 15 and caller.returncode == 0 and "done" in answer
    report.check("system unit: a stop waits for a request in progress", is_met, f"{seconds:.1f} s, {answer}")
    result = system.property("Result")
    report.check("system unit: the stop is clean", result == "success", result)
    began = time.monotonic()
    user.systemctl("stop", "runar")
    seconds = time.monotonic() - began
    report.check("user unit: an idle node stops at once", seconds < 5, f"{seconds:.1f} s")


def check_system_unit(report, service):
    machine = service.machine
    machine.run("systemd-sysusers")
    account = machine.run("getent", "passwd", "runar").stdout.strip()
    is_made = account.endswith(f":{HOME}:/usr/sbin/nologin")
    report.check("system unit: systemd-sysusers makes the user", is_made, account)
    check_start(report, service)
    mode = machine.run("stat", "-c", "%a %U", HOME).stdout.strip()
    report.check("system unit: the first start makes a home that is closed to others", mode == "700 runar", mode)
    identity = machine.run("cat", f"{HOME}/peer.id").stdout
    machine.run("systemctl", "restart", "runar")
    is_met = machine.run("cat", f"{HOME}/peer.id").stdout == identity != ""
    is_skipped = machine.run("systemctl", "show", "-P", "ConditionResult", "runar-init").stdout.strip() == "no"
    report.check("system unit: a second start keeps the home", is_met and is_skipped and service.is_active())
    for user in ("root", USER):
        ran = machine.run("runar", "status", "--home", HOME, user=user)
        report.check(f"system unit: a command of {user} does not reach the node", ran.returncode != 0, ran.stderr)
    check_kill(report, service)
    check_watchdog(report, service)
    check_configuration_error(report, service)
    paths = [f"!/home/{USER}/", "!/root/", "!/var/lib/other/", "-/srv/shared/", "!/tmp/of-the-host"]
    check_sandbox(report, service, [*paths, "!/proc/1/status", "!/proc/kallsyms", "!/dev/kmsg", "!/dev/tty"])


def check_user_unit(report, service):
    made = service.runar("init", "--no-passphrase")
    report.check("user unit: `runar init` makes a home", made.returncode == 0, made.stderr)
    check_start(report, service)
    check_kill(report, service)
    check_watchdog(report, service)
    check_configuration_error(report, service)
    paths = [f"!/home/{OTHER}/", f"!/home/{USER}/.ssh/", "-/srv/shared/", "!/tmp/of-the-host", "!/dev/kmsg"]
    paths += [f"@/run/user/{USER_ID}/bus", f"@/run/user/{USER_ID}/systemd/private"]
    check_sandbox(report, service, [*paths, f"+/home/{USER}/incoming-probe"])
    check_without_namespaces(report, service)


def check_without_namespaces(report, service):
    """Lets the kernel refuse user namespaces to the user's manager, and uses the drop-in of the documentation."""
    machine, manager = service.machine, f"user@{USER_ID}.service"
    machine.write(f"/etc/systemd/system/{manager}.d/check.conf", "[Service]\nRestrictNamespaces=~user\n")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "restart", manager)
    service.systemctl("start", "runar")
    status = service.property("ExecMainStatus")
    report.check("user unit: without user namespaces the start fails with 217", status == "217", status)
    service.set(WITHOUT_NAMESPACES)
    service.systemctl("restart", "runar")
    report.check("user unit: the drop-in without user namespaces starts it", service.is_active())
    service.set(None)
    machine.run("rm", "-rf", f"/etc/systemd/system/{manager}.d")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "restart", manager)


def prepare(machine):
    """Makes the users and the files that the sandbox must not reach."""
    for name in (USER, OTHER):
        machine.run("useradd", "--create-home", name)
    machine.run("chmod", "755", f"/home/{USER}")
    machine.run("chmod", "700", f"/home/{OTHER}")
    machine.run("mkdir", f"/home/{USER}/incoming-probe", f"/home/{USER}/.ssh", user=USER)
    machine.run("sh", "-c", "mkdir -m 700 /var/lib/other && mkdir -m 1777 /srv/shared && echo x > /tmp/of-the-host")
    machine.run("loginctl", "enable-linger", USER)
    wait_until(lambda: machine.run("test", "-S", f"/run/user/{USER_ID}/bus").returncode == 0)


def check_in_machine(report, root, binary):
    service_machine.make_root(root)
    with service_machine.Machine(root, binary) as machine:
        version = machine.run("systemctl", "--version").stdout.split("\n")[0]
        report.check("systemd boots as process 1", True, version)
        prepare(machine)
        system = Service(machine, "system unit", "runar", HOME, is_user_unit=False)
        user = Service(machine, "user unit", USER, USER_HOME, is_user_unit=True)
        check_system_unit(report, system)
        check_user_unit(report, user)
        check_peers(report, system, user)
        check_as_root(report, machine)


def main(arguments):
    by_hand = "--by-hand" in arguments
    arguments = [one for one in arguments if one != "--by-hand"]
    root = ".build/service-check/root"
    if "--root" in arguments[:-1]:
        place = arguments.index("--root")
        root = arguments[place + 1]
        del arguments[place : place + 2]
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 64
    binary = os.path.abspath(arguments[0])
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    report = Report()
    exposure(report)
    reason = "--by-hand was given" if by_hand else service_machine.missing_requirement()
    if not reason:
        try:
            check_in_machine(report, os.path.abspath(root), binary)
        except service_machine.NoMachine as error:
            reason = str(error)
    if reason:
        report.note(f"systemd is not started: {reason}")
        service_by_hand.check(report, SYSTEM_UNIT, binary)
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
