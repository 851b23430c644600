"""A camera that films another device's screen: the picture of a page, held a little crooked and not quite sharp."""

import base64
import os

from page import Page

WIDTH, HEIGHT = 1280, 720

# A desk on which the other screen stands, as a camera sees it that a hand holds.
DESK = """<!doctype html><style>
    body {{ margin: 0; background: #5b5148; overflow: hidden; display: grid; place-items: center; height: 100vh }}
    img {{ height: 94vh; transform: perspective(1400px) rotateY(9deg) rotateX(4deg) rotate({angle}deg);
        filter: blur(0.5px) brightness(0.93) }}
</style><img src="data:image/png;base64,{picture}">"""


class Camera:
    """A film in a file that a browser was started with: `browser` makes the pictures, and shows them to nobody."""

    def __init__(self, folder, browser):
        self.path = os.path.join(folder, "camera.mjpeg")
        self.desk = Page(browser, WIDTH, HEIGHT, name="desk")
        self.look_at_nothing()

    def look_at(self, page):
        """Films what the page shows now; whoever opens the camera from now on sees it."""
        self.film([self.photograph(page.picture(), angle) for angle in (-3, -1, 1, 3)])

    def look_at_nothing(self):
        self.desk.js("document.documentElement.innerHTML = ''")
        self.film([self.desk.picture("jpeg", quality=80)])

    def photograph(self, picture, angle=2):
        """A photograph of a picture of a screen, as JPEG."""
        document = DESK.format(angle=angle, picture=base64.b64encode(picture).decode())
        frame = self.desk.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        self.desk.call("Page.setDocumentContent", frameId=frame, html=document)
        self.desk.js("document.images[0].decode().then(() => new Promise(requestAnimationFrame))")
        return self.desk.picture("jpeg", quality=85)

    def film(self, pictures):
        """Writes the film anew; a browser reads it from the start when the camera is opened."""
        fresh = f"{self.path}.new"
        with open(fresh, "wb") as file:
            for picture in pictures:
                file.write(picture * 3)
        os.replace(fresh, self.path)
