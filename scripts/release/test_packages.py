"""Tests of the Debian packages, the library, the man pages, the documentation and the facts of a release."""

import contextlib
import importlib.util
import io
import json
import os
import re
import subprocess
import tempfile
import unittest

import archive
import binding
import debian
import manual
import previous
import project
import reproducible
import website

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


class LibraryTests(unittest.TestCase):
    def listed(self):
        return binding.functions(archive.bytes_of(binding.symbols_file(project.ROOT)).decode())

    def declared(self, text):
        """Returns the functions that headers declare."""
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
        return set(re.findall(r"\b(runar_\w+)\s*\((?!\*)", code))

    def test_the_functions_of_the_headers_are_those_of_the_library(self):
        text = "".join(archive.bytes_of(path).decode() for path in binding.headers(project.ROOT).values())
        self.assertGreater(len(self.listed()), 50)
        self.assertEqual(self.declared(text), self.listed())

    def test_the_library_has_every_function_of_the_previous_release(self):
        commit = previous.stated(archive.bytes_of(previous.STATEMENT).decode())["commit"]
        paths = [os.path.relpath(path, project.ROOT) for path in binding.headers(project.ROOT).values()]
        words = ["git", "show", *(f"{commit}:{path}" for path in paths)]
        found = subprocess.run(words, cwd=project.ROOT, capture_output=True, text=True)
        if found.returncode:
            self.skipTest("this clone lacks the commit of the previous release")
        before = self.declared(found.stdout)
        self.assertGreater(len(before), 50)
        self.assertEqual(before - self.listed(), set())

    def test_a_library_that_lacks_or_adds_a_function_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            source, library = f"{folder}/a.c", f"{folder}/a.so"
            archive.save(source, b"void runar_a(void) {} void runar_b(void) {}")
            subprocess.run(["cc", "-shared", "-o", library, source], check=True)
            binding.check(library, " runar_a@Base 1\n runar_b@Base 1\n")
            for text in (" runar_a@Base 1\n", " runar_a@Base 1\n runar_b@Base 1\n runar_c@Base 1\n"):
                with self.assertRaises(project.Stop):
                    binding.check(library, text)

    def test_pkg_config_reads_the_description(self):
        with tempfile.TemporaryDirectory() as folder:
            text = binding.pkg_config(project.ROOT, "${pcfiledir}/../..", "lib", "1.2.3")
            os.makedirs(f"{folder}/lib/pkgconfig")
            archive.save(f"{folder}/lib/pkgconfig/runar.pc", text)
            environment = {**os.environ, "PKG_CONFIG_PATH": f"{folder}/lib/pkgconfig"}
            for options, expected in ((["--modversion"], "1.2.3"), (["--libs", "--static"], "/lib -lrunar -lgnutls -lm")):
                words = ["pkg-config", *options, "runar"]
                found = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
                self.assertIn(expected, found)


class ReproducibleTests(unittest.TestCase):
    def compared(self, first, second):
        output = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(output):
            for name, files in (("first", first), ("second", second)):
                os.makedirs(f"{folder}/{name}")
                archive.write(f"{folder}/{name}/a.tar.xz", files, EPOCH)
            return reproducible.compare(f"{folder}/first", f"{folder}/second"), output.getvalue()

    def test_equal_releases_are_equal(self):
        self.assertEqual(self.compared({"b/c": b"same"}, {"b/c": b"same"})[0], True)

    def test_the_first_difference_is_named(self):
        is_equal, text = self.compared({"a": b"x", "b/c": b"same"}, {"a": b"x", "b/c": b"sane"})
        self.assertFalse(is_equal)
        self.assertIn("a.tar.xz: b/c, byte 2 of 4", text)
        self.assertIn("a.tar.xz: d is in one of them", self.compared({"b": b""}, {"b": b"", "d": b""})[1])


@unittest.skipUnless(importlib.util.find_spec("markdown"), "`make release` installs Markdown into .venv-release")
class WebsiteTests(unittest.TestCase):
    def test_every_link_of_the_documents_leads_to_a_page(self):
        with tempfile.TemporaryDirectory() as empty:
            pages = website.pages(project.ROOT, empty, "1.0")
        self.assertIn("index.html", pages)
        for name, content in pages.items():
            if not name.endswith(".html"):
                continue
            for address in re.findall(r'(?:href|src)="([^"]+)"', content.decode()):
                place, _, anchor = address.partition("#")
                if re.match("[a-z]+:", address):
                    continue
                target = os.path.normpath(os.path.join(os.path.dirname(name), place)) if place else name
                self.assertIn(target, pages, f"{name}: {address}")
                if anchor:
                    self.assertIn(f'id="{anchor}"', pages[target].decode(), f"{name}: {address}")


class FolderTests(unittest.TestCase):
    def test_the_path_of_the_sources_has_the_same_length_everywhere(self):
        paths = [project.source_folder(folder) for folder in ("/a", "/a/longer/folder")]
        self.assertEqual(len(paths[0]), len(paths[1]))
        self.assertTrue(paths[1].startswith("/a/longer/folder/source-"))
        with self.assertRaises(project.Stop):
            project.source_folder("/a" * 100)


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
