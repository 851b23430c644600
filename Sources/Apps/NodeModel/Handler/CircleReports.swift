internal import Bytes
package import Circle
internal import CommandModel
internal import Foundation
internal import Identity
internal import Node
internal import OneTimeKeys
package import RunarNode
package import SealedMessages

/// A person of the circle.
package struct PersonReport: Report, Hashable {
    /// A device of the person.
    struct Device: Codable, Hashable {
        let peerId: String
        let connected: Bool
        /// The number of thoughts and receipts that can still be sealed to it.
        let sendingKeys: Int
        /// Whether a tenth of its keys, or less, is left.
        let low: Bool
    }

    package let personId: String
    package let name: String
    let blurb: String?
    package let trust: Trust.State
    /// Twelve groups of five digits.
    package let safetyNumber: String
    /// Whether the safety number was compared.
    package let verified: Bool
    let devices: [Device]

    /// Describes a person, with the connections of a node and the keys that are left.
    package init(_ person: Person, on node: RunarNode, _ keys: KeyStoreManager?) {
        let connected = Set(node.connectedPeers())
        self.init(person) { device in
            let relationship = keys?.relationship(with: device)
            return Device(
                peerId: device.base64Encoded,
                connected: connected.contains(device),
                sendingKeys: relationship?.sendingKeyCount ?? 0,
                low: relationship?.isLow ?? false
            )
        }
    }

    init(_ person: Person, device: (PeerId) -> Device) {
        personId = person.id.text
        name = person.card?.profile.name ?? person.id.text
        blurb = person.card?.profile.blurb
        trust = person.trust
        safetyNumber = person.safetyNumber.description
        verified = person.isVerified
        devices = (person.card?.devices ?? []).map(device)
    }

    /// The keys that are left for the device with the fewest.
    package var keysLeft: Int { devices.map(\.sendingKeys).min() ?? 0 }

    package var lines: [String] {
        var lines = ["\(name) (\(personId))", "  trust          \(state)"]
        guard trust == .trusted else { return lines }
        let groups = safetyNumber.split(separator: " ")
        lines.append("  safety number  \(groups.prefix(6).joined(separator: " "))")
        lines.append("                 \(groups.dropFirst(6).joined(separator: " "))")
        lines.append(
            "  verified       \(verified ? "yes" : "no: compare the number with the one on the person's screen")"
        )
        for device in devices {
            let supply = "\(device.sendingKeys) keys left\(device.low ? ", few" : "")"
            let place = device.connected ? "connected" : "not connected"
            lines.append("  device         \(PeerId.typed(device.peerId)), \(place), \(supply)")
        }
        return lines
    }

    private var state: String {
        switch trust {
        case .invited: "you asked, and there is no answer yet"
        case .requested: "the person asks for your trust: `runar circle accept` or `runar circle decline`"
        case .trusted: "you trust each other"
        case .revoked: "you revoked trust: no thoughts are exchanged"
        case .none: "none"
        }
    }
}

/// The circle of this device's person.
package struct CircleReport: Report, Hashable {
    /// A device of this device's person.
    struct Device: Codable, Hashable {
        let peerId: String
        let connected: Bool
        /// The number of letters that can still be sealed to it; 0 for this device.
        let sendingKeys: Int
        /// Whether a tenth of its keys, or less, is left.
        let low: Bool
        /// Whether it is this device.
        let local: Bool
    }

    /// A member that holds mail for the devices of this device's person.
    struct Home: Codable, Hashable {
        let peerId: String
        /// The label that this device's person gave it with its token.
        let label: String?
        let connected: Bool
        /// Whether it is this device.
        let local: Bool

        fileprivate var line: String {
            let name = PeerId.typed(peerId) + (label.map { " (\($0))" } ?? "")
            let place = local ? "this device" : connected ? "connected" : "not connected"
            return "home of your mail: \(name), \(place)"
        }
    }

    /// A person whom this device's person blocked.
    struct Blocked: Codable, Hashable {
        let personId: String
        let name: String
        /// The time of the report in seconds since 1970.
        let reportedAt: UInt64
        /// The severity of each reason, 1 to 5.
        let reasons: [String: Int]
    }

    /// The kind of the line in a stream of updates.
    var event = "circle"
    /// The id of this device's person; nil before there is a profile.
    let personId: String?
    package let name: String?
    let blurb: String?
    let did: String?
    let handle: String?
    /// The text form of the own card.
    package let card: String?
    package let people: [PersonReport]
    /// The streams without the conversations; those that this person left are last.
    package let streams: [StreamReport]
    /// The devices of this device's person; none before there is a profile.
    let devices: [Device]
    /// The members that hold mail for these devices; without any, the nearest ones do.
    let homes: [Home]
    let blocked: [Blocked]

    package var lines: [String] {
        var rest = people.flatMap(\.lines)
        rest += streams.filter(\.isListed).flatMap(\.lines)
        rest += deviceLines + homes.map(\.line) + blockedLines
        guard let name, let personId else {
            return ["you have no profile yet: `runar circle profile NAME` makes it"] + rest
        }
        let hint = people.isEmpty ? ["your circle is empty: `runar circle add` asks a person"] : []
        return ["you are \(name) (\(personId))"] + hint + rest
    }

    private var deviceLines: [String] {
        guard devices.count > 1 else { return [] }
        return devices.map { device in
            let place = device.connected ? "connected" : "not connected"
            let supply = "\(place), \(device.sendingKeys) keys left\(device.low ? ", few" : "")"
            return "your device \(PeerId.typed(device.peerId)), \(device.local ? "this one" : supply)"
        }
    }

    private var blockedLines: [String] { blocked.map { "blocked: \($0.name) (\($0.personId))" } }
}

/// The members that hold mail for the devices of this device's person.
package struct HomesReport: Report {
    let homes: [CircleReport.Home]

    package init(_ circle: CircleReport) {
        homes = circle.homes
    }

    package var lines: [String] {
        guard homes.isEmpty else { return homes.map(\.line) }
        return ["the nearest members hold your mail: `runar circle homes PEER` chooses others"]
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
