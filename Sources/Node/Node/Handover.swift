internal import Concurrency

/// An element on its way to the listeners of a ``Broadcaster``, and the result.
///
/// Takers decide at once: the result is certain when their queues have the element, or one has no room. Otherwise the
/// first confirmation decides. If every confirming listener ends before that, the result is that of the observers.
package final class Handover: Sendable {
    /// The result of handing an element to the listeners; of several results the highest counts.
    package enum Delivery: Int, Sendable {
        case noListener
        case delivered
        /// A listener had no room for it, or none confirmed it in time.
        case overflow
    }

    /// The share of a listener in the result.
    package enum Role: Sendable {
        /// A listener that has the element when its queue has it.
        case taker
        /// A taker that counts only if no other listener is present.
        case observer
        /// A listener that has the element when it confirms it.
        case confirmer
    }

    /// The longest wait for a confirmation: two thirds of the usual patience of a sender, which then learns the result.
    package static let patience = Duration.seconds(10)

    private struct State: Sendable {
        /// The confirmations that listeners owe, and one while the element is handed over.
        var owedCount = 1
        /// The result by the takers.
        var taken = Delivery.noListener
        /// The result if no listener confirms.
        var fallback = Delivery.noListener
    }

    private let state = Locked(State())
    private let outcome = Promise<Delivery>()

    init() {}

    /// The result; nil before it is certain.
    package var delivery: Delivery? { outcome.value }

    /// Returns the result once it is certain.
    ///
    /// At `deadline`, or when the task is cancelled, an element without a confirmation becomes an overflow, and is removed
    /// from the queues of confirming listeners.
    package func delivery(by deadline: Duration, on clock: NodeClock) async -> Delivery {
        if let delivery { return delivery }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await self.outcome.wait() }  // cancelled at the deadline
            group.addTask { try? await clock.sleep(deadline) }  // cut short by the result
            await group.next()
            group.cancelAll()
        }
        outcome.fulfil(.overflow)
        return await outcome.waitIgnoringCancellation()
    }

    /// Adds the result of handing the element to one listener.
    func note(_ delivery: Delivery, from role: Role) {
        state.withLock { state in
            switch role {
            case .taker: state.taken = max(state.taken, delivery)
            case .observer: state.fallback = max(state.fallback, delivery)
            case .confirmer: if delivery == .overflow { state.fallback = .overflow }
            }
        }
    }

    /// Notes that every listener was handed the element.
    func end() {
        let taken = state.withLock { $0.taken }
        if taken != .noListener { outcome.fulfil(taken) }
        release()
    }

    fileprivate func owe() { state.withLock { $0.owedCount += 1 } }

    fileprivate func confirm() { outcome.fulfil(.delivered) }

    fileprivate func release() {
        let fallback = state.withLock { state in
            state.owedCount -= 1
            return state.owedCount == 0 ? state.fallback : nil
        }
        if let fallback { outcome.fulfil(fallback) }
    }
}

extension Handover.Delivery: Comparable {
    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// The confirmation of one element that a listener owes; a listener that ends releases it instead.
package final class Confirmation: Sendable {
    private let handover: Handover

    init(of handover: Handover) {
        self.handover = handover
        handover.owe()
    }

    deinit { handover.release() }

    /// Whether the sender was notified that the element was not taken.
    var isExpired: Bool { handover.delivery == .overflow }

    /// Confirms that the listener's program has the element; has no effect after the deadline.
    package func confirm() { handover.confirm() }
}
