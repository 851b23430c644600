"""librunar as others get it: headers, the file for pkg-config, the functions it shows, and an archive of all of it."""

import os
import re

import archive
from project import Stop, run

SONAME = "librunar.so.0"
HEADERS = ("runar.h", "runar_sealed.h", "runar_circle.h")
SYMBOLS = "packaging/debian/librunar/symbols"


def headers(source):
    """Returns the paths of the headers by their names."""
    return {name: os.path.join(source, "Sources/Apps/CRunar/include", name) for name in HEADERS}


def module(source):
    return os.path.join(source, "Bindings/python/runar.py")


def example(source, language):
    return os.path.join(source, "Examples", language, {"c": "hello.c", "python": "hello.py"}[language])


def symbols_file(source):
    return os.path.join(source, SYMBOLS)


def pkg_config(source, prefix, libraries, version):
    """Returns the file for pkg-config of an installation below `prefix`, with the libraries in a folder of it."""
    text = archive.bytes_of(os.path.join(source, "packaging/runar.pc.in")).decode()
    for name, value in {"PREFIX": prefix, "LIBRARIES": libraries, "VERSION": version}.items():
        text = text.replace(f"@{name}@", value)
    return text.encode()


def functions(text):
    """Returns the functions in a file `symbols`, whose format is that of deb-symbols(5)."""
    return set(re.findall(r"^ (\w+)@Base ", text, re.MULTILINE))


def check(library, text):
    """Raises Stop unless the library shows exactly these functions: a program that was linked with it needs them."""
    shown = set(re.findall(r" T (\w+)$", run("nm", "--dynamic", "--defined-only", library), re.MULTILINE))
    if missing := functions(text) - shown:
        raise Stop(f"the library lacks functions of earlier versions: {', '.join(sorted(missing))}")
    if new := shown - functions(text):
        raise Stop(f"add these functions of the library, with the version, to {SYMBOLS}: {', '.join(sorted(new))}")


def write_tarball(folder, release):
    """Writes librunar-VERSION-linux-MACHINE.tar.xz, which is used where it is unpacked, and returns its path."""
    name = f"librunar-{release.version}-linux-{release.machine}"
    files = {f"include/{header}": path for header, path in headers(release.source).items()}
    files |= {
        f"lib/{SONAME}": archive.Entry(release.shared),
        "lib/librunar.so": archive.Entry(target=SONAME),
        "lib/librunar.a": archive.Entry(release.static),
        "lib/pkgconfig/runar.pc": pkg_config(release.source, "${pcfiledir}/../..", "lib", release.version),
        "share/doc/runar/hello.c": archive.Entry(example(release.source, "c")),
        **{f"share/doc/runar/{document}": path for document, path in release.documents().items()},
    }
    entries = {f"{name}/{inner}": content for inner, content in files.items()}
    return archive.write(os.path.join(folder, f"{name}.tar.xz"), entries, release.epoch)
