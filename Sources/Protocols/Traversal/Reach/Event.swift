package import Identity

extension Reach {
    /// One step on the way to a peer, as the doctor tells it.
    package enum Event: Hashable, Sendable {
        /// An offer was sent over this peer.
        case offerSent(PeerId)
        /// It could not.
        case refused(by: PeerId, Refusal)
        /// An offer of the peer was forwarded by this one.
        case forwardedOfferReceived(by: PeerId)
        /// The two were brought together, and the coordinator sees the peer there; perhaps it also relays.
        case introduced(by: PeerId, observed: SocketAddress?, isRelayed: Bool)
        /// The mapping behaviour of the two NATs.
        case mappings(own: MappingBehaviour, peer: MappingBehaviour)
        /// An address was tried.
        case tried(SocketAddress, AddressKind)
        /// An address was left out.
        case leftOut(SocketAddress, Implausibility)
        /// The peer's datagrams came from there.
        case heard(SocketAddress)
        /// The peer answered from there, so long after it was first tried.
        case worked(SocketAddress, after: Duration)
        /// Many ports are tried: this device's, or the peer's.
        case searched(ownPorts: Bool)
        /// A connection is made there.
        case dialled(SocketAddress)
        /// The connection's path no longer answers.
        case suspected
        /// The connection moves to the relay.
        case fellBack(over: PeerId)
        /// The connection moves there.
        case directed(SocketAddress)
        /// The connection is up: directly, or over the relay.
        case connected(SocketAddress, over: PeerId?)
        /// It came to nothing.
        case failed(ReachFailure)
    }

    /// The source from which an address of a peer is known.
    package enum AddressKind: Hashable, Sendable {
        /// The coordinator sees it.
        case observed
        /// The peer says so.
        case told
        /// The peer's datagrams came from there.
        case heard
        /// The connection used it.
        case used
    }

    /// Why an address of a peer is not tried.
    package enum Implausibility: Hashable, Sendable {
        /// An address that no peer can have: no port, a group, this machine, one link only.
        case junk
        /// It is this device's.
        case own
        /// It is one of another site.
        case elsewhere
        /// This device has none of its kind, IPv4 or IPv6.
        case otherFamily
        /// A port of well-known services.
        case reservedPort
        /// It, or others of the peer, got as many probes as are allowed.
        case usedUp
    }
}
