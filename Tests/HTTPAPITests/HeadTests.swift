internal import Concurrency
internal import Foundation
internal import HTTPAPI
internal import TestSupport
internal import Testing

/// Over sockets, by an independent client.
@Suite(
    "HEAD",
    .timeLimit(.minutes(15)),
    .enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing))
)
struct HeadTests {
    private let actions = Locked<[String]>([])
    private let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path

    private var routes: [Route] {
        [
            Route(.get, "/json") { _ in .json(Array("{\"a\":1}".utf8), status: 203) },
            Route(.get, "/text/{name}") { .text("the text of \($0["name"])") },
            Route(.get, "/download") { _ in .download(Array("bytes".utf8), name: "a") },
            Route(.get, "/failure") { _ in .failure(RouteFailure(409, "taken", "it is taken")) },
            Route(.get, "/file") { [file] _ in .file(path: file, name: "b") },
            Route(.get, "/lines") { [actions] _ in
                .lines { lines in
                    actions.withLock { $0.append("lines") }
                    try? await suspendUntilCancelled()  // it ends with the cancellation
                    await lines.write([])
                }
            },
            Route(.get, "/last") { [actions] _ in
                .last(Array("{}".utf8)) { actions.withLock { $0.append("last") } }
            },
            Route(.post, "/json/new") { _ in .json([]) },
        ]
    }

    private func bytes(_ requests: String...) -> [UInt8] {
        Array(requests.map { "\($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }.joined().utf8)
    }

    @Test func `it is answered with the status and the fields of GET, the length included, and no body`() async throws {
        try await withServer(routes) { port in
            for path in ["/json", "/text/one", "/download", "/failure", "/nothing", "/json/new"] {
                let answers = try await ConsoleVisitor.fetch(port, [("GET", path, []), ("HEAD", path, [])])
                let fields = answers.map { $0.headers.filter { $0.key != "date" } }
                #expect(answers[0].status == answers[1].status && fields[0] == fields[1], "\(path)")
                #expect(answers[0].headers["content-length"] == "\(answers[0].length)", "\(path)")
                #expect(answers[0].length > 0 && answers[1].length == 0, "\(path)")
            }
        }
    }

    @Test func `a connection continues after it`() async throws {
        let requests = bytes("HEAD /text/one", "HEAD /nothing", "HEAD /json/new", "GET /text/two")
        try await withServer(routes) { port in
            let answer = try #require(try await ConsoleVisitor.exchange(port, [requests]).first)
            let statuses = answer.split(separator: "\r\n").filter { $0.hasPrefix("HTTP/1.1 ") }
                .map { $0.split(separator: " ")[1] }
            #expect(statuses == ["200", "404", "405", "200"])
            #expect(answer.hasSuffix("\r\n\r\nthe text of two") && !answer.contains("one") && !answer.contains("{"))
        }
    }

    @Test func `an answer of unknown length begins nothing, and its connection closes after the head`() async throws {
        #expect(FileManager.default.createFile(atPath: file, contents: Data("content".utf8)))
        defer { try? FileManager.default.removeItem(atPath: file) }  // the system removes it
        let requests = [bytes("HEAD /lines", "GET /json"), bytes("HEAD /file", "GET /json")]
        try await withServer(routes) { port in
            for answer in try await ConsoleVisitor.exchange(port, requests) {
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\n"))
                #expect(answer.lowercased().contains("\r\nconnection: close\r\n"))
                #expect(!answer.contains("\r\n\r\n0") && !answer.contains(" 203 "))
            }
            let answers = try await ConsoleVisitor.fetch(port, [("HEAD", "/lines", []), ("HEAD", "/last", [])])
            #expect(answers.map(\.status) == [200, 200])
            #expect(answers[0].headers["content-type"] == "application/x-ndjson")
            #expect(answers[1].headers["content-length"] == "2")
        }
        #expect(actions.withLock { $0 } == [])
    }

    @Test func `a refusal of the method lists it with GET`() async throws {
        try await withServer(routes) { port in
            let requests = [("DELETE", "/json", [[String]]()), ("GET", "/json/new", []), ("HEAD", "/json/new", [])]
            let answers = try await ConsoleVisitor.fetch(port, requests.map { ($0.0, $0.1, $0.2) })
            #expect(answers.map(\.status) == [405, 405, 405])
            #expect(answers.map { $0.headers["allow"] } == ["GET, HEAD", "POST", "POST"])
        }
    }
}
