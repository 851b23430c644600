"""The shared libraries of a program, found by the system's own loader."""

import os
import re
import struct
import subprocess

# Names of machines by the number in the ELF header: of the kernel, and of container images.
MACHINES = {62: ("x86_64", "amd64"), 183: ("aarch64", "arm64")}

# Kinds of segments and of dynamic entries (elf.h).
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB = 1, 5


class Unusable(Exception):
    """A file that is no program for Linux, or one that lacks a library."""


class ELF:
    """The parts of a 64-bit little-endian ELF file that tell what it needs: machine, loader and libraries."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if len(self.data) < 64 or self.data[:6] != b"\x7fELF\x02\x01":
            raise Unusable(f"{path} is no 64-bit ELF file")
        self.machine = struct.unpack_from("<H", self.data, 18)[0]
        table = struct.unpack_from("<Q", self.data, 32)[0]
        size, count = struct.unpack_from("<HH", self.data, 54)
        # Kind, flags, offset, address, physical address, size in the file, size in memory, alignment.
        self.segments = [struct.unpack_from("<IIQQQQQQ", self.data, table + index * size) for index in range(count)]

    def segment(self, kind):
        return next((self.data[one[2] : one[2] + one[5]] for one in self.segments if one[0] == kind), b"")

    def loader(self):
        """Returns the path of the loader, or None for a library and a program without shared libraries."""
        return self.segment(PT_INTERP).rstrip(b"\0").decode() or None

    def needed(self):
        """Returns the names of the libraries that the file itself needs."""
        entries = list(struct.iter_unpack("<QQ", self.segment(PT_DYNAMIC)))
        table = next((value for tag, value in entries if tag == DT_STRTAB), 0)
        for kind, _, offset, address, _, size, _, _ in self.segments:
            if kind == PT_LOAD and address <= table < address + size:
                table += offset - address
                break
        return [self.text(table + value) for tag, value in entries if tag == DT_NEEDED]

    def text(self, offset):
        return self.data[offset : self.data.index(b"\0", offset)].decode()


def machine_of(path):
    """Returns the machine of an ELF file in the words of the kernel and of container images."""
    number = ELF(path).machine
    if number not in MACHINES:
        raise Unusable(f"{path} is for an unknown machine (ELF {number})")
    return MACHINES[number]


def needed_names(path):
    """Returns the names of the libraries that a file needs directly."""
    return ELF(path).needed()


def needed(program):
    """Returns the loader and all libraries of a program: the paths at which it looks for them, and the files there.

    The list is that of the loader itself, which follows NEEDED through every library and reads the system's cache.
    """
    loader = ELF(program).loader()
    if loader is None:
        return {}
    answer = subprocess.run(
        [loader, "--list", os.path.abspath(program)], capture_output=True, text=True, env={"LC_ALL": "C"}
    )
    missing = re.findall(r"^\s*(\S+) => not found", answer.stdout, re.MULTILINE)
    if answer.returncode or missing:
        raise Unusable(f"{program}: {' '.join(missing) or answer.stderr.strip()} not found")
    paths = re.findall(r"^\s*(?:\S+ => )?(/\S+) \(0x", answer.stdout, re.MULTILINE)
    return {path: os.path.realpath(path) for path in sorted({loader, *paths})}


def copyrights(paths):
    """Returns the copyright files of the Debian packages to which these files belong, by their names in an image.

    The licenses to which they refer are among them. Without dpkg the result is empty.
    """
    found = {}
    for path in sorted(paths):
        # The package database has some names from before /lib became a link to /usr/lib.
        for name in (path, path.removeprefix("/usr"), f"/usr{path}"):
            try:
                answer = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True)
            except FileNotFoundError:
                return {}
            if answer.returncode == 0:
                file = f"/usr/share/doc/{answer.stdout.split(':')[0]}/copyright"
                if os.path.exists(file):
                    found[file] = os.path.realpath(file)
                break
    for copyright in list(found.values()):
        with open(copyright, encoding="utf-8", errors="replace") as file:
            for license in re.findall(r"/usr/share/common-licenses/[A-Za-z]+(?:-[0-9]+(?:\.[0-9]+)?)?", file.read()):
                if os.path.isfile(license):
                    found[license] = os.path.realpath(license)
    return found


def glibc_version(paths):
    """Returns the oldest version of glibc that has all symbols which these files import, as in "2.36"."""
    minors = [0]
    for path in paths:
        with open(path, "rb") as file:
            minors += [int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?=[\0.])", file.read())]
    return f"2.{max(minors)}"
