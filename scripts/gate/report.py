"""What the gate prints: results as they come, then one table, the slowest tests, the failures and a closing line."""

import signal
import time

from events import crash_lines

SLOWEST = 10
RATIO_AIM = 1.2


def say(text=""):
    print(text, flush=True)


class Report:
    """Collects the outcome of every step, suite and check."""

    def __init__(self):
        self.began = time.monotonic()
        self.rows = []
        self.streams = []
        self.findings = []
        self.checks_passed = self.broken = 0
        self.build_seconds = self.after_build_seconds = None

    # Steps, one after the other

    def step(self, name, seconds, status):
        """Adds a step that ran alone, such as the build."""
        self.rows.append((name, "", seconds, None, "passed" if status == 0 else f"FAILED (exit {status})"))
        if status:
            self.broken += 1
            self.findings.append((name, ["its output is above"]))
        else:
            self.checks_passed += 1

    # Jobs, several at the same time

    def job(self, running):
        job, events = running.job, running.job.events
        if events is None:
            verdict = self.check_verdict(running)
            count = ""
        else:
            events.read()
            self.streams.append((job.name, events))
            verdict = self.suite_verdict(running)
            count = len(events.passed) + len(events.failed)
        self.rows.append((job.name, count, running.seconds, running.processor_seconds, verdict))
        tests = f", {count} tests" if events else ""
        say(f"   {job.name}: {verdict}{tests} in {running.seconds:.0f} s")

    def check_verdict(self, running):
        if running.is_over_time:
            verdict = f"STOPPED after {running.seconds:.0f} s"
        elif running.status:
            verdict = f"FAILED ({end_of(running.status)})"
        else:
            self.checks_passed += 1
            return "passed"
        self.broken += 1
        self.findings.append((running.job.name, crash_lines(running.job.log, most=20)))
        return verdict

    def suite_verdict(self, running):
        """A suite passes if its process ended well, and every test that it started has ended without an issue."""
        events, lines = running.job.events, []
        for test in events.failed:
            lines.append(f"failed: {test.name} ({test.place})")
            lines += [f"    {line}" for issue in test.issues for line in issue.splitlines()]
        verdict = "passed"
        if running.is_over_time:
            verdict = f"STOPPED after {running.seconds:.0f} s"
        elif running.status < 0 or not events.is_complete:
            verdict = f"CRASHED ({end_of(running.status)})"
        elif running.status or events.failed:
            verdict = f"FAILED ({end_of(running.status)})"
        elif not events.passed and not events.skipped:
            verdict = "FAILED (it has no tests)"
        if verdict.startswith(("STOPPED", "CRASHED")):
            lines += [f"started and did not finish: {one.name} ({one.place})" for one in events.unfinished]
        if verdict.startswith("CRASHED"):
            lines += crash_lines(running.job.log)
        if verdict != "passed":
            # What was cut short counts as one more, beside the tests that had failed before.
            if verdict.startswith(("STOPPED", "CRASHED")) or not events.failed:
                self.broken += 1
            self.findings.append((running.job.name, lines or crash_lines(running.job.log)))
        return verdict

    # The end

    def interrupted(self):
        self.broken += 1
        self.findings.append(("interrupted", ["not every suite was run"]))

    def close(self):
        """Prints everything and returns the exit status."""
        self.print_table()
        self.print_slowest()
        self.print_skipped()
        for name, lines in self.findings:
            say(f"\n== {name}")
            say("\n".join(f"   {line}" for line in lines[:60]))
        self.print_reasons()
        passed = sum(len(stream.passed) for _, stream in self.streams) + self.checks_passed
        failed = sum(len(stream.failed) for _, stream in self.streams) + self.broken
        skipped = sum(len(stream.skipped) for _, stream in self.streams)
        say(f"\n{passed} passed, {failed} failed, {skipped} skipped")
        return 1 if failed or not passed else 0

    def print_reasons(self):
        """Repeats each failure in two lines, so that the end of the output alone gives the reason."""
        failures = [(suite, test) for suite, stream in self.streams for test in stream.failed]
        for suite, test in failures[:20]:
            say(f"\nfailed: {suite}: {test.name} ({test.place})")
            say("   " + " | ".join(test.issues[0].splitlines()[:2])[:400])

    def print_table(self):
        width = max([len(row[0]) for row in self.rows], default=10)
        say(f"\n{'':{width}}   tests  seconds  processor")
        for name, count, seconds, processor, verdict in self.rows:
            used = "" if processor is None else f"{processor:.1f} s"
            say(f"{name:{width}}  {count:>6}  {seconds:7.1f}  {used:>9}  {verdict}")
        say(f"\n{'in all':{width}}  {'':>6}  {time.monotonic() - self.began:7.1f}")
        if self.build_seconds and self.after_build_seconds:
            ratio = self.after_build_seconds / self.build_seconds
            say(
                f"after the build: {self.after_build_seconds:.0f} s = {ratio:.2f} times the build of "
                f"{self.build_seconds:.0f} s (at most {RATIO_AIM} after a build from nothing)"
            )

    def print_slowest(self):
        tests = [(test.seconds, suite, test) for suite, stream in self.streams for test in stream.tests.values()]
        tests.sort(key=lambda row: -row[0])
        if tests:
            say("\nthe slowest tests")
        for seconds, suite, test in tests[:SLOWEST]:
            say(f"{seconds:7.1f} s  {suite}: {test.name}")

    def print_skipped(self):
        skipped = [(suite, test) for suite, stream in self.streams for test in stream.skipped]
        if skipped:
            say("\nskipped")
        for suite, test in skipped:
            say(f"   {suite}: {test.name}: {test.skipped}")


def end_of(status):
    """How a process ended, in words."""
    if status >= 0:
        return f"exit {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
