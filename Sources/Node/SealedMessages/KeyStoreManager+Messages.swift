internal import Bytes
internal import Concurrency
internal import Essentials
public import Identity
internal import Node
public import OneTimeKeys
internal import RunarNode

// Sealed messages, and the service that receives them.
extension KeyStoreManager {
    /// Seals a message to the next key of a peer; the use of the key is durable when this returns.
    ///
    /// - Throws: ``SealedMessageError/noKeys(_:)``, ``OneTimeKeyError/noKeysAvailable``,
    ///   ``OneTimeKeyError/tooLarge(limit:found:)``; an error of the disk.
    public func seal(_ plaintext: [UInt8], to peer: PeerId) async throws -> SealedMessage {
        guard plaintext.count <= SealedMessage.plaintextByteLimit else {
            throw OneTimeKeyError.tooLarge(limit: SealedMessage.plaintextByteLimit, found: plaintext.count)
        }
        let relationship = try driver.existing(peer)
        let message: SealedMessage
        do {
            message = try await sealExclusively(plaintext, relationship)
        } catch OneTimeKeyError.noKeysAvailable {
            try await driver.feed(.refillRequested(peer), to: relationship)
            throw OneTimeKeyError.noKeysAvailable
        }
        driver.noteChange(of: relationship)
        if relationship.state.withLock({ $0.peerKeys?.isLow == true }) {
            try await driver.feed(.refillRequested(peer), to: relationship)
        }
        return message
    }

    private func sealExclusively(
        _ plaintext: [UInt8],
        _ relationship: KeyExchangeDriver.Relationship
    ) async throws -> SealedMessage {
        let peer = relationship.peer
        return try await driver.withExclusiveAccess(of: relationship) {
            guard var keys = relationship.state.withLock({ $0.peerKeys }) else { throw SealedMessageError.noKeys(peer) }
            let reserved = relationship.state.withLock { $0.reservedCount }
            let key = try keys.takeKey()
            if keys.usedCount > reserved {
                let count = keys.usedCount + KeyExchangeDriver.reservation - 1
                try driver.files?.saveUse(of: count, generation: keys.generation, peer: peer)
                relationship.state.withLock { $0.reservedCount = count }
            }
            relationship.state.withLock { [keys] in $0.peerKeys = keys }
            return try key.seal(plaintext, to: peer)
        }
    }

    /// Opens a message of a peer, whose key is erased, durably, when this returns.
    ///
    /// - Throws: ``SealedMessageError/noKeys(_:)``, ``OneTimeKeyError/keyUsed``, ``OneTimeKeyError/keyNotFound``,
    ///   ``OneTimeKeyError/authenticationFailed``; an error of the disk.
    public func open(_ message: SealedMessage, from peer: PeerId) async throws -> [UInt8] {
        try await open(message, from: peer) { _ in
            // The caller releases the plaintext.
        }
    }

    /// Opens a message of a peer as ``open(_:from:)``, once `store` has made the plaintext durable.
    ///
    /// A crash before the key is erased leaves the message stored and its key whole: ``eraseKey(of:from:)`` erases it when
    /// the message comes again.
    package func open(
        _ message: SealedMessage,
        from peer: PeerId,
        storing store: @Sendable ([UInt8]) throws -> Void
    ) async throws -> [UInt8] {
        let relationship = try driver.existing(peer)
        let plaintext = try await driver.withExclusiveAccess(of: relationship) {
            let pools = relationship.state.withLock { $0.pools }
            guard !pools.isEmpty else { throw SealedMessageError.noKeys(peer) }
            guard let place = pools.firstIndex(where: { $0.contains(message.keyName) }) else {
                throw OneTimeKeyError.keyNotFound
            }
            var pool = pools[place]
            let plaintext = try pool.open(message, for: PeerId(publicKey: driver.key.publicKey))
            try store(plaintext)
            try driver.files?.save(pool, for: peer)
            relationship.state.withLock { [pool] in $0.pools[place] = pool }
            return plaintext
        }
        driver.noteChange(of: relationship)
        return plaintext
    }

