internal import Foundation
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing

/// coturn, a STUN server and client that shares no code with this package.
enum Coturn {
    /// The reason why coturn cannot be asked, or an empty text; it is printed, so that no test is left out silently.
    static let missing: String = {
        let needed = ["turnserver", "turnutils_stunclient", "turnutils_natdiscovery", "timeout"]
        let tools = needed.filter { !isInstalled($0) }
        guard !tools.isEmpty else { return "" }
        let reason = "\(tools.joined(separator: ", ")) missing: install coturn"
        print("coturn is not asked: \(reason)")
        return reason
    }()

    private static func isInstalled(_ tool: String) -> Bool {
        do {
            return try ChildProcess(path: "/bin/sh", arguments: ["-c", "command -v \(tool)"]).nextLine() != nil
        } catch {
            return false
        }
    }

    /// Returns everything that one of its clients prints, for at most 30 seconds.
    ///
    /// A client would wait indefinitely for an answer that is lost.
    static func ask(_ tool: String, _ arguments: [String]) throws -> String {
        let client = try ChildProcess(path: "/usr/bin/env", arguments: ["timeout", "30", tool] + arguments)
        var lines: [String] = []
        while let line = client.nextLine() { lines.append(line) }
        _ = client.waitUntilExit()
        return lines.joined(separator: "\n")
    }
}

@Suite("STUN and coturn", .aside, .enabled(if: Coturn.missing.isEmpty, "\(Coturn.missing)"))
struct CoturnTests {
    /// Runs `body` with the ports of a turnserver.
    private func withServer(_ addresses: [String], _ body: (UInt16) throws -> Void) throws {
        let (port, other) = (QuietPort.next(), QuietPort.next())
        let home = try TemporaryDataDirectory()
        let files = (home.path + "-turn.db", home.path + "-turn.pid")
        defer {
            for file in [files.0, files.1] { try? FileManager.default.removeItem(atPath: file) }  // temporary anyway
        }
        let listen = addresses.flatMap { ["-L", $0.trimmingCharacters(in: ["[", "]"])] }
        let server = try ChildProcess(
            path: "/usr/bin/env",
            arguments: ["turnserver", "-n"] + listen + [
                "-p", "\(port)", "--alt-listening-port", "\(other)", "-S", "--no-tcp", "--no-tls", "--no-dtls",
                "--no-cli", "--userdb=\(files.0)", "--pidfile=\(files.1)", "--log-file=stdout", "--simple-log",
            ]
        )
        defer { _ = server.kill() }
        // A request is repeated until the server has begun.
        try body(port)
    }

    @Test func `coturn as a server tells us our address and kind`() throws {
        try withServer(["127.0.0.1", "127.0.0.2"]) { port in
            let outcome = try runar(["stun", "127.0.0.1:\(port)", "--classify", "--json"])
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(try outcome.text("publicAddress").hasPrefix("127.0.0.1:"))
            #expect(try outcome.text("mapping") == "notTranslated")
            #expect(try outcome.text("filtering") == "endpointIndependent")
        }
    }

    @Test func `coturn with one address leaves the filters unknown, over IPv6 too`() throws {
        try withServer(["[::1]"]) { port in
            let outcome = try runar(["stun", "[::1]:\(port)", "--classify", "--json"])
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(try outcome.text("publicAddress").hasPrefix("[::1]:"))
            #expect(try outcome.text("filtering") == "unknown")
        }
    }

    /// Our server on these addresses, and the ports that it got.
    private func server(_ places: [String]) throws -> (command: RunningCommand, ports: [String]) {
        let arguments = ["stun", "--serve", "--json"] + places.flatMap { ["--listen", $0] }
        let server = try RunningCommand(arguments, home: TemporaryDataDirectory())
        let addresses = try #require(try server.next("listening")["addresses"] as? [String])
        return (server, try addresses.map { String(try SocketAddress(parsing: $0).port) })
    }

    @Test func `coturn as a client learns its address from us`() throws {
        let server = try server(["127.0.0.1:0", "[::1]:0"])
        let (ipv4, ipv6) = (server.ports[0], server.ports[1])
        #expect(try Coturn.ask("turnutils_stunclient", ["-p", ipv4, "127.0.0.1"]).contains("addr: 127.0.0.1:"))
        #expect(try Coturn.ask("turnutils_stunclient", ["-p", ipv6, "::1"]).contains("addr: ::1:"))
    }

    @Test func `coturn as a client learns its kind from us`() throws {
        let server = try server(["127.0.0.1:0", "127.0.0.2:0"])
        let kind = try Coturn.ask("turnutils_natdiscovery", ["-m", "-f", "-p", server.ports[0], "127.0.0.1"])
        #expect(kind.contains("Other addr: : 127.0.0.2:"), "\(kind)")
        #expect(kind.contains("NAT with Endpoint Independent Mapping!"), "\(kind)")
        #expect(kind.contains("NAT with Endpoint Independent Filtering!"), "\(kind)")
    }
}
