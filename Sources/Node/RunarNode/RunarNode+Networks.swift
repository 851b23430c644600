internal import Concurrency
public import Essentials
public import Identity
internal import Node
internal import NodeCore
internal import NodeStore
internal import Platform

// Joining, connecting and leaving.
extension RunarNode {
    /// Stores a token for this device and shows it from now on.
    ///
    /// The grace for clocks that differ is for tokens that others show: a token that has ended here is refused.
    ///
    /// - Throws: ``NodeError/badToken(_:)`` with the reason; then nothing was stored.
    public func addNetworkToken(networkId: NetworkId, token: AccessToken) throws {
        let revocations = try store.revocationSet(of: networkId)
        let problem = token.problem(
            at: wallSeconds,
            for: peerId,
            in: networkId,
            revoked: { revocations.contains($0) },
            verifySignature: { $0.verifySignature() }
        )
        if let problem { throw NodeError.badToken(problem) }
        if let end = token.expirationSeconds, end < wallSeconds { throw NodeError.badToken(.expired(at: end)) }
        try store.addMembership(token, at: wallSeconds)
        if let key = token.rendezvous { try learn(key, of: networkId) }
        networksChanged()
        guard services.isMember(of: networkId) else { return }
        applyIfRunning(.membership(.added(token, obtainedSeconds: wallSeconds, revocations)))
        if let key = try store.rendezvous(of: networkId) {
            applyIfRunning(.membership(.rendezvousLearnt(networkId, key)))
        }
    }

    /// Becomes a member of a network with the token that its owner issued for this device.
    ///
    /// - Throws: ``NodeError/badToken(_:)`` with the reason.
    public func joinNetwork(networkId: NetworkId, accessToken: AccessToken) async throws {
        try addNetworkToken(networkId: networkId, token: accessToken)
    }

    /// Stores a network's verified metadata, so that it can be shown by name.
    ///
    /// - Throws: ``NetworkError/invalidSignature`` if the network's key did not sign it.
    public func addNetwork(_ metadata: NetworkMetadata) throws {
        guard metadata.verify() else { throw NetworkError.invalidSignature }
        try store.addMetadata(metadata, at: wallSeconds)
        if let key = metadata.rendezvous { try learn(key, of: metadata.networkId) }
        networksChanged()
    }

    /// The networks that this device knows, owns or is a member of.
    ///
    /// - Throws: ``StorageError``.
    public func networks() throws -> [NetworkInfo] {
        try store.networks().map { record in
            NetworkInfo(
                networkId: record.networkId,
                metadata: try record.networkMetadata()?.with(rendezvous: store.rendezvous(of: record.networkId)),
                isOwner: try record.role == .owner || holdsNetworkKey(of: record.networkId),
                index: record.derivationIndex,
                token: try record.accessToken()
            )
        }
    }

    /// Leaves a network: its peers are notified at once and the token is deleted.
    ///
    /// - Throws: ``NodeError/notAMember(_:)``.
    public func leaveNetwork(_ networkId: NetworkId) throws {
        guard let record = try store.network(networkId), record.leftAt == nil else {
            throw NodeError.notAMember(networkId)
        }
        try store.leave(networkId, at: wallSeconds)
        try deleteMemberSecrets(of: networkId)
        try forgetNetworkKey(of: networkId)
        clearCache(networkId: networkId)
        tables.noteFound([], in: networkId)
        applyIfRunning(.membership(.removed(networkId)))
        networksChanged()
    }

    /// Dials a peer of a network at an address and returns once both are admitted to each other.
    ///
    /// The acknowledgement by which the peer counts this device as connected is then in flight. The connection is kept from
    /// then on: when it breaks, it is dialled again.
    ///
    /// - Throws: ``NodeError``, `notAMember` before anything is sent; ``IdentityError`` when `address` is no "ip:port".
    @discardableResult
    public func connectToPeer(peerId: PeerId, networkId: NetworkId, address: String) async throws -> PeerConnection {
        let driver = try running()
        let place = try SocketAddress(parsing: address)
        guard try store.network(networkId)?.token != nil else { throw NodeError.notAMember(networkId) }
        driver.apply(.peer(.remembered(peerId, networks: [networkId], addresses: [place])))
        try await driver.reach(peerId, in: networkId)
        try store.noteEvidence(of: peerId, in: networkId, source: .text, at: wallSeconds)
        return PeerConnection(peerId: peerId, networkId: networkId, address: place)
    }

