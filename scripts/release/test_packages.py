"""Tests of the Debian package, the man pages and the facts of a release."""

import json
import os
import subprocess
import tempfile
import unittest

import debian
import manual
import project

EPOCH = 1_700_000_000


def help_text(**fields):
    option = {
        "names": [{"kind": "long", "name": "file"}], "kind": "option", "valueName": "path", "shouldDisplay": True,
        "abstract": "A file - or \\ a .name.", "isOptional": True, "isRepeating": False,
    }
    hidden = {**option, "names": [{"kind": "long", "name": "secret-option"}], "shouldDisplay": False}
    word = {"kind": "positional", "valueName": "peer", "isOptional": False, "isRepeating": True, "shouldDisplay": True}
    send = {"commandName": "send", "abstract": "Send.", "arguments": [word, option, hidden], "discussion": ".dot\n\n'q"}
    unseen = {"commandName": "inner", "shouldDisplay": False}
    root = {"commandName": "runar", "abstract": "Networks.", "subcommands": [send, unseen, {"commandName": "help"}], **fields}
    return json.dumps({"command": root})


class ManualTests(unittest.TestCase):
    def test_each_command_that_is_shown_has_a_page(self):
        self.assertEqual(sorted(manual.pages(help_text(), "1.0", "2026-01-01")), ["runar-send.1", "runar.1"])

    def test_a_page_has_every_option_that_is_shown_and_no_request_of_the_text(self):
        page = manual.pages(help_text(), "1.0", "2026-01-01")["runar-send.1"]
        self.assertIn("\\fB\\-\\-file\\fR \\fIpath\\fR", page)
        self.assertIn("\\fIpeer\\fR ...", page)
        self.assertIn("\\&.dot", page)
        self.assertIn("\\(aqq", page)
        self.assertIn("a .name", page)
        self.assertIn("\\e a", page)
        self.assertNotIn("secret", page)

    def test_the_pages_of_a_command_refer_to_each_other(self):
        pages = manual.pages(help_text(), "1.0", "2026-01-01")
        self.assertIn("runar\\-send\\fR(1)", pages["runar.1"])
        self.assertIn("\\fBrunar\\fR(1)", pages["runar-send.1"])


class DebianTests(unittest.TestCase):
    FIELDS = {"Package": "sample", "Version": "1.0", "Architecture": "all", "Maintainer": "a <a@b.invalid>", "Description": "x\ny"}

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(subprocess.run, ["rm", "-rf", self.folder])

    def write(self):
        files = {"usr/bin/sample": b"#!/bin/sh\n" * 100, "usr/share/doc/sample/copyright": b"c"}
        return debian.write(self.folder, self.FIELDS, files, {"postinst": "#!/bin/sh\nexit 0\n"}, EPOCH)

    def test_the_same_files_give_the_same_bytes(self):
        with open(self.write(), "rb") as file:
            first = file.read()
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)
        with open(self.write(), "rb") as file:
            self.assertEqual(file.read(), first)

    @unittest.skipUnless(os.path.exists("/usr/bin/dpkg-deb"), "this system has no dpkg")
    def test_dpkg_reads_it(self):
        path = self.write()
        field = subprocess.run(["dpkg-deb", "--field", path, "Package", "Installed-Size"], capture_output=True, text=True)
        self.assertEqual(field.stdout, "Package: sample\nInstalled-Size: 1\n")
        inner = subprocess.run(["dpkg-deb", "--contents", path], capture_output=True, text=True)
        self.assertIn("-rw-r--r-- 0/0", inner.stdout)
        self.assertIn(" ./usr/share/doc/sample/copyright\n", inner.stdout)
        scripts = subprocess.run(["dpkg-deb", "--info", path], capture_output=True, text=True)
        self.assertRegex(scripts.stdout, r"\* +postinst +#!/bin/sh")

    def test_fields_are_read_as_they_were_written(self):
        self.assertEqual(debian.fields(debian.control({"A": "1", "B": "x\n\ny"})), {"A": "1", "B": "x\n\ny"})


class VersionTests(unittest.TestCase):
    def test_the_version_has_one_place(self):
        with open(os.path.join(project.ROOT, project.VERSION_FILE), encoding="utf-8") as file:
            version = project.version_of(file.read())
        self.assertRegex(version, r"^\d+\.\d+\.\d+")
        places = ["Bindings", "packaging", "Package.swift", "scripts", "Sources"]
        found = subprocess.run(
            ["git", "grep", "--files-with-matches", "--fixed-strings", f'"{version}"', "--", *places],
            cwd=project.ROOT, capture_output=True, text=True,
        )
        self.assertEqual(found.stdout.split(), [project.VERSION_FILE])

    def test_a_file_without_a_version_is_an_error(self):
        with self.assertRaises(project.Stop):
            project.version_of("enum ProductVersion {}")


if __name__ == "__main__":
    unittest.main()
