"""Names the component of everything that is in a program, by the table packaging/components.json."""

import hashlib
import json
import os
import re
from dataclasses import dataclass, field, replace

import origins
from origins import Target

TABLE = "packaging/components.json"
# The marks of a copyright or licence notice in a file.
FOREIGN = re.compile(
    r"SPDX-License-Identifier|@licen[cs]e|@preserve|\bCopyright\s+(\(c\)|©|\d{4})|Licensed under the"
    r"|Permission is hereby granted|Redistribution and use in source",
    re.IGNORECASE,
)


class Unknown(Exception):
    """Parts of the program that no component names; the message has a line for each."""


@dataclass(frozen=True)
class Component:
    """A component of the program, with the versions and files of one build."""

    name: str
    kind: str
    licence: str
    version: str
    purl: str
    homepage: str = ""
    supplier: str = ""
    linkage: str = "static"
    parent: str = ""
    hashes: dict = field(default_factory=dict)


class Table:
    """The components that are known. Their versions come from the build."""

    def __init__(self, text):
        self.entries = json.loads(text)
        self.own = self.entries["own"]
        self.packages = self.entries["packages"]
        self.toolchain = self.entries["toolchain"]
        self.debian = self.entries["debian"]
        self.vendored = self.entries["vendored"]

    def toolchain_name(self, file):
        return next((name for name, one in self.toolchain.items() if origins.matches(file, one["files"])), None)

    def debian_name(self, package):
        entries = self.debian.items()
        return next((name for name, one in entries if origins.matches(package.source, one["sources"])), None)

    def vendored_in(self, target):
        """The components whose code is in a target."""
        return [
            name
            for name, one in self.vendored.items()
            if one["inside"] == target.package and target.name in one["targets"]
        ]

    def knows_c_target(self, target):
        """Whether the table states the origin of a target of C code: the package itself, or a vendored component."""
        return target.name in self.packages[target.package].get("c", []) or bool(self.vendored_in(target))


class Finder:
    """Maps the contributors of a program to components, and collects the unknown ones."""

    def __init__(self, table, places, targets, versions, swift_version, debian):
        self.table, self.places, self.targets, self.versions = table, places, targets, versions
        self.swift_version, self.debian = swift_version, debian
        self.found, self.unknown, self.used = {}, set(), set()

    def add(self, contributors):
        for one in contributors:
            if one.member or one.file not in self.targets:
                self.add_file(one)
            else:
                self.add_target(self.targets[one.file], one.file)

    def add_target(self, target, file):
        self.used.add(target)
        if target.package and target.package not in self.table.packages:
            self.unknown.add(f"package {target.package}")
            return
        if target.package:
            self.keep(self.package(target.package))
            if not file.endswith(".swift.o") and not self.table.knows_c_target(target):
                self.unknown.add(f"target {target.name} of C code, in package {target.package},")
        for name in self.table.vendored_in(target):
            self.keep(self.vendored(name))

    def add_file(self, one):
        """An archive, or an object of the toolchain or the system."""
        file = os.path.realpath(one.file)
        # lib/swift and lib/swift_static; the toolchain can be in /usr, next to other libraries.
        libraries = os.path.join(self.places.toolchain, "lib", "swift")
        if file.startswith(libraries):
            name = self.table.toolchain_name(os.path.basename(file))
            if name:
                self.keep(self.toolchain(name), file)
                for vendored in self.table.vendored_in(Target(name, os.path.basename(file))):
                    self.keep(self.vendored(vendored))
                return
        elif package := self.debian.package(file):
            if name := self.table.debian_name(package):
                self.keep(self.system(name, package, "static"), file)
                return
            self.unknown.add(f"{one.file} of the package {package.name}")
            return
        self.unknown.add(one.file)

    def add_shared(self, name, path):
        """A library that the program loads when it starts."""
        package = self.debian.package(path) if path else None
        known = package and self.table.debian_name(package)
        if known:
            self.keep(self.system(known, package, "shared"))
        else:
            self.unknown.add(f"shared library {name}")

    def keep(self, component, file=None):
        kept = self.found.setdefault(component.name, component)
        if kept.linkage != component.linkage:
            kept = replace(kept, linkage="static")
        if file:
            label = os.path.basename(file)
            if label not in kept.hashes:
                kept = replace(kept, hashes={**kept.hashes, label: sha256(file)})
        self.found[component.name] = kept

    def package(self, name):
        one, (version, address) = self.table.packages[name], self.versions[name]
        address = re.sub(r"^https://|\.git$", "", address)
        return self.component(name, "package", one, version, f"pkg:swift/{address}@{version}")

    def toolchain(self, name):
        one = self.table.toolchain[name]
        version = self.version(one) or self.swift_version
        tag = f"swift-{self.swift_version}-RELEASE"
        return self.component(name, "toolchain", one, version, f"pkg:github/{one['repository']}@{tag}")

    def system(self, name, package, linkage):
        entry = self.table.debian[name]
        return self.component(package.name, "debian", entry, package.version, package.purl(), linkage=linkage)

    def vendored(self, name):
        one = self.table.vendored[name]
        version = self.version(one)
        purl = f"pkg:github/{one['repository']}" + (f"@{version}" if version else "") if "repository" in one else ""
        return self.component(name, "vendored", one, version, purl, parent=one["inside"])

    def component(self, name, kind, entry, version, purl, **more):
        homepage, supplier = entry.get("homepage", ""), entry.get("supplier", "")
        return Component(name, kind, entry["licence"], version, purl, homepage, supplier, **more)

    def version(self, entry):
        """The version that a file states, its numbers joined by dots, or nothing."""
        if "version" not in entry:
            return ""
        file = self.places.path(entry["version"]["file"])
        with open(file, encoding="utf-8", errors="replace") as opened:
            match = re.search(entry["version"]["pattern"], opened.read(), re.DOTALL)
        if not match:
            raise Unknown(f"{file} states no version: correct the pattern in {TABLE}")
        return ".".join(match.groups())

    def result(self):
        """Returns the components by name, or raises with all unknown parts."""
        if self.unknown:
            raise Unknown("\n".join(complaint(one) for one in sorted(self.unknown)))
        return dict(sorted(self.found.items()))


def complaint(part):
    return f"{part} is in the program, but no component names it: add it to {TABLE}"


def foreign_files(root, table):
    """Returns the files of Sources/ with a licence notice, except those of vendored components."""
    known = {file for one in table.vendored.values() for file in one.get("files", [])}
    found = []
    for folder, _, files in os.walk(os.path.join(root, "Sources")):
        for file in files:
            path = os.path.join(folder, file)
            with open(path, encoding="utf-8", errors="replace") as opened:
                if FOREIGN.search(opened.read()):
                    found.append(os.path.relpath(path, root))
    return sorted(set(found) - known)


def package_edges(used, dependencies, targets):
    """Returns the packages that each package of the program needs directly.

    SwiftPM lists all targets that a target needs, also indirectly. An edge that a longer path implies is left out.
    """
    packages = {}
    for target in targets.values():
        packages.setdefault(target.name, target.package)
    needs = {}
    for target in used:
        others = {packages[name] for name in dependencies.get(target.name, []) if name in packages}
        needs.setdefault(target.package, set()).update(others - {target.package})
    return {
        package: {one for one in direct if not any(one in needs.get(other, ()) for other in direct - {one})}
        for package, direct in needs.items()
    }


def unused(table, found):
    """Returns the names of the packages and vendored components of the table that are not in the program."""
    return sorted((table.packages.keys() | table.vendored.keys()) - found.keys())


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
