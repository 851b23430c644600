"""Web servers with Python's http.server and TLS, certificates with `cryptography`, and clients (curl, openssl).

web_peer.py check   prints what is missing, or an empty line
web_peer.py run     writes certificates to a temporary folder, which it removes at its end, then reads orders as lines
                    of JSON and answers each with a line:
    {"do": "facts"}  {"folder", "pins": by name, "starts", "ends": seconds since 1970 by name}
    {"do": "serve", "tls": null or the name of a file, "version": null, "1.2" or "1.3", "ciphers"?, "host"?}  {"port"}
        a server whose paths are methods of Handler
    {"do": "raw", "tls", "steps": [...]}  {"port"}: a server that does the same steps on every connection: "head" reads
        a head, "close" ends the connection, "hold" keeps it until the peer closes it, a list [text, count] sends text
    {"do": "events", "port"}              {"events": [...]} of the server
    {"do": "wait", "port", "event", "count"}  the same, as soon as the event has occurred this often
    {"do": "release", "port"}             lets requests to /wait go on
    {"do": "openssl", "version", "port"}  {"port"} of `openssl s_server -www` with the good chain
    {"do": "program", "words": [...]}     {"status", "output"} of a program
"""

import base64
import datetime
import hashlib
import http.server
import ipaddress
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

HOUR = datetime.timedelta(hours=1)
YEAR = datetime.timedelta(days=365)


def missing():
    try:
        import cryptography  # noqa: F401
    except ImportError:
        return "cryptography is not installed; run ./scripts/python-env.sh"
    for name in ("curl", "openssl"):
        if shutil.which(name) is None:
            return f"{name} is not installed"
    return ""


class Authority:
    """A root, an intermediate authority, and the certificates of servers that it issues."""

    def __init__(self, folder):
        from cryptography.hazmat.primitives.asymmetric import ec, rsa

        self.folder = folder
        self.now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)

        def new():
            return ec.generate_private_key(ec.SECP256R1())

        root_key, middle_key, other_key = new(), new(), new()
        self.root = self.make("Root", root_key, "Root", root_key, is_authority=True)
        self.middle = self.make("Middle", middle_key, "Root", root_key, is_authority=True)
        other = self.make("Other", other_key, "Other", other_key, is_authority=True)
        self.write("root.pem", self.root)
        self.write("other-root.pem", other)
        day = datetime.timedelta(days=1)
        leaves = {
            "good": dict(),
            "rsa": dict(key=rsa.generate_private_key(65537, 2048)),
            "p384": dict(key=ec.generate_private_key(ec.SECP384R1())),
            "weak": dict(key=rsa.generate_private_key(65537, 1024)),
            "expired": dict(start=self.now - YEAR, end=self.now - day),
            "future": dict(start=self.now + day, end=self.now + YEAR),
            "elsewhere": dict(names=["elsewhere.test"], addresses=["192.0.2.1"]),
            "mail": dict(is_mail=True),
            "common": dict(names=[], addresses=[]),
            "alone": dict(),
        }
        self.pins = {"root": self.pin(root_key), "middle": self.pin(middle_key), "other": self.pin(other_key)}
        self.starts, self.ends = {}, {}
        for name, settings in leaves.items():
            key = settings.pop("key", None) or new()
            leaf = self.make("localhost", key, "Middle", middle_key, **settings)
            self.write(f"{name}.pem", *([leaf] if name == "alone" else [leaf, self.middle]), key=key)
            self.pins[name] = self.pin(key)
            self.starts[name] = int(settings.get("start", self.now - HOUR).timestamp())
            self.ends[name] = int(settings.get("end", self.now + YEAR).timestamp())
        # A certificate of the same authority with an unrelated one behind it.
        stuffed_key = new()
        stuffed = self.make("localhost", stuffed_key, "Middle", middle_key)
        self.write("stuffed.pem", stuffed, self.middle, other, key=stuffed_key)
        own_key = new()
        self.write("self.pem", self.make("localhost", own_key, "localhost", own_key), key=own_key)

    def make(
        self, subject, key, issuer, issuer_key, start=None, end=None, names=("localhost",),
        addresses=("127.0.0.1", "::1"), is_authority=False, is_mail=False
    ):
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes

        def name(text):
            return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

        builder = x509.CertificateBuilder(
            subject_name=name(subject), issuer_name=name(issuer), public_key=key.public_key(),
            serial_number=x509.random_serial_number(), not_valid_before=start or self.now - HOUR,
            not_valid_after=end or self.now + YEAR,
        ).add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        if not is_authority:
            found = [x509.DNSName(each) for each in names]
            found += [x509.IPAddress(ipaddress.ip_address(each)) for each in addresses]
            if found:
                builder = builder.add_extension(x509.SubjectAlternativeName(found), critical=False)
            usage = x509.ExtendedKeyUsageOID.EMAIL_PROTECTION if is_mail else x509.ExtendedKeyUsageOID.SERVER_AUTH
            builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        return builder.sign(issuer_key, hashes.SHA256())

    def write(self, name, *certificates, key=None):
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        with open(os.path.join(self.folder, name), "wb") as file:
            for certificate in certificates:
                file.write(certificate.public_bytes(Encoding.PEM))
        if key is not None:
            with open(os.path.join(self.folder, name.replace(".pem", "-key.pem")), "wb") as file:
                file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))

    @staticmethod
    def pin(key):
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        spki = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return "sha256/" + base64.b64encode(hashlib.sha256(spki).digest()).decode()

    def context(self, order):
        found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        chain, key = (os.path.join(self.folder, order["tls"] + end) for end in (".pem", "-key.pem"))
        found.set_ciphers(order.get("ciphers") or "DEFAULT:@SECLEVEL=0")
        found.load_cert_chain(chain, key)
        if order.get("version"):
            version = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}[order["version"]]
            found.minimum_version = found.maximum_version = version
        return found


