internal import Identity
internal import RunarNode

/// Peers, a page of them.
struct PeersView: Encodable {
    let running: Bool
    let all: Bool
    /// How many match.
    let total: Int
    package let peers: [PeersReport.Peer]
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

    package func encode(to encoder: any Encoder) throws {
        try peer.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(facts.path, forKey: .path)
        try container.encode(facts.isNearby, forKey: .nearby)
        try container.encode(facts.addresses, forKey: .addresses)
        try container.encode(facts.history, forKey: .history)
    }
}

extension RequestHandler {
    func peersView(all: Bool, in name: NetworkName?, _ page: Page) throws -> PeersView {
        let network = try name.map { try resolve($0).networkId.base64Encoded }
        let report = try peers(all: all)
        let found = report.peers.filter { peer in
            network.map { peer.networks.contains($0) } ?? true
                && page.matches([peer.peerIdText, peer.label] + peer.networkNames)
        }
        return PeersView(running: report.isRunning, all: all, total: found.count, peers: page.cut(found))
    }

    /// Also somebody who is not known: then nothing but the id is.
    func peerView(_ name: PeerName) throws -> PeerView {
        let peer = try resolve(name)
        let known = try peers(all: true, only: peer).peers.first
        let nobody = PeersReport.Peer(
            peerId: peer.base64Encoded,
            peerIdText: peer.text,
            networks: [],
            networkNames: [],
            label: nil,
            isConnected: false,
            isRelayed: nil,
            address: nil,
            relay: nil,
            foundBy: [],
            lastSeen: nil,
            roundTripMicroseconds: nil
        )
        return PeerView(peer: known ?? nobody, facts: try facts(of: peer, isWhole: true))
    }
}
