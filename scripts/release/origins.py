"""Where the parts of a program come from: the package of an object, the Debian package of a file."""

import fnmatch
import glob
import json
import os
import re
import subprocess
from dataclasses import dataclass

SOURCES = (".swift", ".c", ".cc", ".cpp", ".m", ".mm", ".S", ".s")
INPUTS = re.compile(r"^    inputs: (\[.*\])$")
OUTPUTS = re.compile(r"^    outputs: (\[.*\])$")
TARGET = re.compile(r"/([^/]+)\.build/[^/]")


@dataclass(frozen=True)
class Places:
    """The folders of a build. Paths in packaging/components.json begin with one of them.

    `here` is this repository, and `root` the copy of it that was built.
    """

    here: str
    root: str
    build: str
    toolchain: str
    usr: str = "/usr"

    @property
    def checkouts(self):
        return os.path.join(self.build, "checkouts")

    def path(self, name):
        """Returns the path of `checkout/...`, `toolchain/...`, `doc/...`, `common-licenses/...` or `here/...`."""
        first, _, rest = name.partition("/")
        folders = {
            "checkout": self.checkouts,
            "toolchain": self.toolchain,
            "doc": f"{self.usr}/share/doc",
            "common-licenses": f"{self.usr}/share/common-licenses",
            "here": self.here,
        }
        if first not in folders:
            raise ValueError(f"{name} begins with none of {', '.join(folders)}")
        return os.path.join(folders[first], rest)


@dataclass(frozen=True, order=True)
class Target:
    """A target of a Swift package; the package of this repository has no name."""

    package: str
    name: str


def toolchain():
    """Returns the `usr` folder of the Swift toolchain, and its version."""
    info = json.loads(run("swiftc", "-print-target-info"))
    version = re.search(r"Swift version (\d[\w.]*)", info["compilerVersion"])[1]
    return os.path.realpath(os.path.join(info["paths"]["runtimeResourcePath"], "..", "..")), version


def targets(manifest, places):
    """Returns the target of each object that SwiftPM builds, from the text of its manifest for llbuild.

    An object belongs to the package in which the sources of its compilation are. Generated sources do not count.
    """
    found, inputs = {}, []
    for line in manifest.splitlines():
        if match := INPUTS.match(line):
            inputs = json.loads(match[1])
        elif match := OUTPUTS.match(line):
            objects = [path for path in json.loads(match[1]) if path.endswith(".o")]
            packages = {package_of(path, places) for path in inputs if path.endswith(SOURCES)} if objects else set()
            packages.discard(None)
            if len(packages) == 1:
                package = packages.pop()
                found |= {path: Target(package, TARGET.findall(path)[-1]) for path in objects if TARGET.search(path)}
    return found


def package_of(source, places):
    """Returns the package of a source file, or None for a file that no package has."""
    if source.startswith(places.checkouts + "/"):
        return source[len(places.checkouts) + 1 :].split("/")[0]
    if source.startswith(places.root + "/") and not source.startswith(places.build + "/"):
        return ""
    return None


def package_versions(state):
    """Returns the version and the address of each checked-out package, from the text of workspace-state.json."""
    found = {}
    for dependency in json.loads(state)["object"]["dependencies"]:
        checkout = dependency["state"].get("checkoutState", {})
        version = checkout.get("version") or checkout.get("revision")
        found[dependency["subpath"]] = (version, dependency["packageRef"]["location"])
    return found


def target_dependencies(description):
    """Returns the names of the targets that each target needs, from the text of SwiftPM's description.json."""
    return json.loads(description)["targetDependencyMap"]


def description_file(build, configuration="release"):
    found = glob.glob(os.path.join(build, "*", configuration, "description.json"))
    return max(found, key=os.path.getmtime, default=None)


@dataclass(frozen=True, order=True)
class DebianPackage:
    """An installed package; `source` is the name of the source package it was built from."""

    name: str
    version: str
    architecture: str
    source: str
    system: str = "debian"
    release: str = ""

    def purl(self):
        version = self.version.replace("%", "%25").replace(":", "%3A").replace("+", "%2B")
        distro = f"&distro={self.system}-{self.release}" if self.release else ""
        name = self.name.replace("+", "%2B")
        return f"pkg:deb/{self.system}/{name}@{version}?arch={self.architecture}{distro}&upstream={self.source}"


class Debian:
    """The package database of Debian or a system like it. Each question is asked once.

    `system` is the text of /etc/os-release.
    """

    def __init__(self, ask=None, system=""):
        self.ask = ask or run
        fields = dict(re.findall(r'^(ID|VERSION_ID)="?([^"\n]*)"?$', system, re.MULTILINE))
        self.system = fields.get("ID", "debian"), fields.get("VERSION_ID", "")
        self.packages = {}

    def package(self, file):
        """Returns the package of an installed file, or None."""
        real = os.path.realpath(file)
        if real not in self.packages:
            self.packages[real] = next(filter(None, map(self.search, spellings(real))), None)
        return self.packages[real]

    def search(self, file):
        try:
            name = self.ask("dpkg-query", "--search", file).split(": ")[0].split(",")[0]
            text = "${Package}|${Version}|${Architecture}|${source:Package}"
            fields = self.ask("dpkg-query", "--show", f"--showformat={text}", name).split("|")
            return DebianPackage(*fields, *self.system)
        except (OSError, subprocess.CalledProcessError):
            return None


def spellings(path):
    """The database has some names from before /lib became a link to /usr/lib."""
    return [path, path.removeprefix("/usr") if path.startswith("/usr/lib") else "/usr" + path]


def library_paths(cache):
    """Returns the path of each shared library, from the output of `ldconfig -p`. The first one of a name wins."""
    found = {}
    for name, path in re.findall(r"^\s*(\S+) \([^)]*\) => (\S+)$", cache, re.MULTILINE):
        found.setdefault(name, path)
    return found


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def run(*command):
    environment = os.environ | {"LC_ALL": "C", "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
