"""reproducible.py: makes the release of the last commit once more and compares every byte of it with dist/.

The second one is made in another folder, at another time, in another time zone and language, with another umask and, if
this one is root, by another user. The first difference of each file is printed; the exit status is 1 if there is one.

reproducible.py FIRST SECOND compares two folders that are there already.
"""

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import archive
from project import DIST, ROOT, WORK, Commit, Linked, Stop, main_of, run, say

# The user of Debian that owns no files.
OTHER_USER = 65534
LIMIT_SECONDS = 2 * 3600


def members(path):
    """Returns the contents of an archive by their names, with what else of each is recorded; nothing for other files."""
    if path.endswith(".deb"):
        outer = {name: run("dpkg-deb", option, path, text=False) for name, option in
                 {"data": "--fsys-tarfile", "control": "--ctrl-tarfile"}.items()}
        return {f"{name}/{inner}": value for name, data in outer.items() for inner, value in tar_members(data).items()}
    if path.endswith((".tar", ".tar.xz")):
        return tar_members(archive.bytes_of(path))
    if path.endswith(".whl"):
        with zipfile.ZipFile(path) as files:
            return {one.filename: (str(one), files.read(one)) for one in files.infolist()}
    return {}


def tar_members(data):
    found = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as files:
        for one in files:
            content = files.extractfile(one).read() if one.isfile() else b""
            found[one.name] = (f"{one.type} {one.mode:o} {one.uid} {one.mtime} {one.linkname}", content)
    return found


def first_difference(first, second):
    """Returns the offset of the first byte that differs."""
    pairs = zip(first, second)
    return next((offset for offset, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))


def difference(first, second):
    """Describes where two files first differ, in the archive if they are one; None if they are equal."""
    one, other = archive.bytes_of(first), archive.bytes_of(second)
    if one == other:
        return None
    inner, inner_other = members(first), members(second)
    for name in sorted(inner.keys() | inner_other.keys()):
        if name not in inner or name not in inner_other:
            return f"{name} is in one of them"
        (kind, content), (kind_other, content_other) = inner[name], inner_other[name]
        if kind != kind_other:
            return f"{name}: {kind} and {kind_other}"
        if content != content_other:
            return f"{name}, byte {first_difference(content, content_other)} of {len(content)}"
    return f"byte {first_difference(one, other)} of {len(one)}"


def compare(first, second):
    """Prints the first difference of each file; returns whether there is none."""
    names = set(os.listdir(first)), set(os.listdir(second))
    differing = [f"{name}: only one folder has it" for name in sorted(names[0] ^ names[1])]
    for name in sorted(names[0] & names[1]):
        if found := difference(os.path.join(first, name), os.path.join(second, name)):
            differing.append(f"{name}: {found}")
    for line in differing:
        say(f"differs  {line}")
    say(f"{len(names[0] | names[1])} files compared, {len(differing)} differ")
    return not differing


def prepare(folder):
    """Clones the repository into a folder of another user, with what that user needs to resolve packages."""
    clone, home = os.path.join(folder, "another", "place"), os.path.join(folder, "home")
    run("git", "clone", "--quiet", "--no-hardlinks", ROOT, clone)
    run("git", "-C", clone, "checkout", "--quiet", Commit().id)
    os.makedirs(home)
    settings = os.path.expanduser("~/.gitconfig")
    if os.path.exists(settings):
        shutil.copy(settings, os.path.join(home, ".gitconfig"))
    # Packages may come from repositories of a third user.
    run("git", "config", "--file", os.path.join(home, ".gitconfig"), "--add", "safe.directory", "*")
    if os.getuid() == 0:
        os.chmod(folder, 0o755)
        run("chown", "--recursive", f"{OTHER_USER}:{OTHER_USER}", folder)
    return clone, home


def make_again(folder):
    """Makes the release in a folder and returns its dist."""
    clone, home = prepare(folder)
    user = ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups"] if os.getuid() == 0 else []
    environment = {**os.environ, "HOME": home, "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "LANG": "tr_TR.UTF-8"}
    command = [*user, "sh", "-c", "umask 077 && exec make --no-print-directory release"]
    if subprocess.run(command, cwd=clone, env=environment, timeout=LIMIT_SECONDS).returncode:
        raise Stop("the second release could not be made; its messages are above")
    return os.path.join(clone, "dist")


def again():
    if Linked(os.path.join(WORK, "link")).commit() != Commit().id:
        raise Stop("dist/ is not of the last commit: run `make release` first")
    folder = tempfile.mkdtemp(prefix="runar-again-", dir="/var/tmp")
    try:
        return compare(DIST, make_again(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    if len(sys.argv) not in (1, 3):
        raise Stop(__doc__)
    if not (again() if len(sys.argv) == 1 else compare(*sys.argv[1:])):
        raise Stop("the releases differ")


if __name__ == "__main__":
    sys.exit(main_of(main))
