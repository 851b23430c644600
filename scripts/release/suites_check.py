"""suites_check.py PROGRAM [SUITE...]: runs the tests of the command, or these suites of them, against the program of a
release.

The tests run the program that is next to their bundle, so the bundle is linked into a folder that has PROGRAM. The
result of each suite and the failures are printed; the exit status is 1 at a failure.
"""

import os
import re
import shutil
import sys

from project import ROOT, Stop, main_of

sys.path.append(os.path.join(ROOT, "scripts", "gate"))

import plan
import processes
import schedule
from report import Report, say

TARGET = "CommandTests"
PRODUCTS = os.path.join(ROOT, ".build", "debug")
FOLDER = os.path.join(ROOT, ".build", "release-suites")
LOGS = os.path.join(ROOT, ".build", "test-logs-release")
LIMIT_SECONDS = 3600


def prepare(program):
    """Makes a folder with the test bundle, the programs of its build, and the program of the release as `runar`."""
    bundle = f"{plan.BUNDLE}.xctest"
    if not os.path.exists(os.path.join(PRODUCTS, bundle)):
        command = f"./scripts/debug-build.sh --product {plan.BUNDLE}"
        raise Stop(f"there is no {bundle} in .build/debug: `make test` or `{command}` builds it")
    if not os.access(program, os.X_OK):
        raise Stop(f"there is no program {program}: `make release` links it")
    remove()
    os.makedirs(FOLDER)
    os.makedirs(LOGS, exist_ok=True)
    # Hard links: the tests find their folder by the path of the bundle without symbolic links, and a build may run.
    for entry in os.scandir(PRODUCTS):
        if entry.is_file() and os.access(entry.path, os.X_OK) and entry.name != "runar":
            os.link(os.path.realpath(entry.path), os.path.join(FOLDER, entry.name))
    shutil.copy(program, os.path.join(FOLDER, "runar"))


def remove():
    shutil.rmtree(FOLDER, ignore_errors=True)


def job_of(suites):
    job = plan.suite_job(TARGET, FOLDER, LOGS, LIMIT_SECONDS)
    if suites:
        # The identifier of a test is Target.Suite/function.
        names = "|".join(re.escape(suite) for suite in suites)
        job.command[job.command.index("--filter") + 1] = f"^{TARGET}\\.({names})/"
    return job


def progress(job):
    job.events.read()
    say(f"   ... {len(job.events.passed)} tests passed")


def results(tests):
    """Returns the numbers of passed, failed and skipped tests of each suite."""
    counts = {}
    for name, test in tests.items():
        count = counts.setdefault(name.split(".", 1)[-1].split("/")[0], {"passed": 0, "failed": 0, "skipped": 0})
        if test.skipped is not None:
            count["skipped"] += 1
        elif test.ended is not None and not test.issues:
            count["passed"] += 1
        elif test.issues or test.started is not None:
            count["failed"] += 1
    return counts


def print_results(counts):
    for suite, count in sorted(counts.items()):
        if any(count.values()):
            words = ", ".join(f"{number} {word}" for word, number in count.items() if number)
            say(f"{'FAIL' if count['failed'] else 'ok  '}  {suite}: {words}")


def main():
    if len(sys.argv) < 2:
        raise Stop(__doc__.split(":")[0])
    prepare(os.path.abspath(sys.argv[1]))
    os.chdir(ROOT)
    processes.interrupt_on_signals()
    processes.adopt_orphans()
    report, job = Report(), job_of(sys.argv[2:])
    try:
        schedule.run([job], report.job, lambda *_: progress(job))
    except KeyboardInterrupt:
        report.interrupted()
    finally:
        processes.kill_descendants()
        remove()
    counts = results(job.events.tests)
    print_results(counts)
    say(f"full log: {os.path.relpath(job.log, ROOT)}")
    status = report.close()
    if unknown := set(sys.argv[2:]) - set(counts):
        raise Stop(f"there is no suite {', '.join(sorted(unknown))} in {TARGET}")
    if status:
        raise Stop("tests of the command failed with the program of the release; the failures are above")


if __name__ == "__main__":
    sys.exit(main_of(main))
