internal import Identity
internal import OrderedCollections

/// The sessions by the id of their key, in the order in which they began, and the one offer session with each peer.
struct Sessions: Sendable {
    private(set) var entries: OrderedDictionary<SessionId, Session> = [:]
    /// The offer session with each peer, of those sessions.
    private(set) var byPeer: [PeerId: SessionId] = [:]

    /// A session; ``begin(_:)`` adds one, ``remove(_:)`` removes it.
    subscript(id: SessionId) -> Session? {
        get { entries[id] }
        _modify { yield &entries[id] }
    }

    var ids: [SessionId] { Array(entries.keys) }
    /// The time of the next action of any of them.
    var due: Duration? { entries.values.lazy.map(\.due).min() }

    /// Whether the offer is this node's.
    func isOutgoing(_ id: SessionId) -> Bool { entries[id]?.purpose == .outgoing }

    mutating func begin(_ session: Session) {
        entries[session.key.id] = session
        if session.isOfferAnswer { byPeer[session.peer] = session.key.id }
    }

    mutating func remove(_ id: SessionId) -> Session? {
        guard let session = entries.removeValue(forKey: id) else { return nil }
        if byPeer[session.peer] == id { byPeer[session.peer] = nil }
        return session
    }
}
