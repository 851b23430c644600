package import Identity

extension Discovery {
    /// An action for the node that runs discovery, in order.
    package enum Effect: Hashable, Sendable {
        /// An action for the driver of the node.
        case host(HostEffect)
        /// Feed `timeReached` at this monotonic time; replaces an earlier wake.
        case wake(at: Duration)

        /// There is evidence that the peer is a member and can be dialled at these addresses: first evidence, new
        /// addresses, or one more sign of life every ten seconds.
        case peerHeard(PeerId, NetworkId, [SocketAddress])
        /// The peer sent a goodbye, or nothing within its time to live. Multicast is lossy, so a live connection overrides
        /// this.
        case peerLost(PeerId, NetworkId)
        /// Two running nodes announce this device's key, or that of another device; the addresses are those of the other
        /// nodes. Repeated while it lasts.
        case deviceKeyUsedTwice(PeerId, NetworkId, [SocketAddress])
    }

    typealias Turn = Identity.Turn<NodeTime, Effect>

    /// An action that only the driver of the node can perform.
    package enum HostEffect: Hashable, Sendable {
        /// Send the datagram to the group, once on each interface.
        case multicast([UInt8])
        /// Report that datagrams from this source were ignored for this reason; with their number since the last report.
        case ignored(Reason, from: SocketAddress, count: Int)
    }

    /// Why a datagram was ignored.
    package enum Reason: Error, Hashable {
        /// It is not of this protocol, or of a network that this node has no secret of.
        case notForUs
        /// It is of another version; nothing else in it was read.
        case unknownVersion(UInt8)
        /// A member made it, but it is not in the agreed form.
        case malformed
        /// Its sender's clock and this one's are more than an hour apart.
        case clocksDiffer
        /// It was received before.
        case replayed
        /// Its sender was revoked.
        case revoked
        /// Its sender's token has expired or is not the network's.
        case badToken
        /// The peer key that it names did not sign it.
        case badSignature
        /// Its source exceeded its budget, or there is no room for another peer.
        case tooMany
    }
}
