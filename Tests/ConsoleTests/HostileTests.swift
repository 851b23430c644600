internal import Concurrency
internal import Console
internal import Foundation
internal import HTTPAPI
internal import Platform
internal import TestSupport
internal import Testing

/// Routes as a node has them, which count how often they were asked.
private struct CountedRoutes: Sendable {
    let changes = Locked(0)
    let uploads = Locked<[String]>([])

    var routes: [Route] {
        [
            Route(.get, "/api/v1/things") { _ in .json(Array("[]".utf8)) },
            Route(.post, "/api/v1/things", body: .json(limit: 100)) { [changes] request in
                changes.withLock { $0 += 1 }
                return .json(request.body.isEmpty ? Array("{}".utf8) : request.body)
            },
            Route(.put, "/api/v1/files/{name}", body: .file(limit: 200_000)) { [uploads] request in
                guard let file = request.file else { return .failure(RouteFailure(500, "no-file", "")) }
                uploads.withLock { $0.append(file.path) }
                let content = try? Data(contentsOf: URL(filePath: file.path))  // nil is found below
                return .download(
                    Array("\(request["name"]) \(content?.count ?? -1) \(file.byteCount)".utf8),
                    name: "ä\r\n"
                )
            },
        ]
    }
}

/// The requests of a hostile page, program or network, sent by an independent client.
@Suite(
    "A hostile visitor of the console",
    .timeLimit(.minutes(15)),
    .enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing))
)
struct HostileTests {
    private typealias Request = ConsoleVisitor.Request

    private let routes = CountedRoutes()
    private let json = ["Content-Type", "application/json"]
    private let token = ["Authorization", "Bearer \(secretOfTests)"]

    private func statuses(
        _ requests: @Sendable @escaping (_ host: [String], _ port: UInt16) -> [ConsoleVisitor.Request]
    ) async throws -> [Int] {
        let statuses = Locked<[Int]>([])
        try await withConsole(routes: routes.routes) { port in
            let answers = try await ConsoleVisitor.fetch(port, requests(["Host", "localhost:\(port)"], port))
            #expect(answers.allSatisfy { $0.headers["access-control-allow-origin"] == nil })
            statuses.withLock { $0 = answers.map(\.status) }
        }
        return statuses.withLock { $0 }
    }

    @Test func `a page of another site changes nothing, whatever it sends`() async throws {
        let (json, token) = (json, token)
        let found = try await statuses { host, port in
            [
                Request(
                    "POST",
                    "/api/v1/things",
                    [host, token, json, ["Origin", "http://evil.example"]],
                    body: "{}"
                ),
                Request("POST", "/api/v1/things", [host, token, json, ["Origin", "null"]], body: "{}"),
                Request("POST", "/api/v1/things", [host, token, json, ["Origin", "http://localhost:1"]], body: "{}"),
                Request("POST", "/api/v1/things", [host, token, json, ["Origin", "https://localhost:\(port)"]]),
                Request("POST", "/api/v1/things", [host, token, json, ["Sec-Fetch-Site", "cross-site"]], body: "{}"),
                Request("POST", "/api/v1/things", [host, token, json, ["Sec-Fetch-Site", "same-site"]], body: "{}"),
                Request("POST", "/api/v1/things", [["Host", "evil.example:\(port)"], token, json], body: "{}"),
                Request("POST", "/api/v1/things", [["Host", "localhost"], token, json], body: "{}"),
                Request("OPTIONS", "/api/v1/things", [host, ["Access-Control-Request-Method", "POST"]]),
                // A form of another site can send this without asking.
                Request("POST", "/api/v1/things", [host, token, ["Content-Type", "text/plain"]], body: "{}"),
                Request("POST", "/api/v1/things", [host, token], body: "{}"),
            ]
        }
        #expect(found == [403, 403, 403, 403, 403, 403, 421, 421, 401, 415, 415])
        #expect(routes.changes.withLock { $0 } == 0)
    }

    @Test func `a request without a valid token changes nothing and reveals nothing`() async throws {
        let (json, routes) = (json, routes)
        let expired = ConsoleSessions(
            key: secretOfTests,
            clocks: Clocks(monotonic: { .zero }, wallSeconds: { 1 })
        ).makeSession().token
        let foreign = ConsoleSessions(key: "another").makeSession().token
        let found = try await statuses { host, _ in
            [nil, "Bearer", "Bearer x", "Bearer \(expired)", "Bearer \(foreign)", "Basic \(secretOfTests)"].map {
                value in
                let fields = value.map { [["Authorization", $0]] } ?? []
                return Request("POST", "/api/v1/things", [host, json] + fields, body: "{}")
            } + [
                Request("POST", "/api/v1/things", [host, json, ["Cookie", "token=\(secretOfTests)"]], body: "{}"),
                Request("GET", "/api/v1/things?token=\(PercentEncoded.text(secretOfTests))", [host]),
                Request("GET", "/api/v1/nothing", [host]), Request("DELETE", "/api/v1/session/all", [host]),
                Request("POST", "/api/v1/session/renew", [host]), Request("GET", "/api/v1/session", [host]),
            ]
        }
        #expect(found == Array(repeating: 401, count: 12))
        #expect(routes.changes.withLock { $0 } == 0)
    }

