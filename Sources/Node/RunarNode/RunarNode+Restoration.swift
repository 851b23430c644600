public import Identity
internal import NodeCore
internal import Platform
internal import Storage

// A person's networks on a new device that has the root key again.
extension RunarNode {
    /// How many networks of a person are looked through for the one that a text is of.
    private static let restorableNetworks: UInt32 = 1024
    /// Where the store keeps the fingerprint of the root key whose networks it has counted from the first one on, or
    /// from an index that a person gave.
    private static let countedRoot = "root-key.counted"

    /// Makes this device the owner of a network again if its root key is; returns whether it is.
    ///
    /// The root key alone does not say which networks it owns: their texts do, and the index is found by trying.
    ///
    /// - Throws: ``NetworkError/invalidSignature`` if the network's key did not sign the text, ``KeychainError``,
    ///   ``StorageError``.
    public func restoreNetwork(_ metadata: NetworkMetadata) throws -> Bool {
        guard metadata.verify() else { throw NetworkError.invalidSignature }
        guard let secret = try self.config.keyStorage.retrieve(id: KeyId.root.rawValue) else { return false }
        if let known = try self.store.network(metadata.networkId), known.derivationIndex != nil, known.token != nil {
            return true
        }
        let root = try Ed25519PrivateKey(secret)
        for index in 0..<Self.restorableNetworks {
            let key = deriveNetworkKey(masterKey: root, networkIndex: index)
            guard NetworkId(publicKey: key.publicKey) == metadata.networkId else { continue }
            let token = try AccessToken.create(
                peerId: self.peerId,
                networkId: metadata.networkId,
                networkPrivateKey: key.privateKey,
                expiration: nil
            )
            try self.addNetwork(metadata)
            try self.store.update(metadata.networkId) { record in
                record.role = .owner
                record.derivationIndex = index
                record.token = token.binary
                record.tokenObtainedAt = self.wallSeconds
            }
            let revocations = try self.store.revocationSet(of: metadata.networkId)
            self.applyIfRunning(.membership(.added(token, obtainedSeconds: self.wallSeconds, revocations)))
            self.networksChanged()
            return true
        }
        return false
    }

    /// The root key, made and counted from the first network on if there is none.
    func rootKeyOrNew() throws -> Ed25519KeyPair {
        // Nobody else may make one meanwhile: the networks of the one that is replaced would be lost.
        try RunarKeychain.whileCounting {
            if let key = try self.keychain.keyPair(id: KeyId.root.rawValue) { return key }
            return try self.keychain.makeRootKey()
        }
    }

    /// The index for a new network of `root`: the given one, or the next if all that came before are known, here or by
    /// the counter beside the key.
    ///
    /// - Throws: ``NodeError/networkIndexNeeded(next:)``, ``NodeError/networkIndexRefused(_:next:)``, ``StorageError``.
    func reserveNetworkIndex(of root: Ed25519KeyPair, _ wanted: UInt32?) throws -> UInt32 {
        try RunarKeychain.whileCounting { try self.reserveCountedIndex(of: root, wanted) }
    }

    private func reserveCountedIndex(of root: Ed25519KeyPair, _ wanted: UInt32?) throws -> UInt32 {
        let fingerprint = root.publicKey.fingerprint.bytes
        let keychain = self.keychain
        let counted = try keychain.nextIndex(of: root.publicKey)
        let isCountedHere = try self.store.setting(Self.countedRoot) == fingerprint
        let isCounted = isCountedHere || counted != nil
        let next = max(try self.store.nextDerivationIndex(), counted ?? 0)
        if let wanted {
            // Above the limit its text alone would not bring it back.
            guard wanted >= next, wanted < Self.restorableNetworks else {
                throw NodeError.networkIndexRefused(wanted, next: next)
            }
        } else if !isCounted {
            throw NodeError.networkIndexNeeded(next: next)
        }
        let index = try self.store.reserveDerivationIndex(wanted ?? next)
        if !isCountedHere { try self.store.set(Self.countedRoot, to: fingerprint) }
        try keychain.setNextIndex(index + 1, of: root.publicKey)
        return index
    }
}
