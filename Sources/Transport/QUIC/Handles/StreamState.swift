internal import Concurrency
internal import DequeModule
internal import Transport

/// One stream as both its user and the I/O thread see it.
///
/// A value: whoever holds the lock changes it and carries out afterwards what came back.
struct StreamState: Sendable {
    typealias StopHandler = @Sendable (TransportError) -> Void

    /// What a read finds.
    enum Taking: Sendable {
        case bytes([UInt8], isFinal: Bool)
        case nothingYet
        case failure(TransportError)
    }

    /// How the I/O thread learns of a change.
    enum Notice: Sendable, Equatable {
        case none
        /// There is credit to give, which may wait for the next occasion.
        case quiet(Int)
        case urgent
    }

    // Receiving.
    private var chunks: Deque<[UInt8]> = []
    private var headOffset = 0
    private(set) var unread = 0
    private var hasEnded = false
    private var readError: TransportError?
    /// Fulfilled when there is something to read; nil while no task waits for that.
    var reader: Promise<Void>?
    var isReading = false
    /// Bytes that the user took and the peer got no credit for.
    var creditDue = 0

    // Sending.
    var outbound: [[UInt8]] = []
    private(set) var outboundBytes = 0
    var engineBytes = 0
    /// Bytes taken from the connection's budget.
    private var budgeted = 0
    var hasFinished = false
    var finishPosted = false
    private(set) var writeError: TransportError?
    /// Fulfilled when at most `writerLimit` bytes are queued; nil while no task waits for that.
    var writer: Promise<Void>?
    var writerLimit = 0
    var isWriting = false
    /// Whom to tell that writing is of no use any more.
    var stopHandler: StopHandler?

    // Giving up.
    var resetCode: UInt64?
    var isStoppedReading = false
    /// Whether the I/O thread will look at the stream.
    var isPosted = false
    var isPostedUrgently = false
    /// Whether the user has the stream in hand.
    var isAccepted: Bool
    var isClosed = false
    var hasReturnedSlot = false

    init(isAccepted: Bool) {
        self.isAccepted = isAccepted
    }

    /// Bytes that wait to be acknowledged.
    var queued: Int { outboundBytes + engineBytes }

    /// Whether both directions came to their proper end for the user.
    var isFullyRead: Bool { (hasEnded && chunks.isEmpty) || readError != nil }

    // MARK: The user

    mutating func take(atMost maximum: Int) -> Taking {
        guard let head = chunks.first else {
            if let readError { return .failure(readError) }
            return hasEnded ? .bytes([], isFinal: true) : .nothingYet
        }
        let available = head.count - headOffset
        let taken: [UInt8]
        if available <= maximum {
            chunks.removeFirst()
            taken = headOffset == 0 ? head : Array(head[headOffset...])
            headOffset = 0
        } else {
            taken = Array(head[headOffset..<headOffset + maximum])
            headOffset += maximum
        }
        unread -= taken.count
        creditDue += taken.count
        return .bytes(taken, isFinal: hasEnded && chunks.isEmpty)
    }

    private mutating func enqueue(_ bytes: [UInt8], finish: Bool) {
        if !bytes.isEmpty {
            outbound.append(bytes)
            outboundBytes += bytes.count
        }
        if finish { hasFinished = true }
    }

    /// Queues the bytes unless the connection's budget is exhausted.
    mutating func enqueue(_ bytes: [UInt8], finish: Bool, within budget: SendBudget) -> Bool {
        guard budget.take(bytes.count, beside: queued) else { return false }
        budgeted += bytes.count
        enqueue(bytes, finish: finish)
        return true
    }

    /// The bytes that are queued no more since the last call, for the connection's budget.
    mutating func takeReleased() -> Int {
        defer { budgeted = min(budgeted, queued) }
        return max(0, budgeted - queued)
    }

    /// Why nothing can be written; nil when it can.
    func writeFailure() -> TransportError? {
        writeError ?? (hasFinished ? .misuse("written after its end") : nil)
    }

    /// The user gives up: nothing more is read or written.
    mutating func giveUp(code: UInt64) {
        guard resetCode == nil else { return }
        resetCode = code
        discardUnread()
        outbound = []
        outboundBytes = 0
        readError = readError ?? .reset(code: code)
        writeError = writeError ?? .stopped(code: code)
    }

    /// The user lets go of a stream whose own direction it had finished.
    mutating func stopReading() {
        isStoppedReading = true
        discardUnread()
    }

    /// Whom to tell now that writing is of no use any more, and why; nil when nobody is to be told.
    mutating func takeStopped() -> (handler: StopHandler, error: TransportError)? {
        guard let writeError, let stopHandler else { return nil }
        self.stopHandler = nil
        return (stopHandler, writeError)
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

    mutating func receive(_ bytes: [UInt8]) {
        guard resetCode == nil, !isStoppedReading, readError == nil else {
            creditDue += bytes.count
            return
        }
        chunks.append(bytes)
        unread += bytes.count
    }

    mutating func end() {
        hasEnded = true
    }

    /// The peer's reset, or the end of the connection.
    mutating func failReading(_ error: TransportError, discarding: Bool) {
        if discarding { discardUnread() }
        guard !hasEnded || !chunks.isEmpty || discarding else { return }
        readError = readError ?? error
    }

    mutating func failWriting(_ error: TransportError) {
        writeError = writeError ?? error
        outbound = []
        outboundBytes = 0
    }

    private mutating func discardUnread() {
        creditDue += unread
        unread = 0
        chunks = []
        headOffset = 0
    }
}
