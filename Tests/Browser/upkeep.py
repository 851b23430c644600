"""What a person looks after: memberships that end, the node's log, the plots of its traffic, and what services take."""

import json
import re
import time

import household
from codes import copied, open_joining, paste
from page import MARKS

YEAR = 31_557_600
LINES = "[...document.querySelectorAll('.log-line')].map(line => line.textContent)"
# What stands below the plot of that title: each line's name, and its value now, on average and at most.
VALUES = """[...document.querySelectorAll('.plot-card')].filter(card => card.querySelector('h2').textContent === %s)
    .flatMap(card => [...card.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.textContent)))"""
SCHEMA = {
    "type": "object",
    "required": ["copies", "paper"],
    "properties": {
        "copies": {"type": "integer", "title": "Copies", "minimum": 1, "maximum": 9, "description": "How often."},
        "paper": {"enum": ["A4", "Letter"], "title": "Paper"},
        "colour": {"type": "boolean", "title": "In colour"},
        "pages": {"type": "array", "title": "Pages"},
        "note": {"type": "string", "title": "Note"},
    },
}


def settings(scene):
    """A setting is changed in the page, which says that the change waits for a restart."""
    laptop = scene.device("laptop")
    laptop.go("/settings/device")
    page = laptop.page
    page.click("button", "Change: Renew its memberships")
    scene.expect_refusal(422, "/settings/renewTokens")
    page.fill("Value", "maybe")
    page.click("button", "Save")
    page.see("is on or off, not")
    page.fill("Value", "off")
    page.click("button", "Save")
    page.see("(after a restart)")
    found = [one for one in laptop.node.api("GET", "/status")["configuration"] if one["key"] == "renewTokens"]
    assert found == [{"key": "renewTokens", "values": ["off"], "source": "file", "needsRestart": True}], found


def renewal(scene):
    """The owner makes a token with another end, and the device that is given its text is a member until then."""
    laptop, phone = household.make(scene)
    page = laptop.page

    def end():
        return phone.node.network()["expiration"]

    before = end()
    page.click("link", re.compile("Home"))
    page.click("button", re.compile("phone"))
    page.click("button", "Renew")
    page.see("The device gets a new token, which replaces the one that it has.")
    page.choose("Membership lasts", "1 year")
    page.click("button", "Renew")
    page.see("The new token is ready.")
    laptop.keep("renewal")
    token = copied(page)
    page.click("button", "Done")
    open_joining(phone)
    paste(phone.page, token)
    phone.page.see(re.compile(f"You are a member until .*{time.localtime(time.time() + YEAR).tm_year}"))
    assert end() > before
    assert abs(end() - time.time() - YEAR) < 3600
    phone.keep("renewed")


def log(scene):
    """The log tells what happens while one looks, and three filters leave the lines that are wanted."""
    laptop, phone = household.members(scene, phone={"has_page": False})
    page = laptop.page
    laptop.go("/settings/logs")
    page.see("Nothing was logged yet.")
    page.choose("Everywhere", "Info")
    page.see("The node logs at the new level from now on.")
    household.connect(phone, laptop)
    wanted = "joined network"
    page.see(wanted)
    for field, off, on in ("Part", "Messages", "Membership"), ("Importance", "Errors only", "Info and above"):
        page.choose(field, off)
        page.see("No line matches.")
        assert wanted not in page.text()
        page.choose(field, on)
        page.see(wanted)
    page.fill("Search", "no such word", role="searchbox")
    page.see("No line matches.")
    page.fill("Search", "JOINED NET", role="searchbox")
    page.see(wanted)
    assert page.js(f"{LINES}.every(line => line.includes({json.dumps(wanted)}))")
    laptop.keep("log")
    page.click("button", "Save as a file")
    with open(laptop.saved("runar-log.txt"), encoding="utf-8") as file:
        assert all(wanted in line for line in file.read().splitlines())
    page.click("button", "Pause")
    page.see("Paused")
    # What comes meanwhile is not drawn before the person goes on.
    page.fill("Search", "left network", role="searchbox")
    scene.expect_absence()
    phone.node.stop()
    page.until(lambda: not laptop.node.api("GET", "/peers")["peers"], "the phone does not go")
    # Longer than between two questions for new lines.
    page.js("new Promise(done => setTimeout(done, 1500))")
    assert not page.js(LINES)
    page.click("button", "Follow")
    page.see("left network")


