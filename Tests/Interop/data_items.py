"""Reads lines of JSON from the file of the first argument with a value's bytes in CBOR and MessagePack, and answers with what cbor2 and msgpack make of them.

Each line {"cbor": hex, "messagePack": hex} is answered by one of the same kind: the bytes that the independent
implementations write for the value they read, keys in the order of the other side, and whether both read the same.
"""

import json
import sys

import cbor2
import msgpack


def as_json(value):
    """The value with its byte strings marked, so that two can be compared without confusing bytes and text."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, list):
        return [as_json(element) for element in value]
    if isinstance(value, dict):
        return [[as_json(key), as_json(value[key])] for key in value]
    return repr(value)


for line in open(sys.argv[1], encoding="utf-8"):
    case = json.loads(line)
    from_cbor = cbor2.loads(bytes.fromhex(case["cbor"]))
    from_msgpack = msgpack.unpackb(bytes.fromhex(case["messagePack"]), strict_map_key=False)
    answer = {
        "cbor": cbor2.dumps(from_cbor, canonical=True).hex(),
        "messagePack": msgpack.packb(from_msgpack, use_bin_type=True).hex(),
        "same": as_json(from_cbor) == as_json(from_msgpack),
    }
    print(json.dumps(answer), flush=True)
