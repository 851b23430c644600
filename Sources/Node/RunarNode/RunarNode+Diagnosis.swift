package import Identity
package import Node
internal import Storage
package import Traversal

/// How this device stands in a network.
package struct MembershipState: Hashable, Sendable {
    package let networkId: NetworkId
    /// The owner's name for it, if it is known.
    package let name: String?
    package let isOwner: Bool
    /// This device's token; nil when it is no member.
    package let token: AccessToken?
    /// Whether the network's owner revoked this device.
    package let isRevoked: Bool
    /// The newest time that the network's owner signed, in seconds since 1970; nil if none is known.
    package let latestSignedSeconds: UInt64?
}

// What a diagnosis asks for.
extension RunarNode {
    /// How this device stands in each of its networks.
    ///
    /// - Throws: ``StorageError``.
    package func membershipStates() throws -> [MembershipState] {
        try Self.membershipStates(in: self.store, self.peerId)
    }

    /// The same of a node that does not run, without its keys.
    ///
    /// - Throws: ``StorageError``.
    package static func membershipStates(statePath: String, peerId: PeerId?) throws -> [MembershipState] {
        try Self.membershipStates(in: StateStore(path: statePath), peerId)
    }

    private static func membershipStates(in store: StateStore, _ peerId: PeerId?) throws -> [MembershipState] {
        try store.networks().map { record in
            let revocations = try store.revocationSet(of: record.networkId)
            return MembershipState(
                networkId: record.networkId,
                name: try record.networkMetadata()?.name,
                isOwner: record.role == .owner,
                token: try record.accessToken(),
                isRevoked: peerId.map { revocations.contains($0) } ?? false,
                latestSignedSeconds: revocations.revocations.map(\.seconds).max()
            )
        }
    }

    /// What was tried lately to reach a peer, the newest last; nothing while the node is stopped.
    package func pathHistory(of peer: PeerId) -> [PathHistory.Entry] {
        (try? self.running().pathHistory(of: peer)) ?? []  // see above
    }

    /// How this device's NAT chooses ports, whether that is more than a guess, and where peers see this device; nil
    /// while the node is stopped.
    package var natObservations: (mapping: MappingBehaviour, isProven: Bool, addresses: [SocketAddress])? {
        try? self.running().natObservations  // see above
    }

    /// Whom this device's NAT lets in, found out by a second member; nil while the node is stopped.
    package func filtering() async -> FilteringBehaviour? {
        guard let driver = try? self.running() else { return nil }  // see above
        return await driver.askFiltering()
    }

    /// Where this device would dial a peer.
    ///
    /// - Throws: ``StorageError``.
    package func knownAddresses(of peer: PeerId) throws -> [SocketAddress] {
        try self.store.addresses(of: peer).map(\.address)
    }
}
