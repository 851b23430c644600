internal import Identity
internal import OrderedCollections

/// The sessions by the id of their key, in the order in which they began, and the one offer session with each peer.
struct Sessions: Sendable {
    private(set) var entries: OrderedDictionary<SessionId, Session> = [:]
    /// The offer session with each peer, of those sessions.
    private(set) var byPeer: [PeerId: SessionId] = [:]

    /// A session; ``begin(_:)`` adds one, ``remove(_:)`` removes it.
    subscript(id: SessionId) -> Session? {
        get { self.entries[id] }
        _modify { yield &self.entries[id] }
    }

    var ids: [SessionId] { Array(self.entries.keys) }
    /// The time of the next action of any of them.
    var due: Duration? { self.entries.values.lazy.map(\.due).min() }

    /// Whether the offer is this node's.
    func isOutgoing(_ id: SessionId) -> Bool { self.entries[id]?.purpose == .outgoing }

    mutating func begin(_ session: Session) {
        self.entries[session.key.id] = session
        if session.isOfferAnswer { self.byPeer[session.peer] = session.key.id }
    }

    mutating func remove(_ id: SessionId) -> Session? {
        guard let session = self.entries.removeValue(forKey: id) else { return nil }
        if self.byPeer[session.peer] == id { self.byPeer[session.peer] = nil }
        return session
    }
}
