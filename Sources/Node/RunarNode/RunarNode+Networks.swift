internal import Concurrency
public import Identity
internal import Node
internal import NodeCore
internal import Storage

// Joining, connecting and leaving.
extension RunarNode {
    /// Stores a token for this device and shows it from now on.
    ///
    /// The grace for clocks that differ is for tokens that others show: a token that has ended here is refused.
    ///
    /// - Throws: ``NodeError/badToken(_:)`` with the reason; then nothing was stored.
    public func addNetworkToken(networkId: NetworkId, token: AccessToken) throws {
        let revocations = try self.store.revocationSet(of: networkId)
        let problem = token.problem(
            at: self.wallSeconds,
            for: self.peerId,
            in: networkId,
            revoked: { revocations.contains($0) },
            verifySignature: { $0.verifySignature() }
        )
        if let problem { throw NodeError.badToken(problem) }
        if let end = token.expirationSeconds, end < self.wallSeconds { throw NodeError.badToken(.expired(at: end)) }
        try self.store.addMembership(token, at: self.wallSeconds)
        if let key = token.rendezvous { try self.learn(key, of: networkId) }
        self.networksChanged()
        guard self.services.isMember(of: networkId) else { return }
        self.applyIfRunning(.membership(.added(token, obtainedSeconds: self.wallSeconds, revocations)))
        if let key = try self.store.rendezvous(of: networkId) {
            self.applyIfRunning(.membership(.rendezvousLearnt(networkId, key)))
        }
    }

    /// Becomes a member of a network with the token that its owner issued for this device.
    ///
    /// - Throws: ``NodeError/badToken(_:)`` with the reason.
    public func joinNetwork(networkId: NetworkId, accessToken: AccessToken) async throws {
        try self.addNetworkToken(networkId: networkId, token: accessToken)
    }

    /// Stores a network's verified metadata, so that it can be shown by name.
    ///
    /// - Throws: ``NetworkError/invalidSignature`` if the network's key did not sign it.
    public func addNetwork(_ metadata: NetworkMetadata) throws {
        guard metadata.verify() else { throw NetworkError.invalidSignature }
        try self.store.addMetadata(metadata, at: self.wallSeconds)
        if let key = metadata.rendezvous { try self.learn(key, of: metadata.networkId) }
        self.networksChanged()
    }

    /// The networks that this device knows, owns or is a member of.
    ///
    /// - Throws: ``StorageError``.
    public func networks() throws -> [NetworkInfo] {
        try self.store.networks().map { record in
            NetworkInfo(
                networkId: record.networkId,
                metadata: try record.networkMetadata()?.with(rendezvous: self.store.rendezvous(of: record.networkId)),
                isOwner: try record.role == .owner || self.holdsNetworkKey(of: record.networkId),
                index: record.derivationIndex,
                token: try record.accessToken()
            )
        }
    }

    /// Leaves a network: its peers are told at once and the token is forgotten.
    ///
    /// - Throws: ``NodeError/notAMember(_:)``.
    public func leaveNetwork(_ networkId: NetworkId) throws {
        guard let record = try self.store.network(networkId), record.leftAt == nil else {
            throw NodeError.notAMember(networkId)
        }
        try self.store.leave(networkId, at: self.wallSeconds)
        try self.deleteMemberSecrets(of: networkId)
        try self.forgetNetworkKey(of: networkId)
        self.clearCache(networkId: networkId)
        self.tables.noteFound([], in: networkId)
        self.applyIfRunning(.membership(.removed(networkId)))
        self.networksChanged()
    }

    /// Dials a peer of a network at an address and returns once both are admitted to each other.
    ///
    /// The acknowledgement that lets the peer count this device as connected is then on its way. The connection is kept
    /// from then on: when it breaks, it is dialled again.
    ///
    /// - Throws: ``NodeError``, `notAMember` before anything is sent; ``IdentityError`` when `address` is no "ip:port".
    @discardableResult
    public func connectToPeer(peerId: PeerId, networkId: NetworkId, address: String) async throws -> PeerConnection {
        let driver = try self.running()
        let place = try SocketAddress(parsing: address)
        guard try self.store.network(networkId)?.token != nil else { throw NodeError.notAMember(networkId) }
        driver.apply(.peer(.remembered(peerId, networks: [networkId], addresses: [place])))
        try await driver.reach(peerId, in: networkId)
        try self.store.noteEvidence(of: peerId, in: networkId, source: .text, at: self.wallSeconds)
        return PeerConnection(peerId: peerId, networkId: networkId, address: place)
    }

    /// Connects to a member and keeps the connection, wherever it is: at the addresses that are known, that other members
    /// know, or brought together by them; ``path(to:)`` says by which way.
    ///
    /// - Parameters:
    ///   - peerId: Whom to connect to.
    ///   - networkId: Of which network it is a member.
    ///   - overRelay: Whether to begin over another member as a relay even where a direct way works; like every relayed
    ///     connection it becomes direct within seconds where it can.
    /// - Throws: ``NodeError``; `CancellationError` when cancelled.
    public func connectToPeer(peerId: PeerId, networkId: NetworkId, overRelay: Bool = false) async throws {
        guard try self.store.network(networkId)?.token != nil else { throw NodeError.notAMember(networkId) }
        let driver = try self.running()
        if overRelay {
            try await driver.reachOverRelay(peerId, in: networkId)
        } else {
            try await driver.reach(peerId, in: networkId)
        }
    }

    /// The peers that are admitted at this moment, in one network or in any, ascending.
    public func connectedPeers(in networkId: NetworkId? = nil) -> [PeerId] {
        guard let driver = self.phases.driver else { return [] }
        return driver.admittedPeers(in: networkId)
    }

    /// Closes the connection to a peer, and keeps the two apart for ten minutes: this device does not dial the peer and
    /// refuses its connections, and the peer, which is told, does not dial by itself either.
    ///
    /// Connecting to the peer, or sending it something, from this device ends that at once; so does a restart.
    public func disconnectPeer(_ peerId: PeerId) {
        self.applyIfRunning(.peer(.unwanted(peerId)))
    }

    /// Whether a person keeps the two devices apart, with ``disconnectPeer(_:)`` here or there; nil if nobody does.
    public func parting(from peerId: PeerId) -> PeerParting? {
        guard let driver = self.phases.driver,
            let parting = driver.parting(from: peerId)
        else { return nil }
        return PeerParting(isOurs: parting.isOurs, secondsLeft: UInt64(parting.rest.components.seconds))
    }

    /// The text by which another member can dial this device.
    ///
    /// - Throws: ``NodeError/notAMember(_:)``.
    public func connectionData(networkId: NetworkId, address: String) throws -> PeerConnectionData {
        guard let token = try self.store.network(networkId)?.accessToken() else {
            throw NodeError.notAMember(networkId)
        }
        return PeerConnectionData(
            peerId: self.peerId,
            networkId: networkId,
            address: address,
            token: token
        )
    }
}

/// That a person disconnected two devices.
public struct PeerParting: Hashable, Sendable {
    /// Whether that was on this device; else the other one said so.
    public let isOurs: Bool
    /// How long the two do not connect by themselves.
    public let secondsLeft: UInt64
}

/// A connection that was asked for.
public struct PeerConnection: Hashable, Sendable {
    /// The peer, proved by TLS.
    public let peerId: PeerId
    /// The network in which both are admitted.
    public let networkId: NetworkId
    /// The address that was dialled.
    public let address: SocketAddress
}