    /// Connects to a member and keeps the connection: at its known addresses, at addresses from other members, or through
    /// NAT traversal with their help; ``path(to:)`` returns the path in use.
    ///
    /// - Parameters:
    ///   - peerId: The member.
    ///   - networkId: The network of the member.
    ///   - overRelay: Whether to begin over another member as a relay even where a direct way works; like every relayed
    ///     connection it becomes direct within seconds where it can.
    /// - Throws: ``NodeError``; `CancellationError` when cancelled.
    public func connectToPeer(peerId: PeerId, networkId: NetworkId, overRelay: Bool = false) async throws {
        guard try store.network(networkId)?.token != nil else { throw NodeError.notAMember(networkId) }
        let driver = try running()
        if overRelay {
            try await driver.reachOverRelay(peerId, in: networkId)
        } else {
            try await driver.reach(peerId, in: networkId)
        }
    }

    /// The peers that are admitted at this moment, in one network or in any, ascending.
    public func connectedPeers(in networkId: NetworkId? = nil) -> [PeerId] {
        guard let driver = phases.driver else { return [] }
        return driver.admittedPeers(in: networkId)
    }

    /// Closes the connection to a peer, and keeps the two apart for ten minutes: this device does not dial the peer and
    /// refuses its connections, and the peer, which is notified, does not dial by itself either.
    ///
    /// Connecting to the peer, or sending it something, from this device ends that at once; so does a restart.
    public func disconnectPeer(_ peerId: PeerId) {
        applyIfRunning(.peer(.unwanted(peerId)))
    }

    /// Returns the manual disconnect in force, from ``disconnectPeer(_:)`` on either device; nil without one.
    public func manualDisconnect(from peerId: PeerId) -> PeerDisconnect? {
        guard let driver = phases.driver,
            let manualDisconnect = driver.manualDisconnect(from: peerId)
        else { return nil }
        return PeerDisconnect(
            isOurs: manualDisconnect.isOurs,
            secondsLeft: UInt64(manualDisconnect.rest.components.seconds)
        )
    }

    /// The text by which another member can dial this device.
    ///
    /// - Throws: ``NodeError/notAMember(_:)``.
    public func connectionData(networkId: NetworkId, address: String) throws -> PeerConnectionData {
        guard let token = try store.network(networkId)?.accessToken() else { throw NodeError.notAMember(networkId) }
        return PeerConnectionData(
            peerId: peerId,
            networkId: networkId,
            address: address,
            token: token
        )
    }
}

// Operations of the owner of a network, which take the root key, or the network's own on a device that was given it.
extension RunarNode {
    /// Whether the root key is on this device.
    ///
    /// - Throws: ``KeychainError``.
    public func hasRootKey() throws -> Bool {
        try config.keyStorage.exists(id: KeyId.root.rawValue)
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
        let name = try NameRule.typedForNetwork(name)
        let root = try rootKeyOrNew()
        let index = try reserveNetworkIndex(of: root, index)
        let key = deriveNetworkKey(masterKey: root, networkIndex: index)
        let networkId = NetworkId(publicKey: key.publicKey)
        let admin = KeyDerivation.deriveAdminKey(masterKey: root, networkId: networkId)
        var metadata = NetworkMetadata(networkId: networkId, name: name, adminPublicKey: admin.publicKey)
        try metadata.sign(with: key.privateKey)
        let token = try AccessToken.create(
            peerId: peerId,
            networkId: networkId,
            networkPrivateKey: key.privateKey,
            expiration: nil
        )
        let secrets = MemberSecrets(
            try MemberSecret.create(networkId: networkId, signer: key.privateKey, epoch: wallSeconds)
        )
        try save(secrets)
        try store.save(
            NetworkRecord(
                networkId: networkId,
                role: .owner,
                derivationIndex: index,
                metadata: try metadata.qrString,
                token: token.binary,
                tokenObtainedAt: wallSeconds,
                joinedAt: wallSeconds
            )
        )
        let isKnown = services.isMember(of: networkId)
        networksChanged()
        if isKnown {
            // A node that runs has an earlier token of a network that is made once more.
            let revocations = RevocationSet(networkId: networkId)
            applyIfRunning(.membership(.added(token, obtainedSeconds: wallSeconds, revocations)))
            applyIfRunning(.membership(.secretAdded(secrets.newest)))
        }
        return metadata.with(rendezvous: secrets.newest.rendezvous.publicKey)
    }

