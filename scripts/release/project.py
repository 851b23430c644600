"""What a release is made of: the commit, its version and time, and the folders."""

import io
import os
import re
import subprocess
import sys
import tarfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The one place of the version.
VERSION_FILE = "Sources/Apps/NodeModel/Text/ProductVersion.swift"
DIST = os.path.join(ROOT, "dist")
WORK = os.path.join(ROOT, ".build-release")


# The length of the path of the sources that are compiled: where the compiler leaves out a path it still writes its length.
PATH_LENGTH = 128


class Stop(Exception):
    """The release cannot be made; the text says what to do."""


def run(*command, is_quiet=False, **options):
    """Runs a command and returns its standard output; its failure ends the release.

    A quiet command has its messages printed only if it fails.
    """
    messages = {"stderr": subprocess.PIPE} if is_quiet else {}
    options = {"cwd": ROOT, "text": True, "stdout": subprocess.PIPE, **messages, **options}
    done = subprocess.run(command, **options)
    if done.returncode and is_quiet:
        print(done.stderr, file=sys.stderr)
    if done.returncode:
        raise Stop(f"`{' '.join(command[:4])}` failed with status {done.returncode}; its messages are above")
    return done.stdout


def source_folder(folder=WORK):
    """Returns the path for the sources in a folder; it has the same length for every folder."""
    missing = PATH_LENGTH - len(os.path.join(folder, "source"))
    if missing < 0:
        raise Stop(f"the path of this folder is too long for a release by {-missing} characters: move it")
    return os.path.join(folder, "source" + "-" * missing)


class Linked:
    """States in a folder which commit was linked there; nothing is stated while a link is under way or has failed."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "commit")

    def commit(self):
        try:
            with open(self.path, encoding="ascii") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def begin(self):
        if os.path.exists(self.path):
            os.remove(self.path)

    def end(self, commit):
        with open(self.path, "w", encoding="ascii") as file:
            file.write(commit)


def say(text):
    print(text, flush=True)


def version_of(text):
    """Returns the version in the text of the file that states it."""
    found = re.search(r'static let text = "([^"]+)"', text)
    if not found:
        raise Stop(f"{VERSION_FILE} states no version")
    return found[1]


class Commit:
    """The commit that is released, or an earlier one: what is not committed is not in a release."""

    def __init__(self, id="HEAD"):
        self.id = run("git", "rev-parse", "--verify", f"{id}^{{commit}}").strip()
        self.epoch = int(run("git", "show", "--no-patch", "--format=%ct", self.id))
        self.version = version_of(run("git", "show", f"{self.id}:{VERSION_FILE}"))
        changed = run("git", "status", "--porcelain", "--untracked-files=no").strip() if id == "HEAD" else ""
        if changed:
            say(f"note: these changes are not committed, so they are not in the release:\n{changed}")

    def sources(self, name=""):
        """Returns a tar archive of the commit, whose files are below `name`."""
        return run("git", "archive", f"--prefix={name}/" if name else "--prefix=", self.id, text=False)

    def export(self, folder):
        """Makes `folder` equal to the commit; files that are equal already keep their times, so that a build goes on."""
        names = set()
        with tarfile.open(fileobj=io.BytesIO(self.sources())) as files:
            for member in files:
                if not member.isfile():
                    continue
                names.add(member.name)
                place, content = os.path.join(folder, member.name), files.extractfile(member).read()
                if not same(place, content):
                    os.makedirs(os.path.dirname(place), exist_ok=True)
                    with open(place, "wb") as file:
                        file.write(content)
                os.chmod(place, 0o755 if member.mode & 0o100 else 0o644)
        for place, path in below(folder):
            if path not in names:
                os.remove(place)


def same(place, content):
    try:
        with open(place, "rb") as file:
            return file.read() == content
    except FileNotFoundError:
        return False


def below(folder):
    """Yields the files of a folder with their paths in it, without what builds make."""
    for place, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if not one.startswith(".build")]
        for name in names:
            path = os.path.join(place, name)
            if os.path.relpath(path, folder) != "Package.resolved":
                yield path, os.path.relpath(path, folder)


def main_of(function):
    """Runs the release and prints why it cannot be made."""
    try:
        function()
    except Stop as stop:
        print(f"error: {stop}", file=sys.stderr)
        return 1
    return 0
