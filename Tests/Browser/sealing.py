"""One-time keys: exchanged, compared, used up by messages, and deleted."""

import re

import household
from joining import scan
from screens import path_part
from using import open_peer

SEALED = "Write a sealed message"


def one_time_keys(scene):
    """Two people exchange keys, compare the safety number by eye and by camera, and send sealed messages."""
    laptop, phone = meet(scene, camera=True)
    laptop.page.see("The two devices have exchanged no keys yet.")
    laptop.page.click("button", "Exchange keys")
    laptop.page.see("Exchanged keys with phone")
    for device in laptop, phone:
        device.page.see("1,024 of 1,024 keys are left to send with")
        device.page.see("X-Wing, safe against quantum computers too")
        device.page.see("Not compared yet")
    laptop.keep("one-time-keys")

    for device in laptop, phone:
        device.page.click("button", "Compare the safety number")
    numbers = {device.page.js("document.querySelector('.safety-number').innerText.trim()") for device in (laptop, phone)}
    assert len(numbers) == 1 and re.fullmatch(r"(\d{5}\s+){11}\d{5}", numbers.pop()), numbers
    laptop.page.find("image", "QR code of the safety number")
    laptop.keep("safety-number")
    scan(phone, laptop)
    phone.page.see("Compared the safety number with")
    phone.page.see(re.compile(r"Safety number\s+Compared"))
    laptop.page.click("button", "They are the same")
    laptop.page.see("Compared the safety number with phone")
    laptop.page.until(lambda: not laptop.page.has("dialog"), "the dialog stays")

    laptop.page.fill(SEALED, "The key lies under the mat")
    laptop.page.click("button", "Send")
    phone.page.see("The key lies under the mat")
    notes = "[...document.querySelectorAll('.log .log-note')].map(one => one.textContent.trim())"
    assert [note.split(" ")[0] for note in phone.page.js(notes)] == ["sealed"], phone.page.js(notes)
    laptop.page.see("1,023 of 1,024 keys are left to send with")
    phone.page.see("1,023 messages from it")
    phone.page.fill(SEALED, "I have it")
    phone.page.press("Enter")
    laptop.page.see("I have it")
    laptop.keep("sealed-messages")
    # Without a seal only if a person says so.
    laptop.page.click("button", "Seal messages to one-time keys")
    laptop.page.fill("Write a message", "Dinner at eight")
    laptop.page.click("button", "Send")
    phone.page.see("Dinner at eight")
    kinds = [note.startswith("sealed") for note in phone.page.js(notes)]
    assert kinds == [True, True, False], phone.page.js(notes)
    laptop.page.see("1,023 of 1,024 keys are left to send with")
    said = laptop.node.api("GET", "/messages")["messages"]
    assert [one["sealed"] for one in said] == [True, True, False], said


def wrong_numbers(scene):
    """A number that differs is told with what to do, and so is something else; nothing is noted as compared."""
    laptop, phone = meet(scene)
    laptop.node.exchange_keys(phone.node.peer)
    laptop.page.see("Not compared yet")
    laptop.page.click("button", "Compare the safety number")
    digits = laptop.page.js("document.querySelector('.safety-number').innerText.trim()").replace("\n", " ")
    other = ("1" if digits[0] == "0" else "0") + digits[1:]
    for text, shown in (other, "The numbers differ."), ("12345", "This is not a safety number"):
        scene.expect_refusal(422, "/peers/[^/]+/one-time-keys/verify")
        laptop.page.fill("Safety number of the other device", text)
        laptop.page.click("button", "Compare")
        laptop.page.see(shown)
    laptop.page.press("Escape")
    laptop.page.see("Not compared yet")
    assert not laptop.node.api("GET", "/one-time-keys")["relationships"][0]["verified"]


