internal import Bytes
internal import Certificates
public import Essentials
public import Identity
internal import Node
internal import NodeCore
package import NodeStore
internal import Platform

// A person's devices: one that has the root key sets up another one, by two texts.
extension RunarNode {
    /// The keys of this node.
    public var keychain: RunarKeychain {
        let owner = RunarKeychain.Owner(
            reserveIndex: { try self.reserveNetworkIndex(of: $0, nil) },
            added: { try self.noteOwned($0, index: $1) },
            indices: { try self.store.networks().compactMap(\.derivationIndex) }
        )
        let guarding = config.guarding.accessControl
        return RunarKeychain(config.keyStorage, guarding, owner: owner) { self.clock.now().wallSeconds }
    }

    /// Returns the key of this device, for parts of the node in other targets.
    ///
    /// - Throws: ``KeychainError``.
    package func deviceKey() throws -> Ed25519KeyPair {
        try KeyId.peer.key(in: config.keyStorage, orMake: generatePeerKey)
    }

    /// Returns the key that signs the profile card of this device's person.
    ///
    /// It is derived from the root key, so that a person has it on each device with the root; without a root key it is
    /// random.
    ///
    /// - Throws: ``KeychainError``.
    package func personKey() throws -> Ed25519KeyPair {
        let storage = config.keyStorage
        let root = try storage.retrieve(id: KeyId.root.rawValue).map { try Ed25519PrivateKey($0) }
        let derived = try root.map { try KeyDerivation.deriveProfileKey(masterKey: $0, label: "circle") }
        return try KeyId.person.key(in: storage) { derived ?? generatePeerKey() }
    }

    /// Stores the key of this device's person, which another device of the person gave to this one.
    ///
    /// - Throws: ``KeychainError``.
    package func setPersonKey(_ key: Ed25519KeyPair) throws {
        try config.keyStorage.store(key.privateKey.secret, id: KeyId.person.rawValue)
    }

    /// The database of the node, for parts of the node in other targets.
    package var stateStore: NodeStore { store }

    /// The directory of the node's database; nil if the node has none on disk.
    package var stateDirectory: String? { config.statePath.map(FilePath.directory(of:)) }

    /// Returns the request by which another device of the person sets this one up; unchanged until it is answered.
    ///
    /// - Throws: ``KeychainError``.
    public func deviceRequest() throws -> DeviceRequest { try keychain.pendingRequest() }

    /// Sets up another device of the person: a certificate, and a membership in each of `networks`.
    ///
    /// Compare ``DeviceRequest/code`` with the code on the new device before this call, and ``DeviceAnswer/code`` after it.
    /// This device creates a certificate for itself, too, if it has none.
    ///
    /// - Parameters:
    ///   - request: The request that the device shows.
    ///   - networks: At most eight that this device signs for.
    ///   - expiration: The last second of the memberships; nil if they do not expire.
    ///   - label: The new label of the device, chosen by this device's person; nil keeps the current one.
    ///   - isAdmin: Whether the device gets the networks' keys, so that it can admit and revoke as this one does. That
    ///     cannot be taken back.
    /// - Returns: The answer that the device passes to ``setUp(with:)``.
    /// - Throws: ``RunarKeychainError``, ``NodeError/notTheOwner(_:)``, ``NodeError/badToken(_:)`` for a device that was
    ///   revoked, ``IdentityError``, ``KeychainError``, ``StorageError``.
    public func addDevice(
        _ request: DeviceRequest,
        networks: [NetworkId],
        expiration: Date? = nil,
        label: String? = nil,
        isAdmin: Bool = false
    ) throws -> DeviceAnswer {
        let keychain = self.keychain
        let root = try keychain.rootKey()
        let label = try label.map { try NameRule.typed($0) }
        guard networks.count <= DeviceAnswer.maximumMembershipCount else {
            throw IdentityError.full(of: "an answer to a device", limit: DeviceAnswer.maximumMembershipCount)
        }
        let asked = try RunarKeychain.readable { try CertificateRequest(der: request.certificateRequest) }
        guard asked.publicKey == request.publicKey else {
            throw RunarKeychainError.badCertificate(
                "the certificate request in it is for another key than the device's"
            )
        }
        let described = try networks.map { network in
            guard let metadata = try store.network(network)?.networkMetadata() else {
                throw NodeError.notTheOwner(network)
            }
            return (metadata, try networkKey(of: network))
        }
        if try request.peerId != peerId && !keychain.hasValidCertificate() { try certifyItself() }
        let message = try keychain.issue(for: asked, until: nil)
        let memberships = try described.map { metadata, key in
            DeviceAnswer.Membership(
                token: try issueToken(
                    for: request.peerId,
                    in: metadata.networkId,
                    expiration: expiration,
                    label: label
                ),
                metadata: metadata,
                networkKey: isAdmin ? try NetworkKeyMessage(sealing: key.privateKey, to: request) : nil
            )
        }
        return try DeviceAnswer(
            to: request,
            from: peerId,
            at: dialableAddresses,
            certificateMessage: message.binary,
            memberships: memberships,
            signedBy: KeyDerivation.deriveCertificateAuthorityKey(masterKey: root.privateKey).privateKey
        )
    }

