"""What a person looks after: memberships that end, the node's log, how its lines run, and what services take."""

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


def renewal(scene):
    """The owner makes a token with another end, and the device that is given its text is a member until then."""
    laptop, phone = household.make(scene)
    page = laptop.page

    def end():
        return phone.node.answer("network", "show")["expiration"]

    before = end()
    page.click("link", re.compile("Home"))
    page.click("button", re.compile("phone"))
    page.click("button", "Renew")
    page.see("The device gets a new token, which replaces the one that it has.")
    page.choose("Membership lasts", "1 year")
    page.click("button", "Renew")
    page.see("The new token is made.")
    laptop.keep("renewal")
    token = copied(page)
    page.click("button", "Done")
    open_joining(phone)
    paste(phone.page, token)
    phone.page.see("You are a member until")
    assert before is None or end() > before
    assert abs(end() - time.time() - YEAR) < 3600
    phone.keep("renewed")


def log(scene):
    """The log tells what happens while one looks, and three filters leave the lines that are wanted."""
    laptop, phone = scene.device("laptop"), scene.device("phone")
    laptop.node.answer("network", "create", household.NETWORK)
    household.admit(laptop, phone, "phone")
    page = laptop.page
    laptop.go("/settings/logs")
    page.see("Nothing was logged yet.")
    page.choose("Everywhere", "Info")
    page.see("The node logs accordingly from now on.")
    household.connect(phone, laptop)
    wanted = "joined network"
    page.see(wanted)
    for filter, off, on in ("Part", "Messages", "Membership"), ("Importance", "Errors only", "Info and above"):
        page.choose(filter, off)
        page.see("No line fits.")
        assert wanted not in page.text()
        page.choose(filter, on)
        page.see(wanted)
    page.fill("Search", "no such word", role="searchbox")
    page.see("No line fits.")
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
    phone.node.stop()
    page.until(lambda: not laptop.node.answer("peers")["peers"], "the phone does not go")
    # Longer than between two questions for new lines.
    page.js("new Promise(done => setTimeout(done, 1500))")
    assert not page.js(LINES)
    page.click("button", "Follow")
    page.see(re.compile("left network"))


def plots(scene):
    """What was sent and how long answers took is drawn, and told in figures."""
    laptop, phone = household.make(scene)
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
            values = VALUES % json.dumps(title)

            def shown(values=values):
                return [row for row in page.js(values) if not row[-1].startswith(("–", "0 B"))]

            page.until(
                lambda shown=shown, names=names: [row[0].translate(MARKS) for row in shown()] == names,
                lambda title=title, shown=shown: f"{title} shows {shown()}",
            )
            most = shown()[0][-1]
            assert re.fullmatch(r"[\d.,]+ (B|kB|KiB|MiB|MB|ms|s)(/s)?", most), most
        laptop.keep("plots")


def form_of_a_schema(scene):
    """An action that says what it takes gets a field for each part of it, and for each part of its path."""
    laptop, phone = household.make(scene)
    page = laptop.page
    page.rewrite("/api/v1/services", lambda answer, _: described(answer))
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
        answer = re.compile(r"Answered after \d+ ms")
        page.click("button", re.compile("^(Ask|Run)$"))
        assert not page.js("document.querySelector('[type=number]').checkValidity()")
        page.fill("Copies", "2", role="spinbutton")
        for field, mistake, text in (
            ("room", "can have no slash and no colon", "upstairs"),
            (re.compile("Pages"), "must be JSON", "[1, 2]"),
        ):
            page.click("button", re.compile("^(Ask|Run)$"))
            page.see(mistake)
            assert not answer.search(page.text())
            page.fill(field, text)
        page.click("button", re.compile("^(Ask|Run)$"))
        page.see(answer)
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
