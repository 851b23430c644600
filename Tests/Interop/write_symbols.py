"""Makes QR codes with zxing-cpp, for tests of the reading of symbols that somebody else has drawn.

`write_symbols.py FILE` reads a file with one JSON object a line (`text`, `version`, `level`) and answers each with a
line: the modules as rows of 0 and 1, without a quiet zone.
"""

import json
import sys


def modules(request):
    """The rows of a symbol."""
    import numpy
    import zxingcpp

    symbol = zxingcpp.create_barcode(
        request["text"], zxingcpp.BarcodeFormat.QRCode, ec_level=request["level"], version=request["version"]
    )
    pixels = numpy.array(symbol.to_image(scale=1, add_quiet_zones=False))
    return ["".join("1" if pixel < 128 else "0" for pixel in row) for row in pixels]


for line in open(sys.argv[1], encoding="utf-8"):
    print(json.dumps(modules(json.loads(line))), flush=True)
