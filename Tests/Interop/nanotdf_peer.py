"""Reads and writes NanoTDFs with otdf-python; `check` says what is missing for that.

Each line of the file of the first argument is a request in JSON, answered by a line:
{"key": PEM, "nanotdf": hex} by {"plaintext": hex} or {"error": text}, and
{"curve": name, "public": PEM, "plaintext": hex} by {"nanotdf": hex}.
"""

import json
import sys
import warnings

warnings.simplefilter("ignore")

try:
    from otdf_python.config import KASInfo, NanoTDFConfig
    from otdf_python.nanotdf import NanoTDF
except ImportError as error:
    print(f"{error}; run ./scripts/python-env.sh")
    sys.exit(0)


def answer(request):
    if "nanotdf" in request:
        config = NanoTDFConfig(cipher=request["key"])
        return {"plaintext": bytes(NanoTDF().read_nanotdf(bytes.fromhex(request["nanotdf"]), config)).hex()}
    service = KASInfo(url="https://kas.example.com", public_key=request["public"])
    config = NanoTDFConfig(ecc_mode=request["curve"], attributes=[], kas_info_list=[service])
    return {"nanotdf": bytes(NanoTDF().create_nanotdf(bytes.fromhex(request["plaintext"]), config)).hex()}


if sys.argv[1] == "check":
    print("")
    sys.exit(0)
for line in open(sys.argv[1], encoding="utf-8"):
    try:
        reply = answer(json.loads(line))
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), flush=True)
