internal import Certificates
internal import Concurrency
internal import Foundation
internal import HTTPAPI
internal import Identity
internal import Logging
internal import TestSupport
internal import Testing

/// Over sockets, by an independent client.
@Suite(
    "A server of routes",
    .timeLimit(.minutes(15)),
    .enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing))
)
struct ServerTests {
    private let events = Locked<[String]>([])

    private static func head(_ method: String, _ path: String, _ more: String = "") -> [UInt8] {
        Array("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(more)\r\n".utf8)
    }

    private static func makeCertificate() throws -> ServerCertificate {
        var random = SystemRandomNumberGenerator()
        return try ServerCertificate.make(addresses: [], hostName: nil, at: 1_800_000_000, using: &random)
    }

    @Test func `header fields reach the route, and those of the answer the client`() async throws {
        let echo = Route(.get, "/echo") { request in
            let texts = request.fields.values(of: "x-asked") + [request.fields["Content-Type"] ?? "none"]
            var answer = RouteAnswer.text(texts.joined(separator: "|"))
            do throws(HeaderFieldError) {
                answer = try answer.adding("X-Given", request.query["give"] ?? "").adding("Cache-Control", "no-cache")
            } catch {
                return .failure(RouteFailure(400, "bad-field", "\(error)"))
            }
            return answer
        }
        let change = { (configuration: inout HTTPServer.Configuration) in
            try configuration.fields.append("Cache-Control", "no-store")
            try configuration.fields.append("X-Content-Type-Options", "nosniff")
        }
        try await withServer([echo], change) { port in
            let answers = try await ConsoleVisitor.fetch(
                port,
                [
                    ("GET", "/echo?give=it%20is", [["X-Asked", "1"], ["x-asked", "2"]]),
                    ("GET", "/echo?give=a%0D%0ASet-Cookie:%20b", []),
                    ("GET", "/nothing", []),
                ]
            )
            #expect(answers.map(\.status) == [200, 400, 404])
            #expect(answers[0].body == "1|2|none" && answers[0].headers["x-given"] == "it is")
            #expect(answers[0].headers["cache-control"] == "no-cache")
            #expect(answers[2].headers["cache-control"] == "no-store")
            #expect(answers.allSatisfy { $0.headers["x-content-type-options"] == "nosniff" })
            #expect(answers.allSatisfy { $0.headers["set-cookie"] == nil })
            let many = (0..<80).map { "X-\($0): a\r\n" }.joined()
            let long = "X-Long: \(String(repeating: "a", count: 20_000))\r\n"
            let refusals = try await ConsoleVisitor.send(port, [many, long].map { Self.head("GET", "/echo", $0) })
            #expect(refusals.allSatisfy { !$0.contains(" 200 ") })
        }
    }

    @Test func `a path needs no prefix, and one without a route is answered as configured`() async throws {
        let routes = [
            Route(.get, "/") { _ in .text("root") },
            Route(.get, "/.well-known/{name}") { .text($0["name"]) },
        ]
        try await withServer(routes) { port in
            let answers = try await ConsoleVisitor.fetch(
                port,
                [("GET", "/", []), ("GET", "/.well-known/a%20b", []), ("GET", "/api/a", []), ("GET", "/a", [])]
            )
            #expect(answers.map(\.status) == [200, 200, 404, 404])
            #expect(answers[0].body == "root" && answers[1].body == "a b" && answers[2].body == answers[3].body)
        }
        try await withServer(routes, { $0.fallback = { .text("\($0.method) \($0.path)") } }) { port in
            let answers = try await ConsoleVisitor.fetch(port, [("PUT", "/a//b?c", []), ("PUT", "/", [])])
            #expect(answers.map(\.status) == [200, 405] && answers[0].body == "PUT /a//b")
        }
    }

