"""Archives whose bytes depend on their contents and on the release time alone.

Entries are sorted by name; owners, modes and times are given and never read from the machine. The same files give the
same bytes under every umask, locale and clock, as long as the versions of zlib and liblzma are the same.
"""

import io
import lzma
import os
import tarfile
import zlib
from dataclasses import dataclass

PACKAGING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "packaging")

FILE, PROGRAM, DIRECTORY, LINK = 0o644, 0o755, 0o755, 0o777


@dataclass(frozen=True)
class Entry:
    """A file with a mode or an owner of its own, a symbolic link, or a directory if it has no content and no target."""

    content: object = None
    mode: int = FILE
    owner: int = 0
    target: str = ""

    def is_directory(self):
        return self.content is None and not self.target


def bytes_of(content):
    """Returns the bytes of a file that is given by its path or by its bytes."""
    if isinstance(content, (bytes, bytearray)):
        return bytes(content)
    with open(content, "rb") as file:
        return file.read()


def entry_of(value):
    """Returns the entry of a value of `files`; a file that its owner can run is a program."""
    if isinstance(value, Entry):
        return value
    is_program = not isinstance(value, (bytes, bytearray)) and os.stat(value).st_mode & 0o100
    return Entry(value, PROGRAM if is_program else FILE)


def entries_of(files):
    """Returns the entries by name with the directories above them, sorted so that a directory precedes its files."""
    entries = {}
    for name, value in files.items():
        name = os.fspath(name).strip("/")
        if not name or any(part in ("", ".", "..") for part in name.split("/")):
            raise ValueError(f"{name!r} is no name inside an archive")
        entries[name] = entry_of(value)
    for name in list(entries):
        while name := os.path.dirname(name):
            above = entries.setdefault(name, Entry(mode=DIRECTORY))
            if not above.is_directory():
                raise ValueError(f"{name!r} is a file and a directory")
    return dict(sorted(entries.items(), key=lambda item: item[0].split("/")))


def tar(files, epoch, root=""):
    """Returns the bytes of a tar archive.

    `files` maps names to paths, bytes or entries. Directories above them are added. With a `root`, such as `./`, all names
    begin with it, and the archive has an entry for it.
    """
    output = io.BytesIO()
    entries = {root + name: entry for name, entry in entries_of(files).items()}
    if root:
        entries = {root: Entry(mode=DIRECTORY), **entries}
    with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8") as archive:
        for name, entry in entries.items():
            info = tarfile.TarInfo(name)
            info.mtime, info.mode, info.uid, info.gid = int(epoch), entry.mode, entry.owner, entry.owner
            if entry.is_directory():
                info.type = tarfile.DIRTYPE
                archive.addfile(info)
            elif entry.target:
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, entry.target, LINK
                archive.addfile(info)
            else:
                content = bytes_of(entry.content)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return output.getvalue()


def gzip(data):
    """Returns `data` compressed with zlib, in a gzip header without a name and a time."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def compressed(data, suffix):
    """Returns `data` as files of this suffix hold it."""
    if suffix == ".xz":
        return lzma.compress(data, check=lzma.CHECK_CRC64, preset=6)
    return gzip(data) if suffix == ".gz" else data


def save(out, data):
    """Writes a file that appears when it is whole; its mode does not depend on the umask."""
    with open(f"{out}.new", "wb") as file:
        file.write(data)
        os.fchmod(file.fileno(), FILE)
    os.replace(f"{out}.new", out)
    return out


def write(out, files, epoch):
    """Writes a tar archive, compressed as the suffix of `out` says: .tar, .tar.gz or .tar.xz."""
    return save(out, compressed(tar(files, epoch), os.path.splitext(out)[1]))


def write_tarball(folder, files, version, machine, epoch):
    """Writes runar-VERSION-linux-MACHINE.tar.xz with an installer, and returns its path.

    `files` maps names below the prefix, such as bin/runar, to paths or bytes. Names without a directory, such as
    LICENSE, stay next to the installer, which puts them into share/doc/runar. Units of the user belong into
    share/systemd/user, and those of the system into lib/systemd/system; the installer writes the path of the program
    into them.
    """
    name = f"runar-{version}-linux-{machine}"
    installer = bytes_of(os.path.join(PACKAGING, "install.sh"))
    installer = installer.replace(b"@VERSION@", version.encode()).replace(b"@MACHINE@", machine.encode())
    entries = {f"{name}/{inner}": value for inner, value in files.items()}
    entries[f"{name}/install.sh"] = Entry(installer, PROGRAM)
    if "bin/runar" in files:
        entries[f"{name}/bin/runar"] = Entry(entry_of(files["bin/runar"]).content, PROGRAM)
    return write(os.path.join(folder, f"{name}.tar.xz"), entries, epoch)
