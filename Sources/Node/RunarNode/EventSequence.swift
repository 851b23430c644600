internal import Concurrency
internal import Identity
internal import Node
internal import PubSub

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The events of a subscription, in order for each publisher; ends when the iteration does.
///
/// For a reader that is slow it holds up to `listenerCapacity` events, or 1 MiB of them if that is more, and never more
/// than 32 MiB; later ones are dropped, and counted in ``ReceivedEvent/droppedBefore`` of the next one.
public struct EventSequence: AsyncSequence, Sendable {
    let deliveries: AsyncStream<EventDelivery>
    let buffer: EventBuffer

    /// Hands out one event after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var deliveries: AsyncStream<EventDelivery>.Iterator
        private let buffer: EventBuffer
        private var current: EventDelivery.Iterator?

        init(_ sequence: EventSequence) {
            self.deliveries = sequence.deliveries.makeAsyncIterator()
            self.buffer = sequence.buffer
        }

        /// The next event; nil when the subscription is over.
        public mutating func next() async -> ReceivedEvent? { await self.next(isolation: #isolation) }

        /// The same for whoever iterates on an actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ReceivedEvent? {
            while true {
                if let event = self.current?.next() { return event }
                guard let delivery = await self.deliveries.next(isolation: actor) else { return nil }
                self.current = delivery.makeIterator()
                self.buffer.noteRead(delivery)
            }
        }
    }

    /// Begins to hand them out; for one reader.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// The events of one batch on their way to a subscription.
struct EventDelivery: Sequence, Sendable {
    let networkId: NetworkId
    let topic: TopicPath
    let batch: EventBatch
    /// Before the first of them.
    let losses: EventLosses

    /// Makes the events that subscriptions get, one at a time.
    struct Iterator: IteratorProtocol {
        private let delivery: EventDelivery
        private let publishedAt: Date
        private var events: EventBatch.Events.Iterator
        private var number: UInt64

        init(_ delivery: EventDelivery) {
            self.delivery = delivery
            self.publishedAt = Date(timeIntervalSince1970: Double(delivery.batch.publishedSeconds))
            self.events = delivery.batch.events.makeIterator()
            self.number = delivery.batch.first
        }

        mutating func next() -> ReceivedEvent? {
            guard let event = self.events.next() else { return nil }
            defer { self.number += 1 }
            let losses = self.number == self.delivery.batch.first ? self.delivery.losses : EventLosses()
            return ReceivedEvent(
                networkId: self.delivery.networkId,
                topic: self.delivery.topic,
                publisher: self.delivery.batch.stream.publisher,
                number: self.number,
                publishedAt: self.publishedAt,
                message: Data(event),
                droppedBefore: losses.dropped,
                missedBefore: losses.missed
            )
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }
}

/// How much waits for the reader of an ``EventSequence``, and what it lost.
final class EventBuffer: Sendable {
    private struct State: Sendable {
        var waiting = 0
        var waitingBytes = 0
        var losses = EventLosses()
    }

    /// So much is always held, however many events it is: quick publishers send thousands of small ones in a batch.
    private static let byteCapacity = 1 << 20

    private let state = Locked(State())
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Makes room for events, unless others wait and there is not enough for all of them.
    func hasRoom(for delivery: EventDelivery) -> Bool {
        self.state.withLock { state in
            let (count, byteCount) = (delivery.batch.count, delivery.batch.content.count)
            let byteLimit = state.waiting + count <= self.capacity ? EventHub.byteLimit : Self.byteCapacity
            guard state.waiting == 0 || state.waitingBytes + byteCount <= byteLimit else { return false }
            state.waiting += count
            state.waitingBytes += byteCount
            return true
        }
    }

    func noteRead(_ delivery: EventDelivery) {
        self.state.withLock { state in
            state.waiting -= delivery.batch.count
            state.waitingBytes -= delivery.batch.content.count
        }
    }

    /// Counts what is dropped, and with it what was lost before.
    func lose(_ delivery: EventDelivery) {
        self.state.withLock { state in
            state.losses += delivery.losses
            state.losses += EventLosses(dropped: UInt64(delivery.batch.count))
        }
    }

    func takeLosses() -> EventLosses {
        self.state.withLock { state in
            defer { state.losses = EventLosses() }
            return state.losses
        }
    }
}
