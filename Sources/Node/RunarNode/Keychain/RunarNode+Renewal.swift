internal import Concurrency
internal import Identity
internal import Node
internal import NodeCore
internal import NodeStore
internal import Platform

/// A durable step of a renewal.
///
/// A crash after any of them leaves the rest to the next start, or to the next renewal.
enum RenewalStep: Hashable, Sendable {
    /// The key that is replaced is noted in the database.
    case noted
    /// The new key is in the vault.
    case keyStored
    /// The certificate and the reset secret of the former key are removed.
    case certificateRemoved
    /// The membership of the former key in a network of another owner is removed.
    case membershipEnded(NetworkId)
    /// The new key is a member of an own network.
    case joined(NetworkId)
    /// A former key is revoked in an own network.
    case revoked(PeerId, NetworkId)
    /// The one-time keys of a former key are removed.
    case poolsRemoved(PeerId)
}

// A new key for a device, and with it a new id: the only way for a revoked device to return.
extension RunarNode {
    /// Gives this device a new key, and returns the new id.
    ///
    /// The memberships of the old key end, and so does its certificate. The root key stays, and so do the networks that this
    /// device signs for: it becomes a member of them by the new key and revokes the old one. Other networks remain known, to
    /// be joined again. The node must be stopped. After a failure or a crash the next start completes the renewal; calling
    /// it again also gives the device another new key, and revokes every former one.
    ///
    /// - Throws: ``RunarError`` of kind `inUse` while the node runs; ``KeychainError``, ``StorageError``;
    ///   `CancellationError` when cancelled before it began.
    @discardableResult
    public func renewDevice() async throws -> PeerId { try await renewDevice { _ in } }

    /// Renews the key; `onStep` is called after each durable step, and its error aborts the renewal.
    @discardableResult
    func renewDevice(onStep: (RenewalStep) throws -> Void) async throws -> PeerId {
        try await phases.withExclusiveAccess {
            guard phases.isStopped else {
                throw RunarError.failure(.inUse, message: "the node runs with the key of this device: stop it first")
            }
            try takeNewKey(onStep)
            try await finishRenewal(onStep)
            return peerId
        }
    }

    private func takeNewKey(_ onStep: (RenewalStep) throws -> Void) throws {
        // The vault may hold a later key than the one with which this node was made.
        let stored = try KeyId.peer.key(in: config.keyStorage, orMake: generatePeerKey)
        // First, so that no crash can lose the id of a key that must be revoked.
        try store.setReplacedDevices(store.replacedDevices().union([peerId, PeerId(publicKey: stored.publicKey)]))
        try onStep(.noted)
        let key = generatePeerKey()
        try config.keyStorage.store(key.privateKey.secret, id: KeyId.peer.rawValue)
        try Self.store(key.publicKey, of: config)
        device.withLock { $0 = PeerId(publicKey: key.publicKey) }
        try onStep(.keyStored)
    }

    /// Completes a renewal: every former key is revoked in each own network, and loses its memberships, certificate and
    /// one-time keys.
    ///
    /// Each step may be repeated.
    /// The id of this node must be that of the key in the vault.
    func finishRenewal(_ onStep: (RenewalStep) throws -> Void = { _ in }) async throws {
        let noted = try store.replacedDevices()
        guard !noted.isEmpty else { return }
        // A crash before the new key was stored leaves the present key noted.
        let former = noted.subtracting([peerId]).sorted()
        if !former.isEmpty {
            try config.keyStorage.delete(id: KeyId.reset.rawValue)
            try await keychain.removeCertificate()
            try onStep(.certificateRemoved)
            for network in try store.networks() {
                if try signs(for: network.networkId) {
                    try replace(former, in: network, onStep)
                } else if try network.accessToken()?.peerId != peerId {
                    try endMembership(in: network.networkId)
                    try onStep(.membershipEnded(network.networkId))
                }
            }
            for peer in former {
                if let directory = stateDirectory {
                    try DirectoryTree.remove(DevicePools.directory(of: peer, in: directory))
                }
                try onStep(.poolsRemoved(peer))
            }
            networksChanged()
        }
        try store.setReplacedDevices([])
    }

    /// Makes the present key a member of an own network, and revokes the former ones in it.
    private func replace(
        _ former: [PeerId],
        in record: NetworkRecord,
        _ onStep: (RenewalStep) throws -> Void
    ) throws {
        let network = record.networkId
        if try record.accessToken()?.peerId != peerId {
            let token = try AccessToken.create(
                peerId: peerId,
                networkId: network,
                networkPrivateKey: networkKey(of: network).privateKey,
                expiration: nil
            )
            try store.addMembership(token, at: wallSeconds)
            try onStep(.joined(network))
        }
        for peer in former {
            if try store.revocationSet(of: network).contains(peer) {
                // A crash may have occurred between its revocation and the new member secret.
                try replaceMemberSecret(of: network)
            } else {
                try revoke(peer, in: network)
            }
            try onStep(.revoked(peer, network))
        }
    }

    private func endMembership(in network: NetworkId) throws {
        try store.removeToken(of: network)
        try store.forgetRecords(of: network)
        try store.deleteMail(of: network)
        try deleteMemberSecrets(of: network)
        clearCache(networkId: network)
    }

    /// Whether this device has the key of a network.
    private func signs(for network: NetworkId) throws -> Bool {
        do {
            _ = try networkKey(of: network)
            return true
        } catch NodeError.notTheOwner {
            return false
        }
    }
}
