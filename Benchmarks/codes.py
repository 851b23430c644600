"""Reads the generated pictures of QR codes with zxing-cpp and zbar too, and prints what each reader reads and takes.

`run.sh` calls this. The corpus is code (Tests/QRCorpus), so the pictures are the same everywhere.
"""

import argparse
import ctypes
import json
import os
import statistics
import sys
import tempfile
import time

from harness import run
from table import aligned

READERS = ("Runar", "zxing-cpp", "zbar")


class ZBar:
    """Debian's libzbar0: QR codes only, and bytes as they are instead of guesses at their character set."""

    NAMES = {
        "zbar_image_scanner_create": ctypes.c_void_p,
        "zbar_image_create": ctypes.c_void_p,
        "zbar_image_first_symbol": ctypes.c_void_p,
        "zbar_symbol_next": ctypes.c_void_p,
        "zbar_symbol_get_data": ctypes.c_void_p,
        "zbar_symbol_get_data_length": ctypes.c_uint,
    }
    ENABLE, BINARY, QR = 0, 4, 64

    def __init__(self):
        self.library = ctypes.CDLL("libzbar.so.0")
        for name, kind in self.NAMES.items():
            getattr(self.library, name).restype = kind
        self.scanner = ctypes.c_void_p(self.library.zbar_image_scanner_create())
        for symbology, setting, value in ((0, self.ENABLE, 0), (self.QR, self.ENABLE, 1), (self.QR, self.BINARY, 1)):
            self.library.zbar_image_scanner_set_config(self.scanner, symbology, setting, value)

    def __call__(self, width, height, pixels):
        image = ctypes.c_void_p(self.library.zbar_image_create())
        self.library.zbar_image_set_format(image, ctypes.c_ulong(int.from_bytes(b"Y800", "little")))
        self.library.zbar_image_set_size(image, width, height)
        self.library.zbar_image_set_data(image, pixels, ctypes.c_ulong(len(pixels)), None)
        self.library.zbar_scan_image(self.scanner, image)
        texts = []
        symbol = self.library.zbar_image_first_symbol(image)
        while symbol:
            symbol = ctypes.c_void_p(symbol)
            count = self.library.zbar_symbol_get_data_length(symbol)
            data = ctypes.string_at(self.library.zbar_symbol_get_data(symbol), count)
            texts.append(data.decode(errors="replace"))
            symbol = self.library.zbar_symbol_next(symbol)
        self.library.zbar_image_destroy(image)
        return texts


class ZXing:
    """zxing-cpp as it comes: it tries harder, turns, shrinks and inverts."""

    def __init__(self):
        import numpy
        import zxingcpp

        self.numpy, self.zxing = numpy, zxingcpp

    def __call__(self, width, height, pixels):
        picture = self.numpy.frombuffer(pixels, dtype=self.numpy.uint8).reshape(height, width)
        found = self.zxing.read_barcodes(picture, formats=self.zxing.BarcodeFormat.QRCode)
        return [code.text for code in found]


def pixels_of(path):
    with open(path, "rb") as file:
        kind, sides, brightest, pixels = file.read().split(b"\n", 3)
    width, height = map(int, sides.split())
    return width, height, pixels


class Score:
    """What one reader has read."""

    def __init__(self):
        self.right, self.wrong, self.times = {}, 0, []

    def add(self, entry, texts, milliseconds):
        wanted = set(entry["texts"])
        kind = entry["distortion"]
        self.right[kind] = self.right.get(kind, 0) + len(wanted & set(texts))
        self.wrong += sum(text not in wanted for text in texts)
        if entry["height"] == 720:
            self.times.append(milliseconds)


def readers():
    """Those that are to be had here."""
    found = {}
    for name, make in (("zxing-cpp", ZXing), ("zbar", ZBar)):
        try:
            found[name] = make()
        except (ImportError, OSError) as problem:
            print(f"   without {name}: {problem}", file=sys.stderr)
    return found


def table(entries, scores):
    codes = {}
    for entry in entries:
        codes[entry["distortion"]] = codes.get(entry["distortion"], 0) + len(entry["texts"])
    names = [name for name in READERS if name in scores]
    lines = [["codes read, in %", "codes", *names]]
    for kind, count in codes.items():
        if count:
            rates = [f"{100 * scores[name].right.get(kind, 0) / count:.0f}" for name in names]
            lines.append([kind, str(count), *rates])
    total = sum(codes.values())
    rates = [f"{100 * sum(scores[name].right.values()) / total:.1f}" for name in names]
    lines.append(["all", str(total), *rates])
    lines.append(["wrong texts", "", *[str(scores[name].wrong) for name in names]])
    for title, pick in (("mean", statistics.mean), ("most", max)):
        lines.append([f"ms for a 1280x720 frame, {title}", "", *[f"{pick(scores[name].times):.1f}" for name in names]])
    return aligned(lines)


def verdict(scores):
    """Whether we read as much as the others, and nothing that is not there."""
    ours = sum(scores["Runar"].right.values())
    best = max((sum(score.right.values()) for name, score in scores.items() if name != "Runar"), default=0)
    aims = (("at least as many codes as each other reader", ours >= best), ("no wrong text", scores["Runar"].wrong == 0))
    return "; ".join(f"{aim}: {'met' if met else 'MISSED'}" for aim, met in aims)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runar", required=True, help="the runar-bench executable")
    parser.add_argument("--count", type=int, help="pictures of each kind")
    options = parser.parse_args()
    scale = float(os.environ.get("SCALE", "1"))
    count = options.count or max(4, int(40 * scale))
    with tempfile.TemporaryDirectory(prefix="runar-codes-") as folder:
        print("   pictures of QR codes", file=sys.stderr, flush=True)
        run([options.runar, "qr", str(count), folder], limit_seconds=1800)
        with open(os.path.join(folder, "corpus.json")) as file:
            entries = json.load(file)
        others = readers()
        scores = {name: Score() for name in ("Runar", *others)}
        for entry in entries:
            scores["Runar"].add(entry, entry["read"], entry["milliseconds"])
            width, height, pixels = pixels_of(os.path.join(folder, entry["file"]))
            for name, read in others.items():
                started = time.perf_counter()
                texts = read(width, height, pixels)
                scores[name].add(entry, texts, 1000 * (time.perf_counter() - started))
        print("\n" + table(entries, scores))
        print("\n" + verdict(scores))


if __name__ == "__main__":
    main()
