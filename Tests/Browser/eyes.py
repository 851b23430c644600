"""What is looked at on every screen: axe-core's rules in light and dark, and whether anything is wider than a phone."""

import functools
import importlib.util
import json
import os

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

# Things that reach beyond the right edge of the page and are not inside something that scrolls by itself.
TOO_WIDE = """(() => {
    const scrolls = element => element && element !== document.documentElement
        && (/auto|scroll|hidden|clip/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    // A phone enlarges `innerWidth` until the content fits.
    const width = document.documentElement.clientWidth;
    return [...document.body.querySelectorAll("*")]
        .filter(element => element.getBoundingClientRect().right > width + 1 && !scrolls(element.parentElement))
        .map(element => `${element.tagName} ${element.className} ${element.textContent.trim().slice(0, 40)}`)
        .concat(document.documentElement.scrollWidth > width ? ["the page scrolls sideways"] : []);
})()"""

SETTLED = """!!document.querySelector("h1") && !document.querySelector(".loading")
    && !document.querySelector("main").innerText.includes("Loading…")"""


# The rules of axe-core that read colours.
COLOUR_RULES = ["color-contrast", "link-in-text-block"]

# A digest of everything but colours: the elements, their places and how they are laid out.
SHAPE = """(() => {
    const kinds = ["display", "visibility", "opacity", "position", "overflowX", "overflowY", "pointerEvents",
        "clipPath", "fontSize", "fontWeight", "fontStyle", "textDecorationLine", "content", "transform", "zIndex"];
    const parts = [...document.querySelectorAll("*")].map(element => {
        const { x, y, width, height } = element.getBoundingClientRect();
        const styles = ["", "::before", "::after"].map(part => getComputedStyle(element, part));
        const layout = styles.flatMap(style => kinds.map(kind => style[kind]));
        return [x, y, width, height, element.value ?? "", ...layout].join();
    });
    const text = new TextEncoder().encode([...parts, document.documentElement.outerHTML].join());
    return crypto.subtle.digest("SHA-256", text).then(digest => [...new Uint8Array(digest)].join());
})()"""


@functools.cache
def axe_source():
    package = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
    with open(os.path.join(package, "axe.min.js"), encoding="utf-8") as file:
        return file.read()


def settle(page):
    """Waits until a view has what it shows, and the browser has drawn it."""
    page.until(lambda: page.js(SETTLED), lambda: f"nothing but waiting is to be seen:\n{page.text()}")
    page.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def violations(page, rules):
    """Returns what axe-core finds on the page as it is now, one line each; `rules` are tags or a set of rules."""
    if not page.js("typeof axe === 'object'"):
        page.js(f"{axe_source()}; 0")
    options = f"{{ runOnly: {json.dumps(rules)}, resultTypes: ['violations'] }}"
    found = page.js(f"axe.run(document, {options}).then(result => result.violations)")
    return [f"{rule['id']}: {' | '.join(node['html'][:120] for node in rule['nodes'][:3])}" for rule in found]


def look(page, name, findings, keep=None):
    """Looks at the page light, dark and at 360 pixels; `keep` gets the name of each picture."""
    size = page.size
    light = None
    for scheme in ("light", "dark"):
        page.prefer(color_scheme=scheme, reduced_motion="reduce")
        settle(page)
        shape = page.js(SHAPE)
        # Where the dark page differs in nothing but colours, all other rules find what they found in the light one.
        rules = {"type": "rule", "values": COLOUR_RULES} if shape == light else RULES
        findings += [f"{name}, {scheme}: {line}" for line in violations(page, rules)]
        light = shape
        if keep:
            keep(f"{name}-{scheme}")
    page.prefer(color_scheme="light", reduced_motion="reduce")
    page.resize(360, 740, is_phone=True)
    settle(page)
    findings += [f"{name}, 360 pixels: {line}" for line in page.js(TOO_WIDE)]
    if keep:
        keep(f"{name}-phone")
    page.resize(*size)


def look_at(device, name):
    """The same of what a device shows, where nothing may be wrong."""
    findings = []
    look(device.page, name, findings, device.keep)
    assert not findings, "\n".join(findings)