    /// Applies the answer of another device to ``deviceRequest()``, completely or not at all.
    ///
    /// The device that answered is dialled from then on, as a peer whose address was entered.
    ///
    /// - Throws: ``RunarKeychainError``: `notAskedFor`, `notForThisDevice`, `foreignAuthority`, `notInForce`,
    ///   ``RunarKeychainError/badCertificate(_:)``; ``IdentityError`` for an answer to another request;
    ///   ``NodeError/badToken(_:)`` if this device was revoked; ``KeychainError``, ``StorageError``.
    public func setUp(with answer: DeviceAnswer) throws {
        let keychain = self.keychain
        guard let request = try keychain.storedRequest() else { throw RunarKeychainError.notAskedFor }
        try answer.check(for: request, at: wallSeconds)
        let message = try RunarKeychain.readable { try CertificateMessage(binary: answer.certificateMessage) }
        guard message.authority == answer.authority else { throw RunarKeychainError.foreignAuthority }
        try keychain.check(message)
        let peer = try keychain.peerKey().privateKey
        for membership in answer.memberships {
            _ = try membership.networkKey?.open(with: peer)
            guard try !store.revocationSet(of: membership.token.networkId).contains(peerId) else {
                throw NodeError.badToken(.revoked)
            }
        }
        for membership in answer.memberships {
            try addNetworkToken(networkId: membership.token.networkId, token: membership.token)
            try addNetwork(membership.metadata)
            if let key = membership.networkKey { try keychain.install(key) }
        }
        try remember(answer)
        // Last, because it ends the request: after a failure the same answer can be applied again.
        try keychain.install(message)
    }

    /// Whether this device was given the key of a network.
    func holdsNetworkKey(of network: NetworkId) throws -> Bool {
        try config.keyStorage.exists(id: RunarKeychain.networkKeyId(network))
    }

    /// Deletes the key of a network that this device was given; a key of the root can be derived again.
    func forgetNetworkKey(of network: NetworkId) throws {
        try config.keyStorage.delete(id: RunarKeychain.networkKeyId(network))
        try store.update(network) { if $0.derivationIndex == nil { $0.role = .member } }
    }

    private func certifyItself() throws {
        let keychain = self.keychain
        let pending = try keychain.pendingRequest()
        let asked = try RunarKeychain.readable { try CertificateRequest(der: pending.certificateRequest) }
        try keychain.install(keychain.issue(for: asked, until: nil))
    }

    /// Notes where the device that answered can be dialled.
    private func remember(_ answer: DeviceAnswer) throws {
        guard answer.sender != peerId, !answer.memberships.isEmpty else { return }
        for network in answer.networkIds {
            try store.noteEvidence(of: answer.sender, in: network, source: .text, at: wallSeconds)
        }
        for address in answer.addresses {
            try store.noteAddress(address, of: answer.sender, source: .text, at: wallSeconds)
        }
        applyIfRunning(
            .peer(.remembered(answer.sender, networks: answer.networkIds, addresses: answer.addresses))
        )
        applyIfRunning(.peer(.wanted(answer.sender)))
    }

    /// Notes that this device holds the key of a network, `index` being its place among those of the root key.
    private func noteOwned(_ network: NetworkId, index: UInt32?) throws {
        try store.update(network, orNew: NetworkRecord(network, at: wallSeconds)) { record in
            record.role = .owner
            if let index { record.derivationIndex = index }
        }
    }
}

