"""nats_server.py DRIVER: a NATS server with TLS on loopback and a responder behind it; says where it is, ends with its input.

The id that it says is the authority of its certificate.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from certificates import make


def main():
    folder = tempfile.mkdtemp()
    authority, public, key = make(folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = os.path.join(folder, "nats.conf")
    with open(settings, "w") as file:
        file.write(f'listen: "127.0.0.1:{port}"\ntls {{ cert_file: "{public}", key_file: "{key}" }}\n')
    program = shutil.which("nats-server") or "/usr/sbin/nats-server"
    server = subprocess.Popen([program, "-c", settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 0.2).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    sys.exit("the NATS server does not listen after 10 s")
                time.sleep(0.05)
        url = f"nats://127.0.0.1:{port}"
        command = [sys.argv[1], "responder", url, authority]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as responder:
            if not responder.stdout.readline():
                sys.exit("the responder did not start")
            print(json.dumps({"id": authority, "address": url}), flush=True)
            sys.stdin.read()
            responder.stdin.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
