"""Tests of the bill of materials, with small maps and tables: `python3 -m unittest discover scripts/release`."""

import json
import os
import tempfile
import unittest

import bom
import components
import linkmap
import notices
import origins
from linkmap import Contributor
from origins import DebianPackage, Target

HEAD = "Archive member included because of file (symbol)\n\n/a/libz.a(inflate.o)\n   /b/Own.build/a.swift.o (inflate)\n"
DISCARDED = """
Discarded input sections

 .text          0x0000000000000000        0x4 /b/Generic.build/all.swift.o
 .text.unused   0x0000000000000000       0x10 /a/libz.a(deflate.o)
"""
KEPT = """
Memory map

 ** file header
                0x0000000000000000       0x40

.text           0x0000000000001000       0x80
 .text          0x0000000000001000       0x20 /b/Own.build/a.swift.o
                0x0000000000001000                main
 .text.a_section_with_a_long_name
                0x0000000000001020       0x10 /a/libz.a(inflate.o)
                0x0000000000001020                inflate
 ** fill        0x0000000000001030       0x10
 .data          0x0000000000001040       0x08 /a/libz.a(inflate.o)
 .bss           0x0000000000001048        0x0 /a/libempty.a(nothing.o)
 .text          0x0000000000001048        0x2 /b/Own.build/String Utilities.swift.o

.shstrtab       0x0000000000000000      0x2dc
 ** string table
                0x0000000000000000      0x2dc
"""
MAP = HEAD + DISCARDED + KEPT

TABLE = {
    "own": {"name": "runar", "licence": "Apache-2.0", "homepage": "", "purl": "generic/runar"},
    "packages": {
        "swift-known": {"licence": "Apache-2.0", "homepage": "https://example.org/known", "c": ["CKnown"]},
    },
    "toolchain": {"swift": {"licence": "Apache-2.0", "repository": "swiftlang/swift", "files": ["libswift*.a"]}},
    "debian": {"zlib": {"licence": "Zlib", "sources": ["zlib"], "homepage": "https://zlib.net/"}},
    "vendored": {
        "http": {"inside": "swift-known", "targets": ["CHTTP"], "licence": "MIT", "files": ["Sources/list.txt"]},
    },
}

MANIFEST = """
  "/w/.build/r/Own.build/a.swift.o":
    inputs: ["/w/Sources/Own/a.swift","/w/.build/r/Modules/Known.swiftmodule"]
    outputs: ["/w/.build/r/Own.build/a.swift.o","/w/.build/r/Modules/Own.swiftmodule"]
    inputs: ["/w/.build/checkouts/swift-known/Sources/CHTTP/http.c"]
    outputs: ["/w/.build/r/CHTTP.build/http.c.o"]
    inputs: ["/w/.build/r/Made.derived/made.swift"]
    outputs: ["/w/.build/r/Made.build/made.swift.o"]
    inputs: ["/elsewhere/planted/Sources/P/p.swift"]
    outputs: ["/w/.build/r/P.build/p.swift.o"]
"""


class MapTests(unittest.TestCase):
    def test_a_map_gives_the_bytes_of_objects_and_members(self):
        found = linkmap.contributors(MAP)
        self.assertEqual(found[Contributor("/a/libz.a", "inflate.o")], 0x18)
        self.assertEqual(found[Contributor("/b/Own.build/a.swift.o")], 0x20)
        self.assertEqual(found[Contributor("/b/Own.build/String Utilities.swift.o")], 2)

    def test_an_object_without_bytes_counts(self):
        self.assertEqual(linkmap.contributors(MAP)[Contributor("/b/Generic.build/all.swift.o")], 0)

    def test_a_member_without_bytes_does_not_count(self):
        found = linkmap.contributors(MAP)
        self.assertNotIn(Contributor("/a/libempty.a", "nothing.o"), found)
        self.assertNotIn(Contributor("/a/libz.a", "deflate.o"), found)

    def test_a_map_without_discarded_sections_is_read(self):
        self.assertEqual(len(linkmap.contributors(HEAD + KEPT)), 3)

    def test_a_truncated_map_is_refused(self):
        inside = MAP.index(" .data")
        for text in ("", HEAD, HEAD + DISCARDED, HEAD + "\nMemory map\n", MAP[:inside], MAP[: inside + 20]):
            with self.assertRaises(linkmap.MapError):
                linkmap.contributors(text)

    def test_a_map_of_another_linker_is_refused(self):
        lld = "     VMA      LMA     Size Align Out     In      Symbol\n     2a8      2a8       1c     1 .interp\n"
        with self.assertRaises(linkmap.MapError):
            linkmap.contributors(lld)

    def test_a_merged_object_is_replaced_by_its_parts(self):
        objects = linkmap.link_list("'/b/One.build/a b.o'\n/b/Two.build/c.o\n")
        found = {Contributor("/x/runar.o"): 5, Contributor("/a/libz.a", "inflate.o"): 1}
        found = linkmap.expand(found, "runar.o", objects)
        self.assertEqual([one.file for one in found], ["/a/libz.a", "/b/One.build/a b.o", "/b/Two.build/c.o"])
        with self.assertRaises(linkmap.MapError):
            linkmap.expand(found, "runar.o", objects)


