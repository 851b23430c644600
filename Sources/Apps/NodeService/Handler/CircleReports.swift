internal import Bytes
internal import Circle
internal import Foundation
internal import Identity
internal import OneTimeKeys

/// A person of the circle.
package struct PersonReport: Report, Hashable {
    /// A device of the person.
    struct Device: Codable, Hashable {
        let peerId: String
        let isConnected: Bool
        /// The number of thoughts and receipts that can still be sealed to it.
        let sendingKeys: Int
        /// Whether a tenth of its keys, or less, is left.
        let isLow: Bool

        private enum CodingKeys: String, CodingKey {
            case peerId
            case isConnected = "connected"
            case sendingKeys
            case isLow = "low"
        }
    }

    package let personId: String
    package let name: String
    let blurb: String?
    /// `none`, `invited`, `requested`, `trusted` or `revoked`.
    package let trust: String
    /// Twelve groups of five digits.
    package let safetyNumber: String
    /// Whether the safety number was compared.
    package let isVerified: Bool
    let devices: [Device]

    private enum CodingKeys: String, CodingKey {
        case personId, name, blurb, trust, safetyNumber
        case isVerified = "verified"
        case devices
    }

    init(_ person: Person, device: (PeerId) -> Device) {
        personId = person.id.text
        name = person.card?.profile.name ?? person.id.text
        blurb = person.card?.profile.blurb
        trust = person.trust.rawValue
        safetyNumber = person.safetyNumber.description
        isVerified = person.isVerified
        devices = (person.card?.devices ?? []).map(device)
    }

    /// The keys that are left for the device with the fewest.
    package var keysLeft: Int { devices.map(\.sendingKeys).min() ?? 0 }

    package var lines: [String] {
        var lines = ["\(name) (\(personId))", "  trust          \(state)"]
        guard trust == Trust.State.trusted.rawValue else { return lines }
        let groups = safetyNumber.split(separator: " ")
        lines.append("  safety number  \(groups.prefix(6).joined(separator: " "))")
        lines.append("                 \(groups.dropFirst(6).joined(separator: " "))")
        lines.append(
            "  verified       \(isVerified ? "yes" : "no: compare the number with the one on the person's screen")"
        )
        for device in devices {
            let supply = "\(device.sendingKeys) keys left\(device.isLow ? ", few" : "")"
            let place = device.isConnected ? "connected" : "not connected"
            lines.append("  device         \(PeerId.typed(device.peerId)), \(place), \(supply)")
        }
        return lines
    }

    private var state: String {
        switch Trust.State(rawValue: trust) {
        case .invited: "you asked, and there is no answer yet"
        case .requested: "the person asks you: `runar circle accept` or `runar circle decline`"
        case .trusted: "you trust each other"
        case .revoked: "you revoked it: nothing comes from there, and nothing goes there"
        case .some(.none), nil: "none"
        }
    }
}

/// The circle of this device's person.
package struct CircleReport: Report, Hashable {
    /// The word of a line that tells what happens.
    var event = "circle"
    /// The id of this device's person; nil before there is a profile.
    let personId: String?
    package let name: String?
    let blurb: String?
    /// The text form of the own card.
    package let card: String?
    package let people: [PersonReport]

    package var lines: [String] {
        guard let name, let personId else {
            return ["you have no profile yet: `runar circle profile NAME` makes it"] + people.flatMap(\.lines)
        }
        let list =
            people.isEmpty
            ? ["nobody is in your circle yet: `runar circle add` asks somebody"] : people.flatMap(\.lines)
        return ["you are \(name) (\(personId))"] + list
    }
}

/// A request for trust to the person of a device.
package struct InvitedReport: Report {
    let peerId: String

    package var lines: [String] {
        ["the person of \(PeerId.typed(peerId)) is asked: you trust each other once both have consented"]
    }
}

/// The card of this device's person.
package struct CardReport: Report {
    let personId: String
    let name: String
    package let text: String

    package var lines: [String] { [text] }
}

/// A thought of a conversation.
package struct ThoughtReport: Report, Hashable {
    var event = "thought"
    /// Its place in the order in which this device stored thoughts.
    package let number: UInt64
    let thoughtId: String
    /// The other person of the conversation.
    package let personId: String
    /// Whether this device's person made it.
    package let isOwn: Bool
    let mediaType: String
    /// Milliseconds since 1970 by the clock of who made it.
    package let createdAt: UInt64
    /// The content, if it is a text.
    package let text: String?
    /// The content in base64, if it is none.
    let base64: String?
    let contentType: String?
    let fileName: String?
    /// The progress of an own thought: `waiting`, `stored`, `delivered`, `opened`, `expired` or `refused`.
    package let state: String?
    /// The number of members that hold it for devices that are offline.
    package let holders: Int

    private enum CodingKeys: String, CodingKey {
        case event, number, thoughtId, personId
        case isOwn = "own"
        case mediaType, createdAt, text, base64, contentType, fileName, state, holders
    }

    init(_ thought: Thought, with person: PublicID, isOwn: Bool) {
        let model = thought.model
        number = thought.number
        thoughtId = thought.publicID.text
        personId = person.text
        self.isOwn = isOwn
        mediaType = model.mediaType.rawValue
        createdAt = model.createdAtMilliseconds
        text = model.text
        base64 = text == nil ? Base64.encode(model.content) : nil
        contentType = model.contentType
        fileName = model.fileName
        state = thought.state?.rawValue
        holders = thought.deliveries.map(\.holders).max() ?? 0
    }

    /// The progress in words, for people.
    package var progress: String? {
        guard let state = state.flatMap(DeliveryState.init) else { return nil }
        return switch state {
        case .refused: "refused"
        case .expired: "expired"
        case .waiting: "waiting"
        case .stored: "stored with \(holders)"
        case .delivered: "delivered"
        case .opened: "opened"
        }
    }

    /// The text; for other media the media type and the file name.
    package var words: String { text ?? "[\(mediaType)\(fileName.map { " \($0)" } ?? "")]" }

    package var lines: [String] { lines(of: "them") }

    func lines(of name: String) -> [String] {
        let time = CivilTime(seconds: createdAt / 1_000)
        return ["\(time)  \(isOwn ? "you" : name): \(words)\(progress.map { "  (\($0))" } ?? "")"]
    }
}

/// Thoughts of the conversation with a person, the newest first.
package struct ThoughtsReport: Report {
    package let person: PersonReport
    package let thoughts: [ThoughtReport]

    package var lines: [String] {
        guard !thoughts.isEmpty else { return ["there is nothing of you and \(person.name) here"] }
        return thoughts.reversed().flatMap { $0.lines(of: person.name) }
    }
}