def without_keys(scene):
    """Keys that one device has deleted: the other one reads that its sealed message did not arrive, and what to do."""
    laptop, phone = meet(scene)
    laptop.node.exchange_keys(phone.node.peer)
    laptop.page.see("1,024 of 1,024 keys are left to send with")
    phone.page.see("1,024 of 1,024 keys are left to send with")
    phone.page.click("button", "Delete the keys")
    phone.page.see("can never be opened")
    phone.page.click("button", "Cancel")
    phone.page.until(lambda: not phone.page.has("dialog"), "the question stays")
    phone.page.see("1,024 of 1,024 keys are left to send with")
    phone.page.click("button", "Delete the keys")
    phone.page.click("button", "Delete the keys")
    phone.page.see(re.compile("Deleted the keys with"))
    phone.page.see("The two devices have exchanged no keys yet.")
    scene.expect_refusal(422, "/peers/[^/]+/sealed-messages")
    laptop.page.fill(SEALED, "The key lies under the mat")
    laptop.page.click("button", "Send")
    laptop.page.see("not delivered")
    laptop.page.see("exchange keys again")
    assert "The key lies under the mat" not in phone.page.text()
    laptop.page.click("button", "Exchange new keys")
    laptop.page.see("Exchanged keys with phone")
    laptop.page.click("button", "Send again")
    phone.page.see("The key lies under the mat")
    phone.node.stop()
    scene.expect_absence()
    laptop.page.see("Not connected")
    assert laptop.page.js(
        "[...document.querySelectorAll('button')].find(one => one.textContent === 'Exchange new keys').disabled"
    )


def unknown_keys(scene):
    """While it is not known whether there are keys, nothing is sent unsealed unless the person says so."""
    laptop, phone = household.make(scene)
    laptop.node.exchange_keys(phone.node.peer)
    place = f"/peers/{path_part(phone.node.peer)}"
    # The answer about the keys is held back, and then it is a failure.
    laptop.page.call("Page.addScriptToEvaluateOnNewDocument", source=HOLD_KEYS)
    laptop.page.open("about:blank")
    laptop.go("/peers")
    laptop.page.open(f"{laptop.node.origin}/#{place}")
    laptop.page.fill("Write a message", "The key lies under the mat")
    laptop.page.press("Enter")
    assert laptop.node.api("GET", "/messages")["messages"] == []
    laptop.page.js("window.failKeys()")
    laptop.page.see("It is not known yet whether there are keys")
    laptop.page.see("The keys are away")
    laptop.page.press("Enter")
    assert laptop.node.api("GET", "/messages")["messages"] == []
    laptop.page.js("window.keysAreBack = true")
    laptop.page.click("button", "Try again")
    laptop.page.fill(SEALED, "The key lies under the mat")
    laptop.page.press("Enter")
    phone.go(f"/peers/{path_part(laptop.node.peer)}")
    phone.page.see("The key lies under the mat")
    assert [one["sealed"] for one in laptop.node.api("GET", "/messages")["messages"]] == [True]
    # It stays so when the keys are gone and the page is made anew.
    laptop.node.command("keys", "forget", phone.node.peer)
    laptop.page.see("The two devices have exchanged no keys yet.")
    laptop.page.find("textbox", SEALED)


HOLD_KEYS = """(() => {
    const real = window.fetch;
    let fail;
    const failed = new Promise(resolve => { fail = resolve; });
    const answer = JSON.stringify({ error: { code: "away", message: "the keys are away", context: "" } });
    window.failKeys = () => { fail(); return 0; };
    window.fetch = (address, ...rest) => (String(address).endsWith("/one-time-keys") && !window.keysAreBack
        ? failed.then(() => new Response(answer, { status: 500 })) : real(address, ...rest));
})()"""


def meet(scene, camera=None):
    """Two members, each with the page of the other."""
    laptop, phone = household.make(scene, phone={"camera": camera})
    open_peer(laptop, "phone")
    phone.go(f"/peers/{path_part(laptop.node.peer)}")
    phone.page.see("Connected directly")
    return laptop, phone
