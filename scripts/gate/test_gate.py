"""Tests of the gate itself, with small programs in place of suites: `python3 -m unittest discover scripts/gate`."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest
from unittest import mock

from events import EventStream
import release
from report import Report
import schedule
from schedule import Job


WIDTH = 8


def record(kind, test=None, **more):
    event = {"kind": kind, "instant": {"absolute": more.pop("at", 0.0)}, **more}
    return {"kind": "event", "payload": event | ({"testID": test} if test else {})}


def definition(name, **more):
    place = {"fileID": "Suite/File.swift", "line": 7}
    return {"kind": "test", "payload": {"kind": "function", "id": name, "name": name, "sourceLocation": place} | more}


def failure(text):
    return {"isKnown": False, "sourceLocation": {"fileID": "Suite/File.swift", "line": 9}}, [{"text": text}]


class GateTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def job(self, name, records, end="pass", is_written=False, **options):
        """A program that writes an event stream and then ends as the Python statement `end` does.

        A stream that `is_written` before depends on no time that the program takes to start.
        """
        events = os.path.join(self.folder, f"{name}.jsonl")
        lines = "".join(json.dumps(one) + "\n" for one in records)
        program = f"import os, sys, time\n{end}"
        if is_written:
            pathlib.Path(events).write_text(lines)
        else:
            program = f"import os, sys, time\nopen({events!r}, 'w').write({lines!r})\n{end}"
        log = os.path.join(self.folder, f"{name}.log")
        return Job(name, [sys.executable, "-c", program], log, events=EventStream(events, WIDTH), **options)

    def play(self, *jobs):
        """Runs the jobs; returns the exit status and what was printed."""
        report, output = Report(), io.StringIO()
        with contextlib.redirect_stdout(output):
            schedule.run(list(jobs), report.job, lambda *_: None)
            status = report.close()
        return status, output.getvalue()

    def good(self, name):
        return [definition(name), record("testStarted", name), record("testEnded", name, at=2.5), record("runEnded")]

    def test_passed_tests_are_counted(self):
        status, output = self.play(self.job("A", self.good("one")), self.job("B", self.good("two")))
        self.assertEqual(status, 0)
        self.assertTrue(output.endswith("\n2 passed, 0 failed, 0 skipped\n"), output)
        self.assertIn("2.5 s  A: one", output)

    def test_a_failure_is_reported_by_name_and_the_others_still_run(self):
        issue, messages = failure("Expectation failed: 1 == 2")
        records = [definition("bad"), record("testStarted", "bad")]
        records += [record("issueRecorded", "bad", issue=issue, messages=messages), record("testEnded", "bad")]
        records += [record("runEnded")]
        status, output = self.play(self.job("A", records, end="sys.exit(1)"), self.job("B", self.good("two")))
        self.assertEqual(status, 1)
        self.assertIn("failed: bad (Suite/File.swift:7)", output)
        self.assertIn("Suite/File.swift:9: Expectation failed: 1 == 2", output)
        self.assertIn("failed: A: bad (Suite/File.swift:7)\n   Suite/File.swift:9: Expectation failed", output)
        self.assertTrue(output.endswith("\n1 passed, 1 failed, 0 skipped\n"), output)

    def test_a_crash_is_reported_with_the_tests_that_had_started(self):
        records = [definition("doomed"), record("testStarted", "doomed")]
        end = "print('Fatal error: index out of range', flush=True); os.abort()"
        status, output = self.play(self.job("A", records, end=end), self.job("B", self.good("two")))
        self.assertEqual(status, 1)
        self.assertIn("CRASHED (SIGABRT)", output)
        self.assertIn("started and did not finish: doomed", output)
        self.assertIn("Fatal error: index out of range", output)
        self.assertTrue(output.endswith("\n1 passed, 1 failed, 0 skipped\n"), output)

    def test_a_process_that_exits_early_is_a_crash(self):
        records = [definition("doomed"), record("testStarted", "doomed")]
        status, output = self.play(self.job("A", records, end="sys.exit(0)"))
        self.assertEqual(status, 1)
        self.assertIn("CRASHED (exit 0)", output)

    def test_a_hung_test_is_stopped_and_reported_by_name(self):
        records = [definition("hung"), record("testStarted", "hung")]
        hung = self.job("A", records, end="time.sleep(600)", is_written=True, limit_seconds=1)
        status, output = self.play(hung, self.job("B", self.good("two")))
        self.assertEqual(status, 1)
        self.assertIn("A: STOPPED after", output)
        self.assertIn("started and did not finish: hung", output)
        self.assertTrue(output.endswith("\n1 passed, 1 failed, 0 skipped\n"), output)

    def test_a_test_that_was_announced_and_did_not_get_its_turn_is_not_called_unfinished(self):
        names = [f"test {number}" for number in range(WIDTH + 3)]
        records = [definition(name) for name in names] + [record("testStarted", name) for name in names]
        # The first and the last end: two of those that waited have begun, and one of them has ended.
        records += [record("testEnded", names[0], at=1.0), record("testEnded", names[-1], at=3.0)]
        hung = self.job("A", records, end="time.sleep(600)", is_written=True, limit_seconds=1)
        _, output = self.play(hung)
        unfinished = [name for name in names if f"started and did not finish: {name} (" in output]
        self.assertEqual(unfinished, names[1 : WIDTH + 1])
        self.assertIn("2.0 s  A: test 10", output)

    def test_a_test_with_arguments_begins_with_its_first_case(self):
        records = [definition("many", isParameterized=True), record("testStarted", "many")]
        records += [record("testCaseStarted", "many", at=2.0), record("testCaseEnded", "many", at=3.0)]
        records += [record("testCaseStarted", "many", at=4.0), record("testCaseEnded", "many", at=5.5)]
        _, output = self.play(self.job("A", records + [record("testEnded", "many", at=6.0), record("runEnded")]))
        self.assertIn("4.0 s  A: many", output)

    def test_a_skipped_test_is_counted_with_its_reason(self):
        records = [definition("later"), record("testSkipped", "later", messages=[{"symbol": "skip", "text": "no root"}])]
        status, output = self.play(self.job("A", records + self.good("one")))
        self.assertEqual(status, 0)
        self.assertIn("A: later: no root", output)
        self.assertTrue(output.endswith("\n1 passed, 0 failed, 1 skipped\n"), output)

    def test_a_suite_without_tests_fails(self):
        status, output = self.play(self.job("A", [record("runEnded")]))
        self.assertEqual(status, 1)
        self.assertIn("FAILED (it has no tests)", output)

    def test_known_issues_do_not_fail_a_test(self):
        known = record("issueRecorded", "one", issue={"isKnown": True}, messages=[{"text": "known"}])
        status, _ = self.play(self.job("A", self.good("one")[:2] + [known] + self.good("one")[2:]))
        self.assertEqual(status, 0)

    def test_a_failed_check_is_reported_with_its_last_lines(self):
        log = os.path.join(self.folder, "check.log")
        check = Job("check", [sys.executable, "-c", "print('no such page'); exit(3)"], log)
        status, output = self.play(check, self.job("B", self.good("two")))
        self.assertEqual(status, 1)
        self.assertIn("check: FAILED (exit 3)", output)
        self.assertIn("no such page", output)

    def test_processes_that_a_suite_leaves_are_ended_with_it(self):
        child = os.path.join(self.folder, "child")
        end = f"import subprocess; p = subprocess.Popen(['sleep', '600']); open({child!r}, 'w').write(str(p.pid))"
        self.play(self.job("A", self.good("one"), end=end))
        with open(child, encoding="ascii") as file:
            state = pathlib.Path("/proc", file.read(), "stat")
        # The kill takes effect soon after; a killed process that has not been reaped yet is a zombie (Z).
        deadline = time.monotonic() + 60
        while state.exists() and state.read_text().split()[2] != "Z":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_jobs_run_at_the_same_time_within_the_capacity(self):
        # Each program ends when all four have started.
        wait = f"while len([n for n in os.listdir({self.folder!r}) if n.endswith('.jsonl')]) < 4: time.sleep(0.01)"
        jobs = [self.job(name, self.good(name), end=wait, cores=0.1, limit_seconds=60) for name in "ABCD"]
        status, output = self.play(*jobs)
        self.assertEqual(status, 0, output)
        self.assertIsNone(schedule.next_job(jobs, 0.05, False))
        self.assertIs(schedule.next_job(jobs, 0.05, True), jobs[0])

    def test_a_part_of_the_release_check_is_not_run_after_a_part_that_it_needs_has_failed(self):
        results, output = {"release": {"passed": False, "seconds": 1}}, io.StringIO()
        with contextlib.redirect_stdout(output), mock.patch.object(release.subprocess, "run") as run:
            run.return_value.returncode = 0
            self.assertFalse(release.run("wire", results))
            run.assert_not_called()
            self.assertTrue(release.run("wire", {}))
            self.assertTrue(release.run("fuzz", results))
        self.assertIn("not run, because it uses what these parts make: release", output.getvalue())

    def test_parts_of_the_release_check_need_parts_that_are_before_them(self):
        order = list(release.PARTS)
        for name, needed in release.NEEDS.items():
            self.assertTrue(all(order.index(one) < order.index(name) for one in needed), name)


if __name__ == "__main__":
    unittest.main()
