internal import Essentials
internal import Identity
internal import Node
internal import PubSub

/// The events of one batch, or one event of this device, on their way to a subscription.
struct EventDelivery: Sequence, Sendable {
    enum Content: Sendable {
        /// Events that a member published together.
        case batch(EventBatch, NetworkId)
        /// An event that never left this device.
        case local(RunarEvent)
    }

    let content: Content
    let topic: TopicPath
    /// The losses of the subscription before the first of these events.
    var losses = EventLosses()

    /// The number of events.
    var count: Int {
        switch content {
        case .batch(let batch, _): batch.count
        case .local: 1
        }
    }

    /// The least bytes that a delivery counts, since one without data takes memory as well.
    static let leastByteCount = 512

    /// The bytes of all events, with the lengths between those of a batch; at least ``leastByteCount``.
    var byteCount: Int {
        switch content {
        case .batch(let batch, _): Swift.max(batch.content.count, Self.leastByteCount)
        case .local(let event): Swift.max(event.data.count, Self.leastByteCount)
        }
    }

    /// Makes the events one by one; the first one carries the losses.
    struct Iterator: IteratorProtocol {
        private let delivery: EventDelivery
        private var events: EventBatch.Events.Iterator?
        private var index = 0

        init(_ delivery: EventDelivery) {
            self.delivery = delivery
            if case .batch(let batch, _) = delivery.content { events = batch.events.makeIterator() }
        }

        mutating func next() -> RunarEvent? {
            defer { index += 1 }
            let losses = index == 0 ? delivery.losses : EventLosses()
            switch delivery.content {
            case .local(var event):
                guard index == 0 else { return nil }
                event.droppedBefore = losses.dropped
                event.missedBefore = losses.missed
                return event
            case .batch(let batch, let network):
                guard let data = events?.next() else { return nil }
                return RunarEvent(
                    topic: delivery.topic,
                    networkId: network,
                    publisher: batch.stream.publisher,
                    publishedAt: Date(timeIntervalSince1970: Double(batch.publishedSeconds)),
                    data: Data(data),
                    number: batch.first + UInt64(index),
                    losses: losses
                )
            }
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }
}

/// The events that a subscription did not get since the last one that it got.
struct EventLosses: Hashable, Sendable {
    /// Dropped here, because the reader or handler was slow.
    var dropped: UInt64 = 0
    /// Lost on the way: no member had them any longer.
    var missed: UInt64 = 0

    /// Adds, and stops at the largest number: a publisher states how many events it sent, and may state any number.
    static func += (left: inout EventLosses, right: EventLosses) {
        left.dropped = UInt64.capped(left.dropped, right.dropped)
        left.missed = UInt64.capped(left.missed, right.missed)
    }
}

extension UInt64 {
    /// The sum, or the largest number where it is larger.
    fileprivate static func capped(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (sum, isTooLarge) = left.addingReportingOverflow(right)
        return isTooLarge ? .max : sum
    }
}
