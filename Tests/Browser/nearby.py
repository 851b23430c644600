"""Who is only heard: a member on the same local network to which there is no way."""

import re

import household
from ports import quiet_port
from scene import Device


def heard_only(scene):
    """Two members that a third one let in, one after the other, hear each other and have never met: each is listed."""
    scene.expect_absence()
    scene.expect_refusal(503, "/peers/[^/]+/connect")
    # No other nodes are heard there.
    group = f"239.255.42.98:{quiet_port()}"
    laptop = scene.device("laptop", listen="127.0.0.1:0,[::1]:0", has_page=False)
    laptop.node.create(household.NETWORK)
    # One with IPv4 alone, the other with IPv6 alone: there is no way between them.
    tablet, phone = start(scene, "tablet", "127.0.0.1:0", group), start(scene, "phone", "[::1]:0", group)
    for address, device in enumerate((tablet, phone)):
        household.admit(laptop, device, device.name)
        household.connect(device, laptop, address=address)
        device.node.answer("put", device.name, "here")
        device.node.stop()
    laptop.node.stop()
    for device in (tablet, phone):
        device.node.start()
    for device in (tablet, phone):
        look_at_stranger(device)
    phone.node.stop()
    tablet.page.see_no_more("nearby")


def look_at_stranger(device):
    """What is read of somebody who is only heard, in the list and on a page of its own."""
    page = device.page
    device.go("/peers")
    page.see(re.compile(r"Home\s+Not connected\s+nearby\s+never"))
    page.find("radio", re.compile(r"^Connected\s*0$"))
    page.click("radio", re.compile(r"^Nearby\s*1$"))
    device.keep("heard-only")
    page.click("link", re.compile("Not connected"))
    page.see("Not connected, never seen yet")
    page.see(re.compile(r"Networks\s+Home"))
    page.see(re.compile(r"Found\s+nearby"))
    page.click("button", "Connect")
    page.see("The device cannot be reached.")
    device.go("/peers")


def start(scene, name, listen, group):
    device = Device(scene, name, listen=listen, group=group)
    scene.devices.append(device)
    device.start()
    return device.sign_in()
