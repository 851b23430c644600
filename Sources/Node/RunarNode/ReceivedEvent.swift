public import Identity
internal import Node
internal import PubSub

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An event that a member published, as a subscription gets it.
public struct ReceivedEvent: Sendable, Hashable {
    /// In which network.
    public let networkId: NetworkId
    /// To which topic; never a pattern.
    public let topic: TopicPath
    /// Who published it; its signature was checked.
    public let publisher: PeerId
    /// Which of the publisher's events it is since the start of its process; the first is 1.
    public let number: UInt64
    /// When it was published, by the publisher's clock, to the second.
    public let publishedAt: Date
    /// What was published.
    public let message: Data
    /// How many events this subscription may have lost before this one, because this device or its peers were too slow
    /// or away for longer than the replay window; of some of them the topic is not known.
    public let missedBefore: UInt64
}

/// A subscription to events; it ends when it is cancelled or let go of, and outlives a stop and a start of the node.
public final class Subscription: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        self.end()
    }

    /// Ends the subscription; a handler that is being called comes to its end.
    public func cancel() { self.end() }
}

/// The events of a subscription, in order for each publisher; ends when the iteration does.
///
/// It holds up to `listenerCapacity` events for a reader that is slow; later ones are lost, and counted in
/// ``ReceivedEvent/missedBefore`` of the next one.
public struct EventSequence: AsyncSequence, Sendable {
    let batches: AsyncStream<[ReceivedEvent]>
    let buffer: EventBuffer

    /// Hands out one event after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var batches: AsyncStream<[ReceivedEvent]>.Iterator
        private let buffer: EventBuffer
        private var waiting: ArraySlice<ReceivedEvent> = []

        init(_ sequence: EventSequence) {
            self.batches = sequence.batches.makeAsyncIterator()
            self.buffer = sequence.buffer
        }

        /// The next event; nil when the subscription is over.
        public mutating func next() async -> ReceivedEvent? { await self.next(isolation: #isolation) }

        /// The same for whoever iterates on an actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ReceivedEvent? {
            while self.waiting.isEmpty {
                guard let batch = await self.batches.next(isolation: actor) else { return nil }
                self.waiting = batch[...]
                self.buffer.noteRead(batch.count)
            }
            return self.waiting.removeFirst()
        }
    }

    /// Begins to hand them out; for one reader.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
