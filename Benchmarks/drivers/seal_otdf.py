"""Seals and opens N messages of 1 KiB with otdf-python, and prints how many that are in a second."""

import json
import sys
import time
import warnings

warnings.simplefilter("ignore")

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from otdf_python.config import KASInfo, NanoTDFConfig
from otdf_python.nanotdf import NanoTDF

PLAINTEXT = bytes([7]) * 1024


def key_texts():
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(), public


def main(count):
    keys = [key_texts() for _ in range(count)]
    began = time.perf_counter()
    for private, public in keys:
        service = KASInfo(url="https://kas.example.com", public_key=public)
        config = NanoTDFConfig(ecc_mode="secp256r1", attributes=[], kas_info_list=[service])
        sealed = NanoTDF().create_nanotdf(PLAINTEXT, config)
        if NanoTDF().read_nanotdf(sealed, NanoTDFConfig(cipher=private)) != PLAINTEXT:
            sys.exit("a message changed")
    print(json.dumps({"perSecond": count / (time.perf_counter() - began)}))


main(int(sys.argv[1]))
