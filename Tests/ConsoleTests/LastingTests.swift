internal import Certificates
internal import Concurrency
internal import Console
internal import HTTPAPI
internal import Logging
internal import TestSupport
internal import Testing

/// Long-lasting exchanges: answers in lines, and clients that take their time.
@Suite(
    "Lasting answers and slow clients",
    .timeLimit(.minutes(15)),
    .enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing))
)
struct LastingTests {
    private let ends: AsyncStream<String>
    private let end: AsyncStream<String>.Continuation

    init() { (ends, end) = AsyncStream.makeStream(of: String.self) }

    private var routes: [Route] {
        [
            Route(.get, "/api/v1/three") { _ in
                .lines { lines in for number in 1...3 { await lines.write(Array("{\"n\":\(number)}".utf8)) } }
            },
            Route(.get, "/api/v1/waiting") { [end] _ in
                .lines { lines in
                    await lines.write(Array("{}".utf8))
                    let (never, hold) = AsyncStream.makeStream(of: Void.self)
                    for await _ in never {}
                    withExtendedLifetime(hold) {}
                    end.yield("waiting")
                }
            },
            Route(.get, "/api/v1/flood") { [end] _ in
                .lines { lines in
                    let line = [UInt8](repeating: UInt8(ascii: "1"), count: 100_000)
                    while await lines.write(line) {}
                    end.yield("flood")
                }
            },
            Route(.get, "/api/v1/answer", endsWithClient: true) { [end] _ in
                end.yield("begun")
                try? await suspendUntilCancelled()  // it ends with the cancellation
                end.yield("answer")
                return .json(Array("{}".utf8))
            },
            Route(.post, "/api/v1/body", body: .json()) { _ in .json(Array("{}".utf8)) },
        ]
    }

    private static func head(_ method: String, _ path: String, _ port: UInt16, _ more: String = "") -> [UInt8] {
        Array(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost:\(port)\r\nAuthorization: Bearer \(secretOfTests)\r\n\(more)\r\n"
                .utf8
        )
    }

    @Test func `lines arrive one by one until the response ends`() async throws {
        try await withConsole(routes: routes) { port in
            let fields = [["Host", "localhost:\(port)"], ["Authorization", "Bearer \(secretOfTests)"]]
            let answers = try await ConsoleVisitor.fetch(port, [.init("GET", "/api/v1/three", fields)])
            #expect(answers.map(\.body) == ["{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n"])
            #expect(answers.first?.headers["content-type"] == "application/x-ndjson")
        }
    }

    @Test func `the response to a request that ends the server arrives`() async throws {
        for _ in 0..<5 {
            let (ended, asking) = (Promise<Void>(), Locked<Task<[ConsoleVisitor.Answer], any Error>?>(nil))
            let route = Route(.get, "/api/v1/end") { _ in .last(Array("{}".utf8)) { ended.fulfil(()) } }
            try await withConsole(routes: [route]) { port in
                let fields = [["Host", "localhost:\(port)"], ["Authorization", "Bearer \(secretOfTests)"]]
                let task = Task { try await ConsoleVisitor.fetch(port, [.init("GET", "/api/v1/end", fields)]) }
                asking.withLock { $0 = task }
                await ended.waitIgnoringCancellation()
            }
            let task = try #require(asking.withLock { $0 })
            #expect(try await task.value.map(\.body) == ["{}"])
        }
    }

    @Test func `a client that disconnects ends its request`() async throws {
        let ends = ends
        try await withConsole(routes: routes) { port in
            let visitor = try ConsoleVisitor.Connections(port)
            #expect(try await visitor.readLine(after: Self.head("GET", "/api/v1/waiting", port)) == "{}")
            for await name in ends {
                #expect(name == "waiting")
                break
            }
            withExtendedLifetime(visitor) {}
        }
    }

    @Test func `a client that disconnects cancels an answer that ends with it`() async throws {
        let ends = ends
        try await withConsole(routes: routes) { port in
            var visitor: ConsoleVisitor.Connections? = try ConsoleVisitor.Connections(port)
            try await visitor?.hold(Self.head("GET", "/api/v1/answer", port))
            var names = ends.makeAsyncIterator()
            #expect(await names.next() == "begun")
            visitor = nil
            #expect(await names.next() == "answer")
        }
    }

    @Test func `signing out everywhere ends open responses and revokes the earlier tokens`() async throws {
        let (ends, sessions) = (ends, ConsoleSessions(key: secretOfTests))
        let token = sessions.makeSession().token
        let change = { (configuration: inout Console.Configuration) in
            configuration.replaceKey = { "another key" }
            configuration.patience = .seconds(10)
        }
        try await withConsole(sessions: sessions, routes: routes, change) { port in
            let visitor = try ConsoleVisitor.Connections(port)
            try await visitor.hold(Self.head("GET", "/api/v1/waiting", port))
            try await visitor.waitForLine()
            let host = ["Host", "localhost:\(port)"]
            let answers = try await ConsoleVisitor.fetch(
                port,
                [
                    .init("DELETE", "/api/v1/session/all", [host, ["Authorization", "Bearer \(token)"]]),
                    .init("GET", "/api/v1/three", [host, ["Authorization", "Bearer \(token)"]]),
                    .init("GET", "/api/v1/three", [host, ["Authorization", "Bearer \(secretOfTests)"]]),
                    .init("GET", "/api/v1/three", [host, ["Authorization", "Bearer another key"]]),
                ]
            )
            #expect(answers.map(\.status) == [200, 401, 401, 200])
            for await name in ends {
                #expect(name == "waiting")
                break
            }
            #expect(try await visitor.end()?.hasPrefix("HTTP/1.1 200") == true)
        }
    }

