"""Makes homes of nodes as a program writes them.

    python3 -B Tests/Vectors/homes/make.py PROGRAM VERSION [--without-keys]   writes VERSION.tar.xz and VERSION.json here
    python3 -B Tests/Vectors/homes/make.py PROGRAM --count 50 --into FOLDER   makes 50 different homes in FOLDER

PROGRAM is the program `runar`, VERSION the one that it reports. Before the first form writes anything it opens a copy of
the homes with the same program and compares every fact. README.md describes the homes.
"""

import argparse
import io
import json
import pathlib
import sys
import tarfile
import tempfile

import facts
import varied
from homes import Home
from scene import NAMES, Scene

HERE = pathlib.Path(__file__).resolve().parent
# What a node leaves behind and a later one makes anew: locks, its log, its socket and SQLite's index of the log.
LEFT_OUT = {"node.lock", "vault.lock", "node.log", "control.sock", "console.token", "state.sqlite-shm"}


def entry(path, folder):
    """Returns the header of an entry that does not depend on the machine and the time."""
    header = tarfile.TarInfo(str(path.relative_to(folder)))
    header.type, header.mode = (tarfile.DIRTYPE, 0o700) if path.is_dir() else (tarfile.REGTYPE, 0o600)
    header.size = 0 if path.is_dir() else path.stat().st_size
    return header


def pack(folder, archive):
    with tarfile.open(archive, "w:xz", preset=9, format=tarfile.USTAR_FORMAT) as tar:
        for name in NAMES:
            for path in sorted([pathlib.Path(folder, name), *pathlib.Path(folder, name).rglob("*")]):
                if path.name not in LEFT_OUT:
                    content = b"" if path.is_dir() else path.read_bytes()
                    tar.addfile(entry(path, folder), io.BytesIO(content))


def unpack(archive, folder):
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="tar")


def json_text(found):
    """Returns JSON with a line for each fact."""
    lines = {name: ",\n".join(f"  {json.dumps(one, sort_keys=True)}" for one in found[name]) for name in ("facts", "stored")}
    parts = [f'"{name}": [\n{text}\n]' for name, text in lines.items()]
    return f'{{\n"version": {json.dumps(found["version"])},\n' + ",\n".join(parts) + "\n}\n"


def make_golden(program, version, keeps_keys):
    with tempfile.TemporaryDirectory() as folder:
        if (found := Home(program, folder).version()) != version:
            raise SystemExit(f"{program} is version {found}, not {version}")
        scene = Scene(program, folder, keeps_keys)
        made = scene.make()
        archive = pathlib.Path(folder, "homes.tar.xz")
        pack(folder, archive)
        with tempfile.TemporaryDirectory() as copy:
            unpack(archive, copy)
            failures = facts.check(program, copy, made.commands)
        if failures:
            print(*failures, sep="\n", file=sys.stderr)
            raise SystemExit(f"{len(failures)} of {len(made.commands)} facts do not hold in a copy; nothing is written")
        (HERE / f"{version}.tar.xz").write_bytes(archive.read_bytes())
    text = json_text({"version": version, "facts": made.commands, "stored": made.stored})
    (HERE / f"{version}.json").write_text(text, encoding="utf-8")
    size = (HERE / f"{version}.tar.xz").stat().st_size
    print(f"{len(NAMES)} homes, {size} bytes, {len(made.commands)} facts of commands")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("version", nargs="?")
    parser.add_argument("--without-keys", action="store_true", help="forget every pool of one-time keys")
    parser.add_argument("--count", type=int)
    parser.add_argument("--into", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.count is None and arguments.version:
        make_golden(arguments.program, arguments.version, not arguments.without_keys)
    elif arguments.count and arguments.into and not arguments.version:
        arguments.into.mkdir(parents=True, exist_ok=True)
        for home in varied.make_all(arguments.program, arguments.into, arguments.count):
            print(home.path)
    else:
        parser.error("give VERSION, or --count with --into")


if __name__ == "__main__":
    main()
