internal import Concurrency
internal import Transport

/// The bytes of all streams of one connection that wait to be acknowledged, bounded.
///
/// The bound of one stream is not enough: a peer that grants no credit could have each of its streams hold a full queue.
/// Once the budget is exhausted, writers wait until a quarter of it is free, so that each acknowledgement does not wake all
/// of them. Streams with little queued are exempt: frames and failures never wait behind bulk data.
final class SendBudget: Sendable {
    private struct State: Sendable {
        var held = 0
        var isExhausted = false
    }

    /// Bytes that a stream may always have queued: a failure of a request, a few control frames.
    static let exemptBytes = 4096

    /// Bytes of one stream that wait to be acknowledged before its writer waits.
    let highWater: Int
    /// The bytes of one stream below which its writer resumes.
    let lowWater: Int
    private let limit: Int
    private let state = Locked(State())
    private let signal = ConditionVariable()

    init(limits: QUICLimits) {
        highWater = limits.sendHighWater
        lowWater = limits.sendLowWater
        limit = limits.sendBudget
    }

    /// The bytes of all streams that wait to be acknowledged.
    var heldBytes: Int { state.withLock { $0.held } }

    /// The number of writers that wait for room.
    var waiterCount: Int { signal.waiterCount }

    /// Takes `count` bytes for a stream with `queued` bytes; returns false, and takes none, if there is no room.
    ///
    /// The bytes taken last may go beyond the limit: a write is never divided.
    func take(_ count: Int, beside queued: Int) -> Bool {
        state.withLock { state in
            let isExempt = queued + count <= Self.exemptBytes
            guard isExempt || !state.isExhausted else { return false }
            state.held += count
            if state.held >= limit { state.isExhausted = true }
            return true
        }
    }

    /// Returns bytes that were acknowledged or dropped.
    func giveBack(_ count: Int) {
        guard count > 0 else { return }
        let hasRoom = state.withLock { state in
            state.held -= count
            guard state.isExhausted, state.held <= limit / 4 * 3 else { return false }
            state.isExhausted = false
            return true
        }
        if hasRoom { signal.broadcast() }
    }

    /// Wakes waiting writers, so that those of failed streams return.
    func wake() { signal.broadcast() }

    /// Waits for room, or until the stream is closed for writing.
    ///
    /// - Throws: `CancellationError` when cancelled.
    func wait(unless isOver: () -> Bool) async throws {
        try await signal.wait { state.withLock { $0.isExhausted } && !isOver() ? nil : () }
    }
}
