"""What holds for the words of the console: texts.js has nothing that no page says."""

import json
import pathlib
import re

WEB = pathlib.Path(__file__).parents[2] / "Sources" / "Apps" / "ConsolePages" / "web"

# The names in texts.js, and null in place of a text.
SHAPE = """(async () => {
    const shape = value => value?.constructor === Object
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shape(one)])) : null;
    return JSON.stringify(shape((await import("/texts.js")).t));
})()"""


def used(scene):
    """Every text is asked for by its name, or stands in a group that is asked for as a whole."""
    laptop = scene.visit("laptop", "new")
    shape = json.loads(laptop.page.js(SHAPE))
    sources = [path.read_text("utf-8") for path in sorted(WEB.rglob("*.js")) if path.name != "texts.js"]
    sources = [re.sub(r"(?m)^\s*//.*$", "", source) for source in sources]
    assert len(shape) > 20 and len(sources) > 50, (len(shape), len(sources))
    unused = [name for section in shape for name in unused_in(shape[section], section, places(section, sources))]
    assert not unused, f"nobody says these texts: {unused}"


def places(section, sources):
    """How a section is written, as a pattern, in each source that uses it: in full, or by a short name."""
    for source in sources:
        for short in re.findall(rf"const (\w+) = t\.{section};", source):
            yield rf"(?<![\\.\w$]){short}", source.replace(f"const {short} = t.{section};", "")
        if re.search(rf"\bt\.{section}\b(?!;)", source):
            yield rf"\bt\.{section}\b(?!;)", source


def unused_in(shape, name, found):
    """The names at and below `name` that are in none of the places where it was found."""
    found = list(found)
    if not found:
        return [name]
    # Handed on, or asked for by a name that is only known when it runs.
    is_whole = any(re.search(rf"{written}(?!\w|\??\.\w)", source) for written, source in found)
    if shape is None or is_whole:
        return []
    missing = []
    for one in shape:
        further = [(rf"{written}\??\.{re.escape(one)}\b", source) for written, source in found]
        below = [(written, source) for written, source in further if re.search(written, source)]
        missing += unused_in(shape[one], f"{name}.{one}", below)
    return missing
