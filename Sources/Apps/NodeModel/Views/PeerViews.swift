internal import CommandModel

/// Peers, a page of them.
package struct PeersView: Codable {
    let running: Bool
    let all: Bool
    let membership: PeersReport.Membership
    /// The number of matches.
    let total: Int
    let peers: [PeersReport.Peer]
}

/// A peer, and how it was reached.
package struct PeerView: Codable, Sendable {
    let peer: PeersReport.Peer
    let reach: PeerReach

    init(_ peer: PeersReport.Peer, _ reach: PeerReach) {
        self.peer = peer
        self.reach = reach
    }

    package init(from decoder: any Decoder) throws {
        (peer, reach) = try Joined<PeersReport.Peer, PeerReach>(from: decoder).parts
    }

    package func encode(to encoder: any Encoder) throws { try Joined(peer, reach).encode(to: encoder) }
}

/// The way to a peer.
struct PeerReach: Codable, Sendable {
    /// The way of its packets, for people.
    let path: String?
    let nearby: Bool
    /// The addresses at which it would be dialled.
    let addresses: [String]
    /// The last attempt, the newest last.
    let history: [PeerFacts.Step]

    init(_ facts: PeerFacts) {
        path = facts.path
        nearby = facts.nearby
        addresses = facts.addresses
        history = facts.history
    }
}
