internal import Identity
internal import Node
internal import NodeCore
package import NodeStore

// The records of an owner's networks beyond their texts, for a backup.
extension RunarNode {
    /// The revocations of a network, in their binary form.
    ///
    /// - Throws: ``StorageError``.
    package func revocationRecords(of network: NetworkId) throws -> [[UInt8]] {
        try store.revocations(of: network).map(\.entry)
    }

    /// Takes the members and revocations that an earlier device of the owner knew.
    ///
    /// Records that this device has stay.
    ///
    /// - Throws: ``NodeError/notTheOwner(_:)``, ``IdentityError`` for a revocation that the network's key did not sign,
    ///   ``StorageError``; then nothing was taken.
    package func restore(members: [IssuedToken], revocations: [[UInt8]], of network: NetworkId) throws {
        guard try store.network(network)?.role == .owner else { throw NodeError.notTheOwner(network) }
        var known = try store.revocationSet(of: network)
        let entries = try revocations.map { try Revocation(binary: $0) }
        try known.merge(entries) { $0.verify() }
        try store.addRevocations(entries)
        applyIfRunning(.membership(.revocationsAdded(entries)))
        for member in members where try store.issuedToken(of: member.peerId, in: network) == nil {
            try store.save(member)
        }
    }
}
