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
        if let known = try self.store.network(metadata.networkId), known.role == .owner, known.token != nil {
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
            guard var record = try self.store.network(metadata.networkId) else { return false }
            record.role = .owner
            record.derivationIndex = index
            record.token = token.binary
            record.tokenObtainedAt = self.wallSeconds
            try self.store.save(record)
            let revocations = try self.store.revocationSet(of: metadata.networkId)
            self.applyIfRunning(.membershipAdded(token, obtainedSeconds: self.wallSeconds, revocations))
            self.networksChanged()
            return true
        }
        return false
    }

    /// The root key, made and counted from the first network on if there is none.
    func rootKeyOrNew() throws -> Ed25519KeyPair {
        if let secret = try self.config.keyStorage.retrieve(id: KeyId.root.rawValue) {
            return Ed25519KeyPair(privateKey: try Ed25519PrivateKey(secret))
        }
        let made = generateMasterKey()
        try self.store.set(Self.countedRoot, to: made.publicKey.fingerprint.bytes)
        try self.config.keyStorage.store(made.privateKey.secret, id: KeyId.root.rawValue)
        return made
    }

    /// The index for a new network of `root`: the given one, or the next if this store knows all that came before.
    ///
    /// - Throws: ``NodeError/networkIndexNeeded(next:)``, ``NodeError/networkIndexRefused(_:next:)``, ``StorageError``.
    func reserveNetworkIndex(of root: Ed25519KeyPair, _ wanted: UInt32?) throws -> UInt32 {
        let fingerprint = root.publicKey.fingerprint.bytes
        let isCounted = try self.store.setting(Self.countedRoot) == fingerprint
        let next = try self.store.nextDerivationIndex()
        if let wanted {
            // Above the limit its text alone would not bring it back.
            guard wanted >= next, wanted < Self.restorableNetworks else {
                throw NodeError.networkIndexRefused(wanted, next: next)
            }
        } else if !isCounted {
            throw NodeError.networkIndexNeeded(next: next)
        }
        let index = try self.store.reserveDerivationIndex(wanted)
        if !isCounted { try self.store.set(Self.countedRoot, to: fingerprint) }
        return index
    }
}
