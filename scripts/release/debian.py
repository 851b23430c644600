"""Debian packages, whose bytes depend on their contents and on the release time alone.

They are written here and not by dpkg-deb, because its compressor has no filter for the machine code of programs, which makes
the package a tenth smaller. dpkg and lintian read them in the checks of a release.
"""

import hashlib
import lzma
import os

import archive

# The filter for x86 code precedes the compressor.
FILTERS = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]


def ar(members, epoch):
    """Returns an ar archive, the outer format of a package."""
    output = b"!<arch>\n"
    for name, content in members:
        output += f"{name:<16}{epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        output += content + b"\n" * (len(content) % 2)
    return output


def compressed(data):
    return lzma.compress(data, check=lzma.CHECK_CRC64, filters=FILTERS)


def control(fields):
    """Returns the text of a control file; the first line of a description is its summary."""
    lines = []
    for name, value in fields.items():
        first, *rest = value.strip().split("\n")
        lines.append(f"{name}: {first}")
        lines += [f" {line}" if line.strip() else " ." for line in rest]
    return "\n".join(lines) + "\n"


def write(folder, fields, files, inner, epoch):
    """Writes NAME_VERSION_ARCHITECTURE.deb and returns its path.

    `files` maps names below / to paths, bytes or entries; `inner` maps names of control files and maintainer scripts,
    which begin with `#!`, to their texts.
    """
    contents = {
        name: archive.bytes_of(one.content) for name, one in archive.entries_of(files).items() if one.content is not None
    }
    size = sum(len(content) for content in contents.values())
    fields = {**fields, "Installed-Size": str((size + 1023) // 1024)}
    sums = "".join(f"{hashlib.md5(content).hexdigest()}  {name}\n" for name, content in contents.items())
    inner = {name: archive.Entry(text.encode(), mode_of(text)) for name, text in inner.items()}
    inner |= {"control": archive.Entry(control(fields).encode()), "md5sums": archive.Entry(sums.encode())}
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", compressed(archive.tar(inner, epoch, "./"))),
        ("data.tar.xz", compressed(archive.tar(files, epoch, "./"))),
    ]
    out = os.path.join(folder, f"{fields['Package']}_{fields['Version']}_{fields['Architecture']}.deb")
    return archive.save(out, ar(members, epoch))


def mode_of(text):
    return archive.PROGRAM if text.startswith("#!") else archive.FILE


def fields(text):
    """Returns the fields of a control file, in their order."""
    found, name = {}, ""
    for line in text.splitlines():
        if line.startswith(" "):
            found[name] += "\n" + line[1:].removeprefix(".")
        elif line:
            name, _, value = line.partition(": ")
            found[name] = value
    return found
