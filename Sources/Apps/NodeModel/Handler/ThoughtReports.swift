internal import Bytes
package import Circle
internal import CommandModel
internal import Foundation
internal import Identity
internal import Node

/// A thought of a conversation.
package struct ThoughtReport: Report, Hashable {
    /// The delivery to one device.
    struct DeviceDelivery: Codable, Hashable {
        let peerId: String
        let state: DeliveryState
        /// The number of members that hold it for the device.
        let holders: Int

        init(_ delivery: Delivery) {
            peerId = delivery.device.base64Encoded
            state = delivery.state
            holders = delivery.holders
        }
    }

    var event = "thought"
    /// Its place in the order in which this device stored thoughts.
    package let number: UInt64
    let thoughtId: String
    /// The other person of the conversation, or the stream.
    package let conversationId: String
    /// The person who made it.
    let creatorId: String
    /// The name of the person who made it, or the id.
    package let creator: String
    /// Whether this device's person made it.
    package let own: Bool
    let mediaType: MediaType
    /// Milliseconds since 1970 by the clock of who made it.
    package let createdAt: UInt64
    /// The content, if it is a text.
    package let text: String?
    /// The size of the content, if it is no text.
    let byteCount: Int?
    let contentType: String?
    let fileName: String?
    /// The progress of an own thought: that of its least advanced delivery.
    package let state: DeliveryState?
    /// The number of members that hold it for devices that are offline.
    package let holders: Int
    /// The deliveries of an own thought; nil for that of another person.
    let deliveries: [DeviceDelivery]?

    package init(_ thought: Thought, in place: ConversationPlace, _ names: PeopleNames) {
        let model = thought.model
        number = thought.number
        thoughtId = thought.publicID.text
        conversationId = place.id.text
        creatorId = model.creatorPublicID.text
        creator = names.name(of: model.creatorPublicID)
        own = names.isOwn(model.creatorPublicID)
        mediaType = model.mediaType
        createdAt = model.createdAtMilliseconds
        text = model.text
        byteCount = text == nil ? model.content.count : nil
        contentType = model.contentType
        fileName = model.fileName
        state = thought.state
        holders = thought.deliveries.map(\.holders).max() ?? 0
        deliveries = own ? thought.deliveries.map { DeviceDelivery($0) } : nil
    }

    /// Whether no member and no device of the recipient has it yet.
    package var isWaiting: Bool { state == .waiting }

    /// The progress in words, for people.
    package var progress: String? {
        guard let state else { return nil }
        return switch state {
        case .refused: "refused"
        case .expired: "expired"
        case .waiting: "waiting"
        case .stored: "stored with \(holders)"
        case .delivered: "delivered"
        case .opened: "opened"
        }
    }

    /// The text; for other media the media type, the file name and the size.
    package var words: String {
        if let text { return text }
        let size = byteCount.map { ", \(ByteCountText.text(of: Double($0)))" } ?? ""
        return "[\(mediaType.rawValue)\(fileName.map { " \($0)" } ?? "")\(size)]"
    }

    package var lines: [String] {
        let time = LocalTime(seconds: createdAt / 1_000)
        // With the number `runar circle save` names it.
        let said = text ?? "\(words), thought \(number)"
        return ["\(time)  \(own ? "you" : creator): \(said)\(progress.map { "  (\($0))" } ?? "")"]
    }
}

/// The content of a thought.
package struct ThoughtContentReport: Report {
    package let thoughtId: String
    let mediaType: MediaType
    let contentType: String?
    /// The name of the file at the person who sent it.
    let fileName: String?
    package let byteCount: Int
    let base64: String

    init(_ thought: Thought) {
        thoughtId = thought.publicID.text
        mediaType = thought.model.mediaType
        contentType = thought.model.contentType
        fileName = thought.model.fileName
        byteCount = thought.model.content.count
        base64 = Base64.encode(thought.model.content)
    }

    package var content: [UInt8] {
        get throws { try Base64.decode(base64) }
    }

    /// A name for a file on this device, reduced as the names of received files are.
    package var storedName: String { FileOffer.harmless(fileName ?? mediaType.rawValue) }

    package var lines: [String] {
        ["[\(mediaType.rawValue) \(storedName), \(ByteCountText.text(of: Double(byteCount)))]"]
    }
}

/// Thoughts of a conversation, the newest first.
package struct ThoughtsReport: Report {
    /// The other person; nil if the conversation is a stream.
    package let person: PersonReport?
    /// The stream; nil if the conversation is one with a person.
    package let stream: StreamReport?
    package private(set) var thoughts: [ThoughtReport]
    /// The number of the last thought that a search compared; nil once the search is complete.
    package private(set) var searchedTo: UInt64?

    init(
        person: PersonReport? = nil,
        stream: StreamReport? = nil,
        thoughts: [ThoughtReport],
        searchedTo: UInt64? = nil
    ) {
        self.person = person
        self.stream = stream
        self.thoughts = thoughts
        self.searchedTo = searchedTo
    }

    /// Adds the thoughts that the continuation of a search found.
    package mutating func append(_ older: ThoughtsReport) {
        thoughts += older.thoughts
        searchedTo = older.searchedTo
    }

    package var lines: [String] {
        guard thoughts.isEmpty else { return thoughts.reversed().flatMap(\.lines) }
        if let stream { return ["the stream \(stream.name) has no thoughts here"] }
        return ["there is nothing of you and \(person?.name ?? "this person") here"]
    }
}