    @Test func `a request that is incomplete at a global sign-out is refused`() async throws {
        let deeds = Locked(0)
        let deed = Route(.post, "/api/v1/deed", body: .json()) { _ in
            deeds.withLock { $0 += 1 }
            return .json(Array("{}".utf8))
        }
        try await withConsole(routes: routes + [deed], { $0.replaceKey = { "another key" } }) { port in
            let visitor = try ConsoleVisitor.Connections(port)
            let json = "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n"
            try await visitor.hold(Self.head("POST", "/api/v1/deed", port, json) + Array("{".utf8))
            let fields = [["Host", "localhost:\(port)"], ["Authorization", "Bearer \(secretOfTests)"]]
            let answers = try await ConsoleVisitor.fetch(
                port,
                [.init("GET", "/api/v1/three", fields), .init("DELETE", "/api/v1/session/all", fields)]
            )
            #expect(answers.map(\.status) == [200, 200])
            try await visitor.add(Array("}".utf8))
            #expect(try await visitor.end()?.hasPrefix("HTTP/1.1 401") == true)
            #expect(deeds.withLock { $0 } == 0)
        }
    }

    @Test func `a console that stops ends open responses and logs nothing`() async throws {
        let (ends, logs, kept) = (ends, Locked<[String]>([]), Locked<[ConsoleVisitor.Connections]>([]))
        let logger = Logger(label: "test") { _ in LogCollector(lines: logs) }
        try await withConsole(routes: routes, { $0.logger = logger }) { port in
            let visitor = try ConsoleVisitor.Connections(port)
            kept.withLock { $0 = [visitor] }
            try await visitor.hold(Self.head("GET", "/api/v1/waiting", port))
            try await visitor.waitForLine()
            // One that has asked nothing yet.
            try await visitor.hold([])
        }
        for await name in ends {
            #expect(name == "waiting")
            break
        }
        let visitor = try #require(kept.withLock { $0.first })
        #expect(try await [visitor.end() ?? "", visitor.end() ?? ""].sorted().last?.hasPrefix("HTTP/1.1 200") == true)
        #expect(logs.withLock { $0 } == [])
    }

    @Test func `a client that does not read its response is disconnected`() async throws {
        let ends = ends
        try await withConsole(routes: routes, { $0.patience = .seconds(10) }) { port in
            let visitor = try ConsoleVisitor.Connections(port)
            try await visitor.hold(Self.head("GET", "/api/v1/flood", port), reading: false)
            for await name in ends {
                #expect(name == "flood")
                break
            }
            withExtendedLifetime(visitor) {}
        }
    }

    /// Serves on a port that was just in use.
    ///
    /// A program that another test starts at that moment has a copy of the old
    /// listener until it runs.
    private static func serveAgain(
        _ change: (inout Console.Configuration) -> Void,
        _ body: @Sendable @escaping (UInt16) async throws -> Void
    ) async throws {
        while true {
            do {
                return try await withConsole(routes: [], change, body)
            } catch ConsoleError.cannotListen {
                await Task.yield()
            }
        }
    }

    @Test(arguments: [false, true])
    func `a server stops while clients keep connecting`(isForNetwork: Bool) async throws {
        var random = SystemRandomNumberGenerator()
        let certificate = try ServerCertificate.make(addresses: [], hostName: nil, at: 1_800_000_000, using: &random)
        let port = QuietPort.next()
        let taken = try await ConsoleVisitor.storm(port) { storm in
            for _ in 1...100 {
                let place = isForNetwork ? Console.Place.network(port: port, certificate) : .thisMachine(port: port)
                try await Self.serveAgain({ $0.place = place }) { _ in
                    try await storm.waitForConnections(32)
                }
            }
        }
        #expect(taken > 100)
    }

    @Test func `a client with an unfinished request is disconnected, and others are served`() async throws {
        try await withConsole(routes: routes, { $0.patience = .seconds(10) }) { port in
            let visitor = try ConsoleVisitor.Connections(port)
            let json = "Content-Type: application/json\r\n"
            let beginnings: [[UInt8]] = [
                [], Array("GET / HT".utf8), Array("GET / HTTP/1.1\r\nHost: localhost\r\nX: ".utf8),
                Self.head("POST", "/api/v1/body", port, "\(json)Content-Length: 10\r\n") + Array("{".utf8),
                Self.head("POST", "/api/v1/body", port, "\(json)Transfer-Encoding: chunked\r\n") + Array("5\r\n{".utf8),
            ]
            // As many as the server accepts concurrently.
            for number in 0..<64 { try await visitor.hold(beginnings[number % beginnings.count]) }
            for _ in 0..<64 { #expect(try await visitor.end()?.contains(" 200 ") == false) }
            let fields = [["Host", "localhost:\(port)"], ["Authorization", "Bearer \(secretOfTests)"]]
            #expect(
                try await ConsoleVisitor.fetch(port, [.init("GET", "/api/v1/three", fields)]).map(\.status) == [200]
            )
        }
    }
}

/// Stores log lines.
private struct LogCollector: LogHandler {
    let lines: Locked<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(lines: Locked<[String]>) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.withLock { $0.append("\(event.level) \(event.message)") } }
}
