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
    /// How many events were dropped here before this one, because the reader or handler of this subscription was slow.
    public let droppedBefore: UInt64
    /// How many events were lost before this one, because nobody had them any more when this device asked: it or its
    /// peers were slow, or away for longer than the replay window; of some of them the topic is not known.
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
