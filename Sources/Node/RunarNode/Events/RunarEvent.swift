public import Essentials
public import Identity

/// An event that a subscription received.
public struct RunarEvent: Sendable, Hashable {
    /// The topic; never a pattern.
    public let topic: TopicPath
    /// The network; nil for an event under a name that no network has, which stayed on this device.
    public internal(set) var networkId: NetworkId?
    /// The publisher; its signature was verified.
    public let publisher: PeerId
    /// The time of publication by the publisher's clock, to the second.
    public let publishedAt: Date
    /// The published bytes; empty for an event without data.
    public let data: Data
    /// The number of this event among those of its publisher since the start of its process; the first is 1.
    ///
    /// 0 for an event that never left this device.
    public let number: UInt64
    /// The number of events that were dropped before this one because the reader or handler of this subscription was slow.
    public internal(set) var droppedBefore: UInt64
    /// The number of events that were lost before this one: no member had them any longer when this device asked.
    ///
    /// It or its peers were slow, or away for longer than the replay window. The topic of some of them is unknown.
    public internal(set) var missedBefore: UInt64

    /// Returns the data as a value; empty data is the value `nil` of an optional type.
    ///
    /// - Throws: ``RunarError/decodingError(_:)``.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        from encoding: PayloadEncoding = .json
    ) throws(RunarError) -> Value {
        try encoding.decode(Value.self, from: data)
    }

    init(
        topic: TopicPath,
        networkId: NetworkId?,
        publisher: PeerId,
        publishedAt: Date,
        data: Data,
        number: UInt64 = 0,
        losses: EventLosses = EventLosses()
    ) {
        self.topic = topic
        self.networkId = networkId
        self.publisher = publisher
        self.publishedAt = publishedAt
        self.data = data
        self.number = number
        droppedBefore = losses.dropped
        missedBefore = losses.missed
    }
}