    @Test(.enabled(if: NetworkVisitor.missing.isEmpty, Comment(rawValue: NetworkVisitor.missing)))
    func `TLS depends on the certificate, not on the address`() async throws {
        let certificate = try Self.makeCertificate()
        let place = Route(.get, "/place") { .text($0.origin == .network ? "network" : "here") }
        try await withServer([place], { $0.certificate = certificate.chain }) { port in
            let visitor = try NetworkVisitor(port, token: "")
            #expect(try await visitor.fetch(.init("GET", "/place", [])).body == "here")
            #expect(try await visitor.spoken("1.2") == nil)
            let plain = try await visitor.raw(Self.head("GET", "/place"))
            #expect(!plain.contains("HTTP/"))
        }
        try await withServer([place], { $0.address = .network(host: "0.0.0.0", port: 0) }) { port in
            let answers = try await ConsoleVisitor.fetch(port, [("GET", "/place", [])])
            #expect(answers.map(\.body) == ["network"])
        }
    }

    @Test func `a client at an address that is not admitted is disconnected without TLS as well`() async throws {
        let asked = Locked<[IPAddress]>([])
        let change = { (configuration: inout HTTPServer.Configuration) in
            configuration.admits = { peer in
                asked.withLock { $0.append(peer) }
                return false
            }
        }
        try await withServer([Route(.get, "/a") { _ in .text("a") }], change) { port in
            let answers = try await ConsoleVisitor.exchange(port, [Self.head("GET", "/a")])
            #expect(answers == [""])
        }
        let found = asked.withLock { $0.map(\.unmapped) }
        #expect(found == [IPAddress("127.0.0.1")])
    }

    @Test func `a server stops while clients keep connecting, and serves again at its port`() async throws {
        let route = Route(.get, "/a") { _ in .text("a") }
        let port = QuietPort.next()
        let taken = try await ConsoleVisitor.storm(port) { storm in
            for _ in 1...20 {
                try await Self.serveAgain(at: port, [route]) { port in
                    try await storm.waitForConnections(32)
                    let answers = try await ConsoleVisitor.fetch(port, [("GET", "/a", []), ("GET", "/a", [])])
                    #expect(answers.map(\.body) == ["a", "a"])
                }
            }
        }
        #expect(taken > 100)
    }

    /// Serves on a port that was just in use, of which another program may have a copy until it runs.
    private static func serveAgain(
        at port: UInt16,
        _ routes: [Route],
        _ body: @Sendable @escaping (UInt16) async throws -> Void
    ) async throws {
        while true {
            do {
                return try await withServer(routes, { $0.address = .thisMachine(port: port) }, body)
            } catch HTTPServerError.cannotListen {
                await Task.yield()
            }
        }
    }

    @Test func `a connection above the limit is accepted when another one ends`() async throws {
        let events = events
        let route = Route(.get, "/{name}") { request in
            events.withLock { $0.append(request["name"]) }
            return .text("")
        }
        let change = { (configuration: inout HTTPServer.Configuration) in
            configuration.limits.connectionCount = 1
            configuration.admits = { _ in
                events.withLock { $0.append("accepted") }
                return true
            }
        }
        try await withServer([route], change) { port in
            let (first, second) = (try ConsoleVisitor.Connections(port), try ConsoleVisitor.Connections(port))
            let close = "Connection: close\r\n"
            try await first.hold(Array("GET /one HTTP/1.1\r\nHost: localhost\r\n\(close)".utf8))
            try await second.hold(Self.head("GET", "/two", close))
            try await first.add(Array("\r\n".utf8))
            #expect(try await second.end()?.contains(" 200 ") == true)
            #expect(try await first.end()?.contains(" 200 ") == true)
        }
        #expect(events.withLock { $0 } == ["accepted", "one", "accepted", "two"])
    }

