"""Reads pictures of QR codes with zbar and zxing-cpp, for tests of the symbols that we draw.

`read_symbols.py check` says what is missing, if anything. `read_symbols.py FILE` reads a file with one JSON object a
line and answers each with a line: what zbar got, what zxing-cpp got, and the size of the picture. The pictures are made
here from what the object holds, by nothing but this file: modules, a PNG, an SVG, or what a terminal shows.
"""

import ctypes
import ctypes.util
import json
import re
import struct
import sys
import zlib

QUIET_ZONE = 4
PIXELS = 4


def missing():
    """What is not installed, or nothing."""
    try:
        import numpy  # noqa: F401
        import zxingcpp  # noqa: F401
    except ImportError as error:
        return f"{error}; run ./scripts/python-env.sh"
    try:
        zbar_library()
    except OSError as error:
        return f"{error}; run ./scripts/install-dependencies.sh test"
    return ""


# zbar


def zbar_library():
    """The shared library of zbar, with the types of what is called."""
    library = ctypes.CDLL(ctypes.util.find_library("zbar") or "libzbar.so.0")
    pointer = ctypes.c_void_p
    for name in ("zbar_image_scanner_create", "zbar_image_create", "zbar_image_first_symbol", "zbar_symbol_next"):
        getattr(library, name).restype = pointer
    library.zbar_symbol_get_data.restype = pointer
    library.zbar_symbol_get_data_length.restype = ctypes.c_uint
    return library


class Zbar:
    """A scanner for QR codes alone that gives their bytes as they are."""

    def __init__(self):
        self.library = zbar_library()
        self.scanner = ctypes.c_void_p(self.library.zbar_image_scanner_create())
        everything, qr_code, enable, binary = 0, 64, 0, 4
        self.library.zbar_image_scanner_set_config(self.scanner, everything, enable, 0)
        self.library.zbar_image_scanner_set_config(self.scanner, qr_code, enable, 1)
        self.library.zbar_image_scanner_set_config(self.scanner, qr_code, binary, 1)

    def read(self, pixels, width, height):
        """The bytes of every symbol in a grey picture."""
        library = self.library
        image = ctypes.c_void_p(library.zbar_image_create())
        library.zbar_image_set_format(image, ctypes.c_ulong(0x30303859))
        library.zbar_image_set_size(image, width, height)
        buffer = ctypes.create_string_buffer(pixels, len(pixels))
        library.zbar_image_set_data(image, buffer, ctypes.c_ulong(len(pixels)), None)
        library.zbar_scan_image(self.scanner, image)
        found = []
        symbol = library.zbar_image_first_symbol(image)
        while symbol:
            length = library.zbar_symbol_get_data_length(ctypes.c_void_p(symbol))
            found.append(ctypes.string_at(library.zbar_symbol_get_data(ctypes.c_void_p(symbol)), length))
            symbol = library.zbar_symbol_next(ctypes.c_void_p(symbol))
        library.zbar_image_destroy(image)
        return found


# Pictures: each is an array or a list of rows, each row the brightness of its pixels.


def scaled(rows, pixels=PIXELS):
    """Rows of modules, drawn larger."""
    import numpy

    return numpy.repeat(numpy.repeat(numpy.array(rows, dtype=numpy.uint8), pixels, 0), pixels, 1)


def framed(rows, brightness):
    """A picture with a border of four of its pixels."""
    side = [brightness] * QUIET_ZONE
    line = [brightness] * (len(rows[0]) + 2 * QUIET_ZONE)
    return [line] * QUIET_ZONE + [side + row + side for row in rows] + [line] * QUIET_ZONE


def from_modules(lines):
    """Lines of 0 and 1, without a quiet zone."""
    return scaled(framed([[0 if module == "1" else 255 for module in line] for line in lines], 255))


