"""Opens homes of an older program with a newer one: `python3 -B scripts/release/upgrade_check.py OLDER NEW [COUNT]`.

OLDER and NEW are programs `runar`. The older one makes COUNT different homes, 50 by default, and lists what is in them. The
newer one must list all of it again, and the networks and people also in a second run. If it changes the schema of the
state, it must leave a copy of the former state. Then the older program must refuse the home, and must list networks and
people again with the copy.
Prints a line for each home that fails, and the times. The exit status is 1 if a home failed.
"""

import contextlib
import pathlib
import shutil
import sqlite3
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "Vectors" / "homes"))
import facts  # noqa: E402
import varied  # noqa: E402
from homes import CommandFailed, Home  # noqa: E402

STATE = "state.sqlite"
NETWORKS_AND_PEOPLE = [["network", "list"], ["circle", "list"]]
LISTINGS = [["status"], ["network", "list"], ["peers", "--all"], ["circle", "list"], ["keys", "supply"]]
KEYS = [["keys", "export", "peer"], ["keys", "export", "root"]]
# The exit status of a program that finds a newer schema.
BAD_DATA = 65


class Failed(Exception):
    """A home does not open as it should."""


def schema(path):
    """Returns the version of a database, which must be whole."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        if (found := database.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
            raise Failed(f"{path.name}: {found}")
        return database.execute("PRAGMA user_version").fetchone()[0]


def listing(home):
    """Returns the commands with the lasting fields of their answers; a key that a home lacks is a failure of its own."""
    found = [(words, facts.lasting(home.answer(*words))) for words in LISTINGS]
    found += [(words, home.attempt(*words)[1]) for words in KEYS]
    circle = dict((tuple(words), answer) for words, answer in found)["circle", "list"]
    for one in [*circle["people"], *circle["streams"]]:
        words = ["circle", "history", one.get("personId") or one["streamId"], "--limit", "1000"]
        answer = facts.lasting(home.answer(*words))
        if answer["thoughts"]:
            found.append((words, answer))
    return found


def compare(expected, home, name, only=None):
    for words, answer in expected:
        if only and words not in only:
            continue
        if differs := facts.difference(answer, home.attempt(*words)[1]):
            raise Failed(f"{name}: {' '.join(words)}: {differs}")


def check_way_back(older, former, expected):
    """Checks that the older program refuses the home until the copy of the state is back."""
    status, answer = older.attempt("network", "list")
    if status != BAD_DATA:
        raise Failed(f"the older program does not refuse the home: {status}: {answer}")
    copy = older.path / f"{STATE}-version-{former}"
    if not copy.exists() or schema(copy) != former:
        raise Failed(f"there is no copy with version {former}")
    for suffix in ("-wal", "-shm"):
        (older.path / f"{STATE}{suffix}").unlink(missing_ok=True)
    shutil.move(copy, older.path / STATE)
    compare(expected, older, "the older program with the copy", only=NETWORKS_AND_PEOPLE)


def check_comparison(expected, home):
    """Checks that a fact that does not hold is noticed."""
    try:
        compare([(words, {**answer, "planted": True}) for words, answer in expected], home, "planted")
    except Failed:
        return
    raise Failed("a planted fact is not noticed")


def check(older, new):
    """Checks one home and returns whether the schema changed."""
    expected = listing(older)
    former = schema(older.path / STATE)
    home = Home(new, older.path)
    compare(expected, home, "the newer program")
    compare(expected, home, "its second run", only=NETWORKS_AND_PEOPLE)
    check_comparison(expected[:1], home)
    present = schema(older.path / STATE)
    if present != former:
        check_way_back(older, former, expected)
    return present != former


def run(older, new, count, folder):
    """Returns the numbers of homes that failed and that have another schema now."""
    failed = changed = 0
    making = checking = 0.0
    began = time.monotonic()
    for home in varied.make_all(older, folder, count):
        made = time.monotonic()
        making += made - began
        try:
            changed += check(home, new)
        except (CommandFailed, Failed) as error:
            failed += 1
            print(f"FAIL  home {home.name}: {' '.join(str(error).split())[:2000]}", flush=True)
        began = time.monotonic()
        checking += began - made
    times = f"{making:.0f} s to make, {checking:.0f} s to check"
    print(f"{count} homes, {failed} failed, {changed} with another schema: {times}")
    return failed


def main(arguments):
    if len(arguments) not in (2, 3) or any(one.startswith("-") for one in arguments):
        print(__doc__, file=sys.stderr)
        return 64
    older, new = (pathlib.Path(one).resolve() for one in arguments[:2])
    with tempfile.TemporaryDirectory() as folder:
        return 1 if run(older, new, int(arguments[2]) if len(arguments) == 3 else 50, folder) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
