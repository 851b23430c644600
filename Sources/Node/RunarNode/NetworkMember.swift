package import Identity

/// Somebody who is, was or may become a member of a network, as far as this device knows.
package struct NetworkMember: Hashable, Sendable {
    package let peerId: PeerId
    /// What this device's person called it with its token.
    package var label: String?
    /// The token that this device gave it; nil when another device did.
    package var issued: Issued?
    /// When it was last admitted, in seconds since 1970.
    package var lastSeen: UInt64?
    /// When the network's owner revoked it, in seconds since 1970.
    package var revokedAt: UInt64?

    /// A token that was given.
    package struct Issued: Hashable, Sendable {
        /// Its end in seconds since 1970; nil for none.
        package let expiration: UInt64?
        package let isRenewable: Bool
    }
}
