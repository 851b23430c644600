"""Asks the console as an independent HTTP client, and reads metrics with Prometheus' own parser.

ask_console.py check                says what is missing, or an empty line
ask_console.py ask PORT             reads requests as lines of JSON from standard input and answers each with a line:
                                    {"method", "path", "headers", "body"} -> {"status", "headers", "body", "length"}; the
                                    body is a text, or nothing, and as it was before gzip; so many bytes came
ask_console.py raw PORT             sends each line (hexadecimal digits) on a connection of its own: {"answer": all bytes}
ask_console.py hold PORT            reads {"bytes": hexadecimal digits, "how"} and sends them on a connection that stays open:
                                    "read" tells {"held"} at once, {"line": the first of the body} and {"end": the first of
                                    all}, when the other side has closed; "mute" reads nothing after {"held"}; "leave" tells
                                    the first line and closes
ask_console.py storm PORT           connects from eight threads again and again, whether anybody listens or not, until its
                                    standard input ends; tells {"connections": those that were taken}, first when it begins,
                                    and for each line of its input, a number, when that many more were taken
ask_console.py read PORT TOKEN      collects /metrics: one line {"name", "type", "help", "samples": [[name, labels, value]]}
                                    for each family, and an empty one at the end
"""

import gzip
import http.client
import json
import socket
import sys
import threading
import time


def ask(port, method, path, headers, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body.encode())))
    try:
        connection.endheaders(body.encode() if body is not None else None)
    except (BrokenPipeError, ConnectionResetError):
        pass  # it may have answered before it had read everything
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    fields = dict((name.lower(), value) for name, value in answer.getheaders())
    text = gzip.decompress(content) if fields.get("content-encoding") == "gzip" else content
    return answer.status, fields, text.decode(errors="replace"), len(content)


def tell(**news):
    sys.stdout.write(json.dumps(news) + "\n")
    sys.stdout.flush()


def follow(connection, leaves):
    answer = b""
    is_told = False
    try:
        while True:
            further = connection.recv(65536)
            if not further:
                break
            answer += further
            lines = answer.partition(b"\r\n\r\n")[2].split(b"\n")
            # Between the sizes of the parts stand the lines.
            found = [line for line in lines[:-1] if line.startswith((b"{", b"["))]
            if found and not is_told:
                is_told = True
                tell(line=found[0].decode())
                if leaves:
                    break
    except OSError:
        pass
    connection.close()
    if not leaves:
        tell(end=answer.split(b"\r\n")[0].decode("latin-1"))


def hold(port):
    kept = []
    for line in sys.stdin:
        order = json.loads(line)
        if order["how"] == "more":
            try:
                kept[-1].sendall(bytes.fromhex(order["bytes"]))
            except OSError:
                pass  # the other side has closed, which another thread tells
            continue
        connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        connection.sendall(bytes.fromhex(order["bytes"]))
        kept.append(connection)
        if order["how"] != "leave":
            tell(held=True)
        if order["how"] != "mute":
            threading.Thread(target=follow, args=(connection, order["how"] == "leave"), daemon=True).start()


def storm(port):
    taken = []
    change = threading.Condition()
    is_over = threading.Event()

    def connect():
        while not is_over.is_set():
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                    with change:
                        taken.append(None)
                        change.notify_all()
                    connection.sendall(b"GET / HTTP/1.1\r\n")
            except OSError:
                pass
            time.sleep(0.001)

    threads = [threading.Thread(target=connect) for _ in range(8)]
    for thread in threads:
        thread.start()
    tell(connections=0)
    for line in sys.stdin:
        with change:
            goal = len(taken) + int(line)
            while len(taken) < goal:
                change.wait()
        tell(connections=len(taken))
    is_over.set()
    for thread in threads:
        thread.join()
    tell(connections=len(taken))


def main(words):
    if words[0] == "check":
        try:
            import prometheus_client.parser  # noqa: F401

            print("")
        except ImportError as error:
            print(error)
        return
    port = int(words[1])
    if words[0] == "ask":
        for line in sys.stdin:
            request = json.loads(line)
            names = ("status", "headers", "body", "length")
            answer = ask(port, request["method"], request["path"], request["headers"], request.get("body"))
            print(json.dumps(dict(zip(names, answer))), flush=True)
    elif words[0] == "hold":
        hold(port)
    elif words[0] == "storm":
        storm(port)
    elif words[0] == "raw":
        for line in sys.stdin:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                answer = b""
                try:
                    connection.sendall(bytes.fromhex(line.strip()))
                    connection.shutdown(socket.SHUT_WR)
                    while True:
                        further = connection.recv(65536)
                        if not further:
                            break
                        answer += further
                except OSError:
                    pass
            print(json.dumps({"answer": answer.decode("latin-1")}), flush=True)
    elif words[0] == "read":
        from prometheus_client.parser import text_string_to_metric_families

        headers = [("Host", "localhost:%d" % port), ("Authorization", "Bearer " + words[2])]
        status, fields, body, _ = ask(port, "GET", "/metrics", headers)
        assert status == 200, (status, body)
        assert fields["content-type"].startswith("text/plain; version=0.0.4"), fields
        for family in text_string_to_metric_families(body):
            samples = [[sample.name, sample.labels, sample.value] for sample in family.samples]
            line = {"name": family.name, "type": family.type, "help": family.documentation, "samples": samples}
            print(json.dumps(line), flush=True)
        print("", flush=True)


main(sys.argv[1:])
