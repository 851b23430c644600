"""The program and the library of a release: static, but for GnuTLS and libc, whose security updates a system makes.

SwiftPM compiles; the last link is made here, because SwiftPM puts the folder of the system's shared libraries before all
others. Paths of the build are mapped away, so that the same commit gives the same bytes in every folder.
"""

import os
import platform
import re
import shlex
import subprocess

import binding
import libraries
from project import Stop, run, say

# Whole archives: what a system has only as a shared library would be needed at run time.
ARCHIVES = ["ngtcp2_crypto_gnutls", "ngtcp2", "sqlite3", "turbojpeg", "z", "stdc++"]
ENGINE = ["-lngtcp2_crypto_gnutls", "-lngtcp2", "-lgnutls", "-lm"]
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
# Debian compiles libngtcp2.a for programs: its functions for debugging take `stderr` for a variable of the program itself,
# which it cannot be in a library. `--wrap` gives them this one.
STDERR = """
#include <stdio.h>
extern FILE *__real_stderr;
__attribute__((visibility("hidden"))) FILE *__wrap_stderr;
__attribute__((constructor(101))) static void set(void) { __wrap_stderr = __real_stderr; }
"""
# One object of everything would have a section for each function, too many for tools such as readelf.
SECTIONS = """SECTIONS
{
    .text 0 : { *(.text .text.*) }
    .rodata 0 : { *(.rodata .rodata.*) }
    .data.rel.ro 0 : { *(.data.rel.ro .data.rel.ro.*) }
    .data 0 : { *(.data .data.*) }
    .bss 0 : { *(.bss .bss.*) *(COMMON) }
    .tdata 0 : { *(.tdata .tdata.*) }
    .tbss 0 : { *(.tbss .tbss.*) }
    .gcc_except_table 0 : { *(.gcc_except_table .gcc_except_table.*) }
    /DISCARD/ : { *(.swift_modhash .swift1_autolink_entries) }
}
"""
# The compiler keeps hashes of the compilation for its next run; they depend on the folder.
WITHOUT_HASHES = "SECTIONS { /DISCARD/ : { *(.swift_modhash) } } INSERT AFTER .rodata;\n"


