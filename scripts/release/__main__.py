"""Makes a release of the commit HEAD in dist/, or parts of it.

release [make]    compiles, links and writes every artefact
release pack      writes the artefacts of what was linked last
release size      prints the largest parts of the program that was linked last

Nothing is uploaded or signed: `dist/verify.sh` says how a person signs.
"""

import email.utils
import hashlib
import os
import shutil
import sys

import archive
import build
import debian
import image
import libraries
import manual
from project import DIST, ROOT, WORK, Commit, Stop, main_of, run, say

SOURCE, LINK = os.path.join(WORK, "source"), os.path.join(WORK, "link")
# The commit whose program was linked last.
LINKED = os.path.join(LINK, "commit")
PACKAGING = os.path.join(SOURCE, "packaging")
COMPLETIONS = {
    "bash": "share/bash-completion/completions/runar",
    "zsh": "share/zsh/site-functions/_runar",
    "fish": "share/fish/vendor_completions.d/runar.fish",
}
# zsh of Debian looks for the functions of packages here.
DEBIAN_ZSH = "share/zsh/vendor-completions/_runar"
UNITS = {
    "share/systemd/user/runar.service": "systemd/user/runar.service",
    "lib/systemd/system/runar.service": "systemd/system/runar.service",
    "lib/systemd/system/runar-init.service": "systemd/system/runar-init.service",
    "lib/sysusers.d/runar.conf": "systemd/system/runar.sysusers",
}


class Release:
    """The artefacts of one commit."""

    def __init__(self, commit):
        self.commit, self.version, self.epoch = commit, commit.version, commit.epoch
        self.program = os.path.join(LINK, "runar")
        self.machine, self.debian_machine = libraries.machine_of(self.program)
        stated = run(self.program, "--version").strip()
        if stated != self.version:
            raise Stop(f"the program calls itself {stated} and the commit {self.version}: make the whole release again")

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
        return files | {name: packaged(path) for name, path in UNITS.items()}

    def documents(self):
        return {"LICENSE": os.path.join(SOURCE, "LICENSE"), "notices.txt": packaged("notices.txt")}

    def tarball(self):
        return archive.write_tarball(
            DIST, {**self.files(), **self.documents()}, self.version, self.machine, self.epoch
        )

    def debian_package(self):
        files = {}
        for name, content in self.files().items():
            name = DEBIAN_ZSH if name == COMPLETIONS["zsh"] else name
            name = name.replace("share/systemd/user", "lib/systemd/user")
            if name.startswith("share/man/"):
                name, content = f"{name}.gz", archive.gzip(content)
            if name == COMPLETIONS["bash"]:
                content = content.removeprefix(b"#!/bin/bash\n")
            if name == "lib/systemd/user/runar.service":
                content = archive.bytes_of(content).replace(b"/usr/bin/env runar", b"/usr/bin/runar")
            files[f"usr/{name}"] = content
        documents = "usr/share/doc/runar"
        files[f"{documents}/copyright"] = packaged("debian/copyright")
        files[f"{documents}/notices.txt.gz"] = archive.gzip(archive.bytes_of(packaged("notices.txt")))
        files[f"{documents}/NEWS.gz"] = archive.gzip(archive.bytes_of(os.path.join(SOURCE, "CHANGELOG.md")))
        files[f"{documents}/changelog.gz"] = archive.gzip(self.debian_changelog().encode())
        files["usr/share/lintian/overrides/runar"] = packaged("debian/lintian-overrides")
        scripts = {}
        for name in ("postinst", "prerm", "postrm"):
            with open(packaged(f"debian/{name}"), encoding="utf-8") as file:
                scripts[name] = file.read()
        return debian.write(DIST, self.control(), files, scripts, self.epoch)

    def debian_changelog(self):
        date = email.utils.formatdate(self.epoch)
        maintainer = self.control()["Maintainer"]
        return f"runar ({self.version}) unstable; urgency=medium\n\n  * See NEWS.gz.\n\n -- {maintainer}  {date}\n"

    def control(self):
        """Returns the fields of the package in their order."""
        with open(packaged("debian/control"), encoding="utf-8") as file:
            fields = debian.fields(file.read())
        own = {"Package": fields.pop("Package"), "Version": self.version, "Architecture": self.debian_machine}
        return {**own, **fields}

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
        objects = os.path.join(SOURCE, ".build", "release", "runar.product", "Objects.LinkFileList")
        run(
            sys.executable, "-B", os.path.join(ROOT, "scripts", "release", "bill.py"), "make",
            "--version", self.version, "--commit", self.commit.id, "--time", str(self.epoch),
            "--map", os.path.join(LINK, "runar.map"), "--objects", objects, "--own", os.path.join(LINK, "icu.o"),
            "--program", self.program, "--root", SOURCE, "--output", out,
        )
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
        shutil.copy(packaged("verify.sh"), DIST)
        return os.path.join(DIST, "verify.sh")

    def write(self):
        shutil.rmtree(DIST, ignore_errors=True)
        os.makedirs(DIST)
        for make in (self.bill, self.debian_package, self.tarball, self.image, self.notes, self.verifier):
            path = make()
            say(f"   {os.path.getsize(path) / 1e6:8.1f} MB  {os.path.relpath(path, ROOT)}")
        sums = "".join(f"{sha256(os.path.join(DIST, name))}  {name}\n" for name in sorted(os.listdir(DIST)))
        archive.save(os.path.join(DIST, "SHA256SUMS"), sums.encode())
        say("   to sign: ssh-keygen -Y sign -f KEY -n runar dist/SHA256SUMS")


def packaged(path):
    return os.path.join(PACKAGING, path)


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def compile_and_link(commit):
    os.makedirs(SOURCE, exist_ok=True)
    commit.export(SOURCE)
    built = build.Build(SOURCE)
    built.compile("runar")
    program, _ = built.link(LINK)
    archive.save(LINKED, commit.id.encode())
    say(f"   {os.path.getsize(program) / 1e6:.1f} MB  {os.path.relpath(program, ROOT)}")


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
    elif not os.path.exists(LINKED) or archive.bytes_of(LINKED).decode() != commit.id:
        raise Stop("what was linked last is not the last commit: make the whole release")
    say("\n== write dist")
    Release(commit).write()


if __name__ == "__main__":
    sys.exit(main_of(main))