class OriginTests(unittest.TestCase):
    places = origins.Places("/w", "/w", "/w/.build", "/swift/usr")

    def test_an_object_belongs_to_the_package_of_its_sources(self):
        found = origins.targets(MANIFEST, self.places)
        self.assertEqual(found["/w/.build/r/Own.build/a.swift.o"], Target("", "Own"))
        self.assertEqual(found["/w/.build/r/CHTTP.build/http.c.o"], Target("swift-known", "CHTTP"))

    def test_sources_outside_of_the_repository_belong_to_no_package(self):
        self.assertNotIn("/w/.build/r/P.build/p.swift.o", origins.targets(MANIFEST, self.places))
        self.assertNotIn("/w/.build/r/Made.build/made.swift.o", origins.targets(MANIFEST, self.places))

    def test_a_package_of_debian_has_an_address_with_its_system(self):
        answers = {"--search": "libstdc++-12-dev:amd64: /x\n", "--show": "libstdc++-12-dev|1:12+deb|amd64|gcc-12"}
        debian = origins.Debian(lambda *words: answers[words[1]], 'ID=debian\nVERSION_ID="12"\n')
        self.assertEqual(
            debian.package("/x").purl(),
            "pkg:deb/debian/libstdc%2B%2B-12-dev@1%3A12%2Bdeb?arch=amd64&distro=debian-12&upstream=gcc-12",
        )

    def test_the_cache_of_the_loader_gives_paths(self):
        cache = "1 libs found\n\tlibz.so.1 (libc6,x86-64) => /lib/libz.so.1\n\tlibz.so.1 (libc6) => /lib32/libz.so.1\n"
        self.assertEqual(origins.library_paths(cache), {"libz.so.1": "/lib/libz.so.1"})

    def test_an_indirect_need_of_a_package_is_left_out(self):
        targets = {"a.o": Target("", "App"), "b.o": Target("web", "Web"), "c.o": Target("io", "IO")}
        edges = components.package_edges(targets.values(), {"App": ["Web", "IO"], "Web": ["IO"]}, targets)
        self.assertEqual(edges, {"": {"web"}, "web": {"io"}, "io": set()})


class FakeDebian:
    """A package database in which libz.a and libplanted.a are."""

    def package(self, file):
        name = os.path.basename(file).split(".")[0]
        known = {"libz": "zlib", "libplanted": "planted"}
        return DebianPackage(f"{name}-dev", "1:2+x", "amd64", known[name]) if name in known else None


