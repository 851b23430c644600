"""write-snippets.py FOLDER PAGE...: writes the Swift code of each page to a file of its own in FOLDER, for the compiler.

A block whose first line declares something stands at the top level of the file; statements stand in a function. Each
line keeps its number, so that the compiler names the line of the page. Excerpts of a package manifest are left out.
"""

import os
import re
import sys

DECLARATION = re.compile(r"(@\w+ )*((public|final|private) )*(func|struct|class|enum|extension|actor) ")
MANIFEST = re.compile(r"(dependencies|targets): \[")


def module(page):
    """The library that a page is about."""
    catalogue = re.search(r"(\w+)\.docc/", page)
    return catalogue.group(1) if catalogue else "RunarNode"


def program(page, text):
    """A Swift file with the code of a page, or None if the page has none."""
    written = [""] * (text.count("\n") + 1)
    imports = {f"import {module(page)}"}
    blocks = list(re.finditer(r"^```swift\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    for number, block in enumerate(blocks):
        opening = text.count("\n", 0, block.start())
        lines = block.group(1).splitlines()
        imports |= {line for line in lines if line.startswith("import ")}
        lines = ["" if line.startswith("import ") else line for line in lines]
        first = next(line for line in lines if line)
        if MANIFEST.match(first):
            continue
        if not DECLARATION.match(first):
            written[opening] = f"func statements{number}() async throws {{"
            written[opening + len(lines) + 1] = "}"
        written[opening + 1 : opening + 1 + len(lines)] = lines
    if not any(written):
        return None
    location = f'#sourceLocation(file: "{os.path.abspath(page)}", line: 1)'
    return "\n".join([*sorted(imports), location, *written, ""])


if __name__ == "__main__":
    folder, *pages = sys.argv[1:]
    for page in pages:
        with open(page, encoding="utf-8") as file:
            source = program(page, file.read())
        if source:
            name = re.sub(r"\W+", "-", page.removesuffix(".md"))
            with open(os.path.join(folder, f"{name}.swift"), "w", encoding="utf-8") as file:
                file.write(source)
