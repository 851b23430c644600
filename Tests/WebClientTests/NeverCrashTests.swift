internal import Concurrency
internal import NIOCore
internal import NIOEmbedded
internal import TLSChannel
internal import TestSupport
internal import Testing
@testable internal import WebClient

/// Damaged bytes of servers, without sockets.
@Suite("Hostile web servers") struct NeverCrashTests {
    private static let answers = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX-After: 1\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n",
        "HTTP/1.0 302 Found\r\nLocation: /\r\n\r\nuntil the end",
    ]

    private static func address() throws -> SocketAddress { try SocketAddress(ipAddress: "127.0.0.1", port: 1) }

    @Test(.enabled(if: WebPeer.missing.isEmpty, Comment(rawValue: WebPeer.missing)))
    func `a handshake that takes too long ends in an error`() async throws {
        let trust = try TLSTrust(.roots(pem: try await WebPeer.shared().text("root")))
        let channel = EmbeddedChannel()
        let session = try TLSSession(client: trust, name: .host("localhost"), pins: [])
        try channel.pipeline.syncOperations.addHandler(TLSHandler(session, patience: .seconds(5)))
        channel.connect(to: try Self.address(), promise: nil)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(4999))
        try channel.throwIfErrorCaught()
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(throws: TLSError.timedOut) { try channel.throwIfErrorCaught() }
        #expect(!channel.isActive)
    }

    @Test func `damaged answers end in a response or an error`() throws {
        let request = WebRequest(try WebURL("http://127.0.0.1/"))
        var completed = 0
        neverCrash(on: Self.answers.map { Array($0.utf8) }, rounds: 3000) { bytes in
            let channel = EmbeddedChannel()
            let opening = Connector.Opening()
            try Connector.addHTTP(channel, opening)
            try channel.connect(to: Self.address()).wait()
            let exchange = Exchange(request, bodyLimit: 64)
            channel.writeAndFlush(exchange, promise: nil)
            _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))  // errors reach the exchange
            _ = try? channel.finish()  // it may be closed
            channel.embeddedEventLoop.run()
            #expect(exchange.outcome.value != nil)
            if case .response(let response, _)? = exchange.outcome.value { #expect(response.body.count <= 64) }
            completed += 1
        }
        #expect(completed > 3000)
    }

    @Test(.enabled(if: WebPeer.missing.isEmpty, Comment(rawValue: WebPeer.missing)))
    func `damaged handshakes end in an error`() async throws {
        let trust = try TLSTrust(.roots(pem: try await WebPeer.shared().text("root")))
        // A ServerHello, an alert and an empty record.
        let inputs: [[UInt8]] = [
            [0x16, 3, 3, 0, 46, 2, 0, 0, 42, 3, 3] + Array(repeating: 7, count: 32) + [0, 0x13, 1, 0, 0, 2, 0, 0],
            [0x15, 3, 3, 0, 2, 2, 40], [0x16, 3, 3, 0, 0],
        ]
        var completed = 0
        neverCrash(on: inputs, rounds: 1000) { bytes in
            let channel = EmbeddedChannel()
            let session = try TLSSession(client: trust, name: .host("localhost"), pins: [])
            try channel.pipeline.syncOperations.addHandler(TLSHandler(session))
            try channel.connect(to: Self.address()).wait()
            let hello = try #require(try channel.readOutbound(as: ByteBuffer.self))
            #expect(hello.readableBytesView.first == 0x16)
            _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))  // refused is well
            #expect(try channel.readInbound(as: ByteBuffer.self) == nil)
            _ = try? channel.finish()  // it may be closed
            channel.embeddedEventLoop.run()
            completed += 1
        }
        #expect(completed > 1000)
    }
}
