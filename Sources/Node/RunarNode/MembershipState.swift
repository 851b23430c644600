package import Identity

/// The membership of this device in a network.
package struct MembershipState: Hashable, Sendable {
    package let networkId: NetworkId
    /// The owner's name for it, if it is known.
    package let name: String?
    package let isOwner: Bool
    /// This device's token; nil when it is no member.
    package let token: AccessToken?
    /// Whether the network's owner revoked this device.
    package let isRevoked: Bool
    /// The newest time that the network's owner signed, in seconds since 1970; nil if none is known.
    package let latestSignedSeconds: UInt64?
}
