"""The Debian packages of a release: the command, librunar, its development files and the Python binding."""

import email.utils
import os

import archive
import binding
import debian

MULTIARCH = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
# Each shell of Debian looks for the functions of packages here.
DEBIAN_PLACES = {
    "share/zsh/site-functions/_runar": "share/zsh/vendor-completions/_runar",
    "share/systemd/user/runar.service": "lib/systemd/user/runar.service",
}
# The modules of Python packages of Debian.
PYTHON = "usr/lib/python3/dist-packages"


class Packages:
    """Writes the packages of one release into a folder."""

    def __init__(self, release, folder):
        self.release, self.folder = release, folder
        self.libraries = f"usr/lib/{MULTIARCH[release.debian_machine]}"

    def write(self):
        """Returns the paths of the packages."""
        return [self.command(), self.library(), self.development(), self.python()]

    def command(self):
        files = {}
        for name, content in self.release.files().items():
            name = DEBIAN_PLACES.get(name, name)
            if name.startswith("share/man/"):
                name, content = f"{name}.gz", archive.gzip(content)
            if name.startswith("share/bash-completion/"):
                content = content.removeprefix(b"#!/bin/bash\n")
            if name == "lib/systemd/user/runar.service":
                content = archive.bytes_of(content).replace(b"/usr/bin/env runar", b"/usr/bin/runar")
            files[f"usr/{name}"] = content
        return self.package("runar", files, {name: self.text("runar", name) for name in ("postinst", "prerm", "postrm")})

    def library(self):
        soname = binding.SONAME
        inner = {
            "shlibs": f"librunar {soname.rsplit('.', 1)[-1]} librunar (>= {self.release.version})\n",
            "symbols": archive.bytes_of(binding.symbols_file(self.release.source)).decode(),
            "triggers": "activate-noawait ldconfig\n",
        }
        return self.package("librunar", {f"{self.libraries}/{soname}": archive.Entry(self.release.shared)}, inner)

    def development(self):
        source = self.release.source
        files = {f"usr/include/{name}": path for name, path in binding.headers(source).items()}
        files[f"{self.libraries}/librunar.a"] = self.release.static
        files[f"{self.libraries}/librunar.so"] = archive.Entry(target=binding.SONAME)
        place = self.libraries.removeprefix("usr/")
        description = binding.pkg_config(source, "/usr", place, self.release.version)
        files[f"{self.libraries}/pkgconfig/runar.pc"] = description
        files["usr/share/doc/librunar-dev/examples/hello.c"] = archive.Entry(binding.example(source, "c"))
        return self.package("librunar-dev", files)

    def python(self):
        source = self.release.source
        files = {f"{PYTHON}/runar.py": binding.module(source)}
        files["usr/share/doc/python3-runar/examples/hello.py"] = archive.Entry(binding.example(source, "python"))
        return self.package("python3-runar", files, machine="all")

    def package(self, name, files, inner=None, machine=None):
        """Writes a package with what every package has."""
        documents = f"usr/share/doc/{name}"
        fields = self.control(name, machine or self.release.debian_machine)
        files = dict(files)
        files[f"{documents}/copyright"] = self.packaged("copyright")
        files[f"{documents}/changelog.gz"] = archive.gzip(self.changelog(name, fields["Maintainer"]).encode())
        files[f"{documents}/NEWS.gz"] = archive.gzip(archive.bytes_of(os.path.join(self.release.source, "CHANGELOG.md")))
        if machine != "all":
            files[f"{documents}/notices.txt.gz"] = archive.gzip(archive.bytes_of(self.release.packaged("notices.txt")))
        if os.path.exists(self.packaged(name, "lintian-overrides")):
            files[f"usr/share/lintian/overrides/{name}"] = self.packaged(name, "lintian-overrides")
        return debian.write(self.folder, fields, files, inner or {}, self.release.epoch)

    def control(self, name, machine):
        """Returns the fields of a package in their order."""
        fields = debian.fields(self.text(name, "control").replace("@VERSION@", self.release.version))
        own = {"Package": fields.pop("Package"), "Version": self.release.version, "Architecture": machine}
        return {**own, "Source": "runar", **fields} if name != "runar" else {**own, **fields}

    def changelog(self, name, maintainer):
        date = email.utils.formatdate(self.release.epoch)
        return f"runar ({self.release.version}) unstable; urgency=medium\n\n  * See NEWS.gz.\n\n -- {maintainer}  {date}\n"

    def packaged(self, *parts):
        return self.release.packaged(os.path.join("debian", *parts))

    def text(self, name, file):
        return archive.bytes_of(self.packaged(name, file)).decode()