class Build:
    """The build of an exported commit."""

    def __init__(self, source):
        # SwiftPM compiles at the path without links.
        self.source = os.path.realpath(source)
        self.products = os.path.join(self.source, ".build", "release")

    def compile(self, *what):
        """Compiles what a product consists of, given as `--product NAME`, or a target."""
        options = ["--configuration", "release", "--static-swift-stdlib", "-debug-info-format", "none"]
        options += ["-Xswiftc", "-file-prefix-map", "-Xswiftc", f"{self.source}=."]
        options += ["-Xcc", f"-ffile-prefix-map={self.source}=."]
        say(f"\n== compile {what[-1]}")
        environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC", "ZERO_AR_DATE": "1"}
        done = subprocess.run(["swift", "build", *options, *what], cwd=self.source, env=environment)
        if done.returncode:
            raise Stop(f"`swift build {' '.join(what)}` failed; its messages are above")

    def link(self, folder):
        """Links `runar` in `folder`, without symbols, and returns its path; the map of the linker is beside it."""
        os.makedirs(folder, exist_ok=True)
        program, unstripped = os.path.join(folder, "runar"), os.path.join(folder, "runar.full")
        with open(os.path.join(folder, "local.map"), "w", encoding="utf-8") as file:
            file.write("{ local: *; };\n")
        options = ["-emit-executable", "-Xlinker", "--defsym", "-Xlinker", "main=runar_main"]
        self.swiftc(folder, "runar", options, f"{folder}/local.map", unstripped)
        strip(unstripped, program)
        return program

    def link_library(self, folder):
        """Links librunar in `folder`, shared and as one object in an archive, and returns the paths of both."""
        os.makedirs(folder, exist_ok=True)
        shared, unstripped = os.path.join(folder, binding.SONAME), os.path.join(folder, f"{binding.SONAME}.full")
        options = ["-emit-library", compiled(folder, "stderr", STDERR)]
        for word in [f"-soname={binding.SONAME}", "-z", "defs", "--wrap=stderr"]:
            options += ["-Xlinker", word]
        self.swiftc(folder, "RunarCStatic", options, f"{self.source}/scripts/library-symbols.map", unstripped)
        strip(unstripped, shared)
        return shared, self.archive(folder)

    def swiftc(self, folder, product, options, symbols, out):
        """Links the objects of a product with the static libraries; the map is OUT without its suffix `full`."""
        options += ["-use-ld=lld", "-L", archives(folder), "-module-name", product, "-static-stdlib"]
        script = os.path.join(folder, "hashes.lds")
        with open(script, "w", encoding="utf-8") as file:
            file.write(WITHOUT_HASHES)
        for word in [
            f"--script={script}",
            "--gc-sections", "--icf=safe", "-z", "pack-relative-relocs", "--build-id=none",
            f"--version-script={symbols}", f"-Map={out.removesuffix('.full')}.map",
        ]:
            options += ["-Xlinker", word]
        options += [f"@{self.objects(product)}", stub(folder), *ENGINE, "-gnone", "-o", out]
        say(f"\n== link {os.path.basename(out.removesuffix('.full'))}")
        run("swiftc", *options, is_quiet=True)
        if extra := set(libraries.needed_names(out)) - set(SHARED):
            raise Stop(f"{out} needs shared libraries that it must not need: {', '.join(sorted(extra))}")

    def objects(self, product):
        """Returns the list of the objects of a product."""
        return f"{self.products}/{product}.product/Objects.LinkFileList"

    def archive(self, folder):
        """Makes librunar.a of one object, because a linker would leave out objects that only the runtime of Swift finds.

        Only the functions of the library are visible in it, so that a program can have other versions of what is inside.
        """
        merged, out, functions = (os.path.join(folder, f"librunar.{suffix}") for suffix in ("o", "a", "functions"))
        with open(f"{self.source}/{binding.SYMBOLS}", encoding="utf-8") as file:
            names = sorted(binding.functions(file.read()))
        with open(functions, "w", encoding="utf-8") as file:
            file.writelines(f"{name}\n" for name in names)
        script = os.path.join(folder, "librunar.sections")
        with open(script, "w", encoding="utf-8") as file:
            file.write(SECTIONS)
        say("\n== link librunar.a")
        options = ["-r", "--gc-sections", "--force-group-allocation", f"--script={script}"]
        options += [f"--undefined={name}" for name in names]
        options += [f"{static_runtime()}/{platform.machine()}/swiftrt.o", f"@{self.objects('RunarCStatic')}"]
        options += [stub(folder), "-L", archives(folder), "-L", static_runtime(), "--start-group"]
        options += [*self.runtime_libraries(folder), *(f"-l{name}" for name in ARCHIVES), "--end-group", "-o", merged]
        run("ld.bfd", *options)
        run("objcopy", f"--keep-global-symbols={functions}", "--strip-unneeded", "--remove-section=.comment", merged)
        if os.path.exists(out):
            os.remove(out)
        run("ar", "rcsD", out, merged)
        return out

    def runtime_libraries(self, folder):
        """Returns the static libraries of Swift for which the objects of the library ask."""
        with open(self.objects("RunarCStatic"), encoding="utf-8") as file:
            objects = shlex.split(file.read())
        found = os.path.join(folder, "librunar.autolink")
        run("swift-autolink-extract", *objects, "-o", found)
        with open(found, encoding="utf-8") as file:
            wanted = set(file.read().split())
        there = {name for name in wanted if os.path.exists(f"{static_runtime()}/lib{name.removeprefix('-l')}.a")}
        return sorted(there | {"-lswiftCore", "-ldispatch", "-lBlocksRuntime"})


def strip(unstripped, out):
    run("strip", "--strip-all", "--remove-section=.comment", "-o", out, unstripped)


def static_runtime():
    """Returns the folder of Swift's static libraries."""
    command = os.path.realpath(run("sh", "-c", "command -v swiftc").strip())
    return os.path.join(os.path.dirname(os.path.dirname(command)), "lib/swift_static/linux")


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
    names = run("nm", "-A", os.path.join(static_runtime(), "lib_FoundationICU.a"), is_quiet=True)
    found = re.search(r"\bicudt(\d+)_dat\b", names)
    if not found:
        raise Stop("Foundation's ICU has no data by the known name: look at what it has now")
    return compiled(folder, "icu", STUB % {"version": found[1]})


def compiled(folder, name, text):
    """Compiles a text in C and returns the object."""
    source, result = os.path.join(folder, f"{name}.c"), os.path.join(folder, f"{name}.o")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    run("clang", "-c", "-O2", "-fPIC", f"-ffile-prefix-map={folder}=.", source, "-o", result)
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
