internal import Concurrency

/// The events that wait for the reader of one subscription, bounded in bytes.
///
/// It buffers at most 32 MiB. Later events are dropped and counted; the next event that it accepts has the count. The number
/// of events is not bounded: fast publishers send thousands of small ones in a batch, which take no more memory than a few
/// large ones. Past events, which the replay window bounds, are always accepted.
final class SubscriptionQueue: Sendable {
    private struct State: Sendable {
        var waiting = 0
        var waitingBytes = 0
        var losses = EventLosses()
        var isFinished = false
    }

    /// The bytes that are held at most.
    static let byteLimit = 32 << 20

    private let state = Locked(State())
    /// Without a limit of its own: a delivery gets in only if there is room for its bytes.
    private let deliveries = BoundedChannel<EventDelivery>()

    /// The number of events that wait for the reader.
    var count: Int { state.withLock { $0.waiting } }

    /// Whether the subscription has ended.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Adds events, or drops and counts them if there is no room.
    ///
    /// Past events, and events that arrive at an empty queue, are always accepted.
    func offer(_ delivery: EventDelivery, arePast: Bool = false) {
        state.withLock { state in
            guard !state.isFinished else { return }
            let (count, byteCount) = (delivery.count, delivery.byteCount)
            guard arePast || state.waiting == 0 || state.waitingBytes + byteCount <= Self.byteLimit else {
                state.losses += EventLosses(dropped: UInt64(count))
                return
            }
            var delivery = delivery
            delivery.losses = state.losses
            state.losses = EventLosses()
            state.waiting += count
            state.waitingBytes += byteCount
            _ = deliveries.offer(delivery)  // open and without a limit
        }
    }

    /// Notes that events were lost on the way.
    func noteMissed(_ count: UInt64) {
        state.withLock { $0.losses += EventLosses(missed: count) }
    }

    /// Waits for the next events; nil when the subscription has ended or the task is cancelled.
    func next() async -> EventDelivery? {
        guard let delivery = try? await deliveries.next() else { return nil }  // cancelled
        state.withLock { state in
            state.waiting -= delivery.count
            state.waitingBytes -= delivery.byteCount
        }
        return delivery
    }

    /// Ends the subscription and discards the events that wait.
    func finish() {
        state.withLock { $0.isFinished = true }
        deliveries.finish(discarding: true)
    }
}
