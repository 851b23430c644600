public import Identity

/// A requested connection.
public struct PeerConnection: Hashable, Sendable {
    /// The peer, proved by TLS.
    public let peerId: PeerId
    /// The network in which both are admitted.
    public let networkId: NetworkId
    /// The address that was dialled.
    public let address: SocketAddress
}
