internal import Bytes
internal import Identity
internal import Platform

// The keys that a node needs to be made and to start.
extension RunarNode {
    /// The id of the public half of a guarded device key, which is stored unguarded.
    private static let publicKeyId = "peer-public"

    /// Returns the id of the device of `settings`, whose key is made if there is none yet.
    ///
    /// For a key guarded by biometrics the public half is read, so that the person is asked only at the start.
    static func peerId(of settings: NodeSettings) throws -> PeerId {
        let keys = settings.keyStorage
        let isGuarded = settings.guarding.accessControl.requireBiometric
        if isGuarded, try keys.exists(id: KeyId.peer.rawValue), let known = try keys.retrieve(id: Self.publicKeyId) {
            return PeerId(publicKey: try known.withBytes { try Ed25519PublicKey(rawRepresentation: $0) })
        }
        let publicKey = try KeyId.peer.key(in: keys, orMake: generatePeerKey).publicKey
        try Self.store(publicKey, of: settings)
        return PeerId(publicKey: publicKey)
    }

    /// Stores the public half of a guarded device key.
    static func store(_ publicKey: Ed25519PublicKey, of settings: NodeSettings) throws {
        guard settings.guarding.accessControl.requireBiometric else { return }
        let accessControl = AccessControl(accessibleWhen: .afterFirstUnlockThisDeviceOnly)
        try settings.keyStorage.store(
            SecretBytes(copying: publicKey.rawRepresentation),
            id: Self.publicKeyId,
            accessControl: accessControl
        )
    }

    /// Reads the keys of a start in one batch.
    ///
    /// - Throws: ``KeychainError``, `unsupported` when biometrics are required and not enforced, `unableToRead` when the
    ///   device's key is no longer the one that this node was made with.
    func prefetchKeys() throws {
        try self.config.guarding.check(self.config.keyStorage)
        let ids = [KeyId.peer.rawValue, KeyId.reset.rawValue] + self.services.memberships.map(Self.secretsId)
        try self.config.keyStorage.prefetch(ids)
        let key = try KeyId.peer.key(in: self.config.keyStorage, orMake: generatePeerKey)
        guard PeerId(publicKey: key.publicKey) == self.peerId else {
            try Self.store(key.publicKey, of: self.config)
            throw KeychainError.unableToRead("the key of this device was replaced: make the node anew")
        }
    }
}
