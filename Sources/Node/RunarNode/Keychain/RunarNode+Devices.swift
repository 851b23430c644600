internal import Certificates
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

// A person's devices: one that has the root key sets up another one, by two texts.
extension RunarNode {
    /// The keys of this node.
    public var keychain: RunarKeychain {
        let owner = RunarKeychain.Owner(
            reserveIndex: { try self.reserveNetworkIndex(of: $0, nil) },
            added: { try self.noteOwned($0, index: $1) },
            indices: { try self.store.networks().compactMap(\.derivationIndex) }
        )
        let guarding = self.config.guarding.accessControl
        return RunarKeychain(self.config.keyStorage, guarding, owner: owner) { self.clock.now().wallSeconds }
    }

    /// What this device shows to another device of its person in order to be set up; the same until it is answered.
    ///
    /// - Throws: ``KeychainError``.
    public func deviceRequest() throws -> DeviceRequest { try self.keychain.pendingRequest() }

    /// Sets up another device of the person: a certificate, and a membership in each of `networks`.
    ///
    /// Compare ``DeviceRequest/code`` with what the device shows before, and ``DeviceAnswer/code`` there afterwards.
    /// This device gives itself a certificate, too, if it has none.
    ///
    /// - Parameters:
    ///   - request: What the device shows.
    ///   - networks: At most eight that this device signs for.
    ///   - expiration: The last second of the memberships; nil for ever.
    ///   - label: What this device's person calls the device from now on; nil leaves an earlier name.
    ///   - isAdmin: Whether the device gets the networks' keys, so that it can admit and revoke as this one does. That
    ///     cannot be taken back.
    /// - Returns: What the device takes with ``setUp(with:)``.
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
        if let label { try NameRule.check(label) }
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
            guard let metadata = try self.store.network(network)?.networkMetadata() else {
                throw NodeError.notTheOwner(network)
            }
            return (metadata, try self.networkKey(of: network))
        }
        if try request.peerId != self.peerId && !keychain.hasValidCertificate() { try self.certifyItself() }
        let message = try keychain.issue(for: asked, until: nil)
        let memberships = try described.map { metadata, key in
            DeviceAnswer.Membership(
                token: try self.issueToken(
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
            from: self.peerId,
            at: self.dialableAddresses,
            certificateMessage: message.binary,
            memberships: memberships,
            signedBy: KeyDerivation.deriveCertificateAuthorityKey(masterKey: root.privateKey).privateKey
        )
    }

    /// Takes what another device answered to ``deviceRequest()``: all of it or nothing.
    ///
    /// The device that answered is dialled from then on, as a peer whose text was given.
    ///
    /// - Throws: ``RunarKeychainError``: `notAskedFor`, `notForThisDevice`, `foreignAuthority`, `notInForce`,
    ///   ``RunarKeychainError/badCertificate(_:)``; ``IdentityError`` for an answer to another request;
    ///   ``NodeError/badToken(_:)`` if this device was revoked; ``KeychainError``, ``StorageError``.
    public func setUp(with answer: DeviceAnswer) throws {
        let keychain = self.keychain
        guard let request = try keychain.storedRequest() else { throw RunarKeychainError.notAskedFor }
        try answer.check(for: request, at: self.wallSeconds)
        let message = try RunarKeychain.readable { try CertificateMessage(binary: answer.certificateMessage) }
        guard message.authority == answer.authority else { throw RunarKeychainError.foreignAuthority }
        try keychain.check(message)
        let peer = try keychain.peerKey().privateKey
        for membership in answer.memberships {
            _ = try membership.networkKey?.open(with: peer)
            guard try !self.store.revocationSet(of: membership.token.networkId).contains(self.peerId) else {
                throw NodeError.badToken(.revoked)
            }
        }
        for membership in answer.memberships {
            try self.addNetworkToken(networkId: membership.token.networkId, token: membership.token)
            try self.addNetwork(membership.metadata)
            if let key = membership.networkKey { try keychain.install(key) }
        }
        try self.remember(answer)
        // Last, because it ends the request: what broke off before is done again with the same answer.
        try keychain.install(message)
    }

    /// Whether this device was given the key of a network.
    func holdsNetworkKey(of network: NetworkId) throws -> Bool {
        try self.config.keyStorage.exists(id: RunarKeychain.networkKeyId(network))
    }

    /// Forgets the key of a network that this device was given; one of the root key comes back with it.
    func forgetNetworkKey(of network: NetworkId) throws {
        try self.config.keyStorage.delete(id: RunarKeychain.networkKeyId(network))
        try self.store.update(network) { if $0.derivationIndex == nil { $0.role = .member } }
    }

    private func certifyItself() throws {
        let keychain = self.keychain
        let pending = try keychain.pendingRequest()
        let asked = try RunarKeychain.readable { try CertificateRequest(der: pending.certificateRequest) }
        try keychain.install(keychain.issue(for: asked, until: nil))
    }

    /// Notes where the device that answered can be dialled.
    private func remember(_ answer: DeviceAnswer) throws {
        guard answer.sender != self.peerId, !answer.memberships.isEmpty else { return }
        for network in answer.networkIds {
            try self.store.noteEvidence(of: answer.sender, in: network, source: .text, at: self.wallSeconds)
        }
        for address in answer.addresses {
            try self.store.noteAddress(address, of: answer.sender, source: .text, at: self.wallSeconds)
        }
        self.applyIfRunning(
            .peer(.remembered(answer.sender, networks: answer.networkIds, addresses: answer.addresses))
        )
        self.applyIfRunning(.peer(.wanted(answer.sender)))
    }

    /// Notes that this device holds the key of a network, `index` being its place among those of the root key.
    private func noteOwned(_ network: NetworkId, index: UInt32?) throws {
        try self.store.update(network, orNew: NetworkRecord(network, at: self.wallSeconds)) { record in
            record.role = .owner
            if let index { record.derivationIndex = index }
        }
    }
}
