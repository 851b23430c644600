public import Identity

/// An event of a running node, for its owner.
public enum NodeEvent: Hashable, Sendable {
    /// A peer and this node are admitted to each other.
    case peerJoined(PeerId, NetworkId)
    /// A peer's last admission in the network ended; the reason is nil when the connection just broke.
    case peerLeft(PeerId, NetworkId, reason: String?)
    /// This node refused a peer. The exact reason stays here; the peer receives less.
    case refused(PeerId, NetworkId?, reason: String)
    /// A peer refused this node.
    case refusedByPeer(PeerId, NetworkId?, reason: String)
    /// The owner revoked a peer.
    case revoked(PeerId, NetworkId)
    /// This device's membership ended.
    case membershipEnded(NetworkId, reason: String)
    /// A device key, perhaps this device's, is used in two places: one of them is a copy. Reported when it is noticed, and
    /// again only after a quiet time.
    case deviceKeyUsedTwice(PeerId)
    /// A joiner has the secret of an open invitation; compare the digits on both screens before confirming.
    case joinRequested(JoinRequest)
    /// This device's join waits for the inviter; compare the digits on both screens.
    case joinPending(PeerId, NetworkId, digits: String)
    /// The inviter made this device a member of the network.
    case joinGranted(NetworkMetadata)
    /// A join of this device through this inviter failed.
    case joinFailed(PeerId, NetworkId, reason: JoinFailure)
    /// A joiner no longer waits for consent: it went away, the user did not answer in time, or it was declined.
    case joinRequestEnded(PeerId, NetworkId, reason: JoinFailure)
    /// An invitation of this device ended before a peer joined by it.
    case invitationEnded(Invitation.ID, NetworkId, reason: JoinFailure)
    /// This machine's clock is behind a time that the owner of a network signed; it no longer decides about expiry.
    case clockBehind(NetworkId, seconds: UInt64)
    /// A member announces itself on the local network, at these addresses or at new ones.
    case peerDiscovered(PeerId, NetworkId, [SocketAddress])
    /// A member no longer announces itself on the local network.
    case peerLost(PeerId, NetworkId)
    /// A connected peer's packets travel another way now.
    case pathChanged(PeerId, PeerPath)
    /// Whether the network has no peer with which to exchange events.
    case eventsIsolated(NetworkId, Bool)
    /// A connected peer offers other services than before, or they pause or run again.
    case servicesChanged(PeerId, NetworkId)
    /// This device's token was renewed until a time in seconds since 1970; nil is a token that does not expire.
    case tokenRenewed(NetworkId, expirationSeconds: UInt64?)
    /// This device's token expires in `seconds`; reported from seven days before, once a day.
    case tokenExpiring(NetworkId, seconds: UInt64)
}

/// A joiner that waits for consent.
public struct JoinRequest: Hashable, Sendable {
    /// The invitation that it used.
    public let invitation: Invitation.ID
    /// The peer that wants to join.
    public let peer: PeerId
    /// Which network.
    public let network: NetworkId
    /// The six digits that the joiner's screen must show too.
    public let digits: String
    /// Whether the inviter consented when it made the invitation.
    public let isPreallowed: Bool
    package let connection: UInt64
}
