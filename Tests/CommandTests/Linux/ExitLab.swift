#if os(Linux)
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
    static let otherLocation = "us-east-2"
    /// Both locations.
    static let region = "us-east"
    static let exitName = "exit.example"
    /// The issuer's name in challenges: the host of its address.
    static let issuerName = TunnelLab.Role.internet.address
    private static let issuerURL = "https://\(TunnelLab.Role.internet.address):8451"
    private static let directoryURL = "https://\(TunnelLab.Role.internet.address):8444"

    private static let holder = Locked<ExitLab?>(nil)

    /// The hosts.
    let lab: TunnelLab
    private let home: TemporaryDataDirectory
    /// The data of all processes.
    let directory: TemporaryDirectory
    private let issuer: RunningCommand
    private let gatewayWords: [String]
    private let running: Locked<RunningCommand>
    /// A second gateway, on the host of the Internet.
    private let other: RunningCommand?
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

    /// Starts an exit.
    ///
    /// - Parameters:
    ///   - gatewayOptions: Further words of the gateway's command.
    ///   - allowance: The tokens of the voucher in an epoch: each connection and each renewal of a lease uses one.
    ///   - hasOther: Whether there is a gateway at ``otherLocation`` too.
    /// - Throws: The error of the first command that failed.
    init(gatewayOptions: [String] = [], allowance: Int = 8, hasOther: Bool = false) throws {
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
        let options = ["--issuer-trust", roots] + gatewayOptions
        gatewayWords = Self.words(.gateway, Self.location, directory.file("gateway")) + options
        let gateway = try Self.serve(gatewayWords, lab, home)
        running = Locked(gateway)
        let otherWords = Self.words(.internet, Self.otherLocation, directory.file("other")) + options
        other = try hasOther ? Self.serve(otherWords, lab, home, on: .internet) : nil
        var (trust, list) = (own, ["--roster", directory.file("roster.json")])
        var keys: [String] = []
        for (role, gateway, data) in [(.gateway, gateway, "gateway"), (TunnelLab.Role.internet, other, "other")] {
            guard let gateway else { continue }
            keys += ["--key", try #require(try gateway.next("ready")["key"] as? String)]
            list += ["--gateway", Self.url(of: role)]
            let pem = String(decoding: try directory.bytes("\(data)/gateway.tls.pem"), as: UTF8.self)
            trust += CertificateText.encode(try ServerCertificate(pem: pem).certificateDER)
        }
        let roster = try home.answer(
            [
                "gateway", "roster", "--operator-key", directory.file("operator.key"), "--exit-name", Self.exitName,
                "--issuer", Self.issuerURL, "--to", directory.file("roster.json"),
            ] + keys
        )
        operatorKey = try roster.text("operatorKey")
        let trusted = ["--trust", try directory.write(Array(trust.utf8), to: "trust.pem")]
        self.list = try RunningCommand(
            ["gateway", "directory", "--port", "8444"] + list + trusted + server,
            home: home,
            wrapper: lab.wrapper(.internet)
        )
        _ = try self.list.next("ready")
        voucher = try Self.voucher(allowance, of: directory, home)
        pages = try Self.webServer(lab)
        clientNetwork = try Self.network(lab, .client)
    }

    private static func url(of role: TunnelLab.Role) -> String { "https://\(role.address):8443" }

    /// The words that start a gateway.
    private static func words(_ role: TunnelLab.Role, _ location: String, _ data: String) -> [String] {
        [
            "gateway", "serve", "--data", data, "--public-url", url(of: role), "--listen-address", role.address,
            "--port", "8443", "--issuer", issuerURL, "--exit-name", exitName, "--location-id", location,
            "--location-name", "New York", "--country", "US", "--latitude", "40.7", "--longitude", "-74",
            "--endpoint", "\(role.address):51820", "--uplink", "eth0", "--json",
        ]
    }

    private static func serve(
        _ words: [String],
        _ lab: TunnelLab,
        _ home: TemporaryDataDirectory,
        on role: TunnelLab.Role = .gateway
    ) throws -> RunningCommand {
        try RunningCommand(words, home: home, wrapper: lab.wrapper(role))
    }

    /// The gateway's process.
    var gateway: RunningCommand { running.withLock { $0 } }

    /// Starts the gateway again after its end.
    func restartGateway() throws {
        let next = try Self.serve(gatewayWords, lab, home)
        _ = try next.next("ready")
        running.withLock { $0 = next }
    }

    /// Makes a voucher for `allowance` tokens in an epoch, and returns the path of its file.
    private static func voucher(
        _ allowance: Int,
        of directory: TemporaryDirectory,
        _ home: TemporaryDataDirectory
    ) throws -> String {
        let vouchers = try home.answer([
            "issuer", "voucher", "--data", directory.file("issuer"), "--allowance", "\(allowance)",
        ])
        let text = try #require((try vouchers.json["vouchers"] as? [String])?.first)
        return try directory.write(Array(text.utf8), to: "voucher")
    }

    deinit {
        connection.withLock { $0 = nil }
        _ = pages.kill()
    }

    // MARK: Connections

    /// Returns the client's connection, and opens one if none is open.
    func connected(to location: String = ExitLab.location) throws -> VPNConnection {
        if let present = connection.withLock({ $0 }) { return present }
        let made = try VPNConnection(connecting(location), data: data, wrapper: lab.wrapper(.client))
        _ = try made.wait(for: "connected")
        connection.withLock { $0 = made }
        return made
    }

    /// Forgets a connection that has ended.
    func forgetConnection() { connection.withLock { $0 = nil } }

    /// Ends the client's connection, if one is open, so that the next one has an interface of its own.
    func disconnect() throws {
        guard let present = connection.withLock({ $0 }) else { return }
        guard try vpn("disconnect").status == 0, present.waitUntilExit() == 0 else {
            throw Outcome.Unexpected(description: "the connection did not end")
        }
        forgetConnection()
    }

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
    struct Refusal {
        let code: String
        let status: Int32
        /// Whether the exit and its operator's key were stored.
        let isExitStored: Bool
    }

    /// Connects with a new wallet, which must fail.
    func refusal(connectingTo location: String, operatorKey: String? = nil) throws -> Refusal {
        let data = directory.file("vpn-\(UUID().uuidString.prefix(8))")
        let words = connecting(location, operatorKey: operatorKey) + ["--data", data]
        let outcome = try RunningCommand(words, home: home, wrapper: lab.wrapper(.client)).outcome()
        let isExitStored = FileManager.default.fileExists(atPath: "\(data)/exit.json")
        return try refusal(of: outcome, isExitStored: isExitStored)
    }

    /// Starts a gateway with another uplink, which must fail.
    func refusal(ofUplink uplink: String) throws -> Refusal {
        let words = Self.words(.gateway, Self.location, directory.file("elsewhere")) + ["--uplink", uplink]
        return try refusal(of: Self.serve(words, lab, home).outcome(), isExitStored: false)
    }

    private func refusal(of outcome: Outcome, isExitStored: Bool) throws -> Refusal {
        // The states precede the error.
        let last = Data((outcome.output.split(separator: "\n").last ?? "").utf8)
        let object = try #require(try JSONSerialization.jsonObject(with: last) as? [String: Any])
        let error = try #require(object["error"] as? [String: Any], "\(outcome.output)")
        let code = try #require(error["code"] as? String)
        return Refusal(code: code, status: outcome.status, isExitStored: isExitStored)
    }

    /// Runs another command of the client.
    func vpn(_ word: String) throws -> Outcome { try home.runar(["vpn", word, "--data", data, "--json"]) }

    /// Makes the gateway refuse further clients, and end with its last lease.
    func drain() throws { _ = try home.answer(["gateway", "drain", "--data", directory.file("gateway")]) }

    /// Returns the clients that the gateway lists.
    func clients() throws -> [[String: Any]] {
        let outcome = try home.answer(["gateway", "peers", "--data", directory.file("gateway")])
        return try #require(try outcome.json["clients"] as? [[String: Any]])
    }

    // MARK: The system

    /// Runs `body` with another MTU of the link between a host and the router, at both ends.
    func withMTU<Success>(_ mtu: Int, ofLinkOf role: TunnelLab.Role, _ body: () throws -> Success) throws -> Success {
        try setMTU(mtu, ofLinkOf: role)
        let result = Result(catching: body)
        try setMTU(1_500, ofLinkOf: role)
        return try result.get()
    }

    private func setMTU(_ mtu: Int, ofLinkOf role: TunnelLab.Role) throws {
        let (host, router) = (lab.spaces.space(role.rawValue), lab.spaces.space(TunnelLab.Role.router.rawValue))
        try NetworkSpaces.run(
            """
            ip -n \(host) link set eth0 mtu \(mtu)
            ip -n \(router) link set r\(role.rawValue.prefix(1)) mtu \(mtu)
            """
        )
    }

    /// The MTU of the client's tunnel.
    func tunnelMTU() throws -> Int? {
        let command = lab.wrapper(.client).joined(separator: " ")
        return Int(
            try NetworkSpaces.run("\(command) cat /sys/class/net/runar-vpn/mtu").trimmingCharacters(in: .newlines)
        )
    }

    /// Waits until the client's tunnel has an MTU; the client reads the path each second.
    func hasMTU(_ mtu: Int) throws -> Bool {
        let file = "/sys/class/net/runar-vpn/mtu"
        let loop = "until test $(cat \(file)) -eq \(mtu); do sleep 0.1; done"
        let command = lab.wrapper(.client).joined(separator: " ")
        _ = try NetworkSpaces.run("\(command) timeout 30 sh -c '\(loop)' || true")
        return try tunnelMTU() == mtu
    }

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

    /// Whether a process has not ended; its parent may still have to read its exit status.
    static func isRunning(_ process: Int32) -> Bool {
        // nil: the number is free.
        guard let words = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8) else {  // see above
            return false
        }
        return !words.isEmpty
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
