"""zenoh over QUIC with TLS: a server that subscribes, a client that publishes to it; both in peer mode on loopback.

The subscriber is zenoh's own queue, so no Python runs for a message on that side. The clock stops when a query that
travels behind the last event has been answered.

    zenoh_driver.py server                          says {"address": ...} and ends with its input
    zenoh_driver.py client ADDRESS COUNT BYTES      says {"perSecond": ...}
    zenoh_driver.py request ADDRESS COUNT           says {"p50Microseconds": ...}: queries, Python on both sides
"""

import json
import os
import socket
import sys
import tempfile
import time

import zenoh
from certificates import make

QUEUE = 4_000_000


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
    authority, public, key = make(folder)
    endpoint = f"quic/127.0.0.1:{port}"
    tls = {"root_ca_certificate": authority, "listen_certificate": public, "listen_private_key": key}
    node = session(listen=endpoint, tls=tls)
    # Held until the end: they stop when they are released.
    kept = [
        node.declare_subscriber("bench/events", zenoh.handlers.FifoChannel(QUEUE)),
        node.declare_queryable("bench/done", lambda query: query.reply("bench/done", b"")),
        node.declare_queryable("bench/math/add", lambda query: query.reply("bench/math/add", b"8.75")),
    ]
    print(json.dumps({"id": "", "address": f"{endpoint},{authority}"}), flush=True)
    sys.stdin.read()
    del kept
    os._exit(0)


def client(address):
    endpoint, authority = address.split(",", 1)
    return session(connect=endpoint, tls={"root_ca_certificate": authority, "verify_name_on_connect": False})


def request(address, count):
    node = client(address)
    wait(node)
    question = json.dumps({"a": 5.25, "b": 3.5, "note": "sixty-four bytes, as the others"}).encode()
    latencies = []
    for number in range(-200, count):
        started = time.perf_counter()
        if not any(reply.ok is not None for reply in node.get("bench/math/add", payload=question)):
            sys.exit("a query was not answered")
        if number >= 0:
            latencies.append(time.perf_counter() - started)
    print(json.dumps({"p50Microseconds": sorted(latencies)[count // 2] * 1e6}), flush=True)
    os._exit(0)


def publish(address, count, size):
    node = client(address)
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
    elif sys.argv[1] == "request":
        request(sys.argv[2], int(sys.argv[3]))
    else:
        publish(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
