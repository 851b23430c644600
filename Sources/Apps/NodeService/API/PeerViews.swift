/// Peers, a page of them.
struct PeersView: Encodable {
    let running: Bool
    let all: Bool
    /// The number of matches.
    let total: Int
    let peers: [PeersReport.Peer]
}

/// A peer, and how it was reached.
struct PeerView: Encodable {
    let peer: PeersReport.Peer
    let facts: PeerFacts

    private enum CodingKeys: String, CodingKey {
        case path
        case nearby
        case addresses
        case history
    }

    func encode(to encoder: any Encoder) throws {
        try peer.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(facts.path, forKey: .path)
        try container.encode(facts.isNearby, forKey: .nearby)
        try container.encode(facts.addresses, forKey: .addresses)
        try container.encode(facts.history, forKey: .history)
    }
}
