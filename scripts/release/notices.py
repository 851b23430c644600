"""The notices of third-party software that `runar --licenses` prints: packaging/notices.txt."""

import difflib
import re

NOTICES = "packaging/notices.txt"
LIMIT_BYTES = 120_000
WIDTH = 78
# The toolchain and some packages have the Apache License and the exception in one file.
EXCEPTION = "## Runtime Library Exception to the Apache 2.0 License: ##"
COMMENT = re.compile(r"^\s*(?://+|/\*+|\*+/?|#)?[ \t]?")

HEAD = """\
Third-party software in Runar

Runar is licensed under the Apache License, Version 2.0, which is text 1 below.
The program and the library librunar contain or use the software listed here.
A licence text that applies to several components is printed once, at the end.
"""


class NoticeError(Exception):
    """A licence text is missing or has changed."""


def text_of(source, places):
    """Returns the text that a source of packaging/components.json names.

    A source is a path; `PATH#NAME` for the licence paragraph NAME of a copyright file of Debian; or an object with
    `file`, `from` and `to`: the lines of a file from the first that contains `from` to the next that contains `to`,
    without comment signs.
    """
    file, _, paragraph = (source if isinstance(source, str) else source["file"]).partition("#")
    try:
        with open(places.path(file), encoding="utf-8") as opened:
            text = opened.read()
    except FileNotFoundError:
        raise NoticeError(f"{file} does not exist: correct packaging/components.json") from None
    if paragraph:
        return tidy(debian_licence(text, paragraph, file))
    return tidy(text if isinstance(source, str) else excerpt(text, source))


def debian_licence(text, name, file):
    """Returns the stand-alone licence paragraph `name` of a machine-readable copyright file."""
    for paragraph in re.split(r"\n\s*\n(?=\S)", text):
        lines = paragraph.strip("\n").split("\n")
        if lines[0].strip() == f"License: {name}" and len(lines) > 1:
            return "\n".join("" if line.strip() == "." else line.removeprefix(" ") for line in lines[1:])
    raise NoticeError(f"{file} has no licence {name}: correct packaging/components.json")


def excerpt(text, source):
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if source["from"] in line), None)
    last = next(
        (number for number, line in enumerate(lines) if first is not None and number >= first and source["to"] in line),
        None,
    )
    if last is None:
        raise NoticeError(f"{source['file']} has no lines from '{source['from']}' to '{source['to']}'")
    return "\n".join(COMMENT.sub("", line) for line in lines[first : last + 1])


def tidy(text):
    """Returns the text without empty lines around it, spaces at the ends of lines and a common indent."""
    lines = [line.rstrip() for line in text.replace("\f", "\n").expandtabs().split("\n")]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line[indent:] for line in lines)).strip("\n")


class Texts:
    """The licence texts, each of them once. Texts that differ in spaces alone are one text."""

    def __init__(self):
        self.numbers, self.texts = {}, []

    def number(self, text):
        key = " ".join(text.split())
        if key not in self.numbers:
            self.texts.append(text)
            self.numbers[key] = len(self.texts)
        return self.numbers[key]

    def add(self, text):
        """Returns the numbers of a text: two if the Apache License has an exception after it."""
        head, mark, tail = text.partition(EXCEPTION)
        parts = [head.rstrip(), f"{mark}{tail}".strip()] if mark else [text]
        return [self.number(part) for part in parts]


def document(table, places):
    """Returns the notices of all components of the table. No version of a component is in them."""
    texts = Texts()
    texts.add(text_of("here/LICENSE", places))
    groups = [
        ("Swift packages", table.packages),
        ("The Swift runtime and its libraries", table.toolchain),
        ("Libraries of the operating system", table.debian),
        ("Code and data inside the above and in Runar", table.vendored),
    ]
    parts = [HEAD]
    for title, entries in groups:
        parts.append(f"\n{title}\n{'=' * len(title)}\n")
        parts += [component(name, entries[name], texts, places) for name in sorted(entries, key=str.lower)]
    parts.append("\nLicence texts\n=============\n")
    for number, text in enumerate(texts.texts, 1):
        parts.append(f"\n{f'---- Text {number} ':-<{WIDTH}}\n\n{text}\n")
    return "\n".join(parts)


def component(name, entry, texts, places):
    numbers = sorted({number for source in entry.get("texts", []) for number in texts.add(text_of(source, places))})
    licence = entry["licence"]
    if numbers:
        licence += f" ({'text' if len(numbers) == 1 else 'texts'} {', '.join(map(str, numbers))})"
    inside = f"In: {entry['inside'] or 'Runar'}" if "inside" in entry else ""
    lines = [name, f"  {entry['homepage']}", f"  {inside}" if inside else "", f"  Licence: {licence}"]
    lines += [f"  {line}" for key in ("copyright", "statement") for line in entry.get(key, [])]
    text = "\n".join(line for line in lines if line) + "\n"
    for source in entry.get("notices", []):
        text += "\n" + "\n".join(f"  | {line}".rstrip() for line in text_of(source, places).split("\n")) + "\n"
    return text


def difference(committed, expected, most=40):
    """Returns the first lines that differ, or an empty list."""
    lines = difflib.unified_diff(
        committed.splitlines(), expected.splitlines(), NOTICES, "as generated", lineterm="", n=1
    )
    return list(lines)[:most]