class Events:
    """The events of a server, in their order."""

    def __init__(self):
        self.all = []
        self.condition = threading.Condition()
        self.is_released = threading.Event()

    def add(self, event):
        with self.condition:
            self.all.append(event)
            self.condition.notify_all()

    def wait(self, event, count):
        with self.condition:
            if not self.condition.wait_for(lambda: self.all.count(event) >= count, timeout=120):
                print(f"no {event}: {self.all}", file=sys.stderr)
                return None
            return list(self.all)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    events = None

    def setup(self):
        self.is_secure = isinstance(self.request, ssl.SSLSocket)
        if self.is_secure:
            try:
                self.request.do_handshake()
            except (OSError, ssl.SSLError):
                self.events.add("refused")
                raise ConnectionError from None
        super().setup()
        self.events.add("connected")

    def finish(self):
        super().finish()
        self.events.add("closed")

    def log_message(self, *_):
        pass

    def give(self, body=b"", status=200, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.events.add(f"{self.command} {self.path}")
        found = getattr(self, "path_" + self.path.strip("/").split("?")[0].replace("/", "_"), None)
        if found is None:
            fields = [[name, value] for name, value in self.headers.items()]
            echo = {"method": self.command, "target": self.path, "fields": fields, "body": body.decode()}
            self.give(json.dumps(echo).encode(), Content_Type="application/json")
        else:
            found()

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any

    def path_chunked(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in (b"one,", b"two,", b"three"):
            self.wfile.write(b"%x;note=1\r\n%s\r\n" % (len(part), part))
            self.wfile.flush()
        self.wfile.write(b"0\r\nX-After: 1\r\n\r\n")

    def path_interim(self):
        for _ in range(3):
            self.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        self.give(b"final")

    def path_redirect(self):
        self.give(b"", 302, Location="/elsewhere", Set_Cookie="a=b")

    def path_nothing(self):
        self.send_response(204)
        self.end_headers()

    def path_unchanged(self):
        self.send_response(304)
        self.send_header("Content-Length", "123")
        self.end_headers()

    def path_last(self):
        self.close_connection = True
        self.give(b"last", Connection="close")

    # Closes the connection without a word, as servers do with idle ones.
    def path_vanishing(self):
        self.give(b"vanishing")
        self.close_connection = True

    def path_wait(self):
        self.events.is_released.wait(120)
        self.give(b"waited")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address, handler, context):
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.context = context
        super().__init__(address, handler)

    def get_request(self):
        connection, peer = super().get_request()
        if self.context is not None:
            # The handshake happens in the thread of the connection.
            connection = self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, peer

    def handle_error(self, *_):
        pass


class Peer:
    def __init__(self, folder):
        self.authority = Authority(folder)
        self.servers = {}

    def do_facts(self, _):
        found = self.authority
        return {"folder": found.folder, "pins": found.pins, "starts": found.starts, "ends": found.ends}

    def do_serve(self, order):
        context = self.authority.context(order) if order.get("tls") else None
        events = Events()
        handler = type("OneHandler", (Handler,), {"events": events})
        server = Server((order.get("host", "127.0.0.1"), 0), handler, context)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 60}, daemon=True).start()
        port = server.server_address[1]
        self.servers[port] = events
        return {"port": port}

    def do_raw(self, order):
        context = self.authority.context(order) if order.get("tls") else None
        listener = socket.create_server(("127.0.0.1", 0))
        events = Events()
        self.servers[listener.getsockname()[1]] = events

        def accept():
            while True:
                connection, _ = listener.accept()
                arguments = (connection, context, order["steps"], events)
                threading.Thread(target=self.steps, args=arguments, daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return {"port": listener.getsockname()[1]}

    @staticmethod
    def steps(connection, context, steps, events):
        try:
            if context is not None:
                connection = context.wrap_socket(connection, server_side=True)
            events.add("connected")
            for step in steps:
                if step == "head":
                    received = b""
                    while b"\r\n\r\n" not in received:
                        part = connection.recv(65536)
                        if not part:
                            return
                        received += part
                    events.add("head")
                elif step == "hold":
                    while connection.recv(65536):
                        pass
                elif step == "close":
                    break
                else:
                    for _ in range(step[1]):
                        connection.sendall(step[0].encode("latin-1"))
        except OSError:
            pass
        finally:
            # Without close_notify.
            connection.close()
            events.add("closed")

    def do_events(self, order):
        return {"events": list(self.servers[order["port"]].all)}

    def do_wait(self, order):
        return {"events": self.servers[order["port"]].wait(order["event"], order["count"])}

    def do_release(self, order):
        self.servers[order["port"]].is_released.set()
        return {}

    def do_openssl(self, order):
        chain, key = (os.path.join(self.authority.folder, "good" + end) for end in (".pem", "-key.pem"))
        port = order["port"]
        words = ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-www", "-cert", chain, "-cert_chain", chain]
        words += ["-key", key, "-tls1_" + order["version"][-1]]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        children.append(process)
        while b"ACCEPT" not in process.stdout.readline():
            if process.poll() is not None:
                return {"port": 0}
        # It stops when its output is not read.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        return {"port": port}

    def do_program(self, order):
        done = subprocess.run(order["words"], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        return {"status": done.returncode, "output": (done.stdout + done.stderr).decode(errors="replace")}


children = []


def run():
    folder = tempfile.mkdtemp(prefix="runar-test-web-")
    try:
        peer = Peer(folder)
        for line in sys.stdin:
            order = json.loads(line)
            print(json.dumps(getattr(peer, "do_" + order["do"])(order)), flush=True)
    finally:
        for child in children:
            child.kill()
        shutil.rmtree(folder)


if __name__ == "__main__":
    if sys.argv[1] == "check":
        print(missing())
    else:
        run()
