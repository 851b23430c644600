"""The Homebrew formula of a release, made from a template."""

import os
import re

from archive import PACKAGING, save

TEMPLATE = os.path.join(PACKAGING, "homebrew", "runar.rb.in")

REQUIRED = ("desc", "homepage", "url", "sha256", "license")


class Incomplete(Exception):
    """A formula that lacks a field, or has one of the wrong form."""


def write(out, url, sha256, homepage, version):
    """Writes the formula for the source archive at `url` and returns its path."""
    with open(TEMPLATE, encoding="utf-8") as file:
        text = file.read()
    for name, value in {"URL": url, "SHA256": sha256, "HOMEPAGE": homepage, "VERSION": version}.items():
        text = text.replace(f"@{name}@", value)
    check(text)
    return save(out, text.encode())


def fields(text):
    """Returns the fields of the formula itself, without those of its resources."""
    own = re.sub(r"^  resource .*?^  end$", "", text, flags=re.MULTILINE | re.DOTALL)
    return dict(re.findall(r'^  (\w+) "([^"]*)"$', own, re.MULTILINE))


def check(text):
    """Raises Incomplete unless the formula has its fields and a test."""
    found = fields(text)
    problems = [f"no {name}" for name in REQUIRED if not found.get(name)]
    problems += [f"@{name}@ is left" for name in re.findall(r"@([A-Z0-9]+)@", text)]
    problems += ["no install"] if "\n  def install\n" not in text else []
    problems += ["no test"] if "\n  test do\n" not in text else []
    if not re.fullmatch(r"https://\S+\.tar\.(gz|xz)", found.get("url", "")):
        problems.append("the url is no https address of a source archive")
    digests = re.findall(r'^ +sha256 "([^"]*)"$', text, re.MULTILINE)
    problems += [f"{digest!r} is no SHA-256" for digest in digests if not re.fullmatch("[0-9a-f]{64}", digest)]
    if found.get("license") != "Apache-2.0":
        problems.append("the license is not Apache-2.0")
    if problems:
        raise Incomplete("; ".join(problems))