    /// Signs a token that makes `peerId` a member until `expiration` (whole seconds; nil without end).
    ///
    /// The token's text contains addresses of members for its holder. `label` is the peer's new label, chosen by this
    /// device's person; nil keeps the current one. A device may receive another such token before this one expires, unless
    /// `isRenewable` is false or it is revoked.
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
        let label = try label.map { try NameRule.typed($0) }
        let key = try networkKey(of: networkId)
        guard try !store.revocationSet(of: networkId).contains(peerId) else { throw NodeError.badToken(.revoked) }
        let token = try AccessToken.create(
            peerId: peerId,
            networkId: networkId,
            networkPrivateKey: key.privateKey,
            expiration: expiration
        )
        // If this is the first token, no other member exists to send the new one a secret.
        try firstMemberSecrets(of: networkId)
        try store.save(
            IssuedToken(
                networkId: networkId,
                peerId: peerId,
                expiration: token.expirationSeconds,
                issuedAt: wallSeconds,
                label: label,
                isRenewable: isRenewable
            )
        )
        return token.with(rendezvous: try store.rendezvous(of: networkId))
    }

    /// Revokes a peer permanently: it is disconnected at once here and on every device that receives the revocation.
    ///
    /// - Throws: ``NodeError/notTheOwner(_:)``, ``StorageError`` (then nothing was revoked).
    @discardableResult
    public func revoke(_ peerId: PeerId, in networkId: NetworkId) throws -> Revocation {
        let key = try networkKey(of: networkId)
        let entry = try Revocation.create(
            peerId: peerId,
            networkId: networkId,
            signer: key.privateKey,
            seconds: wallSeconds
        )
        try store.addRevocations([entry])
        tables.removeRecords(of: peerId, in: networkId)
        // The revocation goes first: no member gets the new secret before it knows which device must not have it.
        applyIfRunning(.membership(.revocationsAdded([entry])))
        try replaceMemberSecret(of: networkId)
        return entry
    }

    /// Gives a network another name: the next version of its metadata.
    ///
    /// Devices that join from now on get it. It does not travel to present members: they keep the name that they have
    /// until ``addNetwork(_:)`` brings them the result.
    ///
    /// - Throws: ``NodeError/notTheOwner(_:)``, ``IdentityError`` for a bad name.
    public func renameNetwork(_ networkId: NetworkId, to name: String) throws -> NetworkMetadata {
        let key = try networkKey(of: networkId)
        guard let metadata = try store.network(networkId)?.networkMetadata() else {
            throw NodeError.notTheOwner(networkId)
        }
        let renamed = try metadata.renamed(to: NameRule.typedForNetwork(name), signedWith: key.privateKey)
        try store.addMetadata(renamed, at: wallSeconds)
        networksChanged()
        return renamed.with(rendezvous: try store.rendezvous(of: networkId))
    }

    /// The 24 words that restore the root key and with it every network that it owns.
    ///
    /// - Throws: ``KeychainError``; ``NodeError/file(_:)`` when this device holds no root key.
    public func recoveryPhrase() throws -> RecoveryPhrase {
        guard let secret = try config.keyStorage.retrieve(id: KeyId.root.rawValue) else {
            throw NodeError.file("this device holds no root key: it owns no network")
        }
        return RecoveryPhrase(masterKey: try Ed25519PrivateKey(secret))
    }

    /// The key of a network: one that was given to this device, or that of the root key.
    func networkKey(of networkId: NetworkId) throws -> Ed25519KeyPair {
        if let key = try keychain.keyPair(id: RunarKeychain.networkKeyId(networkId)) { return key }
        guard let index = try store.network(networkId)?.derivationIndex,
            let secret = try config.keyStorage.retrieve(id: KeyId.root.rawValue)
        else { throw NodeError.notTheOwner(networkId) }
        let key = deriveNetworkKey(masterKey: try Ed25519PrivateKey(secret), networkIndex: index)
        guard NetworkId(publicKey: key.publicKey) == networkId else { throw NodeError.notTheOwner(networkId) }
        return key
    }
}
