"""What a person has told the system: dark colours, and that nothing shall move."""

import eyes
import household

# How light a colour is, from 0 to 1, as the eye takes it.
LIGHTNESS = """(element => property => {
    const [r, g, b] = getComputedStyle(element)[property].match(/[\\d.]+/g).map(Number);
    return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
})"""

# What moves, or would move at a change, anywhere in the page.
MOVING = """(() => {
    const long = text => text.split(",").some(one => parseFloat(one) > 0.02);
    return [...document.querySelectorAll("*")].filter(element => ["", "::before", "::after"].some(part => {
        const style = getComputedStyle(element, part);
        return style.animationName !== "none" && long(style.animationDuration)
            || style.transitionProperty !== "none" && long(style.transitionDuration)
            || style.scrollBehavior === "smooth";
    })).map(element => `${element.tagName}.${element.className}`)
        .concat(document.getAnimations().map(one => `running: ${one.animationName ?? one.transitionProperty}`));
})()"""

PLACES = ["/networks", "/peers", "/data/records", "/data/map", "/data/topics", "/settings/logs", "/join"]


def dark_and_light(scene):
    """The page follows at once; a code stays dark on light, because readers need that."""
    laptop = scene.visit("laptop", "owner")
    page = laptop.page
    laptop.go("/networks")
    seen = {}
    for scheme in ("light", "dark"):
        page.prefer(color_scheme=scheme, reduced_motion="reduce")
        eyes.settle(page)
        seen[scheme] = [page.js(f"{LIGHTNESS}(document.body)('{one}')") for one in ("backgroundColor", "color")]
    (light, ink), (dark, chalk) = seen["light"], seen["dark"]
    assert light > 0.85 and ink < 0.3 and dark < 0.15 and chalk > 0.7, seen
    # The bar of the browser around the page, too.
    assert page.js("matchMedia(document.querySelectorAll('meta[name=theme-color]')[1].media).matches")
    laptop.go("/connect")
    page.find("image", "QR code for connecting to this device")
    page.until(lambda: page.js("document.querySelector('canvas.code')?.width > 1"), "no code is drawn")
    assert page.js(
        "[...document.querySelector('canvas.code').getContext('2d').getImageData(1, 1, 1, 1).data].slice(0, 3).join()"
    ) == "255,255,255"
    laptop.keep("code-dark")


def stillness(scene):
    """Nothing moves for those who ask for that, neither a page nor a dialog nor a notice."""
    laptop, phone = household.make(scene, phone={"has_page": False})
    page = laptop.page
    page.prefer(reduced_motion="no-preference")
    laptop.go("/data/records")
    page.click("button", "Store a value")
    page.find("dialog")
    assert page.js(MOVING), "nothing ever moves, so this proves nothing"
    page.press("Escape")
    page.prefer(reduced_motion="reduce")
    for place in PLACES:
        laptop.go(place)
        eyes.settle(page)
        assert not page.js(MOVING), f"{place}: {page.js(MOVING)}"
    laptop.go("/data/records")
    page.click("button", "Store a value")
    page.find("dialog")
    assert not page.js(MOVING), page.js(MOVING)
    page.press("Escape")
    phone.node.send(laptop.node.peer, "Hello")
    page.see("Hello")
    assert not page.js(MOVING), page.js(MOVING)
