package import Identity
package import Kademlia
package import Node
internal import Services
internal import Storage

/// Somebody who is, was or may become a member of a network, as far as this device knows.
package struct NetworkMember: Hashable, Sendable {
    package let peerId: PeerId
    /// What this device's person called it with its token.
    package var label: String?
    /// The token that this device gave it; nil when another device did.
    package var issued: Issued?
    /// When it was last admitted, in seconds since 1970.
    package var lastSeen: UInt64?
    /// When the network's owner revoked it, in seconds since 1970.
    package var revokedAt: UInt64?

    /// A token that was given.
    package struct Issued: Hashable, Sendable {
        /// Its end in seconds since 1970; nil for none.
        package let expiration: UInt64?
        package let isRenewable: Bool
    }
}

// What a person looks at.
extension RunarNode {
    /// Everybody in a network but this device: those who were given a token here, were met, are connected, or were
    /// revoked, ascending.
    ///
    /// - Throws: ``StorageError``.
    package func members(of network: NetworkId) throws -> [NetworkMember] {
        var members: [PeerId: NetworkMember] = [:]
        for peer in self.connectedPeers(in: network) { members[peer] = NetworkMember(peerId: peer) }
        for record in try self.store.peers(of: network) {
            members[record.peerId, default: NetworkMember(peerId: record.peerId)].lastSeen = record.lastSeen
        }
        for token in try self.store.issuedTokens(of: network) {
            var member = members[token.peerId] ?? NetworkMember(peerId: token.peerId)
            member.label = token.label
            member.issued = NetworkMember.Issued(expiration: token.expiration, isRenewable: token.isRenewable)
            members[token.peerId] = member
        }
        for revocation in try self.store.revocationSet(of: network).revocations {
            members[revocation.peerId, default: NetworkMember(peerId: revocation.peerId)].revokedAt = revocation.seconds
        }
        members[self.peerId] = nil
        return members.values.sorted { $0.peerId < $1.peerId }
    }

    /// Requests to hash tables from now on, as they begin and end.
    package var tableOperations: AsyncStream<TableOperation> { self.broadcasts.operations.listen() }

    /// The members in the hash table of a network, the nearest first; none while the node is stopped.
    package func tableRows(networkId: NetworkId) -> [Kademlia.Row] {
        (try? self.running().tableRows(of: networkId)) ?? []  // see above
    }

    /// The heads of the values that this node holds for a network, tombstones included; none while it is stopped.
    ///
    /// The records by which services are found are the node's own and left out.
    package func heldHeads(networkId: NetworkId) -> [Record.Head] {
        let heads = (try? self.running().heldHeads(in: networkId)) ?? []  // see above
        return heads.filter { !Services.isRecordKey($0.key) }
    }
}
