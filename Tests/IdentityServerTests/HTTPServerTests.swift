internal import Bytes
internal import CommandModel
internal import Concurrency
internal import Foundation
internal import HTTPAPI
internal import IdentityStore
internal import Logging
internal import RegistrationModel
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import APIDescription
@testable internal import IdentityServer

/// A server of its own for each test, over sockets, by an independent client.
@Suite(
    "The identity server over HTTP",
    .timeLimit(.minutes(15)),
    .enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing))
)
struct HTTPServerTests {
    private static let own = ["Host", "id.example.org"]
    private static let json = ["Content-Type", "application/json"]

    private func withServer(
        _ settings: [IdentitySetting: [String]] = [:],
        _ body: @Sendable @escaping (UInt16) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory()
        let local: [IdentitySetting: [String]] = [.port: ["0"], .listenAddress: ["127.0.0.1"]]
        let server = try IdentityServer(
            Scene.configuration(local.merging(settings) { $1 }),
            directory: folder.path,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        try await withPort(of: { try await server.run(onReady: $0) }, body)
        withExtendedLifetime(folder) {}
    }

    private func get(_ path: String, _ host: String, _ method: String = "GET") -> ConsoleVisitor.Request {
        ConsoleVisitor.Request(method, path, [["Host", host]])
    }

    private func isFailure(_ answer: ConsoleVisitor.Answer) -> Bool {
        guard let error = try? JSONDocument(Array(answer.body.utf8))["error"] else { return false }  // no JSON
        return (400..<500).contains(answer.status) && error["code"]?.text != nil && error["message"]?.text != nil
    }

    // MARK: Hosts and fields

    @Test func `an account that registers over HTTP is at the host of its handle, which serves nothing else`()
        async throws
    {
        try await withServer { port in
            var alice = try Person("alice")
            let begin = get(HTTPCaller.path(toRegister: alice), "id.example.org")
            let begun = try await ConsoleVisitor.fetch(port, [begin])
            let options = try JSONText.decode(CreationOptionsReport.self, from: Array(begun[0].body.utf8)).publicKey
            let form = String(decoding: JSONText.bytes(try alice.answer(options)), as: UTF8.self)
            let post = ConsoleVisitor.Request("POST", "/register", [Self.own, Self.json], body: form)
            let done = try await ConsoleVisitor.fetch(port, [post])[0]
            let report = try JSONText.decode(SignedInReport.self, from: Array(done.body.utf8))
            #expect(done.status == 200 && done.headers["x-auth-token"] == report.token)
            let own = "alice.example.social"
            let answers = try await ConsoleVisitor.fetch(
                port,
                [
                    get("/.well-known/atproto-did", own), get("/.well-known/atproto-did", "id.example.org"),
                    get("/.well-known/atproto-did", "bob.example.social"),
                    get("/.well-known/atproto-did", own, "POST"),
                ]
            )
            #expect(answers.map(\.status) == [200, 404, 404, 405])
            #expect(answers[0].body == "\(alice.did)")
            #expect(answers[0].headers["content-type"]?.hasPrefix("text/plain") == true)
            #expect(answers[0].headers["access-control-allow-origin"] == "*")
            let others = ["/", "/sign-in", "/pages/app.js", "/health", "/keys", "/openapi.json", "/metrics", "/none"]
            for answer in try await ConsoleVisitor.fetch(port, others.map { get($0, own) }) {
                #expect(answer.status == 404 && isFailure(answer), "\(answer.body)")
            }
            for answer in try await ConsoleVisitor.fetch(port, others.dropLast().map { get($0, "id.example.org") }) {
                #expect(answer.status == 200, "\(answer.body.prefix(200))")
            }
        }
    }

    @Test func `HEAD has the status and the fields of GET`() async throws {
        let resolve = "/xrpc/com.atproto.identity.resolveHandle"
        try await withServer { port in
            let paths = [
                (resolve + "?handle=bob.example.social", 404), (resolve, 400), (resolve + "?handle=-", 400),
                ("/keys", 200), ("/account", 401), ("/openapi.json", 200), ("/", 200), ("/none", 404),
            ]
            for (path, status) in paths {
                let answers = try await ConsoleVisitor.fetch(
                    port,
                    [get(path, "id.example.org"), get(path, "id.example.org", "HEAD")]
                )
                #expect(answers.map(\.status) == [status, status], "\(path)")
                let fields = answers.map { $0.headers.filter { $0.key != "date" } }
                #expect(fields[0] == fields[1], "\(path)")
                #expect(answers[0].length > 0 && answers[1].length == 0, "\(path)")
            }
        }
    }

    @Test func `answers and pages have strict fields, and that of TLS only with TLS`() async throws {
        try await withServer { port in
            let paths = ["/", "/sign-in", "/ceremony/abc", "/pages/app.js", "/keys", "/account", "/none"]
            for answer in try await ConsoleVisitor.fetch(port, paths.map { get($0, "id.example.org") }) {
                let policy = answer.headers["content-security-policy"] ?? ""
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
                #expect(answer.headers["x-content-type-options"] == "nosniff")
                #expect(answer.headers["referrer-policy"] == "no-referrer")
                #expect(answer.headers["cross-origin-opener-policy"] == "same-origin")
                #expect(answer.headers["strict-transport-security"] == nil)
                #expect(answer.headers["set-cookie"] == nil && answer.headers["access-control-allow-origin"] == nil)
            }
            let keys = try await ConsoleVisitor.fetch(port, [get("/keys", "id.example.org")])[0]
            #expect(keys.headers["cache-control"] == "no-store")
        }
    }

    @Test func `each view of the page can be opened and reloaded`() async throws {
        try await withServer { port in
            let paths = ["/", "/register", "/sign-in", "/my-account", "/ceremony/abc"]
            let answers = try await ConsoleVisitor.fetch(port, paths.map { get($0, "id.example.org") })
            for (path, answer) in zip(paths, answers) {
                #expect(answer.status == 200, "\(path)")
                #expect(answer.headers["content-type"]?.hasPrefix("text/html") == true, "\(path)")
            }
        }
    }

    // MARK: Bounds

    @Test func `bodies of another type or size are refused at each endpoint with a form`() async throws {
        let endpoints = try HTTPCaller(Scene()).api.endpoints
        try await withServer([.requestLimits: ["off"]]) { port in
            let token = ["Authorization", "Bearer AAAA"]
            for endpoint in endpoints where endpoint.route.method == .post {
                let path = endpoint.route.template.replacing("{ceremony}", with: "none")
                let large = #"{"id":""# + String(repeating: "A", count: 2 << 20) + #""}"#
                let answers = try await ConsoleVisitor.fetch(
                    port,
                    [
                        .init("POST", path, [Self.own, token], body: "{}"),
                        .init("POST", path, [Self.own, token, ["Content-Type", "text/plain"]], body: "{}"),
                        .init("POST", path, [Self.own, token, Self.json], body: large),
                        .init("GET", path + "/none/none/none", [Self.own]),
                    ]
                )
                #expect(answers.map(\.status) == [415, 415, 413, 404], "\(path)")
                #expect(answers.allSatisfy(isFailure), "\(path)")
            }
        }
    }

    @Test func `malformed requests are refused, and later requests are served`() async throws {
        try await withServer { port in
            let heads = [
                "GET /keys HTTP/1.1\r\n\r\n", "GET /keys HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                "GET keys HTTP/1.1\r\nHost: a\r\n\r\n", "GET /keys HTTP/9.9\r\nHost: a\r\n\r\n",
                "POST /register HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
                "POST /register HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
                "\u{16}\u{3}\u{1}\r\n\r\n",
                "GET /keys?%zz=1 HTTP/1.1\r\nHost: id.example.org\r\n\r\n", "\r\n\r\n\r\n",
                "GET /keys HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 40_000))\r\n\r\n",
                "GET /\(String(repeating: "a", count: 70_000)) HTTP/1.1\r\nHost: a\r\n\r\n",
            ]
            let lines = try await ConsoleVisitor.send(port, heads.map { Array($0.utf8) })
            for (head, line) in zip(heads, lines) { #expect(!line.contains(" 5"), "\(head.prefix(60)): \(line)") }
            #expect(try await ConsoleVisitor.fetch(port, [get("/health", "id.example.org")])[0].status == 200)
        }
    }

    @Test func `unfinished requests keep no other client waiting, and have bounded memory`() async throws {
        let count = LongTests.areRun ? 10_000 : 200
        try await withServer([.connectionLimit: ["\(count + 100)"]]) { port in
            let visitor = try ConsoleVisitor.Connections(port)
            let parts = [
                "", "GET /health HTT", "GET /keys HTTP/1.1\r\nHost: id.example.org\r\n",
                "POST /register HTTP/1.1\r\nHost: id.example.org\r\nContent-Type: application/json\r\n"
                    + "Content-Length: 99\r\n\r\n{",
            ]
            let before = try residentByteCount()
            for number in 0..<count {
                // A thread of the visitor reads from each of the first ones.
                try await visitor.hold(Array(parts[number % parts.count].utf8), reading: number < 200)
            }
            let answers = try await ConsoleVisitor.fetch(
                port,
                (0..<5).map { _ in get("/health", "id.example.org") }
            )
            #expect(answers.allSatisfy { $0.status == 200 })
            // The other tests of this process use memory too, so only many connections show.
            if LongTests.areRun { #expect(try residentByteCount() - before < count * 65_536) }
        }
    }

    /// Routes of a scene on a server that waits for its clients for a second.
    private func withRoutes(
        _ routes: [Route],
        drain: Duration = .zero,
        whenCancelled onCancel: @Sendable @escaping () -> Void = {},
        _ body: @Sendable @escaping (UInt16) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory()
        var configuration = HTTPServer.Configuration(
            address: .thisMachine(port: 0),
            routes: routes,
            uploadPrefix: folder.file("upload-"),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        configuration.limits.patience = .seconds(8)
        configuration.limits.drain = drain
        let server = HTTPServer(configuration)
        try await withPort(
            of: { onReady in
                try await withTaskCancellationHandler {
                    try await server.run(onReady: onReady)
                } onCancel: {
                    onCancel()
                }
            },
            body
        )
    }

    @Test func `a client that sends its head byte by byte is disconnected, and others are served`() async throws {
        let routes = try HTTPCaller(Scene()).api.routes()
        try await withRoutes(routes) { port in
            let visitor = try ConsoleVisitor.Connections(port)
            try await visitor.hold(Array("GET /keys HTTP/1.1\r\nX-Slow: ".utf8))
            let hasEnded = try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    _ = try await visitor.end()
                    return true
                }
                group.addTask {
                    // Each round takes as long as a request of another client.
                    for _ in 0..<5_000 where !Task.isCancelled {
                        try await visitor.add([UInt8(ascii: "a")])
                        let other = try await ConsoleVisitor.fetch(port, [get("/health", "localhost")])
                        #expect(other[0].status == 200)
                    }
                    return false
                }
                let first = try await group.next() ?? false
                group.cancelAll()
                return first
            }
            #expect(hasEnded)
        }
    }

    @Test func `a server that stops answers the request in progress`() async throws {
        let (begun, mayEnd, stopping) = (Promise<Void>(), Promise<Void>(), Promise<Void>())
        let client = Locked<ConsoleVisitor.Connections?>(nil)
        let routes = try HTTPCaller(Scene()).api.routes().map { route in
            guard route.template == "/keys" else { return route }
            return Route(route.method, route.template) { request in
                begun.fulfil(())
                await mayEnd.waitIgnoringCancellation()
                return await route.answer(request)
            }
        }
        let port = Promise<UInt16>()
        let refusal = Task {
            let port = await port.waitIgnoringCancellation()
            await stopping.waitIgnoringCancellation()
            // The request is answered only after the server has stopped listening.
            while (try? await ConsoleVisitor.fetch(port, [get("/health", "localhost")])) != nil {}  // refused at last
            mayEnd.fulfil(())
        }
        try await withRoutes(routes, drain: .seconds(60), whenCancelled: { stopping.fulfil(()) }) { number in
            port.fulfil(number)
            let visitor = try ConsoleVisitor.Connections(number)
            client.withLock { $0 = visitor }
            try await visitor.hold(Array("GET /keys HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
            await begun.waitIgnoringCancellation()
        }
        await refusal.value
        let visitor = try #require(client.withLock { $0 })
        #expect(try await visitor.end() == "HTTP/1.1 200 OK")
    }
}

/// The memory of this process that is in use, in bytes (proc(5)).
private func residentByteCount() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return try #require(Int(fields[1])) * 4096
}
