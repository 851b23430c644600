#!/usr/bin/env bash
# python-env.sh: makes .venv with the Python packages of the interoperability tests, unless it has them already.
set -eu
cd "$(dirname "$0")/.."

requirements=Tests/Interop/requirements.txt
stamp=.venv/installed.txt

if [ -x .venv/bin/python3 ] && cmp -s "$requirements" "$stamp"; then
    printf '   %s\n' "nothing is missing"
    exit 0
fi
command -v python3 >/dev/null 2>&1 || {
    printf 'error: no python3 on the PATH; run ./scripts/install-dependencies.sh test\n' >&2
    exit 1
}
printf '   %s\n' "installing the packages of $requirements into .venv"
rm -rf .venv
python3 -m venv .venv || {
    printf 'error: python3 cannot make a virtual environment; run ./scripts/install-dependencies.sh test\n' >&2
    exit 1
}
# The list is complete; what else a package would like to have is left out.
.venv/bin/python3 -m pip install --quiet --disable-pip-version-check --no-deps --requirement "$requirements" || {
    printf 'error: the packages could not be installed; is the package index (https://pypi.org) reachable?\n' >&2
    exit 1
}
cp "$requirements" "$stamp"