// The keys that a node needs to be made and to start.
extension RunarNode {
    /// The id of the public half of a guarded device key, which is stored unguarded.
    private static let publicKeyId = "peer-public"

    /// Returns the id of the device of `settings`, creating its key if it has none.
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
        try config.guarding.check(config.keyStorage)
        let ids = [KeyId.peer.rawValue, KeyId.reset.rawValue] + services.memberships.map(Self.secretsId)
        try config.keyStorage.prefetch(ids)
        let key = try KeyId.peer.key(in: config.keyStorage, orMake: generatePeerKey)
        guard PeerId(publicKey: key.publicKey) == peerId else {
            try Self.store(key.publicKey, of: config)
            throw KeychainError.unableToRead("the key of this device was replaced: create a new node")
        }
    }
}

// A person's networks on a new device that has the root key again.
extension RunarNode {
    /// The most networks of a person that are searched for the one of a text.
    private static let restorableNetworks: UInt32 = 1024

    /// Makes this device the owner of a network again if its root key is; returns whether it is.
    ///
    /// The root key does not contain the list of its networks; their metadata does, and the index is found by trial.
    ///
    /// - Throws: ``NetworkError/invalidSignature`` if the network's key did not sign the text, ``KeychainError``,
    ///   ``StorageError``.
    public func restoreNetwork(_ metadata: NetworkMetadata) throws -> Bool {
        guard metadata.verify() else { throw NetworkError.invalidSignature }
        guard let secret = try config.keyStorage.retrieve(id: KeyId.root.rawValue) else { return false }
        if let known = try store.network(metadata.networkId), known.derivationIndex != nil, known.token != nil {
            return true
        }
        let root = try Ed25519PrivateKey(secret)
        for index in 0..<Self.restorableNetworks {
            let key = deriveNetworkKey(masterKey: root, networkIndex: index)
            guard NetworkId(publicKey: key.publicKey) == metadata.networkId else { continue }
            let token = try AccessToken.create(
                peerId: peerId,
                networkId: metadata.networkId,
                networkPrivateKey: key.privateKey,
                expiration: nil
            )
            try addNetwork(metadata)
            try store.update(metadata.networkId) { record in
                record.role = .owner
                record.derivationIndex = index
                record.token = token.binary
                record.tokenObtainedAt = wallSeconds
            }
            let revocations = try store.revocationSet(of: metadata.networkId)
            applyIfRunning(.membership(.added(token, obtainedSeconds: wallSeconds, revocations)))
            networksChanged()
            return true
        }
        return false
    }

    /// The root key, made and counted from the first network on if there is none.
    func rootKeyOrNew() throws -> Ed25519KeyPair {
        // No other task may make one meanwhile: the networks of the one that is replaced would be lost.
        try RunarKeychain.whileCounting {
            if let key = try keychain.keyPair(id: KeyId.root.rawValue) { return key }
            return try keychain.makeRootKey()
        }
    }

    /// The index for a new network of `root`: the given one, or the next one if all previous indices are known from the
    /// store or from the counter stored with the key.
    ///
    /// - Throws: ``NodeError/networkIndexNeeded(next:)``, ``NodeError/networkIndexRefused(_:next:)``, ``StorageError``.
    func reserveNetworkIndex(of root: Ed25519KeyPair, _ wanted: UInt32?) throws -> UInt32 {
        try RunarKeychain.whileCounting { try reserveCountedIndex(of: root, wanted) }
    }

    private func reserveCountedIndex(of root: Ed25519KeyPair, _ wanted: UInt32?) throws -> UInt32 {
        let fingerprint = root.publicKey.fingerprint.bytes
        let keychain = self.keychain
        let counted = try keychain.nextIndex(of: root.publicKey)
        let isCountedHere = try store.countedRoot() == fingerprint
        let isCounted = isCountedHere || counted != nil
        let next = max(try store.nextDerivationIndex(), counted ?? 0)
        if let wanted {
            // Above the limit its text alone would not bring it back.
            guard wanted >= next, wanted < Self.restorableNetworks else {
                throw NodeError.networkIndexRefused(wanted, next: next)
            }
        } else if !isCounted {
            throw NodeError.networkIndexNeeded(next: next)
        }
        let index = try store.reserveDerivationIndex(wanted ?? next)
        if !isCountedHere { try store.setCountedRoot(fingerprint) }
        try keychain.setNextIndex(index + 1, of: root.publicKey)
        return index
    }
}
