internal import Bytes
internal import Concurrency
internal import Essentials
internal import Identity
internal import Node
internal import OneTimeKeys
internal import RunarNode

// Sealed messages, and the service that receives them.
extension KeyExchangeDriver {
    func seal(_ plaintext: [UInt8], to peer: PeerId) async throws -> SealedMessage {
        guard plaintext.count <= SealedMessage.plaintextByteLimit else {
            throw OneTimeKeyError.tooLarge(limit: SealedMessage.plaintextByteLimit, found: plaintext.count)
        }
        let relationship = try existing(peer)
        let message: SealedMessage
        do {
            message = try await sealExclusively(plaintext, relationship)
        } catch OneTimeKeyError.noKeysAvailable {
            try await feed(.requestRefill, to: relationship)
            throw OneTimeKeyError.noKeysAvailable
        }
        noteChange(of: relationship)
        if relationship.state.withLock({ $0.peerKeys?.isLow == true }) {
            try await feed(.requestRefill, to: relationship)
        }
        return message
    }

    private func sealExclusively(_ plaintext: [UInt8], _ relationship: Relationship) async throws -> SealedMessage {
        let peer = relationship.peer
        return try await withExclusiveAccess(of: relationship) {
            guard var keys = relationship.state.withLock({ $0.peerKeys }) else { throw SealedMessageError.noKeys(peer) }
            let reserved = relationship.state.withLock { $0.reservedCount }
            let key = try keys.takeKey()
            if keys.usedCount > reserved {
                let count = keys.usedCount + Self.reservation - 1
                try files?.saveUse(of: count, generation: keys.generation, peer: peer)
                relationship.state.withLock { $0.reservedCount = count }
            }
            relationship.state.withLock { [keys] in $0.peerKeys = keys }
            return try key.seal(plaintext, to: peer)
        }
    }

    /// The peer to which a one-time key was given.
    func peer(ofKey name: OneTimeKeyName) -> PeerId? {
        let relationships = relations.withLock { Array($0.values) }
        return relationships.first { relationship in
            relationship.state.withLock { $0.pools.contains { $0.contains(name) } }
        }?.peer
    }

    /// Opens a message; `store` makes the plaintext durable before the key is erased.
    func open(
        _ message: SealedMessage,
        from peer: PeerId,
        storing store: @Sendable ([UInt8]) throws -> Void = { _ in }
    ) async throws -> [UInt8] {
        let relationship = try existing(peer)
        let plaintext = try await withExclusiveAccess(of: relationship) {
            let pools = relationship.state.withLock { $0.pools }
            guard !pools.isEmpty else { throw SealedMessageError.noKeys(peer) }
            guard let place = pools.firstIndex(where: { $0.contains(message.keyName) }) else {
                throw OneTimeKeyError.keyNotFound
            }
            var pool = pools[place]
            let plaintext = try pool.open(message, for: PeerId(publicKey: key.publicKey))
            try store(plaintext)
            try files?.save(pool, for: peer)
            relationship.state.withLock { [pool] in $0.pools[place] = pool }
            return plaintext
        }
        noteChange(of: relationship)
        return plaintext
    }

    /// Erases the key of a message that was stored before a crash.
    func eraseKey(of message: SealedMessage, from peer: PeerId) async throws {
        let relationship = try existing(peer)
        try await withExclusiveAccess(of: relationship) {
            let pools = relationship.state.withLock { $0.pools }
            guard let place = pools.firstIndex(where: { $0.contains(message.keyName) }) else { return }
            var pool = pools[place]
            guard pool.eraseKey(named: message.keyName) else { return }
            try files?.save(pool, for: peer)
            relationship.state.withLock { [pool] in $0.pools[place] = pool }
        }
        noteChange(of: relationship)
    }

    /// The key of a peer's device, as the last exchange proved it.
    func deviceKey(of peer: PeerId) -> Ed25519PublicKey? {
        relations.withLock { $0[peer] }?.state.withLock { $0.exchange.peerKey }
    }

    func send(_ plaintext: [UInt8], to peer: PeerId) async throws {
        let relationship = try existing(peer)
        guard let network = try network(of: relationship) else {
            throw SealedMessageError.notConnected(peer)
        }
        // Before a key is used: an unreachable peer costs none.
        if !node.connectedPeers(in: network).contains(peer) {
            try await node.connectToPeer(peerId: peer, networkId: network)
        }
        let message = try await seal(plaintext, to: peer)
        let answer = try await Self.withoutPath {
            try await node.requestRaw(
                "\(network.text):\(Self.servicePath)/message",
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
            path: Self.servicePath,
            version: "1",
            description: "One-time keys, and messages that are sealed with them"
        )
        service.registerRawAction("exchange") { [weak self] request in
            guard let self, let peer = request.peer, let network = request.networkId, !self.isRefused(peer) else {
                throw Self.refusal
            }
            let relationship = self.known(peer)
            relationship.state.withLock { $0.network = network }
            try await self.feed(.received([UInt8](request.payload)), to: relationship)
            return Data()
        }
        service.registerRawAction("message") { [weak self] request in
            guard let self, let peer = request.peer else { throw Self.refusal }
            // Before the key is erased: a message that is not shown stays sealed.
            guard self.listeners.listenerCount > 0 else { return Self.notReceived }
            let plaintext: [UInt8]
            do {
                plaintext = try await self.open(SealedMessage([UInt8](request.payload)), from: peer)
            } catch SealedMessageError.noKeys, OneTimeKeyError.keyNotFound, OneTimeKeyError.keyUsed {
                return Self.noKey
            }
            let handover = self.listeners.send(SealedDelivery(peer: peer, message: plaintext))
            let deadline = self.clock.now().monotonic + Handover.patience
            let delivery = await handover.delivery(by: deadline, on: self.clock)
            return delivery == .delivered ? Self.delivered : Self.notReceived
        }
        return service
    }

    private static var refusal: RunarError {
        .failure(.refused, message: "only other devices may do that", context: servicePath)
    }
}
