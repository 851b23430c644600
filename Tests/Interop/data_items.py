"""Reads lines of CBOR in hexadecimal from the file of the first argument, and writes each value as cbor2 encodes it."""

import sys

import cbor2

for line in open(sys.argv[1], encoding="utf-8"):
    print(cbor2.dumps(cbor2.loads(bytes.fromhex(line)), canonical=True).hex(), flush=True)
