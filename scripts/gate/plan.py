"""The jobs of the gate: one for each test target, and the checks that are not test targets."""

import glob
import os
import sys

from events import EventStream
from schedule import Job

# The processors and the seconds that a suite uses on two cores, for the order alone. Others count as Job says.
COSTS = {
    "CommandTests": (0.8, 500),
    "ConsoleBrowserTests": (1.6, 250),
    "SimulationTests": (1, 95),
    "LabTests": (0.6, 170),
    "KademliaTests": (1, 70),
    "RunarNodeTests": (0.8, 80),
    "NodeCoreTests": (1, 60),
    "CircleTests": (0.8, 60),
    "InteropTests": (0.8, 60),
    "DiscoveryTests": (1, 40),
    "TidyTests": (1, 35),
    "IdentityTests": (1, 35),
    "QUICTests": (0.9, 40),
    "QRCodeTests": (1, 35),
    "MailboxTests": (0.8, 35),
    "ConsoleTests": (0.4, 30),
    "HTTPAPITests": (0.4, 30),
    "WebClientTests": (0.6, 20),
    "IdentityServerTests": (1, 20),
    "RegistrationTests": (1, 15),
    "WebAuthnTests": (0.8, 10),
    "APIDescriptionTests": (0.4, 10),
    "ProgramTests": (0.3, 40),
    "NodeTests": (0.6, 30),
    "PlatformTests": (0.4, 30),
    "RunarCTests": (0.7, 35),
    "ExitClientTests": (1, 12),
    "TunnelTests": (0.7, 40),
    "WireGuardTests": (1, 8),
    "TokenIssuerTests": (0.8, 6),
}

# Tests at the same time in one process: as many as threads where tests compute, so that none waits for a thread after
# it has begun, and more where they wait. Too many make one another late, and some measure how the machine behaves.
WIDTH, COMPUTING_WIDTH = 8, 2

# Suites with a server that runs this many scenarios concurrently, the longest first: it receives all names at once.
SERVED, ALL_AT_ONCE = {"ConsoleBrowserTests": 4}, 1000

# The test bundle; with it come all programs that tests run.
BUNDLE = "runarPackageTests"

# Name, processors, seconds, command.
CHECKS = [
    ("the demo", 0.5, 30, ["{products}/runar", "demo"]),
    ("reference documentation", 1, 30, ["./scripts/documentation.sh", ".build/documentation", "{products}"]),
    ("librunar in C and Python", 1, 15, ["./scripts/library.sh", ".build/library-debug", "{products}"]),
    ("the gate itself", 0.3, 5, ["python3", "-B", "-m", "unittest", "discover", "scripts/gate"]),
    ("the release itself", 0.8, 8, ["python3", "-B", "-m", "unittest", "discover", "scripts/release"]),
]

def all_suites():
    """The test targets, TidyTests first: it is the quickest to report that something is out of place."""
    names = sorted(os.path.basename(folder) for folder in glob.glob("Tests/*Tests"))
    return sorted(names, key=lambda name: name != "TidyTests")


def products(suites):
    """What must be built for these suites, or for everything."""
    if not suites:
        return [BUNDLE, "RunarC", "RunarCStatic"]
    return [BUNDLE, "RunarC"] if "RunarCTests" in suites else [BUNDLE]


def suite_job(name, products, logs, limit_seconds, options=(), environment=None, swift_options=()):
    """A job that runs one test target that is built already."""
    events = os.path.join(logs, f"{name}.events.jsonl")
    if os.path.exists(events):
        os.remove(events)
    arguments = ["--filter", f"^{name}\\.", "--event-stream-output-path", events, "--event-stream-version", "0"]
    cores, seconds = COSTS.get(name, (Job.cores, Job.expected_seconds))
    width = ALL_AT_ONCE if name in SERVED else COMPUTING_WIDTH if cores == 1 else WIDTH
    arguments += ["--experimental-maximum-parallelization-width", str(width), *options]
    bundle = glob.glob(os.path.join(products, "*PackageTests.xctest"))
    if sys.platform == "linux" and bundle:
        # Run without the package manager, which lets one process at a time use a build folder.
        command = [bundle[0], "--testing-library", "swift-testing", *arguments]
    else:
        command = ["swift", "test", "--skip-build", "--disable-xctest", *swift_options, *arguments]
    return Job(
        name=name,
        command=command,
        log=os.path.join(logs, f"{name}.log"),
        cores=cores,
        expected_seconds=seconds,
        limit_seconds=limit_seconds,
        environment=environment or {},
        events=EventStream(events, SERVED.get(name, width)),
        is_urgent=name == "TidyTests",
    )


def long_suites():
    """The test targets that have tests for `make test-long`."""
    found = set()
    for path in glob.glob("Tests/*Tests/**/*.swift", recursive=True):
        with open(path, encoding="utf-8") as file:
            if "LongTests." in file.read():
                found.add(path.split("/")[1])
    return sorted(found)


def check_job(name, cores, seconds, words, logs, limit_seconds):
    return Job(
        name=name,
        command=words,
        log=os.path.join(logs, f"{name.replace(' ', '-')}.log"),
        cores=cores,
        expected_seconds=seconds,
        limit_seconds=limit_seconds,
    )


def check_jobs(products, logs, limit_seconds):
    """The checks that are not test targets: what the documents show, built and run."""
    return [
        check_job(name, cores, seconds, [word.format(products=products) for word in command], logs, limit_seconds)
        for name, cores, seconds, command in CHECKS
    ]
