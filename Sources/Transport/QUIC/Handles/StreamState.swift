internal import Concurrency
internal import Transport

/// One stream, as its user and the I/O thread share it.
///
/// It is a value that changes under the lock of its ``StreamCore``; the result of a change is applied after unlocking.
struct StreamState: Sendable {
    /// The signal to the I/O thread after a change.
    enum Notice: Sendable, Equatable {
        case none
        /// Credit was returned, which may be sent at the next opportunity.
        case quiet(Int)
        /// The thread must wake up. A listed stream is already queued.
        case urgent(isListed: Bool)
    }

    /// Whether the I/O thread will process the stream.
    private enum Posting: Sendable {
        /// Can become `quiet` or `urgent`.
        case none
        /// Can become `urgent`, or `none` when the thread looks.
        case quiet
        /// Becomes `none` when the thread looks.
        case urgent
    }

    var receiving = ReceiveSide()
    var sending = SendSide()
    var slot: StreamSlot
    /// The code with which the user reset both directions.
    private(set) var resetCode: UInt64?
    private var posting = Posting.none

    init(isAccepted: Bool) {
        slot = StreamSlot(isAccepted: isAccepted)
    }

    // MARK: The user

    /// Resets both directions: nothing more is read or written.
    mutating func reset(code: UInt64) {
        guard resetCode == nil else { return }
        resetCode = code
        receiving.stop(failing: .reset(code: code))
        sending.fail(.stopped(code: code))
    }

    /// Marks the stream as posted urgently, and returns the notice to give.
    mutating func markUrgent() -> Notice {
        switch posting {
        case .none:
            posting = .urgent
            return .urgent(isListed: false)
        case .quiet:
            posting = .urgent
            return .urgent(isListed: true)
        case .urgent:
            return .none
        }
    }

    /// Marks the stream as posted after a read, if there is credit to give, and returns the notice to give.
    ///
    /// From `threshold` bytes on credit is urgent.
    mutating func markCredit(threshold: Int) -> Notice {
        let due = receiving.creditDue
        if due >= threshold { return markUrgent() }
        guard due > 0, receiving.unread == 0, posting == .none else { return .none }
        posting = .quiet
        return .quiet(due)
    }

    /// Returns the waiting reader and writer, which wait no longer.
    mutating func takeWaiters() -> [Promise<Void>] {
        [receiving.takeReader(), sending.takeWriter()].compactMap { $0 }
    }

    // MARK: The I/O thread

    /// Returns the waiting reader and writer that can resume.
    mutating func takeReadyWaiters() -> [Promise<Void>] {
        [receiving.takeReadyReader(), sending.takeReadyWriter()].compactMap { $0 }
    }

    /// Removes the mark, because the I/O thread processes the stream.
    mutating func unmark() {
        posting = .none
    }
}

/// The place of a stream under the limit of concurrent streams (RFC 9000, section 4.6).
///
/// It is free for another one when the stream is closed and the user got it from `acceptStream`.
struct StreamSlot: Sendable {
    /// Whether the user has the stream in hand.
    private var isAccepted: Bool
    private(set) var isClosed = false
    private var wasReturned = false

    init(isAccepted: Bool) {
        self.isAccepted = isAccepted
    }

    mutating func accept() {
        isAccepted = true
    }

    mutating func close() {
        isClosed = true
    }

    /// Returns whether the peer may open another stream instead, which is so once.
    mutating func takeReturn() -> Bool {
        guard isClosed, isAccepted, !wasReturned else { return false }
        wasReturned = true
        return true
    }
}