    /// Erases the key of a message that was stored before; does nothing if it is erased.
    package func eraseKey(of message: SealedMessage, from peer: PeerId) async throws {
        let relationship = try driver.existing(peer)
        try await driver.withExclusiveAccess(of: relationship) {
            let pools = relationship.state.withLock { $0.pools }
            guard let place = pools.firstIndex(where: { $0.contains(message.keyName) }) else { return }
            var pool = pools[place]
            guard pool.eraseKey(named: message.keyName) else { return }
            try driver.files?.save(pool, for: peer)
            relationship.state.withLock { [pool] in $0.pools[place] = pool }
        }
        driver.noteChange(of: relationship)
    }

    /// The peer to which a one-time key was given; nil if this device does not have the key.
    package func peer(ofKey name: OneTimeKeyName) -> PeerId? {
        let relationships = driver.relations.withLock { Array($0.values) }
        return relationships.first { relationship in
            relationship.state.withLock { $0.pools.contains { $0.contains(name) } }
        }?.peer
    }

    /// The key of a peer's device, as the last exchange proved it.
    package func deviceKey(of peer: PeerId) -> Ed25519PublicKey? {
        driver.relations.withLock { $0[peer] }?.state.withLock { $0.status.peerKey }
    }

    /// Seals a message to a peer and returns once a listener there has the plaintext, and confirmed it where it must.
    ///
    /// A message may have arrived although sending failed. It is not sent again, and its key is not used again. What waits
    /// for a listener is lost if that ends.
    ///
    /// - Throws: As ``seal(_:to:)``; ``SealedMessageError/notReceived``; `RunarError` if the peer cannot be reached.
    public func send(_ plaintext: [UInt8], to peer: PeerId) async throws {
        let relationship = try driver.existing(peer)
        guard let network = try driver.network(of: relationship) else {
            throw SealedMessageError.notConnected(peer)
        }
        // Before a key is used: an unreachable peer costs none.
        if !driver.node.connectedPeers(in: network).contains(peer) {
            try await driver.node.connectToPeer(peerId: peer, networkId: network)
        }
        let message = try await seal(plaintext, to: peer)
        let answer = try await Self.withoutPath {
            try await driver.node.requestRaw(
                "\(network.text):\(KeyExchangeDriver.servicePath)/message",
                payload: Data(message.bytes),
                encoding: nil,
                options: RequestOptions(peer: peer)
            )
        }
        switch answer {
        case Self.delivered: return
        case Self.noKey: throw SealedMessageError.peerHasNoKey(peer)
        default: throw SealedMessageError.notReceived
        }
    }

    /// Runs `body`; its errors do not name the path of a request, of which the caller knows nothing.
    private static func withoutPath<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as RunarError {
            throw RunarError.failure(error.kind, message: error.message)
        }
    }

    /// The answers to a message that a listener has, to one that none took, and to one whose key is not there.
    private static let (delivered, notReceived, noKey) = (Data([1]), Data([0]), Data([2]))

    /// The service that receives messages of exchanges, and sealed messages.
    func makeService() -> RunarService {
        let service = RunarService(
            name: "Keys",
            path: KeyExchangeDriver.servicePath,
            version: "1",
            description: "One-time keys, and messages that are sealed with them"
        )
        service.registerRawAction("exchange") { [weak self] request in
            guard let driver = self?.driver, let peer = request.peer, let network = request.networkId,
                !driver.isRefused(peer)
            else {
                throw Self.refusal
            }
            let relationship = driver.known(peer)
            relationship.state.withLock { $0.network = network }
            try await driver.feed(.messageReceived(from: peer, [UInt8](request.payload)), to: relationship)
            return Data()
        }
        service.registerRawAction("message") { [weak self] request in
            guard let self, let peer = request.peer else { throw Self.refusal }
            // Before the key is erased: a message that is not shown stays sealed.
            let driver = self.driver
            guard driver.listeners.listenerCount > 0 else { return Self.notReceived }
            let plaintext: [UInt8]
            do {
                plaintext = try await self.open(SealedMessage([UInt8](request.payload)), from: peer)
            } catch SealedMessageError.noKeys, OneTimeKeyError.keyNotFound, OneTimeKeyError.keyUsed {
                return Self.noKey
            }
            let handover = driver.listeners.send(SealedDelivery(peer: peer, message: plaintext))
            let deadline = driver.clock.now().monotonic + Handover.patience
            let delivery = await handover.delivery(by: deadline, on: driver.clock)
            return delivery == .delivered ? Self.delivered : Self.notReceived
        }
        return service
    }

    private static var refusal: RunarError {
        .failure(.refused, message: "only other devices may do that", context: KeyExchangeDriver.servicePath)
    }
}
