public import Identity

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An event as a subscriber sees it.
public struct RunarEvent: Sendable, Hashable {
    /// To which topic it was published; never a pattern.
    public let topic: TopicPath
    /// In which network; nil for a name that is no network yet.
    public internal(set) var networkId: NetworkId?
    /// Who published it; its signature was checked.
    public let publisher: PeerId
    /// When it was published, by the publisher's clock, to the second.
    public let publishedAt: Date
    /// What was published; empty for nothing.
    public let data: Data
    /// Which of the publisher's events it is since the start of its process; the first is 1.
    ///
    /// 0 for one that never left this device.
    public let number: UInt64
    /// How many events were dropped here before this one, because this subscription's handler was slow.
    public internal(set) var droppedBefore: UInt64
    /// How many events were lost before this one, because nobody had them any more when this device asked.
    public let missedBefore: UInt64

    /// What was published as a value; nothing at all is the value `nil`, where that is one.
    ///
    /// - Throws: ``RunarError/decodingError(_:)``.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        from encoding: PayloadEncoding = .json
    ) throws(RunarError) -> Value {
        try encoding.decode(Value.self, from: self.data)
    }

    /// An event that never left this device.
    init(topic: TopicPath, networkId: NetworkId?, publisher: PeerId, publishedAt: Date, data: Data) {
        self.topic = topic
        self.networkId = networkId
        self.publisher = publisher
        self.publishedAt = publishedAt
        self.data = data
        self.number = 0
        self.droppedBefore = 0
        self.missedBefore = 0
    }

    init(_ event: ReceivedEvent) {
        self.topic = event.topic
        self.networkId = event.networkId
        self.publisher = event.publisher
        self.publishedAt = event.publishedAt
        self.data = event.message
        self.number = event.number
        self.droppedBefore = event.droppedBefore
        self.missedBefore = event.missedBefore
    }
}
