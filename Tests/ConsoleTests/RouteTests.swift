internal import Concurrency
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOEmbedded
internal import Testing

@testable internal import Console

/// Keeps the body of a response.
private struct CollectingWriter: ResponseBodyWriter {
    let text = Locked("")

    mutating func write(_ buffer: ByteBuffer) { text.withLock { $0 += String(buffer: buffer) } }

    consuming func finish(_ trailingHeaders: HTTPFields?) {}
}

@Suite("Routes of the console") struct RouteTests {
    private let router = RouteTable(
        [
            Route(.get, "/metrics") { _ in .text("") },
            Route(.get, "/api/v1/networks") { _ in .text("") },
            Route(.get, "/api/v1/networks/{network}") { _ in .text("") },
            Route(.patch, "/api/v1/networks/{network}") { _ in .text("") },
            Route(.get, "/api/v1/networks/new") { _ in .text("") },
            Route(.post, "/api/v1/peers/{peer}/files/{file}") { _ in .text("") },
        ]
    ) { route, parameters, _, _ in
        let words = [route.template] + parameters.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
        return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: words.joined(separator: " "))))
    }

    /// The route and the parameters of a request, or the methods that its path has, or "nothing".
    private func found(_ method: HTTPRequest.Method, _ path: String) async throws -> String {
        let request = Request(
            head: HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path),
            body: RequestBody(buffer: ByteBuffer())
        )
        let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test"))
        do {
            let response = try await router.respond(to: request, at: path, ConsoleContext(source: source))
            let writer = CollectingWriter()
            try await response.body.write(writer)
            return writer.text.withLock { $0 }
        } catch let failure as RouteFailure {
            return failure.status == 405 ? failure.context["allow"] ?? "" : "nothing"
        }
    }

    @Test func `a path is split into the names of its template`() async throws {
        #expect(try await found(.get, "/metrics") == "/metrics")
        #expect(try await found(.get, "/api/v1/networks/a%20b%2Fc") == "/api/v1/networks/{network} network=a b/c")
        #expect(
            try await found(.post, "/api/v1/peers/x/files/%C3%A4") == "/api/v1/peers/{peer}/files/{file} file=ä peer=x"
        )
    }

    @Test func `a literal path segment is preferred to a placeholder`() async throws {
        #expect(try await found(.get, "/api/v1/networks/new") == "/api/v1/networks/new")
    }

    @Test func `a request with another method is answered with those that the path has`() async throws {
        #expect(try await found(.delete, "/api/v1/networks/a") == "GET, PATCH")
        #expect(try await found(.head, "/metrics") == "GET")
    }

    @Test(arguments: [
        "", "/", "/metrics/", "/Metrics", "//metrics", "/api/v1/networks/", "/api/v1/networks/a/b",
        "/api/v1/networks/%",
        "/api/v1/networks/%0", "/api/v1/networks/%FF", "/api/v1/networks/%zz", "/api/v1/../metrics",
    ])
    func `an invalid path is refused`(path: String) async throws {
        #expect(try await found(.get, path) == "nothing")
    }

    @Test func `paths of programs differ from pages`() {
        #expect(router.covers("/metrics") && router.covers("/api/v1/anything") && router.covers("/api/"))
        #expect(!router.covers("/") && !router.covers("/api") && !router.covers("/index.html"))
    }

    @Test func `a query is read as browsers write it`() {
        #expect(PercentText.query("a=1&b=x%20y+z&c&=d&a=2") == ["a": "2", "b": "x y z", "c": "", "": "d"])
        #expect(PercentText.query("") == [:] && PercentText.query("a=%") == nil && PercentText.query("%FF=1") == nil)
    }

    @Test func `a field holds a name of any letters`() {
        #expect(PercentText.encode("a b\"\r\nä.txt") == "a%20b%22%0D%0A%C3%A4.txt")
        #expect(PercentText.decode(PercentText.encode("ä%\u{202E}")[...]) == "ä%\u{202E}")
    }
}
