"""zenoh over QUIC with TLS: a server that subscribes, a client that publishes to it; both in peer mode on loopback.

The subscriber is zenoh's own queue, so no Python runs for a message on that side. The clock stops when a query that
travels behind the last event has been answered.

    zenoh_driver.py server                          says {"address": ...} and ends with its input
    zenoh_driver.py client ADDRESS COUNT BYTES      says {"perSecond": ...}
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time

import zenoh

QUEUE = 4_000_000


def certificate(folder):
    """A certificate for loopback and who signed it, as (authority, certificate, key)."""
    names = "authority.pem", "authority-key.pem", "certificate.pem", "key.pem", "request.pem", "extensions"
    authority, authority_key, public, key, request, extensions = (os.path.join(folder, name) for name in names)
    with open(extensions, "w") as file:
        file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n")
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    issue = ["-CA", authority, "-CAkey", authority_key, "-CAcreateserial", "-days", "2", "-extfile", extensions]
    for command in (
        ["req", "-x509", *curve, "-days", "2", "-subj", "/CN=authority", "-out", authority, "-keyout", authority_key],
        ["req", *curve, "-subj", "/CN=localhost", "-out", request, "-keyout", key],
        ["x509", "-req", "-in", request, *issue, "-out", public],
    ):
        subprocess.run(["openssl", *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return authority, public, key


def session(listen=None, connect=None, tls=None):
    config = zenoh.Config()
    config.insert_json5("mode", '"peer"')
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("scouting/gossip/enabled", "false")
    config.insert_json5("transport/shared_memory/enabled", "false")
    config.insert_json5("listen/endpoints", json.dumps([listen] if listen else []))
    config.insert_json5("connect/endpoints", json.dumps([connect] if connect else []))
    config.insert_json5("transport/link/tls", json.dumps(tls))
    return zenoh.open(config)


def serve():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tempfile.mkdtemp()
    authority, public, key = certificate(folder)
    endpoint = f"quic/127.0.0.1:{port}"
    tls = {"root_ca_certificate": authority, "listen_certificate": public, "listen_private_key": key}
    node = session(listen=endpoint, tls=tls)
    # Held until the end: they stop when they are let go of.
    kept = [
        node.declare_subscriber("bench/events", zenoh.handlers.FifoChannel(QUEUE)),
        node.declare_queryable("bench/done", lambda query: query.reply("bench/done", b"")),
    ]
    print(json.dumps({"id": "", "address": f"{endpoint},{authority}"}), flush=True)
    sys.stdin.read()
    del kept
    os._exit(0)


def publish(address, count, size):
    endpoint, authority = address.split(",", 1)
    node = session(connect=endpoint, tls={"root_ca_certificate": authority, "verify_name_on_connect": False})
    publisher = node.declare_publisher("bench/events", congestion_control=zenoh.CongestionControl.BLOCK)
    deadline = time.monotonic() + 10
    while not publisher.matching_status.matching:
        if time.monotonic() > deadline:
            sys.exit("no subscriber after 10 s")
        time.sleep(0.02)
    event = zenoh.ZBytes(bytes(size))
    put = publisher.put
    for _ in range(count // 10):
        put(event)
    wait(node)
    started = time.perf_counter()
    for _ in range(count):
        put(event)
    wait(node)
    print(json.dumps({"perSecond": count / (time.perf_counter() - started)}), flush=True)
    os._exit(0)


def wait(node):
    """Returns once a query behind everything that was sent has been answered."""
    while not any(reply.ok is not None for reply in node.get("bench/done")):
        time.sleep(0.002)


if __name__ == "__main__":
    if sys.argv[1] == "server":
        serve()
    else:
        publish(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
