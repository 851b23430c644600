internal import Certificates
internal import Concurrency
internal import Console
internal import Foundation
internal import HTTPAPI
internal import Identity
internal import Logging
internal import TestSupport
internal import Testing

/// The server for other devices of the local network, over sockets, by an independent client.
@Suite(
    "The console over the local network",
    .timeLimit(.minutes(15)),
    .enabled(if: NetworkVisitor.missing.isEmpty, Comment(rawValue: NetworkVisitor.missing))
)
struct NetworkTests {
    private static let routes = [
        Route(.get, "/api/v1/place") { request in
            .json(Array("{\"isFromThisMachine\":\(request.origin != .network)}".utf8))
        },
        Route(.get, "/api/v1/waiting") { _ in
            .lines { lines in
                await lines.write(Array("{}".utf8))
                let (never, hold) = AsyncStream.makeStream(of: Void.self)
                for await _ in never {}
                withExtendedLifetime(hold) {}
            }
        },
    ]

    private static func head(_ path: String, _ host: String) -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer \(secretOfTests)\r\n\r\n".utf8)
    }

    @Test func `a client with the token is served over TLS and not treated as local`() async throws {
        try await withNetworkConsole(routes: Self.routes) { port in
            let visitor = try NetworkVisitor(port, token: secretOfTests)
            let host = ["Host", visitor.authority]
            let page = try await visitor.fetch(.init("GET", "/", [host]))
            #expect(page.status == 200)
            #expect(page.headers["content-security-policy"]?.contains("default-src 'none'") == true)
            let answer = try await visitor.fetch(
                .init("GET", "/api/v1/place", [host, ["Authorization", "Bearer \(secretOfTests)"]])
            )
            #expect(answer.status == 200)
            #expect(answer.body == "{\"isFromThisMachine\":false}")
            #expect(try await visitor.fetch(.init("GET", "/api/v1/place", [host])).status == 401)
            #expect(try await NetworkVisitor(port, token: "x").status("/api/v1/place") == 401)
        }
        try await withConsole(routes: Self.routes) { port in
            let fields = [["Host", "localhost:\(port)"], ["Authorization", "Bearer \(secretOfTests)"]]
            let answers = try await ConsoleVisitor.fetch(port, [.init("GET", "/api/v1/place", fields)])
            #expect(answers.map(\.body) == ["{\"isFromThisMachine\":true}"])
        }
    }

    @Test func `TLS 1.3 is spoken, and neither TLS 1.2 nor plain HTTP`() async throws {
        try await withNetworkConsole(routes: Self.routes) { port in
            let visitor = try NetworkVisitor(port, token: secretOfTests)
            #expect(try await visitor.spoken("1.3") == "TLSv1.3")
            #expect(try await visitor.spoken("1.2") == nil)
            let answer = try await visitor.raw(Self.head("/api/v1/place", visitor.authority))
            #expect(!answer.contains("HTTP/"))
            #expect(!answer.contains("isFromThisMachine"))
            #expect(try await visitor.status("/api/v1/place") == 200)
        }
    }

    @Test func `the server accepts only the connection's own address as its host name`() async throws {
        try await withNetworkConsole(routes: Self.routes) { port in
            let visitor = try NetworkVisitor(port, token: secretOfTests)
            let foreign = [
                "localhost:\(port)", "evil.example:\(port)", "127.0.0.2:\(port)", "127.0.0.1", "127.0.0.1:443",
                "127.0.0.1.evil.example:\(port)", "[::ffff:127.0.0.1]:\(port)", "[::1]:\(port)", "0.0.0.0:\(port)",
                "0x7f000001:\(port)", "2130706433:\(port)", "",
            ]
            for host in foreign {
                #expect(try await visitor.status("/api/v1/place", host: host) == 421, "\(host)")
                #expect(try await visitor.status("/", host: host) == 421, "\(host)")
            }
            let origin = { (text: String) in [["Origin", text]] }
            for other in ["http://127.0.0.1:\(port)", "https://127.0.0.1", "https://evil.example", "null"] {
                #expect(try await visitor.status("/api/v1/place", more: origin(other)) == 403, "\(other)")
            }
            #expect(try await visitor.status("/api/v1/place", more: origin("https://\(visitor.authority)")) == 200)
            #expect(try await visitor.status("/api/v1/place", more: [["Sec-Fetch-Site", "same-site"]]) == 403)
        }
    }

    @Test(arguments: [
        (["127.0.0.1", "192.168.1.5", "::1"], "0.0.0.0"), (["127.0.0.1"], "0.0.0.0"), ([], "0.0.0.0"),
        (["127.0.0.1", "::1", "fe80::5"], "::"), (["2001:db8::5"], "::"),
    ])
    func `a server listens on IPv6 only where that goes beyond the loopback interface`(
        addresses: [String],
        host: String
    ) throws {
        #expect(ThisMachine.wildcard(for: addresses.compactMap { IPAddress($0) }) == host)
    }

    @Test(.enabled(if: ThisMachine.wildcard(for: ThisMachine.addresses()) == "::", "this machine has no IPv6"))
    func `the server is reachable over IPv6 under every spelling of its address`() async throws {
        try await withNetworkConsole(routes: Self.routes) { port in
            let visitor = try NetworkVisitor(port, at: "::1", token: secretOfTests)
            for host in ["[::1]:\(port)", "[0:0:0:0:0:0:0:1]:\(port)", "[::0.0.0.1]:\(port)"] {
                #expect(try await visitor.status("/api/v1/place", host: host) == 200, "\(host)")
            }
            for host in ["127.0.0.1:\(port)", "::1:\(port)", "[::2]:\(port)", "[::1%1]:\(port)"] {
                #expect(try await visitor.status("/api/v1/place", host: host) == 421, "\(host)")
            }
        }
    }

    @Test func `a client that is not near is disconnected before any TLS byte`() async throws {
        let asked = Locked<[IPAddress]>([])
        let change = { @Sendable (configuration: inout Console.Configuration) in
            configuration.isNear = { peer in
                asked.withLock { $0.append(peer) }
                return false
            }
        }
        try await withNetworkConsole(routes: Self.routes, change) { port in
            let visitor = try NetworkVisitor(port, token: secretOfTests)
            // The beginning of a handshake, which a server of TLS would answer with an alert.
            #expect(try await visitor.raw([0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x00]).isEmpty)
            #expect(try await visitor.spoken("1.3") == nil)
        }
        #expect(Set(asked.withLock { $0 }.map(\.unmapped)) == [IPAddress("127.0.0.1")])
        #expect(asked.withLock { $0 }.count == 2)
    }

    @Test func `a handshake that does not end is closed, and others are served`() async throws {
        try await withNetworkConsole(routes: Self.routes, { $0.patience = .seconds(10) }) { port in
            let visitor = try NetworkVisitor(port, token: secretOfTests)
            let beginnings: [[UInt8]] = [[], [0x16], [0x16, 0x03, 0x01, 0x02, 0x00, 0x01]]
            // As many as the server accepts concurrently.
            for number in 0..<64 { try await visitor.hold(beginnings[number % beginnings.count], "plain") }
            for _ in 0..<64 { #expect(try await visitor.end().isEmpty) }
            #expect(try await visitor.status("/api/v1/place") == 200)
        }
    }

    @Test func `no client bytes in place of a handshake stop the server`() async throws {
        var random = SplitMix64(seed: 11)
        let messages = (0..<60).map { number -> [UInt8] in
            var bytes = (0..<Int(random.next() % 300)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if number % 2 == 0 { bytes = [0x16, 0x03, 0x01, 0x00, UInt8(min(bytes.count, 255)), 0x01] + bytes }
            return bytes
        }
        try await withNetworkConsole(routes: Self.routes, { $0.patience = .seconds(10) }) { port in
            let visitor = try NetworkVisitor(port, token: secretOfTests)
            // At the same time: the server cuts an incomplete handshake off after its patience.
            for message in messages { try await visitor.hold(message, "plain") }
            for _ in messages { #expect(try await visitor.end().contains("HTTP/") == false) }
            #expect(try await visitor.status("/api/v1/place") == 200)
        }
    }

    @Test func `a client that does not read its response is disconnected`() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let flood = Route(.get, "/api/v1/flood") { _ in
            .lines { lines in
                let line = [UInt8](repeating: UInt8(ascii: "1"), count: 100_000)
                while await lines.write(line) {}
                end.yield()
            }
        }
        try await withNetworkConsole(routes: [flood], { $0.patience = .seconds(10) }) { port in
            let visitor = try NetworkVisitor(port, token: secretOfTests)
            try await visitor.hold(Self.head("/api/v1/flood", visitor.authority), "mute")
            for await _ in ends { break }
            withExtendedLifetime(visitor) {}
        }
    }

    @Test func `signing out everywhere on this machine also ends responses over the network`() async throws {
        let sessions = ConsoleSessions(key: secretOfTests)
        try await withNetworkConsole(sessions: sessions, routes: Self.routes, { $0.patience = .seconds(10) }) { port in
            let visitor = try NetworkVisitor(port, token: secretOfTests)
            try await visitor.hold(Self.head("/api/v1/waiting", visitor.authority), "tls")
            try await withConsole(sessions: sessions, { $0.replaceKey = { "another key" } }) { own in
                let fields = [["Host", "localhost:\(own)"], ["Authorization", "Bearer \(secretOfTests)"]]
                let answers = try await ConsoleVisitor.fetch(own, [.init("DELETE", "/api/v1/session/all", fields)])
                #expect(answers.map(\.status) == [200])
            }
            // The first byte is read before.
            #expect(try await visitor.end().hasPrefix("TTP/1.1 200"))
            #expect(try await visitor.status("/api/v1/place") == 401)
        }
    }

    @Test func `a server that ends closes its port and every connection`() async throws {
        let left = Locked<NetworkVisitor?>(nil)
        try await withNetworkConsole(routes: Self.routes) { port in
            let visitor = try NetworkVisitor(port, token: secretOfTests)
            try await visitor.hold(Self.head("/api/v1/waiting", visitor.authority), "tls")
            left.withLock { $0 = visitor }
        }
        let visitor = try #require(left.withLock { $0 })
        #expect(try await visitor.end().hasPrefix("TTP/1.1 200"))
        #expect(try await visitor.spoken("1.3") == nil)
    }

    @Test func `a secret is exchanged for a token over the network once, and the log has neither`() async throws {
        let (log, sessions) = (CollectedLog(), ConsoleSessions(key: secretOfTests))
        let secret = sessions.makeSecret()
        let change = { @Sendable (configuration: inout Console.Configuration) in configuration.logger = log.logger }
        let tokens = Locked<[String]>([])
        try await withNetworkConsole(sessions: sessions, change) { port in
            let visitor = try NetworkVisitor(port, token: secretOfTests)
            let fields = [["Host", visitor.authority], ["Content-Type", "application/json"]]
            let exchange = ConsoleVisitor.Request(
                "POST",
                "/api/v1/session",
                fields,
                body: "{\"secret\":\"\(secret)\"}"
            )
            let first = try await visitor.fetch(exchange)
            #expect(first.status == 200)
            #expect(try await visitor.fetch(exchange).status == 401)
            struct Session: Decodable { let token: String }
            let token = try JSONDecoder().decode(Session.self, from: Data(first.body.utf8)).token
            #expect(try await NetworkVisitor(port, token: token).status("/metrics") == 200)
            tokens.withLock { $0 = [token] }
            _ = try await visitor.raw(Array("no record of TLS".utf8))
        }
        let text = log.text
        for hidden in tokens.withLock({ $0 }) + [secret, secretOfTests] { #expect(!text.contains(hidden)) }
    }
}

/// Everything that is logged, at every level.
final class CollectedLog: Sendable {
    private struct Handler: LogHandler {
        let lines: Locked<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = "\(event.message) \(event.metadata ?? [:]) \(metadata)"
            lines.withLock { $0.append(line) }
        }
    }

    private let lines = Locked<[String]>([])

    var logger: Logger { Logger(label: "test") { [lines] _ in Handler(lines: lines) } }
    var text: String { lines.withLock { $0 }.joined(separator: "\n") }
}
