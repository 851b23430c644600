internal import Console
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Platform

/// Asks the node that already runs on a home, by HTTP over the socket there.
package struct NodeClient: Sendable {
    private let path: String

    /// Returns nil if no node of this user answers in the home.
    package init?(home: String) {
        path = FilePath.joining(home, NodeSocket.name)
        guard let descriptor = connectedSocket() else { return nil }
        Posix.close(descriptor)
    }

    /// Sends the request and returns what the node answers.
    ///
    /// - Throws: ``CommandFailure`` of the node, or that it went away.
    package func perform<Answer>(
        _ request: APIRequest<Answer>,
        onUpdate: @escaping @Sendable (NodeUpdate) async -> Void = { _ in }
    ) async throws -> Answer {
        guard let descriptor = connectedSocket() else { throw Self.gone("has just stopped") }
        let channel = try await Self.channel(descriptor)
        let reader = AnswerReader<Answer>(onUpdate: onUpdate)
        do {
            return try await channel.executeThenClose { inbound, outbound in
                try await Self.send(request, to: outbound)
                return try await Self.read(inbound, reader)
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            try Task.checkCancellation()
            // A truncated answer is not malformed: the node went away while it wrote.
            let isMalformed = (error as? HTTPParserError).map { $0 != .invalidEOFState } ?? false
            throw isMalformed ? AnswerReader<Answer>.unknown : Self.gone("ended before it answered")
        }
    }

    private func connectedSocket() -> Int32? {
        let descriptor = UnixSocket.make()
        guard descriptor >= 0, UnixSocket.connect(descriptor, to: path),
            UnixSocket.peerUser(of: descriptor) == Posix.user
        else {
            Posix.close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func channel(
        _ descriptor: Int32
    ) async throws -> NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart> {
        Console.spareThreads()
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .withConnectedSocket(descriptor) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                }
            }
    }

    private static func send<Answer>(
        _ request: APIRequest<Answer>,
        to outbound: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>
    ) async throws {
        var head = HTTPRequestHead(
            version: .http1_1,
            method: HTTPMethod(rawValue: request.method.rawValue),
            uri: request.target
        )
        head.headers.add(name: "Host", value: "localhost")
        head.headers.add(name: "Connection", value: "close")
        if let body = request.body {
            head.headers.add(name: "Content-Type", value: "application/json")
            head.headers.add(name: "Content-Length", value: "\(body.count)")
        }
        var parts: [HTTPClientRequestPart] = [.head(head)]
        if let body = request.body { parts.append(.body(.byteBuffer(ByteBuffer(bytes: body)))) }
        parts.append(.end(nil))
        // At once: a node that has answered closes the connection, and a later part could not be written.
        try await outbound.write(contentsOf: parts)
    }

    private static func read<Answer>(
        _ inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>,
        _ first: AnswerReader<Answer>
    ) async throws -> Answer {
        var reader = first
        for try await part in inbound {
            switch part {
            case .head(let head):
                reader.begin(status: Int(head.status.code), isInLines: head.headers["Content-Type"].first == lineType)
            case .body(let bytes):
                if let answer = try await reader.take(Array(bytes.readableBytesView)) { return answer }
            case .end: return try reader.finish()
            }
        }
        throw gone("ended before it answered")
    }

    private static let lineType = "application/x-ndjson"

    private static func gone(_ what: String) -> CommandFailure {
        CommandFailure("node-gone", .unavailable, "the running node \(what): try again")
    }
}
