internal import Bytes
internal import Concurrency
internal import Identity
internal import PubSub

/// Events that wait to be signed and sent, in order: events published while a batch is being sent form the next one.
final class PublishQueue: Sendable {
    /// Events of one topic, one after another.
    struct Pending: Sendable {
        let network: NetworkId
        let topic: String
        var content: ByteWriter
        var count = 0

        init(network: NetworkId, topic: String, byteCapacity: Int) {
            self.network = network
            self.topic = topic
            content = ByteWriter(capacity: byteCapacity)
        }

        /// Whether one more event of `byteCount` bytes fits into the same batch.
        func hasRoom(for byteCount: Int, _ topic: String, _ network: NetworkId) -> Bool {
            count < EventBatch.eventLimit && self.topic == topic && self.network == network
                && content.count + byteCount + PublishQueue.lengthBytes <= PublishQueue.batchBytes
        }
    }

    private struct State: Sendable {
        var pending: [Pending] = []
        var byteCount = 0
        /// Batches that were taken together and are returned one by one; publishers do not wait for them.
        var taken: [Pending] = []
        /// The bytes of the last batch that was taken.
        var lastByteCount = 0
        var isFinished = false

        /// Makes room for publishers.
        mutating func takePending() {
            lastByteCount = pending.last?.content.count ?? 0
            taken += pending
            (pending, byteCount) = ([], 0)
        }

        /// Adds an event to the last batch.
        mutating func add(_ event: some Collection<UInt8>) {
            pending[pending.count - 1].content.writeVarintPrefixed(event)
            pending[pending.count - 1].count += 1
            byteCount += event.count
        }
    }

    /// The length at which a batch is full; longer events have one of their own.
    private static let batchBytes = 256 * 1024
    /// The longest length prefix of an event.
    private static let lengthBytes = 4
    /// The number of queued bytes from which on publishers wait.
    private static let byteLimit = 1 << 20

    /// Signals that an event is ready to be sent.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let state = Locked(State())
    /// Broadcast when publishers may continue.
    private let room = ConditionVariable()

    init() {
        (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds an event if it fits into the last batch; false otherwise.
    func append(_ event: some Collection<UInt8>, to topic: String, of network: NetworkId) -> Bool {
        state.withLock { state in
            let last = state.pending.count - 1
            guard last >= 0, !state.isFinished, state.byteCount < Self.byteLimit,
                state.pending[last].hasRoom(for: event.count, topic, network)
            else { return false }
            state.add(event)
            return true
        }
    }

    /// Adds an event, and waits for room first if there is none.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while it waits.
    func add(_ event: some Collection<UInt8>, to topic: String, of network: NetworkId) async throws {
        if offer(event, topic, network) { return }
        try await room.wait { offer(event, topic, network) ? () : nil }
    }

    private func offer(_ event: some Collection<UInt8>, _ topic: String, _ network: NetworkId) -> Bool {
        let outcome = state.withLock { state -> (isTaken: Bool, isFirst: Bool) in
            guard !state.isFinished else { return (true, false) }
            guard state.byteCount < Self.byteLimit else { return (false, false) }
            let isFirst = state.pending.isEmpty
            let last = state.pending.count - 1
            if isFirst || !state.pending[last].hasRoom(for: event.count, topic, network) {
                // After a batch that got long another one is likely, and is not to grow step by step.
                let previous = isFirst ? state.lastByteCount : state.pending[last].content.count
                let isBusy = previous > Self.batchBytes / 2
                state.pending.append(
                    Pending(network: network, topic: topic, byteCapacity: isBusy ? Self.batchBytes : 0)
                )
            }
            state.add(event)
            return (true, isFirst)
        }
        if outcome.isFirst { signal.yield() }
        return outcome.isTaken
    }

    /// Takes the first waiting batch and resumes publishers; nil if there is none.
    func takeNext() -> Pending? {
        let (next, hasRoom) = state.withLock { state -> (Pending?, Bool) in
            let isFirst = state.taken.isEmpty
            if isFirst { state.takePending() }
            return (state.taken.isEmpty ? nil : state.taken.removeFirst(), isFirst)
        }
        if hasRoom { room.broadcast() }
        return next
    }

    /// Takes every waiting batch and resumes publishers.
    func takeAll() -> [Pending] {
        defer { room.broadcast() }
        return state.withLock { state in
            state.takePending()
            defer { state.taken = [] }
            return state.taken
        }
    }

    /// Refuses further events, and resumes all publishers.
    func finish() {
        state.withLock { $0.isFinished = true }
        room.broadcast()
        signal.finish()
    }
}
