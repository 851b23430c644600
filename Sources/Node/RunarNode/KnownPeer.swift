internal import Concurrency
public import Identity
internal import Storage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A peer that this device has heard of in its networks, connected or not.
public struct KnownPeer: Hashable, Sendable {
    /// Which peer.
    public let peerId: PeerId
    /// Where it is known, ascending.
    public let networks: [NetworkId]
    /// What this device's person called it with its token; nil without a label, or when another device is the owner.
    public let label: String?
    /// When it was last admitted; nil for never.
    public let lastSeen: Date?
    /// Whether this device was told by a person where to dial it.
    public let isGiven: Bool
    /// Whether the latest search of a network's hash table named it.
    public let isInHashTable: Bool
}

extension RunarNode {
    /// The peers that were given a token here, were met before, are connected, or were named by the latest search of a
    /// hash table (``dhtFindPeers(networkId:near:policy:)``), ascending.
    ///
    /// Whoever was revoked is left out, so that a name or the beginning of an id never means a lost device where its
    /// successor is meant.
    ///
    /// - Throws: ``StorageError``.
    public func knownPeers() throws -> [KnownPeer] {
        var found: [PeerId: (networks: [NetworkId], label: String?)] = [:]
        let named = self.tables.found
        for network in try self.store.networks().map(\.networkId).sorted() {
            let issued = try self.store.issuedTokens(of: network)
            let remembered = try self.store.peers(of: network).map(\.peerId)
            let revoked = try self.store.revocationSet(of: network)
            let here = Set(issued.map(\.peerId) + remembered + self.connectedPeers(in: network))
                .union(named[network] ?? [])
            for peer in here where peer != self.peerId && !revoked.contains(peer) {
                found[peer, default: ([], nil)].networks.append(network)
            }
            for token in issued where token.label != nil { found[token.peerId]?.label = token.label }
        }
        let records = Dictionary(uniqueKeysWithValues: try self.store.peers().map { ($0.peerId, $0) })
        return found.sorted { $0.key < $1.key }.map { peer, known in
            let record = records[peer]
            return KnownPeer(
                peerId: peer,
                networks: known.networks,
                label: known.label,
                lastSeen: record?.lastSeen.map(UnixTime.date),
                isGiven: record?.isGiven ?? false,
                isInHashTable: known.networks.contains { named[$0]?.contains(peer) == true }
            )
        }
    }
}
