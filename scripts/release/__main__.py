"""Makes a release of the commit HEAD in dist/, or parts of it.

release [make]    compiles, links and writes every artefact
release pack      writes the artefacts of what was linked last
release size      prints the largest parts of the program that was linked last

Nothing is uploaded or signed: `dist/verify.sh` says how a person signs.
"""

import hashlib
import os
import shutil
import sys

import archive
import binding
import build
import formula
import image
import libraries
import manual
import packages
import website
import wheel
from project import DIST, ROOT, WORK, Commit, Linked, Stop, main_of, run, say, source_folder

SOURCE, LINK = source_folder(), os.path.join(WORK, "link")
REFERENCE = os.path.join(WORK, "reference")
BILL = os.path.join(ROOT, "scripts", "release", "bill.py")
# The address at which a person publishes the files.
DOWNLOADS = os.environ.get("DOWNLOADS", "https://downloads.runar.invalid")
# The commit whose program was linked last.
LINKED = Linked(LINK)
PACKAGING = os.path.join(SOURCE, "packaging")
COMPLETIONS = {
    "bash": "share/bash-completion/completions/runar",
    "zsh": "share/zsh/site-functions/_runar",
    "fish": "share/fish/vendor_completions.d/runar.fish",
}
UNITS = {
    "share/systemd/user/runar.service": "systemd/user/runar.service",
    "lib/systemd/system/runar.service": "systemd/system/runar.service",
    "lib/systemd/system/runar-init.service": "systemd/system/runar-init.service",
    "lib/sysusers.d/runar.conf": "systemd/system/runar.sysusers",
}


