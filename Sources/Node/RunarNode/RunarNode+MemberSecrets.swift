public import Essentials
public import Identity
internal import Node
internal import NodeCore
internal import NodeStore
internal import Platform

// Member secrets are stored with the keys; the rendezvous key, which may be shown, with everything else.
extension RunarNode {
    /// The date of the secret that a network's members share, by which they recognise each other on a local network; nil
    /// before this device was given one.
    ///
    /// Its owner's device makes a new one with each revocation, which the revoked device never receives.
    ///
    /// - Throws: ``KeychainError``, ``IdentityError`` if the stored secrets cannot be read.
    public func memberSecretDate(networkId: NetworkId) throws -> Date? {
        try memberSecrets(of: networkId).map { UnixTime.date($0.newest.epoch) }
    }

    /// The member secrets of a network, or nil if this device has not got any yet.
    ///
    /// - Throws: ``KeychainError``, ``IdentityError`` if the stored secrets cannot be read.
    func memberSecrets(of network: NetworkId) throws -> MemberSecrets? {
        guard let stored = try config.keyStorage.retrieve(id: Self.secretsId(of: network)) else { return nil }
        return try stored.withBytes { try MemberSecrets(binary: $0) }
    }

    /// Stores the member secrets of a network, verified before, in place of those that were known.
    ///
    /// - Throws: ``KeychainError``, ``StorageError``.
    func save(_ secrets: MemberSecrets) throws {
        try config.keyStorage.store(secrets.binary, id: Self.secretsId(of: secrets.networkId))
        try store.setRendezvous(secrets.newest.rendezvous.publicKey, of: secrets.networkId)
    }

    /// The member secrets of a network; the owner makes the first one if there is none yet.
    ///
    /// An owner that has the rendezvous key of a text and no secret was restored: its members have a secret, and one of them
    /// sends it. A new one would replace theirs before this device knows which devices were revoked.
    func memberSecretsOrNew(of network: NetworkId) throws -> MemberSecrets? {
        if let secrets = try memberSecrets(of: network) { return secrets }
        if try store.rendezvous(of: network) != nil { return nil }
        return try firstMemberSecrets(of: network)
    }

    /// Makes the first member secret of a network of this device's root key, if this device has none yet; members that
    /// listen by the key of a text are still looked for.
    ///
    /// - Returns: Nil if another device makes it.
    @discardableResult
    func firstMemberSecrets(of network: NetworkId) throws -> MemberSecrets? {
        if let secrets = try memberSecrets(of: network) { return secrets }
        // A member learns it from others, and so does a device that was given the network's key.
        guard try store.network(network)?.derivationIndex != nil,
            let key = try? networkKey(of: network)  // without the root key it is a member
        else { return nil }
        let secret = try MemberSecret.create(networkId: network, signer: key.privateKey, epoch: wallSeconds)
        let secrets = MemberSecrets(secret)
        if let former = try store.rendezvous(of: network) {
            try store.setFormerRendezvous(FormerRendezvous(key: former, seconds: wallSeconds), of: network)
        }
        try save(secrets)
        applyIfRunning(.membership(.secretAdded(secret)))
        try seekFormerMembers(of: network)
        return secrets
    }

    /// Makes the successor of an own network's secret, which a revoked device must not have.
    func replaceMemberSecret(of network: NetworkId) throws {
        guard let secrets = try memberSecrets(of: network) else { return }
        let signer = try networkKey(of: network).privateKey
        try add(secrets.successor(signer: signer, nowSeconds: wallSeconds), to: secrets)
    }

    /// Puts a new secret into use, here and with every member that is connected.
    func add(_ secret: MemberSecret, to secrets: MemberSecrets) throws {
        var secrets = secrets
        secrets.insert(secret)
        try save(secrets)
        applyIfRunning(.membership(.secretAdded(secret)))
    }

    /// Stores the rendezvous key of a text, unless this device has a member secret, from which it derives a newer one.
    func learn(_ key: RendezvousKey, of network: NetworkId) throws {
        guard try !config.keyStorage.exists(id: Self.secretsId(of: network)) else { return }
        try store.setRendezvous(key, of: network)
        applyIfRunning(.membership(.rendezvousLearnt(network, key)))
    }

    /// Forgets the member secrets of a network.
    ///
    /// - Throws: ``KeychainError``, ``StorageError``.
    func deleteMemberSecrets(of network: NetworkId) throws {
        try config.keyStorage.delete(id: Self.secretsId(of: network))
        try store.setRendezvous(nil, of: network)
        try store.setFormerRendezvous(nil, of: network)
    }

    static func secretsId(of network: NetworkId) -> String { "member-secrets/\(network.text)" }
}