    @Test func `connections that arrive together do not exceed the limit`() async throws {
        let (accepted, end) = (Locked(0), DispatchSemaphore(value: 0))
        let change = { (configuration: inout HTTPServer.Configuration) in
            configuration.limits.connectionCount = 3
            // None of them ends.
            configuration.limits.patience = .seconds(600)
            configuration.admits = { _ in
                let number = accepted.withLock { count in
                    count += 1
                    return count
                }
                // The first two hold both event loops, one of which accepts.
                if number <= 2 { end.wait() }
                return true
            }
        }
        try await withServer([Route(.get, "/a") { _ in .text("a") }], change) { port in
            let held: ConsoleVisitor.Connections
            do {
                defer { for _ in 0..<2 { end.signal() } }
                held = try ConsoleVisitor.Connections(port)
                for _ in 0..<5 { try await held.hold(Array("GET".utf8)) }
            }
            while accepted.withLock({ $0 }) < 3 { await Task.yield() }
            // Answered by the event loops after they have accepted all that they accept at once.
            try await withServer([Route(.get, "/b") { _ in .text("b") }]) { other in
                let answers = try await ConsoleVisitor.fetch(other, Array(repeating: ("GET", "/b", []), count: 4))
                #expect(answers.allSatisfy { $0.body == "b" })
            }
            #expect(accepted.withLock { $0 } == 3)
            withExtendedLifetime(held) {}
        }
    }

    @Test func `a right that ends while the body arrives runs no route and leaves no file`() async throws {
        let (events, isOpen, prefixes) = (events, Locked(true), Locked<[String]>([]))
        let route = Route(.put, "/file", body: .file(limit: 100)) { _ in
            events.withLock { $0.append("run") }
            return .text("")
        }
        let change = { (configuration: inout HTTPServer.Configuration) in
            configuration.authorize = { head in
                // Read first: the test ends the right as soon as it sees the event.
                let isAllowed = isOpen.withLock { $0 }
                events.withLock { $0.append("\(head.method) \(head.template ?? "") \(head.fields["X-Name"] ?? "")") }
                return isAllowed ? nil : .failure(RouteFailure(403, "no-right", "the right has ended"))
            }
            let prefix = configuration.uploadPrefix
            prefixes.withLock { $0 = [prefix] }
        }
        try await withServer([route], change) { port in
            let visitor = try ConsoleVisitor.Connections(port)
            let more = "X-Name: a\r\nContent-Length: 2\r\nConnection: close\r\n"
            try await visitor.hold(Self.head("PUT", "/file", more) + Array("a".utf8))
            // The server has checked the held request once.
            while events.withLock({ !$0.contains("PUT /file a") }) {
                _ = try await ConsoleVisitor.fetch(port, [("GET", "/", [])])
            }
            isOpen.withLock { $0 = false }
            try await visitor.add(Array("b".utf8))
            #expect(try await visitor.end()?.contains(" 403 ") == true)
        }
        let found = events.withLock { $0 }
        #expect(found.filter { $0 == "PUT /file a" }.count == 2 && !found.contains("run"))
        let folder = FileManager.default.temporaryDirectory
        let name = URL(filePath: try #require(prefixes.withLock { $0.first })).lastPathComponent
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(name) }
        #expect(left == [])
    }

    @Test func `a server that stops sends the answer in progress to its end`() async throws {
        let (begun, mayEnd) = (Promise<Void>(), Promise<Void>())
        let byteCount = 8 << 20
        let route = Route(.get, "/large") { _ in
            begun.fulfil(())
            await mayEnd.waitIgnoringCancellation()
            return .text(String(repeating: "a", count: byteCount))
        }
        let port = Promise<UInt16>()
        let answers = Task {
            try await ConsoleVisitor.fetch(port.waitIgnoringCancellation(), [("GET", "/large", [])])
        }
        try await withServer([route], { $0.limits.drain = .seconds(60) }) { number in
            port.fulfil(number)
            await begun.waitIgnoringCancellation()
            mayEnd.fulfil(())
        }
        let answer = try #require(try await answers.value.first)
        #expect(answer.status == 200 && answer.length == byteCount)
    }

    @Test func `a taken port is reported`() async throws {
        try await withServer([]) { port in
            await #expect(throws: HTTPServerError.self) {
                try await withServer([], { $0.address = .thisMachine(port: port) }) { _ in
                    Issue.record("it is served twice")
                }
            }
        }
    }
}
