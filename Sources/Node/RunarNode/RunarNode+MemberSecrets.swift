public import Identity
internal import NodeCore
internal import Platform
internal import Storage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Member secrets lie with the keys; what may be shown of them, the rendezvous key, with everything else.
extension RunarNode {
    /// When the secret that a network's members share was made, by which they recognise each other on a local network;
    /// nil before this device was given one.
    ///
    /// Its owner's device makes a new one with each revocation, and the one who was revoked never gets it.
    ///
    /// - Throws: ``KeychainError``, ``IdentityError`` if what is stored cannot be read.
    public func memberSecretDate(networkId: NetworkId) throws -> Date? {
        try self.memberSecrets(of: networkId).map { UnixTime.date($0.newest.epoch) }
    }

    /// The member secrets of a network, or nil if this device has not got any yet.
    ///
    /// - Throws: ``KeychainError``, ``IdentityError`` if what is stored cannot be read.
    func memberSecrets(of network: NetworkId) throws -> MemberSecrets? {
        guard let stored = try self.config.keyStorage.retrieve(id: Self.secretsId(of: network)) else { return nil }
        return try stored.withBytes { try MemberSecrets(binary: $0) }
    }

    /// Stores the member secrets of a network, verified before, in place of those that were known.
    ///
    /// - Throws: ``KeychainError``, ``StorageError``.
    func save(_ secrets: MemberSecrets) throws {
        try self.config.keyStorage.store(secrets.binary, id: Self.secretsId(of: secrets.networkId))
        try self.store.setRendezvous(secrets.newest.rendezvous.publicKey, of: secrets.networkId)
    }

    /// The member secrets of a network; the owner makes the first one if there is none yet.
    func memberSecretsOrNew(of network: NetworkId) throws -> MemberSecrets? {
        if let secrets = try self.memberSecrets(of: network) { return secrets }
        // A member is told by others, and so is a device that was given the network's key.
        guard try self.store.network(network)?.derivationIndex != nil,
            let key = try? self.networkKey(of: network)  // without the root key it is a member
        else { return nil }
        let secret = try MemberSecret.create(networkId: network, signer: key.privateKey, epoch: self.wallSeconds)
        let secrets = MemberSecrets(secret)
        try self.save(secrets)
        return secrets
    }

    /// Puts a new secret into use, here and with every member that is connected.
    func add(_ secret: MemberSecret, to secrets: MemberSecrets) throws {
        var secrets = secrets
        secrets.insert(secret)
        try self.save(secrets)
        self.applyIfRunning(.membership(.secretAdded(secret)))
    }

    /// Takes from a text where the members of a network listen, unless this device knows better by a secret.
    func learn(_ key: RendezvousKey, of network: NetworkId) throws {
        guard try !self.config.keyStorage.exists(id: Self.secretsId(of: network)) else { return }
        try self.store.setRendezvous(key, of: network)
        self.applyIfRunning(.membership(.rendezvousLearnt(network, key)))
    }

    /// Forgets the member secrets of a network.
    ///
    /// - Throws: ``KeychainError``, ``StorageError``.
    func deleteMemberSecrets(of network: NetworkId) throws {
        try self.config.keyStorage.delete(id: Self.secretsId(of: network))
        try self.store.setRendezvous(nil, of: network)
    }

    static func secretsId(of network: NetworkId) -> String { "member-secrets/\(network.text)" }
}

extension StateStore {
    /// Where the members of a network listen for a device that has a token but no secret, if this device knows.
    func rendezvous(of network: NetworkId) throws -> RendezvousKey? {
        guard let bytes = try self.setting(Self.rendezvousName(of: network)) else { return nil }
        return try RendezvousKey(rawRepresentation: bytes)
    }

    /// Stores where the members of a network listen, or forgets it.
    func setRendezvous(_ key: RendezvousKey?, of network: NetworkId) throws(StorageError) {
        try self.set(Self.rendezvousName(of: network), to: key?.bytes)
    }

    private static func rendezvousName(of network: NetworkId) -> String { "rendezvous/\(network.text)" }
}