def plots(scene):
    """What was sent and how long answers took is drawn, and told in figures."""
    laptop, phone = household.make(scene, phone={"has_page": False})
    page = laptop.page
    with phone.node.running("serve", "printer", "print=cat"):
        laptop.go("/data/map")
        page.see("No request in the last two minutes.")
        # The console's own question what others offer is none that a person asked.
        page.until(lambda: "printer/print" in laptop.node.command("services"), "the service does not come")
        for number in range(3):
            assert laptop.node.answer("call", "printer/print", str(number))["result"] == number
        for title, names in (
            ("Traffic", ["Received", "Sent"]),
            ("Round-trip times", ["phone"]),
            ("Answers to requests", ["typical", "slowest"]),
        ):
            page.until(
                lambda title=title, names=names: list(highest(page, title)) == names,
                lambda title=title: f"{title} shows {highest(page, title)}",
            )
            for value in highest(page, title).values():
                assert re.fullmatch(r"[\d.]+ (B|kB|MB|ms|s)(/s)?", value), value
        drawn = "[...document.querySelectorAll('.plot-line')].filter(one => /[Lh]/.test(one.getAttribute('d'))).length"
        page.until(lambda: page.js(drawn) == 5, lambda: f"{page.js(drawn)} lines are drawn")
        laptop.keep("plots")


def figures(scene):
    """What the node has counted, and the room that it takes, stand there in numbers."""
    laptop, _ = household.make(scene, phone={"has_page": False})
    laptop.go("/settings/metrics")
    laptop.page.see(re.compile(r"Connections now\s+1\b"))
    laptop.page.see(re.compile(r"Devices connected Home\s+1\b"))
    laptop.go("/settings/storage")
    for words in "Vault with the keys", "In all", "Free on this disk":
        laptop.page.see(re.compile(words + r"\s+[\d.]+ (bytes|kB|MB|GB|TB)\b"))


def highest(page, title):
    """The highest value of each line in the plot of that title, of those that are more than nothing."""
    rows = page.js(VALUES % json.dumps(title))
    return {row[0].translate(MARKS): row[-1] for row in rows if not row[-1].startswith(("–", "0 B"))}


def form_of_a_schema(scene):
    """An action that says what it takes gets a field for each part of it, and for each part of its path."""
    laptop, phone = household.make(scene, phone={"has_page": False})
    page = laptop.page
    page.rewrite("/api/v1/services", lambda answer, _: described(answer))
    asked = lambda: [one for one in page.requests if one.endswith("/api/v1/call")]
    answering = "printf '%s ' \"$RUNAR_PATH\"; cat"
    with phone.node.running("serve", "printer", f"print/{{room}}={answering}"):
        laptop.go("/data/services")
        page.click("DisclosureTriangle", re.compile("print"))
        page.see("How often.")
        page.fill("room", "up/stairs")
        page.fill("Copies", "12", role="spinbutton")
        page.choose("Paper", "Letter")
        page.click("checkbox", re.compile("In colour"))
        page.fill(re.compile("Pages"), "[1, ")
        laptop.keep("schema")
        # Each mistake is said, and nothing is asked.
        for role, field, mistake, text in (
            ("spinbutton", "Copies", re.compile("“copies”: .*9"), "2"),
            ("textbox", "room", "cannot have a slash or a colon", "upstairs"),
            ("textbox", re.compile("Pages"), "must be JSON", "[1, 2]"),
        ):
            page.click("button", re.compile("^(Ask|Run)$"))
            page.see(mistake)
            page.fill(field, text, role=role)
        assert not asked()
        page.click("button", re.compile("^(Ask|Run)$"))
        page.see(re.compile(r"Answered after \d+ ms"))
        assert len(asked()) == 1
        given = json.loads(page.js("document.querySelector('.answer').textContent"))
        path, _, payload = given.partition(" ")
        assert path.endswith("printer/print/upstairs"), given
        assert json.loads(payload) == {"copies": 2, "paper": "Letter", "colour": True, "pages": [1, 2]}, given


def described(answer):
    """The same services, whose actions say in a schema what they take."""
    for offer in answer["services"]:
        for action in offer["service"]["actions"]:
            action["input"] = json.dumps(SCHEMA)
    return answer