class FinderTests(unittest.TestCase):
    def setUp(self):
        self.table = components.Table(json.dumps(TABLE))
        self.folder = os.path.realpath(tempfile.mkdtemp())
        self.places = origins.Places("/w", "/w", "/w/.build", self.folder)

    def finder(self, targets=None):
        versions = {"swift-known": ("1.2.3", "https://example.org/a/swift-known.git")}
        return components.Finder(self.table, self.places, targets or {}, versions, "6.3.1", FakeDebian())

    def archive(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(name)
        return Contributor(path, "x.o")

    def unknown(self, finder):
        with self.assertRaises(components.Unknown) as caught:
            finder.result()
        return str(caught.exception)

    def test_known_parts_have_names_versions_and_hashes(self):
        finder = self.finder({"/k.swift.o": Target("swift-known", "Known")})
        finder.add([Contributor("/k.swift.o"), self.archive("libz.a"), self.archive("lib/swift_static/libswiftCore.a")])
        found = finder.result()
        self.assertEqual([*found], ["libz-dev", "swift", "swift-known"])
        self.assertEqual(found["swift-known"].purl, "pkg:swift/example.org/a/swift-known@1.2.3")
        self.assertEqual(found["swift"].version, "6.3.1")
        self.assertEqual([*found["libz-dev"].hashes], ["libz.a"])

    def test_a_planted_package_is_noticed(self):
        finder = self.finder({"/p.swift.o": Target("swift-planted", "Planted")})
        finder.add([Contributor("/p.swift.o")])
        self.assertEqual(
            self.unknown(finder),
            "package swift-planted is in the program, but no component names it: add it to packaging/components.json",
        )

    def test_a_planted_object_is_noticed(self):
        finder = self.finder()
        finder.add([Contributor("/x/Planted.build/p.swift.o")])
        self.assertIn("/x/Planted.build/p.swift.o is in the program", self.unknown(finder))

    def test_a_planted_library_is_noticed(self):
        finder = self.finder()
        finder.add([self.archive("libplanted.a"), self.archive("libown.a")])
        message = self.unknown(finder)
        self.assertIn("libplanted.a of the package libplanted-dev is in the program", message)
        self.assertIn("libown.a is in the program", message)

    def test_a_planted_library_of_the_toolchain_is_noticed(self):
        finder = self.finder()
        finder.add([self.archive("lib/swift_static/linux/libcurl.a")])
        self.assertIn("lib/swift_static/linux/libcurl.a is in the program", self.unknown(finder))

    def test_a_planted_shared_library_is_noticed(self):
        finder = self.finder()
        finder.add_shared("libz.so.1", "/lib/libz.so.1")
        finder.add_shared("libplanted.so", "/lib/libplanted.so")
        finder.add_shared("libmissing.so", None)
        message = self.unknown(finder)
        self.assertIn("shared library libplanted.so is in the program", message)
        self.assertIn("shared library libmissing.so is in the program", message)
        self.assertNotIn("libz", message)

    def test_c_code_of_a_known_package_needs_a_name(self):
        targets = {f"/{name}.c.o": Target("swift-known", name) for name in ("CKnown", "CHTTP", "CNew")}
        finder = self.finder(targets)
        finder.add([Contributor(path) for path in targets])
        self.assertIn("target CNew of C code, in package swift-known, is in the program", self.unknown(finder))
        self.assertEqual([*finder.found], ["swift-known", "http"])
        self.assertEqual(finder.found["http"].parent, "swift-known")

    def test_a_file_with_a_foreign_notice_is_noticed(self):
        os.makedirs(os.path.join(self.folder, "Sources"))
        files = {"own.js": "let copyright;", "list.txt": "Copyright (c) 2013 A", "x.js": "/*! @license MIT"}
        for name, text in files.items():
            with open(os.path.join(self.folder, "Sources", name), "w", encoding="utf-8") as file:
                file.write(text)
        self.assertEqual(components.foreign_files(self.folder, self.table), ["Sources/x.js"])


class DocumentTests(unittest.TestCase):
    def component(self, name, licence="MIT", **more):
        return components.Component(name, "package", licence, "1.0", f"pkg:swift/example.org/{name}@1.0", **more)

    def text(self, names="ab", commit="c0ffee"):
        parts = {name: self.component(name, hashes={"z.a": "1" * 64, "b.a": "2" * 64}) for name in names}
        edges = {"": {"a"}, "a": {"b"}}
        return bom.document(TABLE["own"], "1.2", commit, "2026-11-29T08:00:00Z", parts, edges, {"runar": "3" * 64})

    def test_the_order_of_the_parts_does_not_matter(self):
        self.assertEqual(self.text("ab"), self.text("ba"))

    def test_the_serial_number_depends_on_the_commit(self):
        one, two = json.loads(self.text())["serialNumber"], json.loads(self.text(commit="beef"))["serialNumber"]
        self.assertNotEqual(one, two)
        self.assertRegex(one, "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-")

    def test_the_graph_begins_at_the_program(self):
        rows = {row["ref"]: row.get("dependsOn") for row in json.loads(self.text())["dependencies"]}
        self.assertEqual(rows["pkg:generic/runar@1.2"], ["pkg:swift/example.org/a@1.0"])
        self.assertEqual(rows["pkg:swift/example.org/a@1.0"], ["pkg:swift/example.org/b@1.0"])

    def test_a_compound_licence_is_an_expression(self):
        self.assertEqual(bom.licences("MIT AND Zlib"), [{"expression": "MIT AND Zlib"}])
        self.assertEqual(bom.licences("MIT"), [{"license": {"id": "MIT"}}])

    def test_a_reference_that_leads_nowhere_is_found(self):
        bill = json.loads(self.text())
        bill["dependencies"].append({"ref": "pkg:nowhere"})
        self.assertEqual(bom.loose_ends(bill), ["pkg:nowhere is no component"])

    def test_a_bill_follows_the_schema(self):
        wrong = bom.findings(self.text())
        if wrong is None:
            self.skipTest("cyclonedx-python-lib is not installed")
        self.assertEqual(wrong, [])
        self.assertNotEqual(bom.findings(self.text().replace('"library"', '"planted"')), [])


class CommittedTests(unittest.TestCase):
    """The table and the notices of this repository."""

    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

    def read(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return file.read()

    def setUp(self):
        self.table = components.Table(self.read(components.TABLE))

    def test_each_component_has_a_licence_and_a_source_of_its_text(self):
        for group in (self.table.packages, self.table.toolchain, self.table.debian, self.table.vendored):
            for name, entry in group.items():
                self.assertTrue(entry["licence"] and entry["homepage"].startswith("https://"), name)
                self.assertTrue(entry.get("texts") or entry.get("statement"), name)

    def test_vendored_code_is_inside_a_known_component(self):
        known = self.table.packages.keys() | self.table.toolchain.keys() | {""}
        self.assertEqual({one["inside"] for one in self.table.vendored.values()} - known, set())

    def test_the_notices_name_each_component(self):
        text = self.read(notices.NOTICES)
        for group in (self.table.packages, self.table.toolchain, self.table.debian, self.table.vendored):
            for name, entry in group.items():
                self.assertIn(f"\n{name}\n  {entry['homepage']}\n", text)
        self.assertLessEqual(len(text.encode()), notices.LIMIT_BYTES)

    def test_no_file_of_the_sources_has_an_unknown_notice(self):
        self.assertEqual(components.foreign_files(self.root, self.table), [])


class NoticeTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.places = origins.Places(self.folder, self.folder, self.folder, self.folder)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_texts_that_differ_in_spaces_are_printed_once(self):
        texts = notices.Texts()
        self.assertEqual(texts.add("Do as you  like."), texts.add("\nDo as\nyou like.\n"))

    def test_an_exception_is_a_text_of_its_own(self):
        texts = notices.Texts()
        self.assertEqual(texts.add("Apache"), [1])
        self.assertEqual(texts.add(f"Apache\n\n{notices.EXCEPTION}\n\nMore rights."), [1, 2])

    def test_a_licence_of_a_copyright_file_is_found_by_name(self):
        self.write("copyright", "Files: *\nLicense: X\n\nLicense: X\n First.\n .\n Second.\n\nLicense: Y\n Other.\n")
        self.assertEqual(notices.text_of("here/copyright#X", self.places), "First.\n\nSecond.")
        with self.assertRaises(notices.NoticeError):
            notices.text_of("here/copyright#Z", self.places)

    def test_a_comment_is_printed_without_its_signs(self):
        self.write("a.c", "/* File.\n *\n * Copyright A\n *\n *   Do as\n * you like. */\n")
        source = {"file": "here/a.c", "from": "Copyright", "to": "you like"}
        self.assertEqual(notices.text_of(source, self.places), "Copyright A\n\n  Do as\nyou like. */")
        with self.assertRaises(notices.NoticeError):
            notices.text_of(source | {"to": "never"}, self.places)

    def test_a_missing_text_is_refused(self):
        with self.assertRaises(notices.NoticeError):
            notices.text_of("here/none", self.places)

    def test_notices_name_each_component_and_its_text(self):
        self.write("LICENSE", "Own licence")
        self.write("MIT", "MIT licence")
        entries = {**TABLE, "packages": {"known": {"licence": "MIT", "homepage": "https://x", "texts": ["here/MIT"]}}}
        table = components.Table(json.dumps(entries))
        for entry in [*table.toolchain.values(), *table.debian.values(), *table.vendored.values()]:
            entry.setdefault("homepage", "https://y")
        text = notices.document(table, self.places)
        self.assertIn("known\n  https://x\n  Licence: MIT (text 2)\n", text)
        self.assertEqual(text.count("MIT licence"), 1)
        self.assertEqual(text, notices.document(table, self.places))
        self.assertEqual(notices.difference(text, text), [])
        self.assertIn("-known", notices.difference(text, text.replace("known", "other")))


if __name__ == "__main__":
    unittest.main()
