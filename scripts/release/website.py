"""The documentation as pages for a browser: the documents of the repository, and the reference of the libraries.

The documents work from a disk. The reference, which DocC writes, needs a server whose root is the folder of the site.
"""

import html
import json
import os
import posixpath
import re
import tempfile

import archive
from project import run

# The documents at the top and the folder of the others; the first is the page that a visitor sees.
TOP = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
FOLDER = "docs"
PICTURES = (".svg", ".png")

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title} - Runar {version}</title>
<link rel="stylesheet" href="{up}style.css">
<nav><details><summary>Runar {version}</summary>{navigation}</details></nav>
<main>
{body}
</main>
</html>
"""

STYLE = """:root { color-scheme: light dark; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 50rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
nav { padding: .5rem 1rem; border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
nav h2 { font-size: 1rem; }
pre { overflow-x: auto; padding: .75rem; background: color-mix(in srgb, currentColor 8%, transparent); }
code { font: .9em ui-monospace, monospace; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
td, th { padding: .25rem .5rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); text-align: start; }
img { max-width: 100%; }
"""


def documents(source):
    """Returns the paths of the documents, those at the top first."""
    found = [name for name in TOP if os.path.exists(os.path.join(source, name))]
    for place, folders, names in os.walk(os.path.join(source, FOLDER)):
        folders.sort()
        found += [os.path.relpath(os.path.join(place, name), source) for name in sorted(names) if name.endswith(".md")]
    return found


def pictures(source):
    """Returns the paths of the pictures by their names in the site."""
    return {
        os.path.relpath(os.path.join(place, name), source): os.path.join(place, name)
        for place, _, names in os.walk(os.path.join(source, FOLDER))
        for name in names
        if name.endswith(PICTURES)
    }


def page_of(document):
    """Returns the name of the page of a document."""
    return "index.html" if document == "README.md" else f"{document.removesuffix('.md')}.html"


def title_of(text, otherwise):
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return re.sub(r"[`*]", "", found[1]) if found else otherwise


def linked(body, document, known):
    """Returns the body with its links to documents leading to their pages.

    The text of a link to anything else in the repository stays, without the link.
    """

    def replace(match):
        address, _, anchor = match[1].partition("#")
        if not address or re.match(r"[a-z]+:", address):
            return match[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(document), html.unescape(address)))
        if target not in known:
            return "<a"
        page = known[target] + (f"#{anchor}" if anchor else "")
        return f'<a href="{posixpath.relpath(page, posixpath.dirname(page_of(document)) or ".")}"'

    return re.sub(r'<a href="([^"]*)"', replace, body)


def anchor(text, _separator):
    """Returns the anchor of a heading as the forges for source code make it, which the links of the documents name."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def converted(text):
    """Returns a document as HTML."""
    import markdown

    extensions = ["tables", "fenced_code", "sane_lists", "toc"]
    return markdown.markdown(text, extensions=extensions, extension_configs={"toc": {"slugify": anchor}})


def navigation(titles, references, page):
    """Returns the lists of all pages, relative to one of them."""

    def items(names):
        places = [(posixpath.relpath(name, posixpath.dirname(page) or "."), title) for name, title in names]
        return "<ul>" + "".join(f'<li><a href="{place}">{html.escape(title)}</a>' for place, title in places) + "</ul>"

    groups = {}
    for name, title in titles.items():
        groups.setdefault(posixpath.dirname(name), []).append((name, title))
    text = "".join((f"<h2>{html.escape(group)}</h2>" if group else "") + items(names) for group, names in groups.items())
    links = [(f"reference/{name}/documentation/{name.lower()}/index.html", name) for name in references]
    return text + "<h2>reference of the libraries</h2>" + items(links)


def reference(source, archives):
    """Returns the pages of the reference of each library by their names in the site."""
    found = {}
    # The copy that scripts/documentation.sh makes.
    environment = {**os.environ, "DOCC_HTML_DIR": os.path.join(source, ".build/documentation-work/pages")}
    names = sorted(name.removesuffix(".doccarchive") for name in os.listdir(archives) if name.endswith(".doccarchive"))
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            words = ["docc", "process-archive", "transform-for-static-hosting", f"{archives}/{name}.doccarchive"]
            words += ["--hosting-base-path", f"reference/{name}", "--output-path", f"{folder}/{name}"]
            run(*words, is_quiet=True, env=environment)
            for place, _, files in os.walk(f"{folder}/{name}"):
                for file in files:
                    path = os.path.join(place, file)
                    found[f"reference/{os.path.relpath(path, folder)}"] = content_of(path)
    # The index for the application of a Mac is a database, whose bytes differ each time.
    return names, {name: content for name, content in found.items() if not name.endswith((".mdb", "navigator.index"))}


def content_of(path):
    """Returns the bytes of a file; DocC gives the fields of objects in an order that differs each time."""
    content = archive.bytes_of(path)
    if not path.endswith(".json"):
        return content
    return json.dumps(json.loads(content), sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def pages(source, archives, version):
    """Returns the site: the contents of its files by their names."""
    names, files = reference(source, archives)
    texts = {name: archive.bytes_of(os.path.join(source, name)).decode() for name in documents(source)}
    titles = {page_of(name): title_of(text, name) for name, text in texts.items()}
    known = {name: page_of(name) for name in texts} | {name: name for name in pictures(source)}
    for name, text in texts.items():
        page = page_of(name)
        files[page] = PAGE.format(
            title=html.escape(titles[page]),
            version=html.escape(version),
            up="../" * page.count("/"),
            navigation=navigation(titles, names, page),
            body=linked(converted(text), name, known),
        ).encode()
    return {**files, **pictures(source), "style.css": STYLE.encode()}
