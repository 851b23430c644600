#if os(Linux)
internal import BlindTokens
internal import Bytes
internal import Certificates
internal import Concurrency
internal import Foundation
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing

/// A private exit of the built command: issuer, directory and a web server on a host of the Internet, and a gateway.
///
/// The lab is its own, because a connection redirects all traffic of the client. The exit starts within a few seconds: its
/// tests share ``shared()``.
final class ExitLab: Sendable {
    static let location = "us-east-1"
    static let exitName = "exit.example"
    /// The issuer's name in challenges: the host of its address.
    static let issuerName = TunnelLab.Role.internet.address
    private static let issuerURL = "https://\(TunnelLab.Role.internet.address):8451"
    private static let directoryURL = "https://\(TunnelLab.Role.internet.address):8444"
    private static let gatewayURL = "https://\(TunnelLab.Role.gateway.address):8443"
    private static let pagePort = 8080
    /// The tokens of the voucher in an epoch, which is the number of connections that the tests may open.
    private static let allowance = 8

    /// The script that runs a command with a folder of its own for the sockets of engines.
    ///
    /// They have the names of interfaces, so that gateways in other namespaces of this machine replace each other's socket.
    /// `ip netns exec` confines the mount to the command.
    private static let ownSockets =
        "mkdir -p /var/run/wireguard && mount -t tmpfs tmpfs /var/run/wireguard && exec \"$@\""

    private static let holder = Locked<ExitLab?>(nil)

    private let lab: TunnelLab
    private let home: TemporaryDataDirectory
    private let directory: TemporaryDirectory
    private let issuer: RunningCommand
    private let gatewayWords: [String]
    private let running: Locked<RunningCommand>
    private let list: RunningCommand
    private let pages: ChildProcess
    private let operatorKey: String
    private let voucher: String
    private let connection = Locked<VPNConnection?>(nil)
    /// The network of the client before the first connection.
    let clientNetwork: Set<String>

    /// Returns the exit of this process, and starts it for the first test.
    static func shared() throws -> ExitLab {
        try holder.withLock { exit in
            if let exit { return exit }
            let made = try ExitLab()
            exit = made
            // The processes are ended when this one exits.
            atexit { ExitLab.end() }
            return made
        }
    }

    /// Ends the shared exit, so that the next test starts another one.
    static func end() { holder.withLock { $0 = nil } }

