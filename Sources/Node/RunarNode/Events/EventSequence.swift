internal import Concurrency

/// The events of a subscription, in order for each publisher.
///
/// The subscription ends when the iteration ends, its task is cancelled, or the last copy of the sequence and its iterator
/// or the node are released. While the reader is slow, the sequence buffers at most 32 MiB of events. Later ones are dropped
/// and counted in ``RunarEvent/droppedBefore`` of the next one.
public struct EventSequence: AsyncSequence, Sendable {
    let queue: SubscriptionQueue
    /// Ends when the last copy and the iterator are released.
    let subscription: Subscription

    /// Hands out one event after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let sequence: EventSequence
        private var current: EventDelivery.Iterator?

        init(_ sequence: EventSequence) {
            self.sequence = sequence
        }

        /// Returns the next event; nil when the subscription has ended or the task is cancelled.
        public mutating func next() async -> RunarEvent? { await next(isolation: #isolation) }

        /// Returns the next event; nil when the subscription has ended or the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> RunarEvent? {
            while true {
                if let event = current?.next() { return event }
                guard let delivery = await sequence.queue.next() else {
                    sequence.subscription.cancel()
                    return nil
                }
                current = delivery.makeIterator()
            }
        }
    }

    /// The number of events that wait for the reader.
    package var waitingCount: Int { queue.count }

    /// Begins to hand them out; for one reader.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
