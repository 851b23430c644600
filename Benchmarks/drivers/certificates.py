"""A certificate for servers on this machine, made with openssl."""

import os
import subprocess


def make(folder, address="127.0.0.1"):
    """A certificate for an address of this machine and its authority, as (authority, certificate, key)."""
    names = "authority.pem", "authority-key.pem", "certificate.pem", "key.pem", "request.pem", "extensions"
    authority, authority_key, public, key, request, extensions = (os.path.join(folder, name) for name in names)
    with open(extensions, "w") as file:
        file.write(f"subjectAltName=DNS:localhost,IP:{address}\nextendedKeyUsage=serverAuth,clientAuth\n")
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    issue = ["-CA", authority, "-CAkey", authority_key, "-CAcreateserial", "-days", "2", "-extfile", extensions]
    for command in (
        ["req", "-x509", *curve, "-days", "2", "-subj", "/CN=authority", "-out", authority, "-keyout", authority_key],
        ["req", *curve, "-subj", "/CN=localhost", "-out", request, "-keyout", key],
        ["x509", "-req", "-in", request, *issue, "-out", public],
    ):
        subprocess.run(["openssl", *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return authority, public, key
