"""previous.py: builds the program of the previous release, unless it is built already, and prints its path.

`packaging/previous-release` names its version and commit. The output of the build goes to standard error.
"""

import os
import sys

import build
from project import ROOT, WORK, Commit, Linked, Stop, main_of, say

STATEMENT = os.path.join(ROOT, "packaging", "previous-release")
PREVIOUS = os.path.join(WORK, "previous")
SOURCE, LINK = os.path.join(PREVIOUS, "source"), os.path.join(PREVIOUS, "link")
PROGRAM = os.path.join(LINK, "runar")
# The commit whose program was linked last.
LINKED = Linked(LINK)


def stated(text):
    """Returns the fields of `packaging/previous-release`, each a key and a value on a line."""
    fields = dict(line.split(maxsplit=1) for line in text.splitlines() if line.strip())
    if set(fields) != {"version", "commit"} or len(fields["commit"]) != 40:
        raise Stop("packaging/previous-release does not state a version and the full id of a commit")
    return fields


def is_linked(commit):
    return os.path.exists(PROGRAM) and LINKED.commit() == commit


def make(commit):
    LINKED.begin()
    os.makedirs(SOURCE, exist_ok=True)
    commit.export(SOURCE)
    built = build.Build(SOURCE)
    built.compile("--product", "runar")
    built.link(LINK)
    LINKED.end(commit.id)


def main():
    answer = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with open(STATEMENT, encoding="utf-8") as file:
        fields = stated(file.read())
    if not is_linked(fields["commit"]):
        say(f"\n== the program of {fields['version']}")
        make(Commit(fields["commit"]))
    with open(answer, "w", encoding="utf-8") as file:
        print(PROGRAM, file=file)


if __name__ == "__main__":
    sys.exit(main_of(main))
