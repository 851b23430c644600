"""library_check.py DIST: uses librunar, its development files, the Python module and the wheel of a release in fresh
systems of Debian 12 and 13, as root. One line is printed for each check; the exit status is 1 at a failure.
"""

import glob
import os
import subprocess
import sys

import package_check
from package_check import Checks
from package_system import System, installed
from project import ROOT

# A compiler, pkg-config, what `librunar-dev` recommends for the static library, and Python; not Swift.
TOOLS = "gcc,libc6-dev,pkgconf,libgnutls28-dev,python3,python3-venv"
NAMES = ("librunar", "librunar-dev", "python3-runar")
EXAMPLES = {"c": "/usr/share/doc/librunar-dev/examples/hello.c", "python": "/usr/share/doc/python3-runar/examples/hello.py"}
BUILD_SECONDS = 300


def one(dist, pattern):
    """Returns the only file of that pattern."""
    found = glob.glob(os.path.join(dist, pattern))
    if len(found) != 1:
        raise SystemExit(f"{dist} has {len(found)} files {pattern}: make it with `make release`")
    return found[0]


def check_file(dist):
    """Looks at the packages without installing them."""
    checks = Checks("packages")
    for name in NAMES:
        package = one(dist, f"{name}_*.deb")
        words = ["lintian", "--allow-root", "--fail-on", "error,warning", package]
        found = subprocess.run(words, capture_output=True, text=True)
        checks.check(f"lintian finds no error and no warning in {name}", found.returncode == 0, found.stdout + found.stderr)
    return checks.failed


def check_packages(checks, system):
    before = system.files()
    paths = " ".join(f"/tmp/{name}.deb" for name in NAMES)
    checks.succeeds("installs", system.run(f"dpkg --install {paths}", BUILD_SECONDS))
    listed = set(system.run(f"dpkg --listfiles {' '.join(NAMES)}").stdout.split("\n"))
    real = {os.path.realpath(system.root + name)[len(system.root):] for name in listed if name}
    # The index of the dynamic linker.
    strange = {name for name in system.files() - before if name not in listed | real and name != "/etc/ld.so.cache"}
    checks.check("writes no file that the packages do not list", not strange, sorted(strange)[:5])
    outcome = system.run(f"dpkg --verify {' '.join(NAMES)}")
    checks.check("dpkg --verify finds no difference", outcome.returncode == 0 and not outcome.stdout, outcome.stdout)
    build = f"cc -std=c11 -Wall -Wextra -Werror {EXAMPLES['c']} $(pkg-config --cflags --libs runar) -lpthread -o /tmp/hello"
    checks.succeeds("pkg-config alone builds the example in C", system.run(build, BUILD_SECONDS))
    outcome = system.run("ldd /tmp/hello")
    checks.succeeds("the example in C finds the library by its soname", outcome, "librunar.so.0 => /")
    checks.succeeds("the example in C runs", system.run("/tmp/hello"), "hello")
    archive = "$(pkg-config --variable=libdir runar)/librunar.a"
    libraries = "$(pkg-config --static --libs-only-l runar | sed s/-lrunar//)"
    build = f"cc -std=c11 {EXAMPLES['c']} {archive} {libraries} -lpthread -o /tmp/static"
    checks.succeeds("the static library builds the example in C", system.run(build, BUILD_SECONDS))
    outcome = system.run("ldd /tmp/static && /tmp/static")
    checks.succeeds("the static example runs", outcome, "hello")
    checks.check("the static example does not need librunar.so", "librunar.so" not in outcome.stdout, outcome.stdout)
    checks.succeeds("the example in Python runs", system.run(f"python3 {EXAMPLES['python']}"), "math/add says")
    checks.succeeds("is removed", system.run(f"dpkg --remove {' '.join(NAMES)}"))
    checks.check("removal leaves no file", not system.files() - before - {"/etc/ld.so.cache"}, system.files() - before)


def check_wheel(checks, system, wheel):
    """In a system without librunar, in an environment of its own."""
    name = f"/tmp/{os.path.basename(wheel)}"
    system.put(wheel, name)
    install = f"python3 -m venv /tmp/venv && /tmp/venv/bin/pip install --quiet --no-index --no-deps {name}"
    checks.succeeds("the wheel installs", system.run(install, BUILD_SECONDS))
    where = system.run("/tmp/venv/bin/python3 -c 'import runar; print(runar.__file__)'")
    checks.succeeds("its module is that of the wheel", where, "/tmp/venv/")
    checks.succeeds("the example in Python runs with it", system.run("/tmp/venv/bin/python3 /tmp/hello.py"), "math/add says")


def check_tarball(checks, system, tarball):
    """The archive is used where it is unpacked."""
    name = os.path.basename(tarball).removesuffix(".tar.xz")
    subprocess.run(["tar", "-xf", tarball, "-C", f"{system.root}/opt"], check=True)
    command = (
        f"cc /opt/{name}/share/doc/runar/hello.c $(pkg-config --cflags --libs runar)"
        f" -Wl,-rpath,/opt/{name}/lib -lpthread -o /tmp/unpacked && /tmp/unpacked"
    )
    outcome = system.run(command, BUILD_SECONDS, PKG_CONFIG_PATH=f"/opt/{name}/lib/pkgconfig")
    checks.succeeds("the archive builds and runs the example in C", outcome, "hello")


def main(dist):
    failed = check_file(dist)
    for suite in package_check.SYSTEMS:
        checks, system = Checks(suite), System(installed(f"{suite}-tools", suite, f"--include={TOOLS}"))
        try:
            for name in NAMES:
                system.put(one(dist, f"{name}_*.deb"), f"/tmp/{name}.deb")
            check_packages(checks, system)
            system.put(os.path.join(ROOT, "Examples/python/hello.py"), "/tmp/hello.py")
            check_wheel(checks, system, one(dist, "runar-*.whl"))
            check_tarball(checks, system, one(dist, "librunar-*.tar.xz"))
        finally:
            system.remove()
        failed += checks.failed
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
