package import Identity
package import PubSub

/// The receiver of the events that members publish.
///
/// The driver calls it under its lock, in the order of the effects of ``NodeCore/NodeCore``: it must be quick and must not
/// call the driver.
package protocol EventSink: Sendable {
    /// Receives events of a network; `publishedAt` is the latest time, by the monotonic clock, at which they can have been
    /// published.
    func receive(_ batch: EventBatch, in network: NetworkId, publishedAt: Duration)

    /// Notes that `count` events of a network are lost because no member has them any longer.
    func noteMissed(_ count: UInt64, in network: NetworkId)
}
