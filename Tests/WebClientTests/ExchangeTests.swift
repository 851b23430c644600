internal import Concurrency
internal import Foundation
internal import TLSChannel
internal import TestSupport
internal import Testing
internal import WebClient

/// Requests to Python's http.server, and to servers that misbehave.
@Suite(
    "Exchanges of a web client",
    .timeLimit(.minutes(15)),
    .enabled(if: WebPeer.missing.isEmpty, Comment(rawValue: WebPeer.missing))
)
struct ExchangeTests {
    private struct Echo: Decodable {
        let method: String
        let target: String
        let fields: [[String]]
        let body: String
    }

    private static func text(_ response: WebResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    /// Returns the failure of a request to a server that does `steps` after it has read the head.
    private func failure(_ steps: [WebPeer.Step], tls: String? = nil) async throws -> WebClientError? {
        let peer = try await WebPeer.shared()
        let server = try await peer.raw([.head] + steps, tls: tls)
        let client = try peer.client { $0.bodyByteLimit = 100_000 }
        let url = try tls == nil ? server.plainURL("/") : server.url("/")
        let error = await #expect(throws: WebClientError.self) { try await client.send(WebRequest(url)) }
        // The client ends the connection.
        try await server.wait(for: "closed")
        return error
    }

    @Test(arguments: [nil, "good"]) func `a request arrives as it was made`(_ tls: String?) async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.serve(tls: tls)
        let url = try tls == nil ? server.plainURL("/a/b?c=%20d") : server.url("/a/b?c=%20d")
        let body = String(repeating: "0123456789", count: 50_000)
        let fields = [WebField("X-One", "1"), WebField("X-One", "2")]
        let request = WebRequest("PUT", url, fields: fields, body: Array(body.utf8))
        let response = try await peer.client().send(request)
        let echo = try JSONDecoder().decode(Echo.self, from: Data(response.body))
        #expect(response.status == 200 && response["content-type"] == "application/json")
        #expect(echo.method == "PUT" && echo.target == "/a/b?c=%20d" && echo.body == body)
        #expect(echo.fields.filter { $0[0] == "X-One" }.map { $0[1] } == ["1", "2"])
        #expect(echo.fields.contains(["Host", url.authority]) && echo.fields.contains(["Content-Length", "500000"]))
    }

