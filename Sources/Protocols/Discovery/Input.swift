package import Identity

extension Discovery {
    /// An event that discovery reacts to.
    package enum Input: Sendable {
        /// Datagrams can be sent and received from now on.
        case started
        /// The node stops: send goodbyes, and no datagram after them.
        case stopping
        /// This device is a member and knows the secrets of the network, or its token or its secrets changed.
        case networkAdded(AccessToken, MemberSecrets)
        /// This device is a member but has no secret, or one that may be outdated: send rendezvous probes until
        /// `networkAdded`.
        case networkKnown(AccessToken, RendezvousKey)
        /// This device is no longer a member: send a goodbye.
        case networkRemoved(NetworkId)
        /// The addresses at which others can dial this node; one without IP means the source of the datagram.
        case addressesChanged([SocketAddress])
        /// A datagram arrived; the scope of a link-local source is the interface.
        case datagramReceived([UInt8], from: SocketAddress)
        /// The peer's membership was revoked; this is final.
        case memberRevoked(PeerId, NetworkId)
        /// Whether this node only listens: it announces nothing until this is false again.
        case quietChanged(Bool)
        /// The time of the last `wake` effect was reached.
        case timeReached
    }
}
