internal import Concurrency
package import Identity
internal import NodeCore
package import Services
internal import Transport

/// A request of a peer: its body to be read, its response to be written.
///
/// One task may read while another one responds. The handler runs in a task that is cancelled when the client cancels the
/// request, at the deadline, and when the connection ends. A request without a response at the end of that task is answered
/// with a failure.
package final class IncomingRequest: Sendable {
    /// The progress of the response.
    private enum Phase: Sendable {
        /// Nothing was written.
        case unanswered
        /// Items are being written.
        case streaming
        /// All was written, or the request has ended.
        case over
    }

    private struct State: Sendable {
        /// Nil while a task reads.
        var reader: StreamReader?
        var isRead = false
        var phase = Phase.unanswered
        var sentBytes = 0
    }

    /// The largest response that no longer counts once it is queued: waiting for its delivery would cost more.
    private static let briefResponse = 64 << 10

    package let peer: PeerId
    package let network: NetworkId
    package let header: RequestHeader
    /// The time at which it times out, by the monotonic clock of the node.
    package let deadline: Duration
    private let stream: any Stream
    private let end: RequestEnd
    private let byteLimit: Int
    private let room: ResponseRoom
    private let metrics: NodeMetrics?
    private let state: Locked<State>

    init(
        from peer: PeerId,
        in network: NetworkId,
        _ header: RequestHeader,
        on stream: any Stream,
        _ reader: StreamReader,
        _ request: TrackedRequest,
        byteLimit: Int,
        room: ResponseRoom,
        metrics: NodeMetrics?
    ) {
        self.peer = peer
        self.network = network
        self.header = header
        deadline = request.deadline
        self.stream = stream
        end = request.end
        self.byteLimit = byteLimit
        self.room = room
        self.metrics = metrics
        state = Locked(State(reader: reader))
    }

    // MARK: Reading

    /// The next item of the request, or nil at its end; a request that is not streamed counts as one item.
    ///
    /// Once the handler has begun, an item without room fails in a way that does not move the request.
    ///
    /// - Throws: ``ServiceFailure``, also the one that the requester sent in place of the rest; `CancellationError` when
    ///   cancelled.
    package func nextItem(isHandled: Bool = false) async throws -> [UInt8]? {
        let (reader, isRead) = state.withLock { state in
            defer { state.reader = nil }
            return (state.reader, state.isRead)
        }
        guard var reader else { throw TransportError.misuse("two tasks read one request") }
        guard !isRead else {
            state.withLock { $0.reader = reader }
            return nil
        }
        let item = try await translating { () async throws -> [UInt8]? in
            do {
                guard header.streamsBody else { return try await reader.readToEnd(limit: byteLimit) }
                defer { reader.giveBackRoom() }
                return try await reader.readItem(limit: byteLimit)
            } catch StreamReader.Failure.noRoom where isHandled {
                throw ServiceFailure(
                    kind: .tooLarge,
                    message: "no room for the item: too much of other requests is under way; try again later"
                )
            }
        }
        if let item { metrics?.noteReceived(item.count, in: network) }
        state.withLock { state in
            state.reader = reader
            state.isRead = item == nil || !header.streamsBody
        }
        return item
    }

    /// Releases the bytes of the body, even if the handler still has the request.
    func forgetBody() { state.withLock { $0.reader = nil } }

    // MARK: Handling

    /// Runs the handler until it returns, and cancels it when the request ends before.
    ///
    /// The handler begins when the peer has room for its response.
    func run(
        _ handler: @escaping @Sendable (IncomingRequest) async -> Void,
        _ tracing: RequestTracing?
    ) async {
        stream.whenStopped { [end] in end.end(.stopped($0)) }
        await withDiscardingTaskGroup { group in
            group.addTask {
                guard (try? await self.room.waitForRoom()) != nil else { return }  // nil: the request has ended
                if let tracing {
                    await tracing.serving(self.header, in: self.network, from: self.peer) { await handler(self) }
                } else {
                    await handler(self)
                }
                self.end.finish()
            }
            guard let cause = await end.wait() else { return }
            group.cancelAll()
            if case .overdue = cause { await fail(cause.failure) }
        }
        stream.whenStopped(nil)
        await fail(ServiceFailure(kind: .handler, message: "the handler did not answer"))
    }

    /// Waits until the peer has received a large response; the deadline resets the stream.
    ///
    /// Until then the request counts as in flight.
    func awaitDelivery() async {
        guard sentBytes > Self.briefResponse, end.cause == nil else { return }
        end.finish()
        try? await stream.delivered()  // a failure ends the stream just as well
    }

    // MARK: Answering

    /// The bytes of the response that were queued.
    private var sentBytes: Int { state.withLock { $0.sentBytes } }

    /// Answers with a body.
    ///
    /// - Throws: ``ServiceFailure``, and nothing was answered when there is no room for the body; `CancellationError` when
    ///   cancelled.
    package func respond(_ bytes: [UInt8], _ type: ContentType) async throws {
        guard bytes.count <= byteLimit else { throw ServiceFailure(kind: .tooLarge) }
        try await room.hold(bytes.count) {
            try step(from: .unanswered, to: .over)
            let header = ResponseHeader(status: .ok, contentType: type)
            try await translating {
                // A body that waits must not be held twice; a brief one costs less in one write.
                guard bytes.count > Self.briefResponse else {
                    return try await stream.write(header.bytes(body: bytes), finish: true)
                }
                try await stream.write(header.bytes(), finish: false)
                try await stream.write(bytes, finish: true)
            }
        }
        noteSent(bytes.count)
    }

    private func noteSent(_ count: Int) {
        state.withLock { $0.sentBytes += count }
        metrics?.noteSent(count, in: network)
    }

    /// Begins a response that is a sequence of items.
    package func beginStreaming(_ type: ContentType) async throws {
        try step(from: .unanswered, to: .streaming)
        let header = ResponseHeader(status: .okStreaming, contentType: type)
        try await translating { try await stream.write(header.bytes(), finish: false) }
    }

    /// Sends one item, waiting while the requester is slow.
    package func send(item: [UInt8]) async throws {
        guard item.count <= byteLimit else { throw ServiceFailure(kind: .tooLarge) }
        try step(from: .streaming, to: .streaming)
        try await translating { try await stream.write(ItemHead.bytes(item), finish: false) }
        noteSent(item.count)
    }

    /// Ends a sequence of items.
    package func finish() async throws {
        try step(from: .streaming, to: .over)
        try await translating { try await stream.write([], finish: true) }
    }

    /// Answers with a failure, or ends a sequence of items with one; does nothing when all was answered.
    package func fail(_ failure: ServiceFailure) async {
        let phase = state.withLock { state in
            defer { state.phase = .over }
            return state.phase
        }
        do {
            switch phase {
            case .unanswered:
                try await stream.write(ResponseHeader(status: .failed(failure)).bytes(), finish: true)
            case .streaming: try await stream.write(ItemHead.bytes(failure), finish: true)
            case .over: break
            }
        } catch {
            // Cancelled, or the stream is broken: the reset informs the client that nothing follows.
            stream.reset(code: CloseCode.shutdown.rawValue)
        }
    }

    private func step(from phase: Phase, to next: Phase) throws {
        let found = state.withLock { state in
            defer { if state.phase == phase { state.phase = next } }
            return state.phase
        }
        guard found != phase else { return }
        throw end.failure ?? TransportError.misuse("a response was answered twice, or has not begun")
    }

    /// Translates the errors of the stream to the reason for which the request ended.
    private func translating<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as TransportError {
            throw end.failure ?? RequestEnd.Cause.stopped(error).failure
        } catch is CancellationError {
            throw end.failure ?? CancellationError()
        } catch let error as StreamReader.Failure {
            switch error {
            case .tooLong: throw ServiceFailure(kind: .tooLarge)
            case .noRoom: throw ServiceFailure(kind: .busy)
            case .endedEarly: throw ServiceFailure(kind: .protocolViolation, context: "the request ended early")
            }
        } catch let error as WireError {
            throw ServiceFailure(kind: .protocolViolation, context: error.description)
        }
    }
}

extension RequestEnd {
    /// Why the request ended from outside, in the terms of requests.
    var failure: ServiceFailure? { cause?.failure }
}

extension RequestEnd.Cause {
    var failure: ServiceFailure {
        switch self {
        case .overdue, .stopped(.reset(CloseCode.requestOverdue.rawValue)),
            .stopped(.stopped(CloseCode.requestOverdue.rawValue)):
            ServiceFailure(kind: .deadline)
        case .stopped: ServiceFailure(kind: .cancelled)
        }
    }
}
