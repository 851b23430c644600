#!/usr/bin/env bash
# python-env.sh [test|release]: makes .venv and .venv-nanotdf with the Python packages of the interoperability tests, or
# .venv-release with those of a release, unless they are there.
set -eu
cd "$(dirname "$0")/.."

fail() {
    printf 'error: %s\n' "$1" >&2
    exit 1
}

# make_environment FOLDER REQUIREMENTS
make_environment() {
    if [ -x "$1/bin/python3" ] && cmp -s "$2" "$1/installed.txt"; then
        printf '   %s\n' "nothing is missing in $1"
        return
    fi
    printf '   %s\n' "installing the packages of $2 into $1"
    rm -rf "$1"
    python3 -m venv "$1" || fail "python3 cannot make a virtual environment; run ./scripts/install-dependencies.sh test"
    # The list is complete; what else a package would like to have is left out.
    "$1/bin/python3" -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$2" ||
        fail "the packages could not be installed; is the package index (https://pypi.org) reachable?"
    cp "$2" "$1/installed.txt"
}

command -v python3 >/dev/null 2>&1 || fail "no python3 on the PATH; run ./scripts/install-dependencies.sh test"
case ${1:-test} in
test)
    make_environment .venv Tests/Interop/requirements.txt
    make_environment .venv-nanotdf Tests/Interop/requirements-nanotdf.txt
    ;;
release) make_environment .venv-release scripts/release/requirements.txt ;;
*) fail "python-env.sh: '$1' is neither test nor release" ;;
esac
