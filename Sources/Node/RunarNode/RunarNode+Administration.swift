public import Identity
internal import Node
internal import NodeCore
internal import Platform
internal import Storage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// What only the owner of a network can do: it takes the root key, or the network's own where a device was given it.
extension RunarNode {
    /// Whether the root key is on this device.
    ///
    /// - Throws: ``KeychainError``.
    public func hasRootKey() throws -> Bool {
        try self.config.keyStorage.exists(id: KeyId.root.rawValue)
    }

    /// Makes a network of which this device's root key is the owner, and makes this device its first member.
    ///
    /// The root key is made when there is none yet; back it up then. One that was brought here, from its phrase or a
    /// backup, may own networks that this device does not know, and an index that is taken would make an old network
    /// once more, with its old members and without its revocations: then the first call needs an `index`.
    ///
    /// - Throws: ``IdentityError`` for a bad name, ``NodeError/networkIndexNeeded(next:)``,
    ///   ``NodeError/networkIndexRefused(_:next:)``, ``KeychainError``, ``StorageError``.
    public func createNetwork(name: String, index: UInt32? = nil) throws -> NetworkMetadata {
        try NameRule.check(name)
        let root = try self.rootKeyOrNew()
        let index = try self.reserveNetworkIndex(of: root, index)
        let key = deriveNetworkKey(masterKey: root, networkIndex: index)
        let networkId = NetworkId(publicKey: key.publicKey)
        let admin = KeyDerivation.deriveAdminKey(masterKey: root, networkId: networkId)
        var metadata = NetworkMetadata(networkId: networkId, name: name, adminPublicKey: admin.publicKey)
        try metadata.sign(with: key.privateKey)
        let token = try AccessToken.create(
            peerId: self.peerId,
            networkId: networkId,
            networkPrivateKey: key.privateKey,
            expiration: nil
        )
        let secrets = MemberSecrets(
            try MemberSecret.create(networkId: networkId, signer: key.privateKey, epoch: self.wallSeconds)
        )
        try self.save(secrets)
        try self.store.save(
            NetworkRecord(
                networkId: networkId,
                role: .owner,
                derivationIndex: index,
                metadata: try metadata.qrString,
                token: token.binary,
                tokenObtainedAt: self.wallSeconds,
                joinedAt: self.wallSeconds
            )
        )
        let isKnown = self.services.isMember(of: networkId)
        self.networksChanged()
        if isKnown {
            // A node that runs has an earlier token of a network that is made once more.
            let revocations = RevocationSet(networkId: networkId)
            self.applyIfRunning(.membership(.added(token, obtainedSeconds: self.wallSeconds, revocations)))
            self.applyIfRunning(.membership(.secretAdded(secrets.newest)))
        }
        return metadata.with(rendezvous: secrets.newest.rendezvous.publicKey)
    }

    /// Signs a token that makes `peerId` a member until `expiration` (whole seconds; nil for ever).
    ///
    /// The token's text says where the members listen for its holder. `label` is what this device's person calls the
    /// peer from now on; nil leaves an earlier one. A device may have another token like it before this one ends,
    /// unless `isRenewable` is false or it is revoked.
    ///
    /// - Throws: ``NodeError/notTheOwner(_:)``, ``NodeError/badToken(_:)`` if the peer was revoked: a returning device
    ///   makes a new key; ``IdentityError`` for a bad label.
    public func issueToken(
        for peerId: PeerId,
        in networkId: NetworkId,
        expiration: Date?,
        label: String? = nil,
        isRenewable: Bool = true
    ) throws -> AccessToken {
        if let label { try NameRule.check(label) }
        let key = try self.networkKey(of: networkId)
        guard try !self.store.revocationSet(of: networkId).contains(peerId) else { throw NodeError.badToken(.revoked) }
        let token = try AccessToken.create(
            peerId: peerId,
            networkId: networkId,
            networkPrivateKey: key.privateKey,
            expiration: expiration
        )
        try self.store.save(
            IssuedToken(
                networkId: networkId,
                peerId: peerId,
                expiration: token.expirationSeconds,
                issuedAt: self.wallSeconds,
                label: label,
                isRenewable: isRenewable
            )
        )
        return token.with(rendezvous: try self.store.rendezvous(of: networkId))
    }

