"""The gate: builds once, then runs every suite and every check at the same time.

gate test                            dependencies, format, build, all suites and checks; `make test`
gate long                            the test targets that have long tests, with these
gate suites LABEL FOLDER [OPTIONS]   the suites of SUITES, built in FOLDER with more options of swift
gate release-check                   the parts of PARTS, or those that have not passed yet

Environment:
  SUITES="A B"      only these test targets, without the checks
  VERBOSE=1         prints the log of each suite
  BUILD=no          takes what is built already
  TEST_OPTIONS      more options for the test process, such as --no-parallel
  LIMIT_SECONDS     the longest time of one suite or check before it counts as hung (1800)
  ALSO="a"          more products to build, for `suites`
"""

import os
import subprocess
import sys
import time

import plan
import processes
import release
import schedule
from report import Report, say


class Stop(Exception):
    """A step failed on which all others depend."""


class Gate:
    def __init__(self):
        self.report = Report()
        self.limit_seconds = float(os.environ.get("LIMIT_SECONDS") or 1800)
        self.suites = os.environ.get("SUITES", "").split()
        self.options = os.environ.get("TEST_OPTIONS", "").split()

    def step(self, name, *command):
        """Runs one command in the foreground; the gate ends if it fails."""
        say(f"\n== {name}")
        began = time.monotonic()
        status = subprocess.run(command).returncode
        seconds = time.monotonic() - began
        self.report.step(name, seconds, status)
        if status:
            raise Stop(name)
        return seconds

    def prepare(self):
        self.step("dependencies", "./scripts/install-dependencies.sh", "test")
        self.step("python environment", "./scripts/python-env.sh")

    def build(self, products, *options):
        """Builds products one by one: `swift build` alone also builds every target of every dependency."""
        for product in products:
            seconds = self.step(f"build {product}", "./scripts/debug-build.sh", "--product", product, *options)
            self.report.build_seconds = (self.report.build_seconds or 0) + seconds

    def run(self, jobs):
        say(f"\n== {len(jobs)} suites and checks")
        began = time.monotonic()
        schedule.run(jobs, self.ended, self.progress)
        self.report.after_build_seconds = time.monotonic() - began

    def ended(self, running):
        self.report.job(running)
        if os.environ.get("VERBOSE"):
            with open(running.job.log, "rb") as log:
                say(log.read().decode(errors="replace"))

    def progress(self, active, waiting):
        words = []
        for running in active:
            count = ""
            if running.job.events:
                running.job.events.read()
                count = f" ({len(running.job.events.passed)} tests)"
            words.append(f"{running.job.name}{count}")
        say(f"   ... running: {', '.join(words)}; waiting: {len(waiting)}")


def products_of(*options):
    """The folder that the build writes to."""
    answer = subprocess.run(["swift", "build", "--show-bin-path", *options], capture_output=True, text=True)
    return answer.stdout.strip()


def test(gate):
    is_whole = not gate.suites
    if os.environ.get("BUILD") != "no":
        gate.prepare()
        if is_whole:
            gate.step("format", "make", "--no-print-directory", "lint")
        gate.build(plan.products(gate.suites))
    products, logs = products_of(), ".build/test-logs"
    os.makedirs(logs, exist_ok=True)
    jobs = [
        plan.suite_job(name, products, logs, gate.limit_seconds, gate.options)
        for name in gate.suites or plan.all_suites()
    ]
    if is_whole:
        jobs += plan.check_jobs(products, logs, gate.limit_seconds)
    gate.run(jobs)
    say(f"\nfull logs: {logs}")


def long(gate):
    """Runs the long tests, which the gate skips."""
    gate.prepare()
    gate.build(plan.products(gate.suites))
    products, logs = products_of(), ".build/test-logs-long"
    os.makedirs(logs, exist_ok=True)
    jobs = [
        plan.suite_job(name, products, logs, gate.limit_seconds, gate.options, {"RUNAR_LONG": "1"})
        for name in gate.suites or plan.long_suites()
    ]
    gate.run(jobs)
    say(f"\nfull logs: {logs}")


def suites(gate, label, folder, *options):
    """Runs suites from a build of their own, under other settings than those of `make test`."""
    names, also = gate.suites, os.environ.get("ALSO", "").split()
    os.environ["RUNAR_SUITES"] = " ".join(names)
    gate.prepare()
    options = ("--scratch-path", folder, *options)
    gate.build([*plan.products(names), *also], *options)
    products = products_of(*options)
    say(f"\n== {label}")
    gate.run(
        [
            plan.suite_job(name, products, folder, gate.limit_seconds, gate.options, swift_options=options)
            for name in names
        ]
    )


def main(words):
    processes.interrupt_on_signals()
    processes.adopt_orphans()
    gate = Gate()
    try:
        if words[:1] == ["test"] and len(words) == 1:
            test(gate)
        elif words == ["long"]:
            long(gate)
        elif words == ["release-check"]:
            return release.check(os.environ.get("PARTS", "").split())
        elif words[:1] == ["suites"] and len(words) >= 3 and gate.suites:
            suites(gate, *words[1:])
        else:
            say(__doc__)
            return 64
    except Stop as stop:
        say(f"\n{stop} failed: nothing else was run")
    except KeyboardInterrupt:
        say("\ninterrupted")
        gate.report.interrupted()
    finally:
        processes.kill_descendants()
    return gate.report.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
