internal import Concurrency

/// The bytes and streams that one end has under way to the other, against its limits.
struct SendCredit {
    /// The streams of this end that the other end knows and is not done with.
    private var openCount = 0
    /// The bytes that this end sent and the other end has not consumed.
    private var unconsumed = 0
    /// Notified when a waiting write may resume or must fail.
    let writing = ConditionVariable()

    /// Whether another stream may be opened.
    func mayOpen(_ limits: InMemoryLimits) -> Bool { openCount < limits.streamCount }

    /// Whether bytes may be sent.
    func maySend(_ limits: InMemoryLimits) -> Bool { unconsumed < limits.connectionWindow }

    /// Counts a stream that was opened.
    mutating func open() {
        openCount += 1
    }

    /// Counts bytes that were sent.
    mutating func send(_ byteCount: Int) {
        unconsumed += byteCount
    }

    /// Releases the place of a stream that the other end has completed.
    mutating func close() {
        openCount -= 1
        writing.broadcast()
    }

    /// Returns the credit of bytes that the other end consumed.
    mutating func consume(_ byteCount: Int) {
        unconsumed -= byteCount
        writing.broadcast()
    }
}
