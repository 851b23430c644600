internal import CommandModel
internal import Identity
internal import RunarNode

/// A network as this device sees it.
package struct NetworkReport: HintingReport, Hashable {
    /// The role of this device in a network.
    package enum Role: String, Codable, CaseIterable, Hashable, Sendable {
        /// It has the root key, of which the network's key is one.
        case owner
        /// It has the network's key alone.
        case admin
        case member
        /// The network is only known.
        case none
    }

    /// Padded base64, as in the texts.
    package let networkId: String
    /// Base32 with a checksum, as people type it.
    package let networkIdText: String
    /// The name that its owner gave it; nil before its text was seen.
    package let name: String?
    package let role: Role
    /// Which of the networks of the root key it is, from 0; nil unless this device is the owner.
    let index: UInt32?
    /// The version of the metadata.
    let version: UInt32?
    /// Whether this device holds a token.
    package let isMember: Bool
    /// The end of this device's membership in seconds since 1970; nil for none.
    let expiration: UInt64?
    /// Whether its owner revoked this device.
    let isRevoked: Bool
    /// The creation time of the secret by which members recognise each other, in seconds since 1970; nil without one.
    package let secretSince: UInt64?
    /// The signed metadata, which a joiner needs.
    package let text: String?
    /// The advice for the person who made it.
    var remark: String?

    package var lines: [String] {
        var lines = [
            "network   \(name ?? "(its text is not known yet)")", "id        \(networkIdText)",
            "role      \(standing ?? "not a member: join with an invitation from its owner")",
        ]
        if let index { lines.append("index     \(index)") }
        if isMember {
            lines.append("member    \(expiration.map { "until \(LocalTime(seconds: $0))" } ?? "without end")")
        }
        if let secretSince { lines.append("secret    since \(LocalTime(seconds: secretSince))") }
        if let text { lines.append("text      \(text)") }
        if let remark { lines.append("warning   \(remark)") }
        return lines
    }

    var line: String {
        let end = expiration.map { ", until \(LocalTime(seconds: $0))" } ?? ""
        return "\(networkIdText.prefix(8))  \(name ?? "(name unknown)")  \(standing ?? "not a member")\(end)"
    }

    /// The role of this device in the network; nil while it may still join.
    private var standing: String? {
        if isRevoked { return "removed by its owner for good; \(CommandFailure.adviceAfterRevocation)" }
        return role == .none ? nil : role.rawValue
    }
}

/// The networks of this device.
package struct NetworksReport: HintingReport {
    package let networks: [NetworkReport]

    package var lines: [String] {
        networks.isEmpty
            ? ["no networks yet: make one with `runar network create NAME`, or join one with `runar join`"]
            : networks.map(\.line)
    }
}

/// A token that was issued.
package struct TokenReport: Report {
    let networkId: String
    let peerId: String
    /// Seconds since 1970; nil for a token without end.
    let expiration: UInt64?
    /// Whether the device may have another one before it ends.
    let isRenewable: Bool
    /// The token's own text, for the peer.
    package let text: String

    package var lines: [String] { [text] }
}

/// A peer that was revoked.
package struct RevocationReport: HintingReport {
    let networkId: String
    let peerId: String
    /// The time of the revocation, in seconds since 1970.
    let revokedAt: UInt64
    /// Whether a running node notifies the other members.
    let isSpreading: Bool

    package var lines: [String] {
        isSpreading
            ? ["revoked; all connected members are notified"]
            : ["revoked here; start the node with `runar up` so that the other members learn of it"]
    }
}

/// The result of a join.
package struct JoinReport: Report {
    let networkId: String
    let name: String?
    let role: NetworkReport.Role
    /// Whether this device now holds a token.
    package let isMember: Bool
    let expiration: UInt64?
    /// After an invitation: whether the inviter is connected.
    var isConnected: Bool?

    package var lines: [String] {
        let what = name ?? "network \(networkId)"
        if role == .owner { return ["\(what) belongs to this device's root key: you own it here"] }
        guard isMember else {
            return [
                "\(what) is known now; to become a member give its owner this device's peer id and join with the token"
            ]
        }
        let end = expiration.map { "until \(LocalTime(seconds: $0))" } ?? "without end"
        return ["joined \(what), \(end)" + (isConnected == true ? "; connected to the inviter" : "")]
    }
}

/// A network that was left.
package struct LeaveReport: Report {
    let networkId: String
    let name: String?

    package var lines: [String] { ["left \(name ?? "network \(networkId)")"] }
}

/// The text by which another member dials this device.
package struct ConnectionTextReport: Report {
    let networkId: String
    let peerId: String
    package let address: String
    package let text: String

    package var lines: [String] { [text] }
}

/// The address at which a STUN server sees this node.
package struct PublicAddressReport: Report {
    package let address: String

    package init(address: String) {
        self.address = address
    }

    package var lines: [String] { [address] }
}

extension NetworkReport {
    init(_ info: NetworkInfo, secretSince: UInt64?, isRevoked: Bool) throws {
        self.init(
            networkId: info.networkId.base64Encoded,
            networkIdText: info.networkId.text,
            name: info.metadata?.name,
            role: info.isOwner ? (info.index == nil ? .admin : .owner) : info.token == nil ? .none : .member,
            index: info.index,
            version: info.metadata?.version,
            isMember: info.token != nil,
            expiration: info.token?.expirationSeconds,
            isRevoked: isRevoked,
            secretSince: secretSince,
            text: try info.metadata?.qrString
        )
    }
}
