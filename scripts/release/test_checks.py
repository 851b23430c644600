"""Tests of what the checks of a release share, with small programs in place of nodes."""

import os
import sys
import tempfile
import unittest
from unittest import mock

import nodes
import previous
import project
import suites_check

COMMIT = "a" * 40


class PreviousTests(unittest.TestCase):
    def test_the_repository_states_a_version_and_a_commit(self):
        with open(previous.STATEMENT, encoding="utf-8") as file:
            fields = previous.stated(file.read())
        self.assertRegex(fields["commit"], "^[0-9a-f]{40}$")

    def test_an_incomplete_statement_is_refused(self):
        for text in ("", f"commit {COMMIT}", "version 1.0\ncommit abc", f"version 1.0\ncommit {COMMIT}\nother x"):
            with self.assertRaises(project.Stop):
                previous.stated(text)

    def test_a_program_is_linked_only_if_it_is_of_that_commit(self):
        with tempfile.TemporaryDirectory() as folder:
            program, linked = os.path.join(folder, "runar"), project.Linked(folder)
            with mock.patch.multiple(previous, PROGRAM=program, LINKED=linked):
                self.assertFalse(previous.is_linked(COMMIT))
                with open(program, "wb"):
                    pass
                self.assertFalse(previous.is_linked(COMMIT))
                linked.end(COMMIT)
                self.assertTrue(previous.is_linked(COMMIT))
                self.assertFalse(previous.is_linked("b" * 40))
                linked.begin()
                self.assertFalse(previous.is_linked(COMMIT))


class RunningTests(unittest.TestCase):
    def start(self, program):
        running = nodes.Running([sys.executable, "-c", program], dict(os.environ), os.devnull)
        self.addCleanup(running.end)
        return running

    def test_an_event_is_chosen_by_its_name_and_fields(self):
        running = self.start("""for n in (1, 2): print('{"event": "message", "number": %d}' % n)""")
        self.assertEqual(running.next("message", number=2)["number"], 2)

    def test_an_event_that_is_missing_fails_in_time_and_names_the_others(self):
        running = self.start("""print('{"event": "ready"}'); print("text")""")
        with self.assertRaisesRegex(nodes.Unexpected, "no event message .*ready.*text"):
            running.next("message", seconds=2)

    def test_a_command_that_ignores_signals_is_killed(self):
        ignoring = "import signal, time; signal.signal(2, signal.SIG_IGN)"
        running = self.start(f"""{ignoring}; print('{{"event": "ready"}}', flush=True); time.sleep(60)""")
        running.next("ready")
        with mock.patch.object(nodes, "END_SECONDS", 0.2):
            self.assertEqual(running.end(), -9)

    def test_a_condition_that_stays_false_fails_in_time(self):
        with self.assertRaisesRegex(nodes.Unexpected, "the thing: not within"):
            nodes.wait_until(lambda: None, "the thing", seconds=0.1)


class SuitesTests(unittest.TestCase):
    def test_the_chosen_suites_alone_are_run(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.multiple(suites_check, FOLDER=folder, LOGS=folder):
            with open(os.path.join(folder, "runarPackageTests.xctest"), "wb"):
                pass
            command = suites_check.job_of(["SettingsTests", "SealTests"]).command
        self.assertIn("^CommandTests\\.(SettingsTests|SealTests)/", command)
        self.assertNotIn("^CommandTests\\.", command)

    def test_results_are_counted_for_each_suite(self):
        passed = mock.Mock(skipped=None, ended=1.0, issues=[])
        failed = mock.Mock(skipped=None, ended=1.0, issues=["expected"])
        unfinished = mock.Mock(skipped=None, ended=None, started=0.5, issues=[])
        skipped = mock.Mock(skipped="no server", ended=None, issues=[])
        tests = {"CommandTests.A/one": passed, "CommandTests.A/two": failed, "CommandTests.B/one": skipped}
        counts = suites_check.results({**tests, "CommandTests.B/two": unfinished})
        self.assertEqual(counts["A"], {"passed": 1, "failed": 1, "skipped": 0})
        self.assertEqual(counts["B"], {"passed": 0, "failed": 1, "skipped": 1})


if __name__ == "__main__":
    unittest.main()
