internal import Concurrency
internal import DequeModule
internal import Transport

/// The receiving part of a stream (RFC 9000, section 3.2): bytes that wait for the reader, and the credit due for them.
struct ReceiveSide: Sendable {
    /// The result of an attempt to read.
    enum Taking: Sendable {
        case bytes([UInt8], isFinal: Bool)
        case nothingYet
        case failure(TransportError)
    }

    private var chunks: Deque<[UInt8]> = []
    private var headOffset = 0
    private(set) var unread = 0
    private var hasEnded = false
    private var error: TransportError?
    /// Fulfilled when there is something to read; nil while no task waits for that.
    private(set) var reader: Promise<Void>?
    /// Bytes that the user took and the peer got no credit for.
    private(set) var creditDue = 0
    /// Whether the user has stopped reading.
    ///
    /// Bytes that still arrive are credited at once.
    private(set) var isStopped = false

    /// Whether all bytes were read, or no more can arrive.
    var isFullyRead: Bool { (hasEnded && chunks.isEmpty) || error != nil }

    /// Whether a read has a result.
    var isReadable: Bool { unread > 0 || isFullyRead }

    // MARK: The user

    mutating func take(atMost maximum: Int) -> Taking {
        guard let head = chunks.first else {
            if let error { return .failure(error) }
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

    /// Registers the task that waits for something to read.
    mutating func wait(_ arrival: Promise<Void>) {
        reader = arrival
    }

    /// Removes the task that waits with `arrival`, if it still waits.
    mutating func cancel(_ arrival: Promise<Void>) {
        if reader === arrival { reader = nil }
    }

    /// Returns the waiting reader, which waits no longer.
    mutating func takeReader() -> Promise<Void>? {
        defer { reader = nil }
        return reader
    }

    /// Returns the waiting reader if there is something to read.
    mutating func takeReadyReader() -> Promise<Void>? { isReadable ? takeReader() : nil }

    /// Discards all bytes, also those that still arrive.
    mutating func stop() {
        isStopped = true
        discardUnread()
    }

    /// Stops reading, which fails from then on.
    mutating func stop(failing error: TransportError) {
        stop()
        self.error = self.error ?? error
    }

    // MARK: The I/O thread

    mutating func receive(_ bytes: [UInt8]) {
        guard !isStopped, error == nil else {
            creditDue += bytes.count
            return
        }
        chunks.append(bytes)
        unread += bytes.count
    }

    mutating func end() {
        hasEnded = true
    }

    /// Applies the peer's reset, or the end of the connection.
    mutating func fail(_ error: TransportError, discarding: Bool) {
        if discarding { discardUnread() }
        guard !hasEnded || !chunks.isEmpty || discarding else { return }
        self.error = self.error ?? error
    }

    /// Returns the bytes to credit to the peer, and resets their count.
    mutating func takeCredit() -> Int {
        defer { creditDue = 0 }
        return creditDue
    }

    private mutating func discardUnread() {
        creditDue += unread
        unread = 0
        chunks = []
        headOffset = 0
    }
}
