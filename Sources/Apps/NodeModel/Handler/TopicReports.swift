internal import Bytes
internal import CommandModel
internal import Foundation
internal import Identity
internal import RunarNode

/// An event that was published.
package struct PublishedReport: Report, Hashable {
    let networkId: String
    let topic: String
    let bytes: Int
    /// Whether no member was connected to receive it.
    let isIsolated: Bool

    package var lines: [String] {
        isIsolated
            ? ["published, but no member is connected yet: this node keeps the event for half an hour"]
            : ["published"]
    }
}

/// The report that events are received from now on.
package struct SubscribedReport: Codable, Hashable, Sendable {
    var event = "subscribed"
    let networkId: String
    let networkName: String
    let topic: String
    /// Whether events can arrive from no connected member.
    let isIsolated: Bool

    package var lines: [String] {
        let lines = ["subscribed to \(topic) in \(networkName); Control-C ends it"]
        guard isIsolated else { return lines }
        return lines + ["! no member is connected yet; events arrive as soon as one is"]
    }
}

/// An event that arrived.
package struct TopicEventReport: Codable, Hashable, Sendable {
    var event = "published"
    let networkId: String
    let topic: String
    /// The publisher.
    let peerId: String
    /// The label that this device's person gave to the publisher.
    let label: String?
    /// Which of the events it is that the publisher published since its node started.
    let number: UInt64
    /// By the publisher's clock, in seconds since 1970.
    let publishedAt: UInt64
    let bytes: Int
    /// The event, if it is a text.
    let text: String?
    /// The event in base64, if it is none.
    let base64: String?
    /// Events before it that this reader was too slow for.
    let dropped: UInt64
    /// Events of its publisher before it that no member had any longer.
    let missed: UInt64

    init(_ event: RunarEvent, in network: NetworkId, label: String?) {
        networkId = network.base64Encoded
        topic = event.topic.path
        peerId = event.publisher.base64Encoded
        self.label = label
        number = event.number
        publishedAt = UnixTime.clampedSeconds(of: event.publishedAt)
        bytes = event.data.count
        text = String(utf8: event.data)
        base64 = text == nil ? Base64.encode(Array(event.data)) : nil
        dropped = event.droppedBefore
        missed = event.missedBefore
    }

    /// The remarks about the events that were lost before it.
    package var remarks: [String] {
        var remarks: [String] = []
        if dropped > 0 { remarks.append("! \(Self.events(dropped)) dropped here, because this reader was slow") }
        if missed > 0 { remarks.append("! \(Self.events(missed)) missed, because no member keeps them") }
        return remarks
    }

    package var line: String {
        let publisher = label ?? PeerId(peerId)?.short ?? peerId
        return "\(topic)  \(publisher): \(ContentText.shown(text, base64, bytes: bytes))"
    }

    private static func events(_ count: UInt64) -> String { "\(count) event\(count == 1 ? " was" : "s were")" }
}
