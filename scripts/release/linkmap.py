"""Reads the map that the linker writes (`-Map`): the objects and archive members that are in a program.

gold writes the map of librunar. A section of an object is one line, or two if its name is long:

     .text.f        0x0000000000001000       0x20 /folder/libz.a(inflate.o)
     .text.a_long_name
                    0x0000000000001020       0x10 /folder/Target.build/File.swift.o

Sections with mergeable strings and `.eh_frame` name no object. No object consists of these alone.

lld writes the map of the program. The columns are two addresses, the size, the alignment, and the file with the section:

           122a8            122a8       20     4         /folder/libz.a(inflate.o):(.text.f)
"""

import re
import shlex
from collections import defaultdict
from dataclasses import dataclass

DISCARDED, KEPT = "\nDiscarded input sections\n", "\nMemory map\n"
# The last section of every program.
LAST = "\n.shstrtab "

# Name, address and size of a section, and its file. A symbol has an address and no size; ` ** fill` has no file.
SECTION = re.compile(r"^ (?:\S+)? +0x[0-9a-f]+ +0x([0-9a-f]+) (\S.*)$", re.MULTILINE)
LLD_HEAD = re.compile(r"\A +VMA +LMA +Size Align Out +In +Symbol\n")
LLD_SECTION = re.compile(r"^ *[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) +\d+ {9}(\S.*):\([^()]*\)$", re.MULTILINE)
# The last section of every program that was not stripped; an assignment may follow it.
LLD_LAST = re.compile(r"^ +0 +0 +[0-9a-f]+ +1 \.strtab\n.*<internal>:\(\.strtab\)\n", re.MULTILINE)
MEMBER = re.compile(r"^(.*\.a)\(([^()]+)\)$")


class MapError(Exception):
    """The text is not a complete map of a supported linker."""


@dataclass(frozen=True, order=True)
class Contributor:
    """An object file, or a member of an archive, that is in the program."""

    file: str
    member: str = ""

    def __str__(self):
        return f"{self.file}({self.member})" if self.member else self.file


def contributors(text):
    """Returns the bytes that each contributor has in the program.

    An object on the command line of the linker counts with no bytes too: other objects can contain its code, because
    the compiler specialises generic functions and inlines others. A member of an archive without bytes does not count.
    """
    if LLD_HEAD.match(text):
        return lld_contributors(text)
    kept_at = text.find(KEPT)
    if kept_at < 0:
        raise MapError("the map has no part 'Memory map': it was cut short or comes from another linker than gold and lld")
    if text.find(LAST, kept_at) < 0 or not text.endswith("\n"):
        raise MapError("the map does not end with the section .shstrtab: it was cut short")
    bytes_of = defaultdict(int)
    for size, file in SECTION.findall(text, kept_at):
        bytes_of[contributor(file)] += int(size, 16)
    discarded_at = text.find(DISCARDED, 0, kept_at)
    if discarded_at >= 0:
        for _, file in SECTION.findall(text[discarded_at:kept_at]):
            bytes_of[contributor(file)] += 0
    found = {one: count for one, count in bytes_of.items() if count or not one.member}
    if not any(found.values()):
        raise MapError("the map names no object")
    return dict(sorted(found.items()))


def lld_contributors(text):
    """Returns the contributors of a map of lld, which lists only what it kept."""
    if not LLD_LAST.search(text):
        raise MapError("the map does not end with the section of names: it was cut short")
    bytes_of = defaultdict(int)
    for size, file in LLD_SECTION.findall(text):
        if file != "<internal>":
            bytes_of[contributor(file)] += int(size, 16)
    if not any(bytes_of.values()):
        raise MapError("the map names no object")
    return dict(sorted((one, count) for one, count in bytes_of.items() if count or not one.member))


def contributor(file):
    """Splits `archive.a(member.o)`."""
    match = MEMBER.match(file)
    return Contributor(match[1], match[2]) if match else Contributor(file)


def expand(found, name, objects):
    """Replaces the object called `name`, which `ld -r` made of `objects`, by these.

    Which of them the last link kept is unknown, so all of them count, with no bytes.
    """
    merged = [one for one in found if not one.member and one.file.rsplit("/", 1)[-1] == name]
    if not merged:
        raise MapError(f"the map has no object {name}")
    rest = {one: count for one, count in found.items() if one not in merged}
    return dict(sorted({**{Contributor(path): 0 for path in objects}, **rest}.items()))


def link_list(text):
    """Returns the paths of a file of linker inputs, which may be quoted."""
    return shlex.split(text)
