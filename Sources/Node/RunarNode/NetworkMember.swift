package import Identity

/// A device that is, was or may become a member of a network, as far as this device knows.
package struct NetworkMember: Hashable, Sendable {
    package let peerId: PeerId
    /// The name that this device's person gave it with its token.
    package var label: String?
    /// The token that this device gave it; nil when another device did.
    package var issued: Issued?
    /// The last time at which it was connected, in seconds since 1970.
    package var lastSeen: UInt64?
    /// The time of its revocation by the network's owner, in seconds since 1970.
    package var revokedAt: UInt64?

    /// A token that was given.
    package struct Issued: Hashable, Sendable {
        /// Its end in seconds since 1970; nil for none.
        package let expiration: UInt64?
        package let isRenewable: Bool
    }
}
