internal import Concurrency
package import Identity
internal import NodeCore
package import Services
internal import Transport

/// A request of this node in flight: its stream, and the progress of the response.
///
/// One task may send while another one receives. Releasing the object cancels the request.
package final class OutgoingRequest: Sendable {
    /// The progress of the response.
    private enum Phase: Sendable {
        /// Nothing was read.
        case awaiting
        /// The header is read, and the rest of the stream is the body.
        case body
        /// The header is read, and items follow.
        case items
        /// All was read, or it failed.
        case over
    }

    private struct State: Sendable {
        /// Nil while a task reads.
        var reader: StreamReader?
        var phase = Phase.awaiting
        var contentType = ContentType.none
        var isTracked = true
    }

    /// The provider.
    package let peer: PeerId
    /// Whether the provider declared the action idempotent.
    let isIdempotent: Bool
    private let driver: NodeDriver
    private let stream: any Stream
    private let connection: ConnectionId
    private let network: NetworkId
    private let number: Int
    private let end: RequestEnd
    private let byteLimit: Int
    private let state: Locked<State>

    init(_ driver: NodeDriver, _ opening: RequestStream) {
        peer = opening.peer
        isIdempotent = opening.isIdempotent
        self.driver = driver
        stream = opening.stream
        connection = opening.route.connection
        network = opening.route.network
        number = opening.number
        end = opening.end
        byteLimit = driver.configuration.limits.messageBytes
        state = Locked(State(reader: StreamReader(opening.stream)))
    }

    deinit {
        close()
    }

    /// Forgets the stream once.
    private func close() {
        let wasTracked = state.withLock { state in
            defer { state.isTracked = false }
            return state.isTracked
        }
        if wasTracked { driver.untrack(number, on: connection) }
    }

    // MARK: Sending

    /// Writes the header, and for a request without streaming its whole body.
    func begin(_ header: RequestHeader, _ prefix: [UInt8], body: [UInt8]) async throws {
        _ = try await write(header.bytes(after: prefix, body: body), finish: !header.streamsBody)
    }

    /// Writes, and returns whether the provider reads on: one that does not may have answered nevertheless.
    private func write(_ bytes: [UInt8], finish: Bool) async throws -> Bool {
        try await translating {
            do {
                try await stream.write(bytes, finish: finish)
                return true
            } catch TransportError.stopped {
                return false
            }
        }
    }

    /// Writes a part of a streamed body.
    private func write(part: [UInt8], finish: Bool) async throws {
        guard try await write(part, finish: finish) else {
            if let failure = end.failure { throw failure }
            throw ServiceFailure(kind: .cancelled, message: "the provider reads no more of the request")
        }
    }

    /// Sends one item of a streamed body, waiting while the provider is slow.
    ///
    /// - Throws: ``ServiceFailure``, of the kind `cancelled` when the provider reads no more; its answer can still be
    ///   read; ``NodeError``; `CancellationError` when cancelled.
    package func send(_ item: [UInt8]) async throws {
        guard item.count <= byteLimit else { throw ServiceFailure(kind: .tooLarge) }
        try await write(part: ItemHead.bytes(item), finish: false)
        driver.configuration.metrics?.noteSent(item.count, in: network)
    }

    /// Ends the sequence of items.
    package func finish() async throws {
        try await write(part: [], finish: true)
    }

    /// Ends the sequence of items with a failure of this node.
    package func fail(_ failure: ServiceFailure) async throws {
        try await write(part: ItemHead.bytes(failure), finish: true)
    }

    private func giveUp(_ code: CloseCode) {
        state.withLock { $0.phase = .over }
        stream.reset(code: code.rawValue)
        close()
    }

    // MARK: Receiving

    /// Waits for the response to begin and returns how its body is written.
    ///
    /// - Throws: ``ServiceFailure`` when the request failed, ``NodeError``; `CancellationError` when cancelled.
    @discardableResult package func response() async throws -> ContentType {
        try await reading { reader in try await readHeader(&reader) }
        return state.withLock { $0.contentType }
    }

    /// The whole body of a response that is not streamed.
    package func body() async throws -> [UInt8] {
        try await reading { reader in
            try await readHeader(&reader)
            guard state.withLock({ $0.phase }) == .body else {
                throw ServiceFailure(kind: .protocolViolation, message: "the response is a sequence of items")
            }
            let body = try await reader.readToEnd(limit: byteLimit)
            state.withLock { $0.phase = .over }
            return body
        }
    }

    /// The next item of the response, or nil at its end; a response that is not streamed counts as one item.
    package func nextItem() async throws -> [UInt8]? {
        try await reading { reader in
            try await readHeader(&reader)
            let item: [UInt8]?
            switch state.withLock({ $0.phase }) {
            case .awaiting, .over: return nil
            case .body:
                item = try await reader.readToEnd(limit: byteLimit)
                state.withLock { $0.phase = .over }
            case .items:
                item = try await reader.readItem(limit: byteLimit)
                if item == nil { state.withLock { $0.phase = .over } }
            }
            if let item { driver.configuration.metrics?.noteReceived(item.count, in: network) }
            return item
        }
    }

    private func readHeader(_ reader: inout StreamReader) async throws {
        guard state.withLock({ $0.phase }) == .awaiting else { return }
        guard let bytes = try await reader.readPrefixed(limit: ResponseHeader.byteLimit) else {
            throw StreamReader.Failure.endedEarly
        }
        let header = try ResponseHeader(bytes)
        if case .failed(let failure) = header.status { throw failure }
        state.withLock { state in
            state.contentType = header.contentType
            state.phase = header.status == .ok ? .body : .items
        }
    }

    /// Runs `body` with exclusive use of the reader; after a failure nothing more can be read.
    private func reading<Result: Sendable>(
        _ body: (inout StreamReader) async throws -> Result
    ) async throws -> Result {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            return state.reader
        }
        guard var reader else { throw TransportError.misuse("two tasks read one response") }
        let result = try await translating { try await body(&reader) }
        let isOver = state.withLock { state in
            state.reader = reader
            return state.phase == .over
        }
        if isOver {
            end.finish()
            close()
        }
        return result
    }

    // MARK: Failures

    /// Runs `body` and ends the request when it fails, with an error in terms of requests.
    private func translating<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as ServiceFailure {
            giveUp(.shutdown)
            throw error
        } catch {
            giveUp(Self.closeCode(for: error))
            switch end.cause {
            case .overdue: throw ServiceFailure(kind: .deadline)
            case .stopped(let cause): throw Self.failure(for: cause, peer)
            case nil: break
            }
            throw Self.failure(for: error, peer)
        }
    }

    private static func closeCode(for error: any Error) -> CloseCode {
        switch error {
        case is CancellationError: .requestCancelled
        case StreamReader.Failure.tooLong: .tooLarge
        case is WireError: .protocolViolation
        default: .shutdown
        }
    }

    private static func failure(for error: any Error, _ peer: PeerId) -> any Error {
        switch error {
        case let error as TransportError:
            switch error {
            case .reset(CloseCode.requestOverdue.rawValue): ServiceFailure(kind: .deadline)
            case .reset(CloseCode.tooLarge.rawValue), .stopped(CloseCode.tooLarge.rawValue):
                ServiceFailure(kind: .tooLarge)
            default: NodeError(error, of: peer)
            }
        case StreamReader.Failure.tooLong: ServiceFailure(kind: .tooLarge)
        case is StreamReader.Failure: NodeError.interrupted(peer, "the response ended early")
        case let error as WireError: ServiceFailure(kind: .protocolViolation, context: error.description)
        default: error
        }
    }
}

extension StreamReader {
    /// The next item of a streamed body; nil at its end.
    ///
    /// - Throws: the ``ServiceFailure`` that the sender put in the place of the rest.
    mutating func readItem(limit: Int) async throws -> [UInt8]? {
        guard let number = try await readVarint() else { return nil }
        let (count, isFailure) = ItemHead.parts(number)
        let limit = isFailure ? ServiceFailure.byteLimit : limit
        guard count <= UInt64(limit) else { throw Failure.tooLong(limit: limit, found: Int(clamping: count)) }
        let bytes = try await read(count: Int(count))
        guard !isFailure else { throw try ServiceFailure(bytes) }
        return bytes
    }
}
