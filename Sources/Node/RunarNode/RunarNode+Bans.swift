public import Identity
internal import NodeCore
internal import NodeStore

// Peers that a person banned.
extension RunarNode {
    /// Bans a peer: its connections are closed and refused, and this device dials it no more, also after a restart.
    ///
    /// The peer learns no more than a device without a token.
    ///
    /// - Throws: `StorageError`.
    public func banPeer(_ peerId: PeerId) throws {
        try store.setBan(true, of: [peerId])
        applyIfRunning(.peer(.banned(peerId, true)))
    }

    /// Lifts the ban of a peer.
    ///
    /// - Throws: `StorageError`.
    public func liftBan(of peerId: PeerId) throws {
        try store.setBan(false, of: [peerId])
        applyIfRunning(.peer(.banned(peerId, false)))
    }

    /// The banned peers, ascending.
    ///
    /// - Throws: `StorageError`.
    public func bannedPeers() throws -> [PeerId] { try store.bannedPeers() }
}