    /// Starts an exit of its own, for a test that ends parts of it.
    init() throws {
        lab = try TunnelLab()
        home = try TemporaryDataDirectory()
        directory = try TemporaryDirectory()
        let internet = TunnelLab.Role.internet
        var random = SystemRandom()
        let certificate = try ServerCertificate.make(
            addresses: [try #require(IPAddress(internet.address))],
            hostName: nil,
            at: SystemProcess.wallSeconds,
            using: &random
        )
        let own = CertificateText.encode(certificate.certificateDER)
        let roots = try directory.write(Array(own.utf8), to: "roots.pem")
        let pair = try directory.write(certificate.pem.withBytes { Array($0) }, to: "server.pem")
        let server = ["--tls-cert-path", roots, "--tls-key-path", pair, "--listen-address", internet.address, "--json"]
        issuer = try RunningCommand(
            [
                "issuer", "serve", "--data", directory.file("issuer"), "--issuer-name", "issuer.example", "--port",
                "8451",
            ]
                + server,
            home: home,
            wrapper: lab.wrapper(.internet)
        )
        _ = try issuer.next("ready")
        gatewayWords =
            [
                "gateway", "serve", "--data", directory.file("gateway"), "--public-url", Self.gatewayURL,
                "--listen-address", TunnelLab.Role.gateway.address, "--port", "8443", "--issuer", Self.issuerURL,
                "--issuer-trust", roots, "--exit-name", Self.exitName, "--location-id", Self.location,
                "--location-name", "New York", "--country", "US", "--latitude", "40.7", "--longitude", "-74",
                "--endpoint", "\(TunnelLab.Role.gateway.address):51820", "--uplink", "eth0", "--json",
            ]
        let gateway = try Self.serve(gatewayWords, lab, home)
        running = Locked(gateway)
        let key = try #require(try gateway.next("ready")["key"] as? String)
        let roster = try home.answer([
            "gateway", "roster", "--operator-key", directory.file("operator.key"), "--exit-name", Self.exitName,
            "--issuer", Self.issuerURL, "--key", key, "--to", directory.file("roster.json"),
        ])
        operatorKey = try roster.text("operatorKey")
        let made = try ServerCertificate(
            pem: String(decoding: directory.bytes("gateway/gateway.tls.pem"), as: UTF8.self)
        )
        let trust = own + CertificateText.encode(made.certificateDER)
        list = try RunningCommand(
            [
                "gateway", "directory", "--roster", directory.file("roster.json"), "--gateway", Self.gatewayURL,
                "--port", "8444", "--trust", try directory.write(Array(trust.utf8), to: "trust.pem"),
            ] + server,
            home: home,
            wrapper: lab.wrapper(.internet)
        )
        _ = try list.next("ready")
        voucher = try Self.voucher(of: directory, home)
        pages = try Self.webServer(lab)
        clientNetwork = try Self.network(lab, .client)
    }

    private static func serve(
        _ words: [String],
        _ lab: TunnelLab,
        _ home: TemporaryDataDirectory
    ) throws -> RunningCommand {
        try RunningCommand(words, home: home, wrapper: lab.wrapper(.gateway) + ["sh", "-c", ownSockets, "sh"])
    }

    /// The gateway's process.
    var gateway: RunningCommand { running.withLock { $0 } }

    /// Starts the gateway again after its end.
    func restartGateway() throws {
        let next = try Self.serve(gatewayWords, lab, home)
        _ = try next.next("ready")
        running.withLock { $0 = next }
    }

    /// Makes a voucher, and returns the path of its file.
    private static func voucher(of directory: TemporaryDirectory, _ home: TemporaryDataDirectory) throws -> String {
        let vouchers = try home.answer([
            "issuer", "voucher", "--data", directory.file("issuer"), "--allowance", "\(allowance)",
        ])
        let text = try #require((try vouchers.json["vouchers"] as? [String])?.first)
        return try directory.write(Array(text.utf8), to: "voucher")
    }

    private static func webServer(_ lab: TunnelLab) throws -> ChildProcess {
        let internet = TunnelLab.Role.internet
        let command = lab.wrapper(internet) + ["python3", "-c", pageServer, "\(pagePort)"]
        let pages = try ChildProcess(
            path: command[0],
            arguments: Array(command.dropFirst()) + [internet.address, internet.addressIPv6]
        )
        guard pages.nextLine() == "ready" else { throw Outcome.Unexpected(description: "no web server") }
        return pages
    }

    deinit {
        connection.withLock { $0 = nil }
        _ = pages.kill()
    }

    // MARK: Pages

    /// Answers each request with the client's address; written in Python, which shares no code with ours.
    private static let pageServer = """
        import http.server, socket, socketserver, sys, threading
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = self.client_address[0].encode()
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

    /// Fetches a page of the web server from the client's host, and returns the address from which the server saw it.
    func page(from address: String = TunnelLab.Role.internet.address) throws -> String {
        let script = """
            import http.client
            connection = http.client.HTTPConnection("\(address)", \(Self.pagePort), timeout=30)
            connection.request("GET", "/")
            print(connection.getresponse().read().decode())
            """
        let command = lab.wrapper(.client).joined(separator: " ")
        return try NetworkSpaces.run("\(command) python3 -c '\(script)'").trimmingCharacters(in: .newlines)
    }

    // MARK: Connections

    /// Returns the client's connection, and opens one if none is open.
    func connected() throws -> VPNConnection {
        if let present = connection.withLock({ $0 }) { return present }
        let made = try VPNConnection(connecting(Self.location), data: data, wrapper: lab.wrapper(.client))
        _ = try made.wait(for: "connected")
        connection.withLock { $0 = made }
        return made
    }

    /// Forgets a connection that has ended.
    func forgetConnection() { connection.withLock { $0 = nil } }

    /// The client's data directory.
    private var data: String { directory.file("vpn") }

    /// Returns the words that connect to a location, with the operator's key unless another one is given.
    private func connecting(_ location: String, operatorKey key: String? = nil) -> [String] {
        [
            "vpn", "connect", location, "--exit", Self.directoryURL, "--operator", key ?? operatorKey, "--issuer-roots",
            directory.file("roots.pem"), "--voucher", voucher, "--now", "--json",
        ]
    }

    /// The end of a command that fails.
    struct Refusal: Equatable {
        let code: String
        let status: Int32
    }

    /// Connects with a new wallet, which must fail.
    func refusal(connectingTo location: String, operatorKey: String? = nil) throws -> Refusal {
        let command = try RunningCommand(
            connecting(location, operatorKey: operatorKey) + [
                "--data", directory.file("vpn-\(UUID().uuidString.prefix(8))"),
            ],
            home: home,
            wrapper: lab.wrapper(.client)
        )
        let outcome = try command.outcome()
        // The states precede the error.
        let last = Data((outcome.output.split(separator: "\n").last ?? "").utf8)
        let object = try #require(try JSONSerialization.jsonObject(with: last) as? [String: Any])
        let error = try #require(object["error"] as? [String: Any], "\(outcome.output)")
        return Refusal(code: try #require(error["code"] as? String), status: outcome.status)
    }

    /// Runs another command of the client.
    func vpn(_ word: String) throws -> Outcome { try home.runar(["vpn", word, "--data", data, "--json"]) }

    /// Returns the clients that the gateway lists.
    func clients() throws -> [[String: Any]] {
        let outcome = try home.answer(["gateway", "peers", "--data", directory.file("gateway")])
        return try #require(try outcome.json["clients"] as? [[String: Any]])
    }

    // MARK: Redemption

    /// The key with which the issuer signs.
    func issuerKey() throws -> TokenPrivateKey {
        let text = String(decoding: try directory.bytes("issuer/issuer-key.pem"), as: UTF8.self)
        // A time precedes the block.
        let block = text[(try #require(text.range(of: "-----BEGIN"))).lowerBound...]
        return try TokenPrivateKey(pemRepresentation: String(block))
    }

    /// The file of the gateway's leases and spent tokens.
    var gatewayFile: String { directory.file("gateway/gateway.sqlite") }

    /// Sends requests for redemption in the order of `requests` on 8 connections from the client's host.
    ///
    /// The program is written in Python, which shares no code with ours. It writes a line for each request.
    func redeeming(_ requests: [RedemptionRequest]) throws -> ChildProcess {
        let lines = try requests.map { request in
            String(decoding: try JSONEncoder().encode([request.authorization, request.form]), as: UTF8.self)
        }
        let file = try directory.write(Array(lines.joined(separator: "\n").utf8), to: "requests")
        let command = lab.wrapper(.client) + ["python3", "-c", Self.redeemer]
        return try ChildProcess(
            path: command[0],
            arguments: Array(command.dropFirst()) + [TunnelLab.Role.gateway.address, "8443", file]
        )
    }

    private static let redeemer = """
        import http.client, json, queue, ssl, sys, threading
        host, port, path = sys.argv[1:]
        requests = queue.SimpleQueue()
        for index, line in enumerate(open(path)):
            requests.put((index, *json.loads(line)))
        context = ssl._create_unverified_context()
        lock = threading.Lock()
        def redeem():
            connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=120)
            while True:
                try:
                    index, authorization, form = requests.get_nowait()
                except queue.Empty:
                    return
                answer = {"index": index}
                try:
                    fields = {"Authorization": authorization, "Content-Type": "application/json"}
                    connection.request("POST", "/redeem", form, fields)
                    received = connection.getresponse()
                    answer |= {"body": json.loads(received.read()), "status": received.status}
                except (OSError, http.client.HTTPException, ValueError):
                    connection.close()
                with lock:
                    print(json.dumps(answer), flush=True)
        for _ in range(8):
            threading.Thread(target=redeem).start()
        """

    // MARK: The system

    /// Returns the interfaces, addresses, rules, routes and packet filters of a host, one on each line.
    func network(_ role: TunnelLab.Role) throws -> Set<String> { try Self.network(lab, role) }

    private static func network(_ lab: TunnelLab, _ role: TunnelLab.Role) throws -> Set<String> {
        let command = lab.wrapper(role).joined(separator: " ")
        let words = [
            "ls /sys/class/net", "ip -o -4 addr", "ip -o -6 addr show scope global", "ip -4 rule", "ip -6 rule",
            "ip -4 route show table all", "ip -6 route show table all", "nft list ruleset",
        ]
        let lines = try NetworkSpaces.run(words.map { "\(command) \($0)" }.joined(separator: "\n")).split(
            separator: "\n"
        )
        // The kernel adds these routes, and detects the link, a moment after the lab is made.
        let kept = lines.filter { line in !["fe80::", "ff00::"].contains { line.contains($0) } }
        return Set(kept.map { String($0).replacing(" linkdown", with: "") })
    }

    /// Returns the process ids of the engines that a process started.
    static func engines(of process: Int32) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(Int32.init).filter { child in
            // A process may end meanwhile.
            guard let words = try? String(contentsOfFile: "/proc/\(child)/cmdline", encoding: .utf8),  // see above
                words.split(separator: "\0").contains("tunnel-engine")
            else { return false }
            return (try? numbers("PPid", of: child)) == [Int(process)]  // see above
        }
    }

    /// Returns the numbers of a line of `/proc/PID/status`.
    static func numbers(_ name: String, of process: Int32) throws -> [Int] {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("\(name):") })
        return line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    }
}

/// A running `vpn connect`, ended with the last reference.
final class VPNConnection: Sendable {
    private let process: ChildProcess

    init(_ words: [String], data: String, wrapper: [String]) throws {
        let program = ChildProcess.products.appending(path: "runar").path(percentEncoded: false)
        let command = wrapper + [program] + words + ["--data", data]
        process = try ChildProcess(path: command[0], arguments: Array(command.dropFirst()))
    }

    deinit {
        process.send(SIGTERM)
        _ = process.waitUntilExit()
    }

    var id: Int32 { process.id }

    /// Waits for a state, and returns its report; throws if the process ends before.
    func wait(for state: String) throws -> [String: Any] {
        var last = ""
        while let line = process.nextLine() {
            last = line
            let report = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if let report, report["state"] as? String == state { return report }
        }
        throw Outcome.Unexpected(description: "the connection never was \(state): \(last)")
    }

    /// Waits for the end of the process, and returns its exit status.
    func waitUntilExit() -> Int32 { process.waitUntilExit() }
}
#endif
