"""Tests of the release artefacts, with small files in place of programs.

`python3 -B -m unittest discover scripts/release`
"""

import base64
import contextlib
import csv
import gzip
import hashlib
import io
import json
import lzma
import os
import pathlib
import platform
import shutil
import struct
import subprocess
import tarfile
import tempfile
import time
import unittest
import zipfile

import archive
import formula
import image
import libraries
import wheel

EPOCH = 1_700_000_001
DIGEST = "0" * 64


def elf(content=b""):
    """Returns the header of a program for x86-64 that has no segments, followed by some bytes."""
    return b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 2, 62, *[0] * 11) + content


@contextlib.contextmanager
def another_machine():
    """Other settings of the process, none of which may show in an artefact."""
    umask, zone = os.umask(0o077), os.environ.get("TZ")
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()
    try:
        yield
    finally:
        os.umask(umask)
        del os.environ["TZ"]
        if zone is not None:
            os.environ["TZ"] = zone
        time.tzset()


class ArtefactTests(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()

    def file(self, name, content, mode=0o644):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
        return str(path)

    def assert_deterministic(self, write):
        """Calls `write(folder, directory of sources)` twice on different machines; returns the path of one result."""
        paths = []
        for name, mode in [("first", 0o775), ("second", 0o700)]:
            sources = self.folder / name / "sources"
            files = {"bin/runar": elf(b"program"), "libgnutls.so.30": elf(b"1"), "runar.py": b"2"}
            for inner, content in files.items():
                path = self.file(sources / inner, content, mode)
                os.utime(path, (len(paths), len(paths)))
            with another_machine() if paths else contextlib.nullcontext():
                paths.append(write(str(self.folder / name), sources))
        first, second = (pathlib.Path(path).read_bytes() for path in paths)
        self.assertEqual(first, second)
        self.assertEqual(os.stat(paths[1]).st_mode & 0o777, 0o644)
        return paths[0]

    # archive.py

    def test_a_tar_archive_depends_on_contents_and_time_alone(self):
        def write(folder, sources):
            program, empty = archive.Entry(sources / "bin/runar", 0o755), archive.Entry(mode=0o700)
            return archive.write(f"{folder}/a.tar.gz", {"z/run": program, "a": b"text", "z/empty": empty}, EPOCH)

        data = pathlib.Path(self.assert_deterministic(write)).read_bytes()
        self.assertEqual(data[3:8], bytes(5), "the gzip header has a name or a time")
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as read:
            members = read.getmembers()
        self.assertEqual([one.name for one in members], ["a", "z", "z/empty", "z/run"])
        self.assertEqual([one.mode for one in members], [0o644, 0o755, 0o700, 0o755])
        owners = {(one.mtime, one.uid, one.gid, one.uname, one.gname) for one in members}
        self.assertEqual(owners, {(EPOCH, 0, 0, "", "")})

    def test_the_suffix_selects_the_compression(self):
        plain = archive.tar({"a": b"text"}, EPOCH)
        for suffix, unpack in [(".tar", bytes), (".tar.gz", gzip.decompress), (".tar.xz", lzma.decompress)]:
            path = archive.write(f"{self.folder}/a{suffix}", {"a": b"text"}, EPOCH)
            self.assertEqual(unpack(pathlib.Path(path).read_bytes()), plain)

    def test_a_name_outside_the_archive_is_refused(self):
        for name in ["../a", "a//b", "./a", "/"]:
            with self.assertRaises(ValueError, msg=name):
                archive.tar({name: b""}, EPOCH)
        with self.assertRaises(ValueError):
            archive.tar({"a": b"", "a/b": b""}, EPOCH)

    # image.py and libraries.py

    def write_image(self, folder, sources):
        return image.write(
            str(sources / "bin/runar"),
            {"/lib64/libgnutls.so.30": str(sources / "libgnutls.so.30")},
            f"{folder}/image.tar",
            "1.2.3",
            "abcdef",
            EPOCH,
            {"/usr/share/doc/runar/LICENSE": b"license"},
        )

    def test_an_image_depends_on_contents_and_time_alone(self):
        self.assert_deterministic(self.write_image)

    def test_an_image_is_described_by_its_digests(self):
        with tarfile.open(self.assert_deterministic(self.write_image)) as read:
            files = {one.name: read.extractfile(one).read() for one in read.getmembers() if one.isfile()}

        def blob(descriptor):
            data = files["blobs/sha256/" + descriptor["digest"].removeprefix("sha256:")]
            self.assertEqual(descriptor["digest"], "sha256:" + hashlib.sha256(data).hexdigest())
            self.assertEqual(descriptor["size"], len(data))
            return data

        self.assertEqual(json.loads(files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        manifest = json.loads(blob(json.loads(files["index.json"])["manifests"][0]))
        config = json.loads(blob(manifest["config"]))
        layer = gzip.decompress(blob(manifest["layers"][0]))
        self.assertEqual(config["rootfs"]["diff_ids"], ["sha256:" + hashlib.sha256(layer).hexdigest()])
        self.assertEqual((config["architecture"], config["created"]), ("amd64", "2023-11-14T22:13:21Z"))
        run = config["config"]
        self.assertEqual((run["User"], run["Entrypoint"], run["Cmd"]), ("65532:65532", ["/usr/bin/runar"], ["up"]))
        self.assertIn("RUNAR_HOME=/data", run["Env"])
        self.assertEqual(run["Labels"]["org.opencontainers.image.version"], "1.2.3")
        with tarfile.open(fileobj=io.BytesIO(layer)) as read:
            modes = {one.name: (one.mode, one.uid, one.isfile()) for one in read.getmembers()}
        self.assertEqual(modes["data"], (0o700, 65532, False))
        self.assertEqual(modes["usr/bin/runar"], (0o755, 0, True))
        self.assertEqual(modes["lib64/libgnutls.so.30"], (0o755, 0, True))
        self.assertEqual(modes["usr/share/doc/runar/LICENSE"], (0o644, 0, True))

    def test_a_file_that_is_no_program_is_refused(self):
        with self.assertRaises(libraries.Unusable):
            libraries.machine_of(self.file("text", b"#!/bin/sh\n"))

    @unittest.skipUnless(platform.system() == "Linux" and platform.libc_ver()[0] == "glibc", "needs glibc")
    def test_the_libraries_of_a_program_and_its_loader_are_found(self):
        found = libraries.needed("/bin/sh")
        self.assertIn(libraries.ELF("/bin/sh").loader(), found)
        self.assertIn("libc.so.6", [os.path.basename(path) for path in found])
        self.assertTrue(all(os.path.isfile(path) for path in found.values()))
        self.assertIn("libc.so.6", libraries.needed_names("/bin/sh"))

    # wheel.py

    def write_wheel(self, folder, sources):
        library = str(sources / "libgnutls.so.30")
        return wheel.write(folder, str(sources / "runar.py"), library, "1.2.3", EPOCH, {"LICENSE": b"license"})

    def test_a_wheel_depends_on_contents_and_time_alone(self):
        path = self.assert_deterministic(self.write_wheel)
        self.assertEqual(os.path.basename(path), "runar-1.2.3-py3-none-linux_x86_64.whl")

    def test_a_wheel_records_its_files(self):
        with zipfile.ZipFile(self.assert_deterministic(self.write_wheel)) as read:
            files = {name: read.read(name) for name in read.namelist()}
            self.assertEqual({one.external_attr >> 16 for one in read.infolist()}, {0o100644})
        record = files.pop("runar-1.2.3.dist-info/RECORD").decode()
        rows = {name: (digest, size) for name, digest, size in csv.reader(record.splitlines())}
        self.assertEqual(rows.pop("runar-1.2.3.dist-info/RECORD"), ("", ""))
        self.assertEqual(set(rows), set(files))
        for name, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            self.assertEqual(rows[name], (f"sha256={digest}", str(len(data))))
        self.assertIn(b"\nVersion: 1.2.3\n", files["runar-1.2.3.dist-info/METADATA"])
        self.assertIn(b"\nTag: py3-none-linux_x86_64\n", files["runar-1.2.3.dist-info/WHEEL"])
        self.assertIn("runar.libs/librunar.so", files)

    # formula.py

    def test_the_formula_is_complete_and_its_syntax_right(self):
        path = formula.write(
            f"{self.folder}/runar.rb", "https://example.org/runar-1.2.3.tar.gz", DIGEST, "https://example.org", "1.2.3"
        )
        found = formula.fields(pathlib.Path(path).read_text())
        self.assertEqual((found["sha256"], found["version"], found["license"]), (DIGEST, "1.2.3", "Apache-2.0"))
        if shutil.which("ruby"):
            answer = subprocess.run(["ruby", "--disable-gems", "-c", path], capture_output=True, text=True)
            self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_an_incomplete_formula_is_refused(self):
        good = ("https://example.org/runar-1.2.3.tar.gz", DIGEST, "https://example.org", "1.2.3")
        for place, value in [(0, "http://example.org/a.tar.gz"), (0, "https://example.org"), (1, "abc"), (2, "")]:
            words = [value if index == place else one for index, one in enumerate(good)]
            with self.assertRaises(formula.Incomplete, msg=value):
                formula.write(f"{self.folder}/runar.rb", *words)


class InstallerTests(unittest.TestCase):
    """Tests of packaging/install.sh, with a script in place of the program."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.folder.chmod(0o755)
        self.prefix = self.folder / "a |&\\ prefix"
        self.data = self.folder / "user/.local/share/runar"
        self.data.mkdir(parents=True)
        (self.data / "vault").write_text("keys")

    def unpack(self, version="1.0.0", program="echo 1.0.0", machine=platform.machine(), **more):
        """Writes a tarball, unpacks it and returns its installer."""
        files = {
            "bin/runar": f"#!/bin/sh\n{program}\n".encode(),
            "share/man/man1/runar.1": version.encode(),
            "share/systemd/user/runar.service": b"[Service]\nExecStart=/usr/bin/env runar up\n",
            "lib/systemd/system/runar.service": b"[Service]\nExecStart=/usr/bin/runar up\n",
            "LICENSE": b"license",
            **{name.replace("__", "/"): text for name, text in more.items()},
        }
        path = archive.write_tarball(str(self.folder), files, version, machine, EPOCH)
        self.assertTrue(path.endswith(f"/runar-{version}-linux-{machine}.tar.xz"))
        with tarfile.open(path) as read:
            read.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
            read.extractall(self.folder / "unpacked")
        return self.folder / "unpacked" / f"runar-{version}-linux-{machine}" / "install.sh"

    def run_script(self, script, *words, status=0, prefix=True, **options):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "user")}
        words = [*words, "--prefix", str(self.prefix)] if prefix else words
        answer = subprocess.run(["sh", str(script), *words], capture_output=True, text=True, env=environment, **options)
        self.assertEqual(answer.returncode, status, answer.stdout + answer.stderr)
        return answer.stdout + answer.stderr

    def installed(self):
        return {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if path.is_file()}

    FILES = {
        "bin/runar", "share/man/man1/runar.1", "share/systemd/user/runar.service", "share/doc/runar/LICENSE",
        "share/runar/install.sh", "share/runar/installed-files",
    }

    def test_files_are_installed_and_removed_and_others_stay(self):
        script = self.unpack()
        (self.prefix / "bin").mkdir(parents=True)
        (self.prefix / "bin/other").write_text("other")
        for _ in range(2):
            output = self.run_script(script)
            self.assertEqual(self.installed(), self.FILES | {"bin/other"})
        self.assertIn(f"runar 1.0.0 is installed in {self.prefix}.", output)
        self.assertEqual((self.prefix / "bin/runar").stat().st_mode & 0o777, 0o755)
        self.assertEqual((self.prefix / "share/man/man1/runar.1").stat().st_mode & 0o777, 0o644)
        unit = (self.prefix / "share/systemd/user/runar.service").read_text()
        self.assertEqual(unit, f'[Service]\nExecStart="{self.prefix}/bin/runar" up\n')
        output = self.run_script(self.prefix / "share/runar/install.sh", "uninstall", prefix=False)
        self.assertIn(str(self.data), output)
        self.assertEqual([str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*")], ["bin", "bin/other"])
        self.assertEqual((self.data / "vault").read_text(), "keys")
        self.assertIn("no installation is listed", self.run_script(script, "uninstall", status=1))

    def test_an_upgrade_removes_files_that_the_new_version_lacks(self):
        self.run_script(self.unpack(share__old=b"old"))
        self.assertIn("share/old", self.installed())
        self.run_script(self.unpack("1.1.0", share__new=b"new"))
        self.assertEqual(self.installed(), self.FILES | {"share/new"})
        self.assertEqual((self.prefix / "share/man/man1/runar.1").read_text(), "1.1.0")
        self.run_script(self.prefix / "share/runar/install.sh", "uninstall")
        self.assertEqual(list(self.prefix.iterdir()), [])

    def assert_refused(self, script, *words, **options):
        output = self.run_script(script, status=1, **options)
        for word in words:
            self.assertIn(word, output)
        self.assertNotIn("bin/runar", self.installed() if self.prefix.exists() else [])

    def test_another_machine_is_refused(self):
        self.assert_refused(self.unpack(machine="riscv64"), "is for riscv64", platform.machine())

    def test_a_program_that_does_not_run_is_refused(self):
        text = "error while loading shared libraries: libgnutls.so.30: cannot open shared object file"
        self.assert_refused(self.unpack(program=f"echo '{text}' >&2; exit 127"), "libgnutls.so.30", "apt-get install")
        text = "libc.so.6: version 'GLIBC_2.99' not found"
        self.assert_refused(self.unpack(program=f'echo "{text}" >&2; exit 1'), "GLIBC_2.99", "older")

    def test_a_file_of_another_origin_is_not_replaced(self):
        script = self.unpack()
        (self.prefix / "share/man/man1").mkdir(parents=True)
        (self.prefix / "share/man/man1/runar.1").write_text("mine")
        self.assert_refused(script, "share/man/man1/runar.1 exists", "--prefix")

    def test_a_directory_that_cannot_be_written_is_refused(self):
        script = self.unpack()
        self.prefix.mkdir(mode=0o555)
        # Root may write everywhere, so the test is one of another user.
        options = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
        self.assert_refused(script, "cannot write to", "sudo", **options)

    def test_a_listed_name_outside_the_prefix_is_not_removed(self):
        self.run_script(self.unpack())
        kept = self.folder / "kept"
        kept.write_text("kept")
        with open(self.prefix / "share/runar/installed-files", "a", encoding="utf-8") as file:
            file.write("../kept\n")
        self.run_script(self.prefix / "share/runar/install.sh", "uninstall", status=1)
        self.assertTrue(kept.exists())


if __name__ == "__main__":
    unittest.main()
