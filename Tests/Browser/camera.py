"""A camera that films another device's screen: the image of a page, held a little crooked and not quite sharp."""

import base64
import os

from devtools import Browser
from page import Page

WIDTH, HEIGHT = 1280, 720

# A desk on which the other screen is, as a hand-held camera sees it.
DESK = """<!doctype html><style>
    body {{ margin: 0; background: #5b5148; overflow: hidden; display: grid; place-items: center; height: 100vh }}
    img {{ height: 94vh; transform: perspective(1400px) rotateY(9deg) rotateX(4deg) rotate({angle}deg);
        filter: blur(0.5px) brightness(0.93) }}
</style><img src="data:image/png;base64,{picture}">"""


class Desk:
    """A page, shown to no device, on which photographs of screens are made."""

    def __init__(self, context):
        self.page = Page(context, WIDTH, HEIGHT, name="desk")

    def photograph(self, picture, angle=2):
        """Returns a photograph of an image of a screen, as JPEG."""
        document = DESK.format(angle=angle, picture=base64.b64encode(picture).decode())
        frame = self.page.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        self.page.call("Page.setDocumentContent", frameId=frame, html=document)
        self.page.js("document.images[0].decode().then(() => new Promise(requestAnimationFrame))")
        return self.page.picture("jpeg", quality=85)

    def nothing(self):
        """Returns a photograph without a screen."""
        self.page.js("document.documentElement.innerHTML = ''")
        return self.page.picture("jpeg", quality=80)


class Camera:
    """A browser process with a camera, which shows the film in a file; the next device takes it over.

    The film is an option of the process, so a device with a camera cannot use the shared browser.
    """

    def __init__(self, guard, folder, desk):
        self.path = os.path.join(folder, "camera.mjpeg")
        self.desk = desk
        self.browser = Browser(guard, camera=self.path)
        self.look_at_nothing()

    def look_at(self, page):
        """Films what the page shows now; a camera that is opened from now on sees it."""
        picture = page.picture()
        self.film([self.desk.photograph(picture, angle) for angle in (-3, -1, 1, 3)])

    def look_at_nothing(self):
        self.film([self.desk.nothing()])

    def film(self, pictures):
        """Writes the film anew; a browser reads it from the start when the camera is opened."""
        fresh = f"{self.path}.new"
        with open(fresh, "wb") as file:
            for picture in pictures:
                file.write(picture * 3)
        os.replace(fresh, self.path)

    def close(self):
        self.browser.close()
