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
        self.deadline = request.deadline
        self.stream = stream
        self.end = request.end
        self.byteLimit = byteLimit
        self.room = room
        self.metrics = metrics
        self.state = Locked(State(reader: reader))
    }

    // MARK: Reading

    /// The next item of the request, or nil at its end; a request that is not streamed counts as one item.
    ///
    /// Once the handler has begun, an item without room fails in a way that does not move the request.
    ///
    /// - Throws: ``ServiceFailure``, also the one that the requester sent in place of the rest; `CancellationError` when
    ///   cancelled.
    package func nextItem(isHandled: Bool = false) async throws -> [UInt8]? {
        let (reader, isRead) = self.state.withLock { state in
            defer { state.reader = nil }
            return (state.reader, state.isRead)
        }
        guard var reader else { throw TransportError.misuse("two tasks read one request") }
        guard !isRead else {
            self.state.withLock { $0.reader = reader }
            return nil
        }
        let item = try await self.translating { () async throws -> [UInt8]? in
            do {
                guard self.header.streamsBody else { return try await reader.readToEnd(limit: self.byteLimit) }
                defer { reader.giveBackRoom() }
                return try await reader.readItem(limit: self.byteLimit)
            } catch StreamReader.Failure.noRoom where isHandled {
                throw ServiceFailure(
                    kind: .tooLarge,
                    message: "no room for the item: too much of other requests is under way; try again later"
                )
            }
        }
        if let item { self.metrics?.noteReceived(item.count, in: self.network) }
        self.state.withLock { state in
            state.reader = reader
            state.isRead = item == nil || !self.header.streamsBody
        }
        return item
    }

    /// Releases the bytes of the body, even if the handler still has the request.
    func forgetBody() { self.state.withLock { $0.reader = nil } }

    // MARK: Handling

    /// Runs the handler until it returns, and cancels it when the request ends before.
    ///
    /// The handler begins when the peer has room for its response.
    func run(
        _ handler: @escaping @Sendable (IncomingRequest) async -> Void,
        _ tracing: RequestTracing?
    ) async {
        self.stream.whenStopped { [end] in end.end(.stopped($0)) }
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
            guard let cause = await self.end.wait() else { return }
            group.cancelAll()
            if case .overdue = cause { await self.fail(cause.failure) }
        }
        self.stream.whenStopped(nil)
        await self.fail(ServiceFailure(kind: .handler, message: "the handler did not answer"))
    }

    /// Waits until the peer has received a large response; the deadline resets the stream.
    ///
    /// Until then the request counts as in flight.
    func awaitDelivery() async {
        guard self.sentBytes > Self.briefResponse, self.end.cause == nil else { return }
        self.end.finish()
        try? await self.stream.delivered()  // a failure ends the stream just as well
    }

    // MARK: Answering

    /// The bytes of the response that were queued.
    private var sentBytes: Int { self.state.withLock { $0.sentBytes } }

    /// Answers with a body.
    ///
    /// - Throws: ``ServiceFailure``, and nothing was answered when there is no room for the body; `CancellationError` when
    ///   cancelled.
    package func respond(_ bytes: [UInt8], _ type: ContentType) async throws {
        guard bytes.count <= self.byteLimit else { throw ServiceFailure(kind: .tooLarge) }
        try await self.room.hold(bytes.count) {
            try self.step(from: .unanswered, to: .over)
            let header = ResponseHeader(status: .ok, contentType: type)
            try await self.translating {
                // A body that waits must not be held twice; a brief one costs less in one write.
                guard bytes.count > Self.briefResponse else {
                    return try await self.stream.write(header.bytes(body: bytes), finish: true)
                }
                try await self.stream.write(header.bytes(), finish: false)
                try await self.stream.write(bytes, finish: true)
            }
        }
        self.noteSent(bytes.count)
    }

    private func noteSent(_ count: Int) {
        self.state.withLock { $0.sentBytes += count }
        self.metrics?.noteSent(count, in: self.network)
    }

    /// Begins a response that is a sequence of items.
    package func beginStreaming(_ type: ContentType) async throws {
        try self.step(from: .unanswered, to: .streaming)
        let header = ResponseHeader(status: .okStreaming, contentType: type)
        try await self.translating { try await self.stream.write(header.bytes(), finish: false) }
    }

    /// Sends one item, waiting while the requester is slow.
    package func send(item: [UInt8]) async throws {
        guard item.count <= self.byteLimit else { throw ServiceFailure(kind: .tooLarge) }
        try self.step(from: .streaming, to: .streaming)
        try await self.translating { try await self.stream.write(ItemHead.bytes(item), finish: false) }
        self.noteSent(item.count)
    }

    /// Ends a sequence of items.
    package func finish() async throws {
        try self.step(from: .streaming, to: .over)
        try await self.translating { try await self.stream.write([], finish: true) }
    }

    /// Answers with a failure, or ends a sequence of items with one; does nothing when all was answered.
    package func fail(_ failure: ServiceFailure) async {
        let phase = self.state.withLock { state in
            defer { state.phase = .over }
            return state.phase
        }
        do {
            switch phase {
            case .unanswered:
                try await self.stream.write(ResponseHeader(status: .failed(failure)).bytes(), finish: true)
            case .streaming: try await self.stream.write(ItemHead.bytes(failure), finish: true)
            case .over: break
            }
        } catch {
            // Cancelled, or the stream is broken: the reset informs the client that nothing follows.
            self.stream.reset(code: CloseCode.shutdown.rawValue)
        }
    }

    private func step(from phase: Phase, to next: Phase) throws {
        let found = self.state.withLock { state in
            defer { if state.phase == phase { state.phase = next } }
            return state.phase
        }
        guard found != phase else { return }
        throw self.end.failure ?? TransportError.misuse("a response was answered twice, or has not begun")
    }

    /// Translates the errors of the stream to the reason for which the request ended.
    private func translating<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as TransportError {
            throw self.end.failure ?? RequestEnd.Cause.stopped(error).failure
        } catch is CancellationError {
            throw self.end.failure ?? CancellationError()
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
    var failure: ServiceFailure? { self.cause?.failure }
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