class Release:
    """The artefacts of one commit."""

    def __init__(self, commit):
        self.commit, self.version, self.epoch, self.source = commit, commit.version, commit.epoch, SOURCE
        self.program = os.path.join(LINK, "runar")
        self.shared, self.static = os.path.join(LINK, binding.SONAME), os.path.join(LINK, "librunar.a")
        self.machine, self.debian_machine = libraries.machine_of(self.program)
        stated = run(self.program, "--version").strip()
        if stated != self.version:
            raise Stop(f"the program calls itself {stated} and the commit {self.version}: make the whole release again")

    def packaged(self, path):
        return os.path.join(PACKAGING, path)

    def manual_pages(self):
        date = run("date", "--utc", f"--date=@{self.epoch}", "+%Y-%m-%d").strip()
        help_text = run(self.program, "--experimental-dump-help")
        return {f"share/man/man1/{name}": text for name, text in manual.pages(help_text, self.version, date).items()}

    def files(self):
        """Returns what an installation has below its prefix."""
        files = {"bin/runar": archive.Entry(self.program, archive.PROGRAM)}
        files |= {name: text.encode() for name, text in self.manual_pages().items()}
        for shell, name in COMPLETIONS.items():
            files[name] = run(self.program, "completion", shell).encode()
        return files | {name: self.packaged(path) for name, path in UNITS.items()}

    def documents(self):
        return {"LICENSE": os.path.join(SOURCE, "LICENSE"), "notices.txt": self.packaged("notices.txt")}

    def tarball(self):
        return archive.write_tarball(
            DIST, {**self.files(), **self.documents()}, self.version, self.machine, self.epoch
        )

    def packages(self):
        return packages.Packages(self, DIST).write()

    def library(self):
        return binding.write_tarball(DIST, self)

    def wheel(self):
        return wheel.write(DIST, binding.module(SOURCE), self.shared, self.version, self.epoch, self.documents())

    def sources(self):
        """Writes the archive of the sources."""
        return archive.save(
            os.path.join(DIST, f"runar-{self.version}-source.tar.xz"),
            archive.compressed(self.commit.sources(f"runar-{self.version}"), ".xz"),
        )

    def formula(self):
        """Writes the formula for the sources at the address where a person publishes them."""
        source = os.path.join(DIST, f"runar-{self.version}-source.tar.xz")
        url = f"{DOWNLOADS}/{os.path.basename(source)}"
        return formula.write(os.path.join(DIST, "runar.rb"), url, sha256(source), DOWNLOADS, self.version)

    def site(self):
        """Writes the documentation as pages for a browser."""
        out = os.path.join(DIST, f"runar-{self.version}-documentation.tar.xz")
        pages = website.pages(SOURCE, REFERENCE, self.version)
        name = f"runar-{self.version}-documentation"
        return archive.write(out, {f"{name}/{inner}": content for inner, content in pages.items()}, self.epoch)

    def image(self):
        needed = libraries.needed(self.program)
        documents = {f"/usr/share/doc/runar/{name}": path for name, path in self.documents().items()}
        documents |= libraries.copyrights(needed.values())
        out = os.path.join(DIST, f"runar-{self.version}-image.tar")
        image.write(self.program, needed, out, self.version, self.commit.id, self.epoch, documents)
        return out

    def bill(self):
        """Writes the bill of materials; it fails if the program has something that no component names."""
        out = os.path.join(DIST, f"runar-{self.version}.cdx.json")
        built = build.Build(SOURCE)
        words = ["--version", self.version, "--commit", self.commit.id, "--time", str(self.epoch), "--root", built.source]
        words += ["--own", os.path.join(LINK, "icu.o"), "--own", os.path.join(LINK, "stderr.o"), "--output", out]
        for program in (self.program, self.shared):
            words += ["--map", f"{program}.map", "--program", program]
        for product in ("runar", "RunarCStatic"):
            words += ["--objects", built.objects(product)]
        words += ["--program", self.static]
        run(sys.executable, "-B", BILL, "make", *words)
        run(sys.executable, "-B", BILL, "check", out)
        return out

    def notes(self):
        """Writes the changes of this version."""
        with open(os.path.join(SOURCE, "CHANGELOG.md"), encoding="utf-8") as file:
            text = file.read()
        head = f"\n## {self.version}"
        if head not in text:
            raise Stop(f"CHANGELOG.md has no section for {self.version}")
        section = text.split(head, 1)[1].split("\n", 1)[1].split("\n## ", 1)[0]
        return archive.save(os.path.join(DIST, "notes.md"), f"# Runar {self.version}\n{section.rstrip()}\n".encode())

    def verifier(self):
        shutil.copy(self.packaged("verify.sh"), DIST)
        return os.path.join(DIST, "verify.sh")

    def write(self):
        shutil.rmtree(DIST, ignore_errors=True)
        os.makedirs(DIST)
        binding.check(self.shared, archive.bytes_of(binding.symbols_file(SOURCE)).decode())
        makers = (
            self.bill, self.packages, self.tarball, self.library, self.wheel, self.image, self.site, self.sources,
            self.formula, self.notes, self.verifier,
        )
        for make in makers:
            paths = make()
            for path in paths if isinstance(paths, list) else [paths]:
                say(f"   {os.path.getsize(path) / 1e6:8.1f} MB  {os.path.relpath(path, ROOT)}")
        sums = "".join(f"{sha256(os.path.join(DIST, name))}  {name}\n" for name in sorted(os.listdir(DIST)))
        archive.save(os.path.join(DIST, "SHA256SUMS"), sums.encode())
        say("   to sign: ssh-keygen -Y sign -f KEY -n runar dist/SHA256SUMS")


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def compile_and_link(commit):
    LINKED.begin()
    os.makedirs(SOURCE, exist_ok=True)
    commit.export(SOURCE)
    built = build.Build(SOURCE)
    for product in ("runar", "RunarCStatic"):
        built.compile("--product", product)
    built.compile("--target", "Simulation")
    for path in (built.link(LINK), *built.link_library(LINK)):
        say(f"   {os.path.getsize(path) / 1e6:.1f} MB  {os.path.relpath(path, ROOT)}")
    say("\n== reference of the libraries")
    run(os.path.join(SOURCE, "scripts/documentation.sh"), REFERENCE, os.path.realpath(built.products), cwd=SOURCE)
    LINKED.end(commit.id)


def size():
    program = os.path.join(LINK, "runar")
    if not os.path.exists(program):
        raise Stop("no program was linked yet: `make release` links it")
    say(f"{os.path.getsize(program) / 1e6:8.1f} MB  the program, without symbols")
    for name, count in build.largest(os.path.join(LINK, "runar.map")):
        say(f"{count / 1e6:8.2f} MB  {name}")


def main():
    action = (sys.argv[1:] or ["make"])[0]
    if action == "size":
        return size()
    if action not in ("make", "pack"):
        raise Stop(f"there is no action {action}: make, pack or size")
    commit = Commit()
    if action == "make":
        compile_and_link(commit)
    elif LINKED.commit() != commit.id:
        raise Stop("what was linked last is not the last commit: make the whole release")
    say("\n== write dist")
    Release(commit).write()


if __name__ == "__main__":
    sys.exit(main_of(main))
