"""Writes `blake2.json` beside it: hashes and codes of Python's `hashlib` and `hmac`, which share no code with ours.

    python3 Tests/Vectors/CryptoPrimitives/generate.py

The message of n bytes is n bytes of the sequence 0, 1, ... 250, 0, 1, ...; a key of n bytes is 255, 254, ...
"""

import hashlib
import hmac
import json
import pathlib

HERE = pathlib.Path(__file__).parent
FUNCTIONS = {"BLAKE2s": (hashlib.blake2s, 32), "BLAKE2b": (hashlib.blake2b, 64)}


def message(count):
    return bytes(index % 251 for index in range(count))


def key(count):
    return bytes(255 - index for index in range(count))


def mac(secret, content):
    return hmac.new(secret, content, hashlib.blake2s).digest()


def hashes():
    for name, (function, limit) in FUNCTIONS.items():
        plain = [function(message(count)).hexdigest() for count in range(257)]
        keyed = [
            function(message(count), key=key(1 + count % limit), digest_size=1 + count * 7 % limit).hexdigest()
            for count in range(257)
        ]
        yield {"function": name, "plain": plain, "keyed": keyed}


def derivations():
    for key_count, input_count in [(32, 0), (32, 32), (0, 32), (64, 1), (65, 63), (100, 200)]:
        extracted = mac(key(key_count), message(input_count))
        keys, last = [], b""
        for number in (1, 2, 3):
            last = mac(extracted, last + bytes([number]))
            keys.append(last.hex())
        yield {"keyCount": key_count, "inputCount": input_count, "code": extracted.hex(), "keys": keys}


content = {"hashes": list(hashes()), "derivations": list(derivations())}
(HERE / "blake2.json").write_text(json.dumps(content, indent=1) + "\n")
