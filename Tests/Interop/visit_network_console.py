"""Visits the console over the local network with Python's TLS, and reads its certificate with `cryptography`.

visit_network_console.py check      says what is missing, or an empty line
visit_network_console.py run        reads orders as lines of JSON from standard input and answers each with a line:
    {"do": "ask", "host", "port", "method", "path", "headers", "body"}  {"status", "headers", "body", "length"}
    {"do": "version", "host", "port", "version": "1.2" or "1.3"}        {"spoken": the version, or null when it is refused}
    {"do": "certificate", "host", "port"}                               what the certificate says
    {"do": "raw", "host", "port", "bytes": hexadecimal digits}          {"answer": what came on a plain connection}
    {"do": "hold", "host", "port", "bytes", "how"}  keeps a connection: {"held": true}; "plain" sends without TLS, "tls"
                                                    sends within, "mute" too and never reads
    {"do": "end"}                                   {"answer"}, when a held connection was closed by the other side
"""

import hashlib
import http.client
import json
import queue
import socket
import ssl
import sys
import threading

ends = queue.Queue()
kept = []


def context(version=None):
    found = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    found.check_hostname = False
    found.verify_mode = ssl.CERT_NONE
    if version is not None:
        found.minimum_version = found.maximum_version = version
    return found


def connect(order, version=None):
    # The server waits for the handshake from the connection on.
    prepared = context(version)
    return prepared.wrap_socket(socket.create_connection((order["host"], order["port"]), timeout=60))


def ask(order):
    connection = http.client.HTTPSConnection(order["host"], order["port"], timeout=20, context=context())
    connection.putrequest(order["method"], order["path"], skip_host=True, skip_accept_encoding=True)
    for name, value in order["headers"]:
        connection.putheader(name, value)
    body = order.get("body")
    if body is not None:
        connection.putheader("Content-Length", str(len(body.encode())))
    connection.endheaders(body.encode() if body is not None else None)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    fields = {name.lower(): value for name, value in answer.getheaders()}
    return {"status": answer.status, "headers": fields, "body": content.decode(), "length": len(content)}


def version(order):
    wanted = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}[order["version"]]
    try:
        with connect(order, wanted) as connection:
            return {"spoken": connection.version()}
    except (OSError, ssl.SSLError):
        return {"spoken": None}


def certificate(order):
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

    with connect(order) as connection:
        der = connection.getpeercert(binary_form=True)
    found = x509.load_der_x509_certificate(der)
    # Raises when the signature is not that of its own key.
    found.verify_directly_issued_by(found)
    usage = found.extensions.get_extension_for_class(x509.KeyUsage).value
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    uses = found.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    basic = found.extensions.get_extension_for_class(x509.BasicConstraints).value
    digits = hashlib.sha256(der).hexdigest().upper()
    key = found.public_key()
    return {
        "curve": key.curve.name if isinstance(key, ec.EllipticCurvePublicKey) else "none",
        "hash": found.signature_hash_algorithm.name,
        "addresses": [str(one) for one in names.get_values_for_type(x509.IPAddress)],
        "names": names.get_values_for_type(x509.DNSName),
        "uses": [one._name for one in uses],
        "signs": usage.digital_signature,
        "signsCertificates": usage.key_cert_sign or basic.ca,
        "serialBits": found.serial_number.bit_length(),
        "days": (found.not_valid_after_utc - found.not_valid_before_utc).days,
        "end": int(found.not_valid_after_utc.timestamp()),
        "fingerprint": ":".join(digits[at : at + 2] for at in range(0, len(digits), 2)),
    }


def raw(order):
    answer = b""
    with socket.create_connection((order["host"], order["port"]), timeout=20) as connection:
        try:
            connection.sendall(bytes.fromhex(order["bytes"]))
            while further := connection.recv(65536):
                answer += further
        except OSError:
            pass
    return {"answer": answer.decode("latin-1")}


def follow(connection):
    answer = b""
    try:
        while further := connection.recv(65536):
            answer += further
    except OSError:
        pass
    connection.close()
    ends.put(answer.decode("latin-1"))


def hold(order):
    if order["how"] == "plain":
        connection = socket.create_connection((order["host"], order["port"]), timeout=60)
    else:
        connection = connect(order)
    connection.sendall(bytes.fromhex(order["bytes"]))
    kept.append(connection)
    if order["how"] == "tls":
        # The other side has begun to answer.
        connection.recv(1)
    if order["how"] != "mute":
        threading.Thread(target=follow, args=(connection,), daemon=True).start()
    return {"held": True}


def end(_):
    return {"answer": ends.get(timeout=60)}


def main(words):
    if words[0] == "check":
        try:
            import cryptography.x509  # noqa: F401

            print("")
        except ImportError as error:
            print(error)
        return
    deeds = {"ask": ask, "version": version, "certificate": certificate, "raw": raw, "hold": hold, "end": end}
    for line in sys.stdin:
        order = json.loads(line)
        print(json.dumps(deeds[order["do"]](order)), flush=True)


main(sys.argv[1:])
