internal import CommandModel
internal import Foundation
internal import Identity
package import SealedMessages

/// The one-time keys of this device and one peer.
package struct KeyRelationshipReport: Report {
    /// The peer.
    package let peerId: String
    let label: String?
    /// The state of the exchange: `completed` once each device has the other one's keys.
    let state: String
    /// `P-256` or `X-Wing`; nil before keys were received.
    let suite: String?
    /// The number of messages that can still be sealed to the peer.
    let sendingKeys: Int
    /// The number of keys in the pool that the peer sent.
    let sendingCapacity: Int
    /// The number of messages from the peer that can still be opened.
    let receivingKeys: Int
    /// Whether a tenth of the peer's keys, or less, is left.
    let low: Bool
    /// Twelve groups of five digits.
    package let safetyNumber: String?
    /// Whether a person compared the safety number.
    let verified: Bool

    package init(_ relationship: KeyRelationship, label: String? = nil) {
        peerId = relationship.peer.base64Encoded
        self.label = label
        state = "\(relationship.state)"
        suite = relationship.suite.map { "\($0)" }
        sendingKeys = relationship.sendingKeyCount
        sendingCapacity = relationship.sendingKeyCapacity
        receivingKeys = relationship.receivingKeyCount
        low = relationship.isLow
        safetyNumber = relationship.safetyNumber?.description
        verified = relationship.isVerified
    }

    package var lines: [String] {
        var lines = ["\(PeerId.typed(peerId))\(label.map { " (\($0))" } ?? "")"]
        let supply = "\(sendingKeys) to send, \(receivingKeys) to receive\(low ? "; few are left" : "")"
        lines.append("  keys           \(suite.map { "\($0), \(supply)" } ?? "none yet (\(state))")")
        if let safetyNumber {
            let groups = safetyNumber.split(separator: " ")
            lines.append("  safety number  \(groups.prefix(6).joined(separator: " "))")
            lines.append("                 \(groups.dropFirst(6).joined(separator: " "))")
            lines.append("  verified       \(verified ? "yes" : "no: compare the number with the peer's")")
        }
        return lines
    }
}

/// The one-time keys of this device and all peers.
package struct KeyRelationshipsReport: Report {
    let relationships: [KeyRelationshipReport]

    package var lines: [String] {
        guard !relationships.isEmpty else { return ["no one-time keys were exchanged yet"] }
        return relationships.flatMap(\.lines)
    }
}
