#if os(Linux)
internal import Foundation
internal import TestSupport

/// The web server of the Internet's host, and the requests of the client to it.
extension ExitLab {
    private static let pagePort = 8080

    /// Answers a request with the client's address, one for `/?COUNT` with the sample of this length, and an upload with
    /// `True` if it is the sample of its length; written in Python, which shares no code with ours.
    ///
    /// A connection carries any number of requests.
    private static let pageServer = """
        import http.server, random, socket, socketserver, sys, threading
        def sample(count):
            return random.Random(1).randbytes(count)
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_GET(self):
                count = self.path.partition("?")[2]
                self.answer(sample(int(count)) if count else self.client_address[0].encode())
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.answer(str(body == sample(len(body))).encode())
            def answer(self, body):
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def log_message(self, *words):
                pass
        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
        class ServerIPv6(Server):
            address_family = socket.AF_INET6
        for address in sys.argv[2:]:
            kind = ServerIPv6 if ":" in address else Server
            server = kind((address, int(sys.argv[1])), Handler)
            threading.Thread(target=server.serve_forever).start()
        print("ready", flush=True)
        """

    /// Starts the web server on a host.
    static func webServer(_ lab: TunnelLab, on role: TunnelLab.Role = .internet) throws -> ChildProcess {
        let command = lab.wrapper(role) + ["python3", "-c", pageServer, "\(pagePort)"]
        let pages = try ChildProcess(
            path: command[0],
            arguments: Array(command.dropFirst()) + [role.address, role.addressIPv6]
        )
        guard pages.nextLine() == "ready" else { throw Outcome.Unexpected(description: "no web server") }
        return pages
    }

    /// Fetches a page of the web server from the client's host, and returns the address from which the server saw it.
    func page(from address: String = TunnelLab.Role.internet.address) throws -> String {
        try request(
            """
            connection.request("GET", "/")
            print(connection.getresponse().read().decode())
            """,
            to: address
        )
    }

    /// Sends a body of this length to the web server, and returns whether it arrived whole.
    func upload(_ byteCount: Int) throws -> Bool {
        let answer = try request(
            """
            import random
            connection.request("POST", "/", random.Random(1).randbytes(\(byteCount)))
            print(connection.getresponse().read().decode())
            """
        )
        return answer == "True"
    }

    /// Fetches a body of this length from the web server, and returns whether it arrived whole.
    func download(_ byteCount: Int) throws -> Bool {
        let answer = try request(
            """
            import random
            connection.request("GET", "/?\(byteCount)")
            print(connection.getresponse().read() == random.Random(1).randbytes(\(byteCount)))
            """
        )
        return answer == "True"
    }

    /// Runs lines of Python with a connection to the web server on the client's host, and returns their output.
    private func request(
        _ lines: String,
        to address: String = TunnelLab.Role.internet.address
    ) throws -> String {
        let command = lab.wrapper(.client).joined(separator: " ")
        let script = Self.opening(address) + lines
        return try NetworkSpaces.run("\(command) python3 -c '\(script)'").trimmingCharacters(in: .newlines)
    }

    /// The lines of Python that make a connection to the web server.
    private static func opening(_ address: String) -> String {
        """
        import http.client
        connection = http.client.HTTPConnection("\(address)", \(pagePort), timeout=30)

        """
    }

    /// Starts a process that fetches the client's address over one TCP connection each second, and writes a line for each.
    ///
    /// It runs until it is killed or the connection ends.
    func steadyPages() throws -> ChildProcess {
        let script =
            Self.opening(TunnelLab.Role.internet.address) + """
                import time
                connection.connect()
                connection.auto_open = 0
                while True:
                    connection.request("GET", "/")
                    print(connection.getresponse().read().decode(), flush=True)
                    time.sleep(1)
                """
        let command = lab.wrapper(.client) + ["python3", "-c", script]
        return try ChildProcess(path: command[0], arguments: Array(command.dropFirst()))
    }
}
#endif