    /// Revokes a peer for good: it is cut off at once here and wherever the revocation spreads to.
    ///
    /// - Throws: ``NodeError/notTheOwner(_:)``, ``StorageError`` (then nothing was revoked).
    @discardableResult
    public func revoke(_ peerId: PeerId, in networkId: NetworkId) throws -> Revocation {
        let key = try self.networkKey(of: networkId)
        let entry = try Revocation.create(
            peerId: peerId,
            networkId: networkId,
            signer: key.privateKey,
            seconds: self.wallSeconds
        )
        try self.store.addRevocations([entry])
        self.tables.removeRecords(of: peerId, in: networkId)
        // The revocation goes first: nobody is told the new secret before it is told who must not know it.
        self.applyIfRunning(.membership(.revocationsAdded([entry])))
        if let secrets = try self.memberSecrets(of: networkId) {
            try self.add(secrets.successor(signer: key.privateKey, nowSeconds: self.wallSeconds), to: secrets)
        }
        return entry
    }

    /// Gives a network another name: the next version of its metadata.
    ///
    /// Whoever joins from now on gets it. It does not travel to those who are members already: they keep the name that they
    /// have until ``addNetwork(_:)`` brings them the result.
    ///
    /// - Throws: ``NodeError/notTheOwner(_:)``, ``IdentityError`` for a bad name.
    public func renameNetwork(_ networkId: NetworkId, to name: String) throws -> NetworkMetadata {
        let key = try self.networkKey(of: networkId)
        guard let metadata = try self.store.network(networkId)?.networkMetadata() else {
            throw NodeError.notTheOwner(networkId)
        }
        let renamed = try metadata.renamed(to: name, signedWith: key.privateKey)
        try self.store.addMetadata(renamed, at: self.wallSeconds)
        self.networksChanged()
        return renamed.with(rendezvous: try self.store.rendezvous(of: networkId))
    }

    /// The 24 words that restore the root key and with it every network that it owns.
    ///
    /// - Throws: ``KeychainError``; ``NodeError/file(_:)`` when this device holds no root key.
    public func recoveryPhrase() throws -> RecoveryPhrase {
        guard let secret = try self.config.keyStorage.retrieve(id: KeyId.root.rawValue) else {
            throw NodeError.file("this device holds no root key: it owns no network")
        }
        return RecoveryPhrase(masterKey: try Ed25519PrivateKey(secret))
    }

    /// The key of a network: one that was given to this device, or that of the root key.
    func networkKey(of networkId: NetworkId) throws -> Ed25519KeyPair {
        if let key = try self.keychain.keyPair(id: RunarKeychain.networkKeyId(networkId)) { return key }
        guard let index = try self.store.network(networkId)?.derivationIndex,
            let secret = try self.config.keyStorage.retrieve(id: KeyId.root.rawValue)
        else { throw NodeError.notTheOwner(networkId) }
        let key = deriveNetworkKey(masterKey: try Ed25519PrivateKey(secret), networkIndex: index)
        guard NetworkId(publicKey: key.publicKey) == networkId else { throw NodeError.notTheOwner(networkId) }
        return key
    }
}

/// The names under which a node stores its keys.
package enum KeyId: String, Sendable {
    /// This device's key.
    case peer
    /// The person's root key.
    case root
    /// Bytes by which the peers of an earlier process learn that it is gone.
    case reset

    /// The stored key, or a new one that is stored before it is used.
    func key(in storage: any KeyStorage, orMake make: () -> Ed25519KeyPair) throws -> Ed25519KeyPair {
        if let secret = try storage.retrieve(id: self.rawValue) {
            return Ed25519KeyPair(privateKey: try Ed25519PrivateKey(secret))
        }
        let key = make()
        try storage.store(key.privateKey.secret, id: self.rawValue)
        return key
    }
}