def from_png(data):
    """A PNG of one bit a pixel, grey, after RFC 2083; every checksum is checked."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    position, names, header, packed = 8, [], b"", b""
    while position < len(data):
        (length,) = struct.unpack(">I", data[position : position + 4])
        name = data[position + 4 : position + 8]
        content = data[position + 8 : position + 8 + length]
        (checksum,) = struct.unpack(">I", data[position + 8 + length : position + 12 + length])
        assert checksum == zlib.crc32(name + content), f"checksum of {name}"
        names.append(name)
        header = content if name == b"IHDR" else header
        packed += content if name == b"IDAT" else b""
        position += 12 + length
    assert names[0] == b"IHDR" and names[-1] == b"IEND", names
    width, height, depth, colour, compression, filtering, interlace = struct.unpack(">IIBBBBB", header)
    assert (depth, colour, compression, filtering, interlace) == (1, 0, 0, 0, 0), header
    inflater = zlib.decompressobj()
    lines = inflater.decompress(packed) + inflater.flush()
    assert inflater.eof and not inflater.unused_data, "the stream does not end where the chunk does"
    count = (width + 7) // 8
    assert len(lines) == height * (count + 1), "another number of lines"
    rows, above = [], bytes(count)
    for start in range(0, len(lines), count + 1):
        assert lines[start] in (0, 2), "a filter that is not expected"
        line = lines[start + 1 : start + 1 + count]
        if lines[start] == 2:
            line = bytes((low + high) & 255 for low, high in zip(line, above))
        rows.append([255 if line[x // 8] >> (7 - x % 8) & 1 else 0 for x in range(width)])
        above = line
    return rows


def from_svg(text):
    """An SVG of one white rectangle and one black path of rectangles."""
    from xml.etree import ElementTree

    space = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(text)
    assert root.tag == space + "svg" and root.get("role") == "img" and root.find(space + "title").text
    left, top, width, height = (int(number) for number in root.get("viewBox").split())
    assert (left, top) == (0, 0) and root.get("width") == root.get("height")
    ground = root.find(space + "rect")
    assert ground.get("fill") == "#fff" and ground.get("width") == ground.get("height") == str(width)
    path = root.find(space + "path")
    assert path.get("fill") == "#000"
    rows = [[255] * width for _ in range(height)]
    shapes = re.findall(r"M(\d+) (\d+)h(\d+)v1h-(\d+)z", path.get("d"))
    assert "".join("M%s %sh%sv1h-%sz" % shape for shape in shapes) == path.get("d"), "something else in the path"
    for x, y, forth, back in (map(int, shape) for shape in shapes):
        assert forth == back
        for column in range(x, x + forth):
            assert rows[y][column] == 255, "drawn twice"
            rows[y][column] = 0
    return scaled(rows)


def from_terminal(text, is_dark):
    """What a terminal shows for a text of half blocks, colours included; its own background surrounds it."""
    ground = 0 if is_dark else 255
    palette = {16: 0, 231: 255}
    rows = []
    # Colours hold until they are changed, also over the end of a line.
    ink, paper = 255 - ground, ground
    for line in text.rstrip("\n").split("\n"):
        upper, lower = [], []
        for sequence, glyph in re.findall(r"\x1b\[([0-9;]*)m|(.)", line):
            if glyph:
                assert glyph in " ▀▄█", f"{glyph!r} is no half block"
                upper.append(ink if glyph in "▀█" else paper)
                lower.append(ink if glyph in "▄█" else paper)
                continue
            codes = [int(code or 0) for code in sequence.split(";")]
            while codes:
                code = codes.pop(0)
                if code in (38, 48):
                    assert codes.pop(0) == 5
                    colour = palette[codes.pop(0)]
                    ink, paper = (colour, paper) if code == 38 else (ink, colour)
                else:
                    assert code in (0, 39, 49), f"attribute {code}"
                    ink = ink if code == 49 else 255 - ground
                    paper = paper if code == 39 else ground
        rows += [upper, lower]
    width = max(len(row) for row in rows)
    return scaled(framed([row + [ground] * (width - len(row)) for row in rows], ground))


def picture(request):
    """The picture that a request holds."""
    if "modules" in request:
        return from_modules(request["modules"])
    if "png" in request:
        return from_png(bytes.fromhex(request["png"]))
    if "svg" in request:
        return from_svg(request["svg"])
    return from_terminal(request["terminal"], request["isDark"])


def main(path):
    import numpy
    import zxingcpp

    zbar = Zbar()
    for line in open(path, encoding="utf-8"):
        rows = picture(json.loads(line))
        pixels = numpy.array(rows, dtype=numpy.uint8)
        height, width = pixels.shape
        readings = [
            {
                "bytes": found.bytes.hex(),
                "text": found.text,
                "version": int(found.extra["Version"]),
                "level": found.extra["ECLevel"].lower(),
                "mask": found.extra["DataMask"],
            }
            for found in zxingcpp.read_barcodes(pixels, formats=zxingcpp.BarcodeFormat.QRCode)
        ]
        raw = [found.hex() for found in zbar.read(pixels.tobytes(), width, height)]
        print(json.dumps({"zbar": raw, "zxing": readings, "width": width, "height": height}), flush=True)


if sys.argv[1] == "check":
    print(missing())
else:
    main(sys.argv[1])
