internal import Bytes
internal import Concurrency
public import Identity
internal import Node
internal import Platform
internal import Storage

// A new key for a device, and with it a new id: how one that was revoked comes back.
extension RunarNode {
    /// Gives this device a new key, and returns the id that comes with it.
    ///
    /// The memberships of the old key end, and so does its certificate. The root key stays, and so do the networks that this
    /// device signs for: it becomes a member of them by the new key and revokes the old one there. Other networks remain
    /// known, to be joined again. The node must be stopped; after a failure, or a crash meanwhile, call it again.
    ///
    /// - Throws: ``RunarError`` of kind `inUse` while the node runs; ``KeychainError``, ``StorageError``;
    ///   `CancellationError` when cancelled before its turn.
    @discardableResult
    public func renewDevice() async throws -> PeerId {
        try await self.phases.inTurn {
            guard self.phases.isStopped else {
                throw RunarError.failure(.inUse, message: "the node runs with the key of this device: stop it first")
            }
            try await self.keychain.removeCertificate()
            return try self.takeNewKey()
        }
    }

    private func takeNewKey() throws -> PeerId {
        let old = self.peerId
        let networks = try self.store.networks().map(\.networkId)
        let owned = networks.filter { (try? self.networkKey(of: $0)) != nil }  // nil: another device signs for it
        for network in networks where !owned.contains(network) {
            try self.store.removeToken(of: network)
            try self.store.forgetRecords(of: network)
            try self.deleteMemberSecrets(of: network)
            self.clearCache(networkId: network)
        }
        let key = generatePeerKey()
        try self.config.keyStorage.store(key.privateKey.secret, id: KeyId.peer.rawValue)
        try Self.store(key.publicKey, of: self.config)
        try self.config.keyStorage.delete(id: KeyId.reset.rawValue)
        let new = PeerId(publicKey: key.publicKey)
        self.device.withLock { $0 = new }
        for network in owned {
            let token = try AccessToken.create(
                peerId: new,
                networkId: network,
                networkPrivateKey: self.networkKey(of: network).privateKey,
                expiration: nil
            )
            try self.store.addMembership(token, at: self.wallSeconds)
            if try !self.store.revocationSet(of: network).contains(old) { try self.revoke(old, in: network) }
        }
        self.networksChanged()
        return new
    }
}