    @Test func `a secret signs in once, and only for a request in the form of the page`() async throws {
        let sessions = ConsoleSessions(key: secretOfTests)
        let secret = sessions.makeSecret()
        let (json, body) = (json, #"{"secret":"\#(secret)"}"#)
        try await withConsole(sessions: sessions) { port in
            let host = ["Host", "localhost:\(port)"]
            let path = "/api/v1/session"
            let answers = try await ConsoleVisitor.fetch(
                port,
                [
                    Request("POST", path, [host, json, ["Origin", "http://evil.example"]], body: body),
                    Request("POST", path, [host, json, ["Sec-Fetch-Site", "cross-site"]], body: body),
                    Request("POST", path, [["Host", "evil.example:\(port)"], json], body: body),
                    Request("POST", path, [host, ["Content-Type", "text/plain"]], body: body),
                    Request("GET", "\(path)?secret=\(secret)", [host]),
                    Request("POST", path, [host, json], body: #"{"secret":"AAAA"}"#),
                    Request("POST", path, [host, json], body: #"{"secret":7}"#),
                    Request("POST", path, [host, json], body: "{"),
                    Request("POST", path, [host, json, ["Origin", "http://localhost:\(port)"]], body: body),
                    Request("POST", path, [host, json], body: body),
                ]
            )
            #expect(answers.map(\.status) == [403, 403, 421, 415, 401, 401, 400, 400, 200, 401])
            #expect(answers.last?.body.contains("runar console") == true)
        }
    }

    @Test func `GET requests change nothing, and changes are refused over GET`() async throws {
        let (token, json) = (token, json)
        let found = try await statuses { host, _ in
            [
                Request("GET", "/api/v1/things", [host, token]),
                Request("GET", "/api/v1/files/a", [host, token]),
                Request("GET", "/api/v1/session/all", [host, token]),
                Request("GET", "/api/v1/session/renew", [host, token]),
                Request("POST", "/", [host, token]), Request("DELETE", "/index.html", [host, token]),
                Request("POST", "/api/v1/things", [host, token, json], body: "{}"),
            ]
        }
        #expect(found == [200, 405, 405, 405, 405, 405, 200])
        #expect(routes.changes.withLock { $0 } == 1)
    }

    @Test func `a body above the limit is refused unread, and the next request is served`() async throws {
        let (token, json) = (token, json)
        let big = "\"" + String(repeating: "a", count: 98) + "\""
        let found = try await statuses { host, _ in
            [
                Request("POST", "/api/v1/things", [host, token, json], body: big),
                Request("POST", "/api/v1/things", [host, token, json], body: big + " "),
                Request(
                    "POST",
                    "/api/v1/things",
                    [host, token, json],
                    body: String(repeating: "a", count: 3_000_000)
                ),
                Request("POST", "/api/v1/things", [host, json], body: String(repeating: "a", count: 500_000)),
                Request("PUT", "/api/v1/files/a", [host, token], body: String(repeating: "a", count: 200_001)),
                Request("GET", "/api/v1/things", [host, token]),
                Request("GET", "/api/v1/things?\(String(repeating: "a", count: 20_000))", [host, token]),
            ]
        }
        #expect(found.prefix(6) == [200, 413, 413, 401, 413, 200])
        #expect(routes.changes.withLock { $0 } == 1 && routes.uploads.withLock { $0 }.isEmpty)
    }

    @Test func `an upload is private during its request and is removed afterwards`() async throws {
        let token = token
        try await withConsole(routes: routes.routes) { port in
            let fields = [["Host", "localhost:\(port)"], token]
            let content = String(repeating: "abc", count: 60_000)
            let answer = try await ConsoleVisitor.fetch(
                port,
                [Request("PUT", "/api/v1/files/a%2Fb", fields, body: content)]
            )
            #expect(answer.map(\.body) == ["a/b 180000 180000"])
            #expect(answer.first?.headers["content-disposition"] == "attachment; filename*=UTF-8''%C3%A4%0D%0A")
        }
        let paths = routes.uploads.withLock { $0 }
        #expect(paths.count == 1 && paths.allSatisfy { !FileManager.default.fileExists(atPath: $0) })
    }

    @Test func `pages have strict policies, reveal nothing of the node and are cached`() async throws {
        try await withConsole { port in
            let host = ["Host", "127.0.0.1:\(port)"]
            let first = try await ConsoleVisitor.fetch(port, [Request("GET", "/", [host])])
            let page = try #require(first.first)
            let policy = try #require(page.headers["content-security-policy"])
            for rule in [
                "default-src 'none'", "script-src 'self';", "require-trusted-types-for 'script'",
                "frame-ancestors 'none'",
            ] {
                #expect(policy.contains(rule), "\(rule)")
            }
            #expect(!policy.contains("unsafe"))
            #expect(page.headers["referrer-policy"] == "no-referrer" && page.headers["set-cookie"] == nil)
            #expect(page.headers["cross-origin-opener-policy"] == "same-origin")
            let tag = try #require(page.headers["etag"])
            let second = try await ConsoleVisitor.fetch(
                port,
                [
                    Request("GET", "/", [host, ["If-None-Match", tag]]), Request("GET", "/../index.html", [host]),
                    Request("GET", "/console.token", [host]), Request("GET", "/", [["Host", "evil.example"]]),
                    Request("GET", "/", [host, ["Origin", "http://evil.example"]]),
                ]
            )
            #expect(second.map(\.status) == [304, 404, 404, 421, 403] && second[0].body.isEmpty)
        }
    }
}

/// The percent-encoding of a text in a query.
private enum PercentEncoded {
    static func text(_ text: String) -> String { text.replacing(" ", with: "%20") }
}