    @Test func `answers of every form are read`() async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.serve(host: "::1")
        let client = try peer.client()
        func fetch(_ target: String, _ method: String = "GET") async throws -> WebResponse {
            try await client.send(WebRequest(method, server.plainURL(target, host: "[::1]")))
        }
        #expect(try await Self.text(fetch("/chunked")) == "one,two,three")
        #expect(try await Self.text(fetch("/interim")) == "final")
        let redirect = try await fetch("/redirect")
        #expect(redirect.status == 302 && redirect["LOCATION"] == "/elsewhere")
        #expect(try await fetch("/nothing").status == 204)
        #expect(try await fetch("/unchanged").status == 304)
        let head = try await fetch("/a", "HEAD")
        #expect(head.body.isEmpty && head.values(of: "Content-Length") != ["0"])
        let empty = try JSONDecoder().decode(Echo.self, from: Data(try await fetch("/b", "POST").body))
        #expect(empty.fields.contains(["Content-Length", "0"]))
        let noCookie = try JSONDecoder().decode(Echo.self, from: Data(try await fetch("/c").body))
        #expect(!noCookie.fields.contains { $0[0] == "Cookie" })
        #expect(try await server.events().count { $0 == "connected" } == 1)
    }

    @Test func `a body that ends with the connection is read, unless TLS does not confirm the end`() async throws {
        let peer = try await WebPeer.shared()
        let steps: [WebPeer.Step] = [.head, .text("HTTP/1.1 200 OK\r\n\r\nabc"), .close]
        let server = try await peer.raw(steps)
        #expect(try await Self.text(peer.client().send(WebRequest(server.plainURL("/")))) == "abc")
        #expect(try await failure(Array(steps.dropFirst()), tls: "good") == .closed)
    }

    @Test(arguments: [nil, "good"]) func `a connection is used again`(_ tls: String?) async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.serve(tls: tls)
        let client = try peer.client()
        for index in 0..<5 {
            let target = "/request-\(index)"
            _ = try await client.send(WebRequest(tls == nil ? server.plainURL(target) : server.url(target)))
        }
        #expect(try await server.events().count { $0 == "connected" } == 1)
    }

    @Test func `a connection that the server ends is not used again`() async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.serve()
        let client = try peer.client()
        for _ in 0..<3 { #expect(try await Self.text(client.send(WebRequest(server.plainURL("/last")))) == "last") }
        #expect(try await server.events().count { $0 == "connected" } == 3)
    }

    @Test func `a connection that the server closed while idle is replaced for an idempotent request`() async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.serve()
        let client = try peer.client()
        for _ in 0..<8 {
            #expect(try await Self.text(client.send(WebRequest(server.plainURL("/vanishing")))) == "vanishing")
        }
        #expect(try await server.events().count { $0 == "connected" } == 8)
    }

    @Test func `a request that a used connection loses is sent once more only if it is idempotent`() async throws {
        let peer = try await WebPeer.shared()
        // Answers the first request of each connection, reads the second one and disconnects.
        let answer = WebPeer.Step.text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        for (method, isRepeated) in [("GET", true), ("PUT", true), ("POST", false)] {
            let server = try await peer.raw([.head, answer, .head, .close])
            let client = try peer.client()
            let request = WebRequest(method, try server.plainURL("/"))
            #expect(try await Self.text(client.send(request)) == "ok")
            if isRepeated {
                #expect(try await Self.text(client.send(request)) == "ok")
            } else {
                await #expect(throws: WebClientError.closed) { try await client.send(request) }
            }
            #expect(try await server.events().count { $0 == "head" } == (isRepeated ? 3 : 2))
        }
    }

    @Test func `bodies beyond the limit are refused in every form`() async throws {
        let ok = "HTTP/1.1 200 OK\r\n"
        let limit = WebClientError.tooLarge(limit: 100_000)
        #expect(try await failure([.text(ok + "Content-Length: 100001\r\n\r\n"), .hold]) == limit)
        let chunk = "4000\r\n\(String(repeating: "a", count: 0x4000))\r\n"
        let chunked = WebPeer.Step.text(ok + "Transfer-Encoding: chunked\r\n\r\n")
        #expect(try await failure([chunked, .text(chunk, times: 8), .hold]) == limit)
        #expect(try await failure([.text(ok + "\r\n"), .text(chunk, times: 8), .hold], tls: "good") == limit)
    }

    @Test func `heads, interim answers and extensions of chunks beyond the limit are refused`() async throws {
        let limit = WebClientError.tooLarge(limit: 65_536)
        let field = "X-Field: \(String(repeating: "a", count: 8000))\r\n"
        #expect(try await failure([.text("HTTP/1.1 200 OK\r\n"), .text(field, times: 40), .hold]) == limit)
        let letters = WebPeer.Step.text(field.filter { $0 == "a" }, times: 40)
        #expect(try await failure([.text("HTTP/1.1 200 "), letters, .hold]) == limit)
        #expect(try await failure([.text("HTTP/1.1 103 Early\r\n\(field)\r\n", times: 40), .hold]) == limit)
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"
        #expect(try await failure([.text(chunked), letters, .hold]) == limit)
    }

    @Test func `answers that are not HTTP are refused`() async throws {
        let texts = [
            "garbage\r\n\r\n", "SSH-2.0-OpenSSH\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 101 Switching\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\n\0: a\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        ]
        for text in texts {
            let error = try await failure([.text(text), .hold])
            guard case .protocolViolation? = error else {
                Issue.record("\(text): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func `an answer that ends early is reported`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
        for text in ["", "HTTP/1.1 2", head, head + "abc"] {
            #expect(try await failure([.text(text), .close]) == .closed)
            #expect(try await failure([.text(text), .close], tls: "good") == .closed)
        }
    }

    @Test func `a server that does not answer in time is left`() async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.raw([.head, .text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .hold])
        let client = try peer.client { $0.requestLimit = .milliseconds(100) }
        let error = await #expect(throws: WebClientError.self) {
            try await client.send(WebRequest(server.plainURL("/")))
        }
        // A busy machine may need the whole time for the connection.
        #expect(error == .timedOut(.response) || error == .timedOut(.connecting))
        try await server.wait(for: "closed")
    }

    @Test func `a cancellation closes the connection`() async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.raw([.head, .hold])
        let client = try peer.client()
        let request = WebRequest(try server.plainURL("/"))
        let task = Task { try await client.send(request) }
        try await server.wait(for: "head")
        task.cancel()
        await #expect(throws: WebClientError.cancelled) { try await task.value }
        try await server.wait(for: "closed")
    }

    @Test func `closing the client ends its requests and refuses others`() async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.raw([.head, .hold])
        let client = try peer.client()
        let request = WebRequest(try server.plainURL("/"))
        let task = Task { try await client.send(request) }
        try await server.wait(for: "head")
        client.close()
        await #expect(throws: WebClientError.clientClosed) { try await task.value }
        await #expect(throws: WebClientError.clientClosed) { try await client.send(request) }
    }

    @Test func `requests beyond the limit wait for the others`() async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.serve()
        let client = try peer.client { ($0.requestCount, $0.requestLimit) = (1, .seconds(60)) }
        let (first, second) = (WebRequest(try server.plainURL("/wait")), WebRequest(try server.plainURL("/second")))
        let waiting = Task { try await client.send(first) }
        try await server.wait(for: "GET /wait")
        let cancelled = Task { try await client.send(second) }
        cancelled.cancel()
        await #expect(throws: WebClientError.cancelled) { try await cancelled.value }
        let next = Task { try await client.send(second) }
        try await server.release()
        #expect(try await waiting.value.status == 200)
        #expect(try await next.value.status == 200)
        #expect(try await server.events().filter { $0.hasPrefix("GET") } == ["GET /wait", "GET /second"])
        #expect(try await server.events().count { $0 == "connected" } == 1)
    }

    @Test func `a request that waits too long for another one fails`() async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.raw([.head, .hold])
        let client = try peer.client { ($0.requestCount, $0.requestLimit) = (1, .milliseconds(100)) }
        let request = WebRequest(try server.plainURL("/"))
        let errors = await withTaskGroup(of: WebClientError?.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    do throws(WebClientError) { _ = try await client.send(request) } catch { return error }
                    return nil
                }
            }
            return await group.reduce(into: Set<WebClientError?>()) { $0.insert($1) }
        }
        #expect(errors.isSubset(of: [.timedOut(.response), .timedOut(.waiting), .timedOut(.connecting)]))
    }

    @Test func `an idle connection is closed in time`() async throws {
        let peer = try await WebPeer.shared()
        let server = try await peer.serve()
        let client = try peer.client { $0.idleLimit = .milliseconds(1) }
        _ = try await client.send(WebRequest(server.plainURL("/")))
        try await server.wait(for: "closed")
    }

    @Test func `a closed port, a name without an address and plain HTTP elsewhere are refused`() async throws {
        let peer = try await WebPeer.shared()
        let port = QuietPort.next()
        let client = try peer.client()
        for host in ["127.0.0.1", "localhost"] {
            let error = await #expect(throws: WebClientError.self) {
                try await client.send(WebRequest(WebURL("http://\(host):\(port)/")))
            }
            guard case .unreachable("\(host):\(port)", _)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        await #expect(throws: WebClientError.notEncrypted(host: "192.0.2.1")) {
            try await client.send(WebRequest(WebURL("http://192.0.2.1/")))
        }
        let error = await #expect(throws: WebClientError.self) {
            try await client.send(WebRequest(WebURL("https://runar.invalid/")))
        }
        // A resolver without a network may not answer at all.
        #expect(error == .notFound(host: "runar.invalid") || error == .timedOut(.connecting))
    }
}
