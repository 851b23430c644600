internal import CommandModel
internal import Foundation
internal import Identity
internal import Node

/// An invitation that is shown from now on; it holds the secret.
package struct InvitationReport: Codable, Hashable, Sendable {
    var event = "invited"
    let networkId: String
    package let name: String?
    package let link: String
    /// The addresses that the joiner dials.
    package let addresses: [String]
    /// The last second in which it is good.
    package let expiration: UInt64

    init(_ invitation: Invitation, networkName: String?) {
        networkId = invitation.networkId.base64Encoded
        name = networkName
        link = invitation.link
        addresses = invitation.addresses.map(\.description)
        expiration = invitation.expirationSeconds
    }

    /// The text of the QR code.
    package var qrString: String { link.uppercased() }
}

/// A peer's request to join with an invitation.
package struct JoinRequestReport: Codable, Hashable, Sendable {
    var event = "joinRequested"
    /// The number that the answer refers to.
    package let number: Int
    package let peerId: String
    let networkId: String
    /// The digits that the joiner's screen must show, too.
    package let digits: String
    /// Whether the joiner is admitted without a question.
    package let isPreallowed: Bool

    init(_ request: JoinRequest, _ number: Int, _ isPreallowed: Bool) {
        self.number = number
        self.isPreallowed = isPreallowed
        peerId = request.peer.base64Encoded
        networkId = request.network.base64Encoded
        digits = request.digits
    }
}

/// The inviter was reached; it answers, or its person decides.
package struct JoinPendingReport: Codable, Hashable, Sendable {
    var event = "joinPending"
    /// The inviter.
    let peerId: String
    let networkId: String
    /// The digits that the inviter's screen must show, too.
    let digits: String

    init(_ invitation: Invitation, _ digits: String) {
        self.digits = digits
        peerId = invitation.inviter.base64Encoded
        networkId = invitation.networkId.base64Encoded
    }

    package var line: String {
        "connected: check that the inviter's screen shows \(digits) too; if it asks, approve this device there"
    }
}

/// A peer that joined by an invitation.
package struct AdmissionReport: Report {
    var event = "admitted"
    let networkId: String
    /// The network's.
    let name: String?
    let peerId: String
    let label: String?
    let digits: String
    /// Whether the new member was seen as one.
    let isConnected: Bool

    package var lines: [String] {
        let who = label.map { "\($0) (\(PeerId.typed(peerId)))" } ?? PeerId.typed(peerId)
        let end = isConnected ? "" : "; it has not connected as a member yet"
        return ["\(who) is a member of \(name ?? "network \(networkId)") now\(end)"]
    }
}
