internal import Concurrency
internal import Transport

/// The sending part of a stream (RFC 9000, section 3.1): bytes on their way to the peer, and the writer that waits for
/// their acknowledgement.
struct SendSide: Sendable {
    typealias StopHandler = @Sendable (TransportError) -> Void

    /// A task that waits until at most `limit` bytes are queued.
    struct Writer: Sendable {
        let drained: Promise<Void>
        let limit: Int
    }

    /// The state of the stream's own end.
    private enum Finish: Sendable {
        /// The user may write. Can become `requested`.
        case none
        /// The user wrote its last bytes. Can become `posted`.
        case requested
        /// The engine knows the end.
        case posted
    }

    private var outbound: [[UInt8]] = []
    private var outboundBytes = 0
    /// Bytes that the engine holds until they are acknowledged.
    var engineBytes = 0
    /// Bytes taken from the connection's budget.
    private var budgeted = 0
    private var finish = Finish.none
    private(set) var error: TransportError?
    /// The waiting task; nil while none waits.
    private(set) var writer: Writer?
    /// The handler to notify when the stream no longer takes bytes.
    var stopHandler: StopHandler?

    /// Bytes that wait to be acknowledged.
    var queued: Int { outboundBytes + engineBytes }

    /// Whether the user wrote its last bytes.
    var hasFinished: Bool { finish != .none }

    /// The reason why nothing can be written; nil when it can.
    var failure: TransportError? {
        error ?? (hasFinished ? .misuse("written after its end") : nil)
    }

    // MARK: The user

    /// Queues the bytes unless the connection's budget is exhausted.
    mutating func enqueue(_ bytes: [UInt8], finish isLast: Bool, within budget: SendBudget) -> Bool {
        guard budget.take(bytes.count, beside: queued) else { return false }
        budgeted += bytes.count
        if !bytes.isEmpty {
            outbound.append(bytes)
            outboundBytes += bytes.count
        }
        if isLast { finish = .requested }
        return true
    }

    /// Returns the bytes that left the queue since the last call, for the connection's budget.
    mutating func takeReleased() -> Int {
        defer { budgeted = min(budgeted, queued) }
        return max(0, budgeted - queued)
    }

    /// Registers the task that waits until at most `limit` bytes are queued.
    mutating func wait(_ drained: Promise<Void>, downTo limit: Int) {
        writer = Writer(drained: drained, limit: limit)
    }

    /// Removes the task that waits with `drained`, if it still waits.
    mutating func cancel(_ drained: Promise<Void>) {
        if writer?.drained === drained { writer = nil }
    }

    /// Returns the waiting writer, which waits no longer.
    mutating func takeWriter() -> Promise<Void>? {
        defer { writer = nil }
        return writer?.drained
    }

    /// Returns the waiting writer if its condition holds or the stream is closed for writing.
    mutating func takeReadyWriter() -> Promise<Void>? {
        guard let writer, queued <= writer.limit || error != nil else { return nil }
        return takeWriter()
    }

    /// Returns the handler to notify that the stream no longer takes bytes, with the reason; nil when none is due.
    mutating func takeStopped() -> (handler: StopHandler, error: TransportError)? {
        guard let error, let stopHandler else { return nil }
        self.stopHandler = nil
        return (stopHandler, error)
    }

    /// Drops the bytes that the engine does not hold; writing fails from then on.
    mutating func fail(_ error: TransportError) {
        self.error = self.error ?? error
        outbound = []
        outboundBytes = 0
    }

    // MARK: The I/O thread

    mutating func takeOutbound() -> [[UInt8]] {
        defer {
            outbound = []
            outboundBytes = 0
        }
        engineBytes += outboundBytes
        return outbound
    }

    /// Returns whether the engine must be given the end, which is so once.
    mutating func takeFinish() -> Bool {
        guard finish == .requested else { return false }
        finish = .posted
        return true
    }
}
