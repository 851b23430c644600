package import Identity

extension Reach {
    /// A step of establishing a connection to a peer, as the doctor reports it.
    package enum Event: Hashable, Sendable {
        /// An offer was sent over this peer.
        case offerSent(PeerId)
        /// The offer was refused.
        case refused(by: PeerId, Refusal)
        /// An offer of the peer was forwarded by this one.
        case forwardedOfferReceived(by: PeerId)
        /// The session has begun; the coordinator sees the peer at `observed`, and perhaps relays.
        case introduced(by: PeerId, observed: SocketAddress?, isRelayed: Bool)
        /// The mapping behaviour of the two NATs.
        case mappings(own: MappingBehaviour, peer: MappingBehaviour)
        /// An address was tried.
        case tried(SocketAddress, AddressKind)
        /// An address was left out.
        case leftOut(SocketAddress, Implausibility)
        /// The peer's datagrams came from this address.
        case heard(SocketAddress)
        /// The peer answered from this address, with the time since the first probe.
        case worked(SocketAddress, after: Duration)
        /// Many ports are tried: this device's, or the peer's.
        case searched(ownPorts: Bool)
        /// A connection to this address was started.
        case dialled(SocketAddress)
        /// The connection's path no longer answers.
        case suspected
        /// The connection moves to the relay.
        case fellBack(over: PeerId)
        /// The connection migrates to this direct address.
        case directed(SocketAddress)
        /// The connection is up: directly, or over the relay.
        case connected(SocketAddress, over: PeerId?)
        /// No connection could be established.
        case failed(ReachFailure)
    }

    /// The source from which an address of a peer is known.
    package enum AddressKind: Hashable, Sendable {
        /// The coordinator observed it.
        case observed
        /// The peer named it in an offer or answer.
        case told
        /// It is the source of the peer's datagrams.
        case heard
        /// The connection used it.
        case used
    }

    /// Why an address of a peer is not tried.
    package enum Implausibility: Hashable, Sendable {
        /// An address that no peer can have, such as one with port 0, or a multicast, loopback or link-local one.
        case junk
        /// It is this device's.
        case own
        /// It is one of another site.
        case elsewhere
        /// This device has no address of its family, IPv4 or IPv6.
        case otherFamily
        /// A port of well-known services.
        case reservedPort
        /// It, or the peer's other addresses, received the permitted number of probes.
        case usedUp
    }
}
