package import Identity

extension Discovery {
    /// What can happen to discovery.
    package enum Input: Sendable {
        /// Datagrams can be sent and received from now on.
        case started
        /// The node stops: say goodbye, and be silent from now on.
        case stopping
        /// This device is a member and knows the secrets of the network, or its token or its secrets changed.
        case networkAdded(AccessToken, MemberSecrets)
        /// This device is a member but has no secret, or one that may be outdated: knock until `networkAdded` comes.
        case networkKnown(AccessToken, RendezvousKey)
        /// This device is no member any more: say goodbye.
        case networkRemoved(NetworkId)
        /// Where others can dial this node; an address without IP stands for the source of the datagram.
        case addressesChanged([SocketAddress])
        /// A datagram came; a link-local source names the interface in its scope.
        case datagramReceived([UInt8], from: SocketAddress)
        /// A peer is no member any more, for good.
        case memberRevoked(PeerId, NetworkId)
        /// Whether this node only listens: nothing is said until others are to hear of it again.
        case quietChanged(Bool)
        /// The time of the last `wake` effect came.
        case timeReached
    }
}
