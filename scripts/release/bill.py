"""The bill of materials and the licence notices of a release.

bill.py make --version V --commit C --time T --map MAP --program FILE [OPTIONS]   writes the bill
bill.py check FILE                                                                checks it by its schema
bill.py notices [--check]                                                         writes or compares the notices

Options of `make`, of which all but the last three may be repeated:
  --map MAP            a map of the linker (`-Xlinker -Map=MAP`) of a program
  --merged NAME=LIST   an object NAME in the maps, which `ld -r` made of the objects in the file LIST
  --objects LIST       the objects that the linker was given, in the file LIST; a map of lld lacks those it kept nothing of
  --own OBJECT         an object that the release itself makes
  --program FILE       a program or library of the release, for its hash and the shared libraries it needs
  --root FOLDER        the copy of this repository that was built, if it is another one
  --build FOLDER       the build folder of SwiftPM (.build in the root)
  --output FILE        the bill (runar-V.cdx.json); - for the standard output

T is the time of the commit in seconds (`git show --no-patch --format=%ct`). Both commands run after the release build,
on the machine of the build: licence texts come from the checked-out packages, the toolchain and /usr/share/doc.
"""

import argparse
import datetime
import os
import re
import subprocess
import sys

import bom
import components
import linkmap
import notices
import origins

USAGE = __doc__.replace("%", "%%")
HERE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def places(options):
    toolchain, version = origins.toolchain()
    # The manifest has the paths that the build used, so links are not followed.
    root = os.path.abspath(options.root)
    build = os.path.abspath(options.build or os.path.join(root, ".build"))
    return origins.Places(HERE, root, build, toolchain), version


def linked(maps, merged):
    """Returns the contributors of all maps, with the merged objects replaced by those they were made of."""
    found, left = {}, dict(merged)
    for path in maps:
        one = linkmap.contributors(read(path))
        for name, objects in merged.items():
            if any(os.path.basename(part.file) == name for part in one):
                one = linkmap.expand(one, name, linkmap.link_list(read(objects)))
                left.pop(name, None)
        found |= one
    if left:
        raise linkmap.MapError(f"no map has the object {', '.join(left)}")
    return found


def shared_libraries(programs):
    """Returns the path of each library that a program needs directly, or None if the system has no such library."""
    paths = origins.library_paths(origins.run("ldconfig", "-p"))
    names = {
        name
        for program in programs
        for name in re.findall(r"\(NEEDED\).*\[(.+)\]", origins.run("readelf", "--dynamic", "--wide", program))
    }
    return {name: paths.get(name) for name in sorted(names)}


def make(options):
    table = components.Table(read(os.path.join(HERE, components.TABLE)))
    where, swift_version = places(options)
    description = origins.description_file(where.build)
    if description is None:
        raise FileNotFoundError(f"{where.build} has no description.json: build the release first")
    targets = origins.targets(read(os.path.join(where.build, "release.yaml")), where)
    versions = origins.package_versions(read(os.path.join(where.build, "workspace-state.json")))
    debian = origins.Debian(system=read("/etc/os-release") if os.path.exists("/etc/os-release") else "")
    finder = components.Finder(table, where, targets, versions, swift_version, debian)
    found = linked(options.map, dict(one.split("=", 1) for one in options.merged))
    # lld does not list the objects of which it kept nothing; other objects can contain their code.
    listed = [path for file in options.objects for path in linkmap.link_list(read(file))]
    found = {**{linkmap.Contributor(path): 0 for path in listed}, **found}
    finder.add({one: count for one, count in found.items() if one.file not in options.own})
    for name, path in shared_libraries(options.program).items():
        finder.add_shared(name, path)
    if foreign := components.foreign_files(HERE, table):
        finder.unknown |= {f"third-party code in {file}" for file in foreign}
    found = finder.result()
    edges = components.package_edges(finder.used, origins.target_dependencies(read(description)), targets)
    for one in found.values():
        if one.parent:
            edges.setdefault(one.parent, set()).add(one.name)
    time = datetime.datetime.fromtimestamp(options.time, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    programs = {os.path.basename(path): components.sha256(path) for path in options.program}
    text = bom.document(table.own, options.version, options.commit, time, found, edges, programs)
    output = options.output or f"runar-{options.version}.cdx.json"
    if output == "-":
        sys.stdout.write(text)
    else:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"{output}: {len(found)} components")
    for name in components.unused(table, found):
        print(f"note: {name} is in {components.TABLE} and not in the program", file=sys.stderr)
    return 0


def check(options):
    wrong = bom.findings(read(options.file))
    if wrong is None:
        raise ImportError("no cyclonedx-python-lib with json-validation: run ./scripts/python-env.sh and use .venv")
    for one in wrong:
        print(f"{options.file}: {one}", file=sys.stderr)
    return 1 if wrong else 0


def write_notices(options):
    table = components.Table(read(os.path.join(HERE, components.TABLE)))
    text, path = notices.document(table, places(options)[0]), os.path.join(HERE, notices.NOTICES)
    if len(text.encode()) > notices.LIMIT_BYTES:
        raise notices.NoticeError(f"the notices have {len(text.encode())} bytes, more than {notices.LIMIT_BYTES}")
    if options.check:
        lines = notices.difference(read(path) if os.path.exists(path) else "", text)
        print("\n".join(lines), end="\n" if lines else "")
        if lines:
            print(f"{notices.NOTICES} differs: run bill.py notices, and review the change", file=sys.stderr)
        return 1 if lines else 0
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{notices.NOTICES}: {len(text.encode())} bytes")
    return 0


def arguments(words):
    parser = argparse.ArgumentParser(usage=USAGE, add_help=False)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make", usage=USAGE)
    for name in ("version", "commit"):
        making.add_argument(f"--{name}", required=True)
    making.add_argument("--time", required=True, type=int)
    for name in ("map", "program"):
        making.add_argument(f"--{name}", required=True, action="append")
    for name in ("merged", "objects", "own"):
        making.add_argument(f"--{name}", action="append", default=[])
    making.add_argument("--output")
    making.set_defaults(run=make)
    checking = commands.add_parser("check", usage=USAGE)
    checking.add_argument("file")
    checking.set_defaults(run=check)
    noting = commands.add_parser("notices", usage=USAGE)
    noting.add_argument("--check", action="store_true")
    noting.set_defaults(run=write_notices)
    for command in (making, noting):
        command.add_argument("--root", default=HERE)
        command.add_argument("--build")
    return parser.parse_args(words)


def main(words):
    options = arguments(words)
    try:
        return options.run(options)
    except components.Unknown as unknown:
        print("\n".join(f"error: {line}" for line in str(unknown).splitlines()), file=sys.stderr)
    except subprocess.CalledProcessError as failure:
        print(f"error: {failure.cmd[0]}: {(failure.stderr or '').strip()}", file=sys.stderr)
    except (linkmap.MapError, notices.NoticeError, ImportError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
