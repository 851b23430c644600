"""The program of a release: static, but for GnuTLS and libc, whose security updates a system makes.

SwiftPM compiles; the last link is made here, because SwiftPM puts the folder of the system's shared libraries before all
others. Paths of the build are mapped away, so that the same commit gives the same bytes in every folder.
"""

import os
import re
import subprocess

import libraries
from project import Stop, run, say

# Whole archives: what a system has only as a shared library would be needed at run time.
ARCHIVES = ["ngtcp2_crypto_gnutls", "ngtcp2", "sqlite3", "turbojpeg", "z", "stdc++"]
# libc itself opens libgcc_s when a thread ends, so the program names it, too.
SHARED = ["libgnutls.so.30", "libgcc_s.so.1", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"]
# ICU allows a data archive without entries. Foundation brings 34 MB of data for languages and calendars, and this program
# formats neither.
STUB = """
#include <stdint.h>
const struct {
    uint16_t headerSize; uint8_t magic[2];
    uint16_t size, reserved; uint8_t isBigEndian, charset, sizeofUChar, reserved2;
    uint8_t format[4], formatVersion[4], dataVersion[4], padding[8];
    uint32_t count, end[3];
} icudt%(version)s_dat __attribute__((aligned(16))) =
    {32, {0xda, 0x27}, 20, 0, 0, 0, 2, 0, {'C', 'm', 'n', 'D'}, {1, 0, 0, 0}, {%(version)s, 1, 0, 0}, {0}, 0, {0}};
"""


class Build:
    """The build of an exported commit."""

    def __init__(self, source):
        self.source = source
        self.products = os.path.join(source, ".build", "release")

    def compile(self, product):
        """Compiles what a product consists of."""
        options = ["--configuration", "release", "--static-swift-stdlib", "-debug-info-format", "none"]
        options += ["-Xswiftc", "-file-prefix-map", "-Xswiftc", f"{self.source}=."]
        options += ["-Xcc", f"-ffile-prefix-map={self.source}=."]
        say(f"\n== compile {product}")
        environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC", "ZERO_AR_DATE": "1"}
        done = subprocess.run(["swift", "build", *options, "--product", product], cwd=self.source, env=environment)
        if done.returncode:
            raise Stop(f"`swift build --product {product}` failed; its messages are above")

    def link(self, folder):
        """Links `runar` in `folder`, without symbols, and returns the paths of the program and of its map."""
        os.makedirs(folder, exist_ok=True)
        program, unstripped, link_map = (os.path.join(folder, name) for name in ("runar", "runar.full", "runar.map"))
        with open(os.path.join(folder, "local.map"), "w", encoding="utf-8") as file:
            file.write("{ local: *; };\n")
        options = ["-use-ld=lld", "-L", archives(folder), "-module-name", "runar", "-static-stdlib", "-emit-executable"]
        for word in [
            "--gc-sections", "--icf=safe", "-z", "pack-relative-relocs", "--build-id=none", "--defsym", "main=runar_main",
            f"--version-script={folder}/local.map", f"-Map={link_map}",
        ]:
            options += ["-Xlinker", word]
        options += [f"@{self.products}/runar.product/Objects.LinkFileList"]
        options += [stub(folder), "-lngtcp2_crypto_gnutls", "-lngtcp2", "-lgnutls", "-lm", "-gnone", "-o", unstripped]
        say("\n== link runar")
        run("swiftc", *options, stderr=subprocess.DEVNULL)
        run("strip", "--strip-all", "--remove-section=.comment", "-o", program, unstripped)
        if extra := set(libraries.needed_names(program)) - set(SHARED):
            raise Stop(f"the program needs shared libraries that it must not need: {', '.join(sorted(extra))}")
        return program, link_map


def archives(folder):
    """Makes a folder that offers the linker static libraries alone, and returns it."""
    static = os.path.join(folder, "static")
    os.makedirs(static, exist_ok=True)
    for name in ARCHIVES:
        place = run("gcc", f"-print-file-name=lib{name}.a").strip()
        if not os.path.isabs(place):
            raise Stop(f"there is no lib{name}.a: install the development package of that library")
        link = os.path.join(static, f"lib{name}.a")
        if os.path.lexists(link):
            os.remove(link)
        os.symlink(place, link)
    return static


def stub(folder):
    """Compiles ICU data without entries and returns the object."""
    runtime = os.path.dirname(os.path.dirname(os.path.realpath(run("sh", "-c", "command -v swiftc").strip())))
    names = run("nm", "-A", os.path.join(runtime, "lib/swift_static/linux/lib_FoundationICU.a"), stderr=subprocess.DEVNULL)
    found = re.search(r"\bicudt(\d+)_dat\b", names)
    if not found:
        raise Stop("Foundation's ICU has no data by the known name: look at what it has now")
    source, result = os.path.join(folder, "icu.c"), os.path.join(folder, "icu.o")
    with open(source, "w", encoding="utf-8") as file:
        file.write(STUB % {"version": found[1]})
    run("clang", "-c", "-O2", "-fPIC", source, "-o", result)
    return result


def largest(link_map, count=25):
    """Returns the largest contributors of a map of lld with their bytes."""
    sizes = {}
    with open(link_map, encoding="utf-8", errors="replace") as file:
        for line in file:
            # Address, load address, size and alignment; then the file with the section in brackets.
            found = re.match(r"\s*[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)\s+\d+\s{9}(\S+):\(", line)
            if found:
                name = os.path.basename(re.sub(r"\(.*", "", found[2]))
                if name.endswith(".o"):
                    name = os.path.basename(os.path.dirname(found[2])).removesuffix(".build")
                sizes[name] = sizes.get(name, 0) + int(found[1], 16)
    return sorted(sizes.items(), key=lambda item: -item[1])[:count]
