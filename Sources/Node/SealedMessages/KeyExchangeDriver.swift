internal import Bytes
internal import Concurrency
internal import Essentials
internal import Identity
internal import Logging
internal import Node
internal import OneTimeKeys
internal import Platform
internal import RunarNode

/// Applies the effects of the exchanges with all peers, and keeps their pools.
final class KeyExchangeDriver: Sendable {
    /// The state of one relationship.
    struct State: Sendable {
        var pools: [KeyStore]
        var peerKeys: PublicKeyStore?
        /// The number of the peer's keys that are stored as used; those up to it may be taken without the disk.
        var reservedCount: Int
        var exchange: KeyExchange
        /// The generation of the newest pool that the peer confirmed; 0 if there is none.
        var confirmedGeneration: UInt32 = 0
        /// The binding of the exchange whose safety number was compared.
        var verifiedBinding: [UInt8]?
        /// Whether the keys were deleted, so that an operation that waited for the mutex is too late.
        var isRemoved = false
        /// The network in which the peer was heard last.
        var network: NetworkId?
        /// The relationship as it was reported last.
        var reported: KeyRelationship?
    }

    /// One relationship; a mutex serialises changes, so that the disk and the memory agree.
    final class Relationship: Sendable {
        let peer: PeerId
        let mutex = AsyncMutex()
        let state: Locked<State>
        let changed = ConditionVariable()

        init(_ peer: PeerId, _ state: State) {
            self.peer = peer
            self.state = Locked(state)
        }
    }

    /// A message of an exchange on its way out.
    private struct Outgoing: Sendable {
        let peer: PeerId
        let network: NetworkId
        let bytes: [UInt8]
    }

    static let servicePath = "$keys"
    /// The number of keys that are stored as used at once; a restart skips no more.
    static let reservation = 16
    private static let outgoingLimit = 256
    private static let senderCount = 4
    private static let sendPatience = Duration.seconds(10)
    /// The longest sleep while an exchange waits, after which an earlier time is noticed.
    private static let tick = Duration.seconds(1)
    private static let listenerCapacity = 256
    private static let listenerByteLimit = 64 << 20

    let node: RunarNode
    let key: Ed25519KeyPair
    let clock: NodeClock
    /// The number of keys in a pool; nil for that of the suite.
    private let capacity: Int?
    let files: KeyStoreFiles<SystemFileSystem>?
    let relations: Locked<[PeerId: Relationship]>
    private let outgoing = BoundedChannel<Outgoing>(limit: outgoingLimit)
    /// Broadcast when an exchange begins to wait for a time.
    private let timersChanged = ConditionVariable()
    private let hasEnded = Locked(false)
    /// The peers whose messages are refused.
    private let refusedPeers = Locked<Set<PeerId>>([])
    let reports = Broadcaster<KeyRelationship>(capacity: listenerCapacity)
    let listeners = Broadcaster<SealedDelivery>(
        capacity: listenerCapacity,
        byteLimit: listenerByteLimit,
        byteCount: { $0.message.count }
    )

    init(node: RunarNode, capacity: Int?) throws {
        self.node = node
        self.capacity = capacity
        let key = try node.deviceKey()
        self.key = key
        clock = node.clock
        files = node.stateDirectory.map { directory in
            KeyStoreFiles(
                directory: DevicePools.directory(
                    of: PeerId(publicKey: key.publicKey),
                    in: directory
                ),
                key: KeyDerivation.deriveKeyStoreKey(peerKey: key.privateKey),
                fileSystem: SystemFileSystem()
            )
        }
        relations = Locked([:])
        guard let (relationships, damages) = try files?.load() else { return }
        for (peer, damage) in damages {
            node.logs[.storage].error("the one-time keys of peer \(peer.text) cannot be used: \(damage)")
        }
        for (peer, stored) in relationships {
            let state = State(
                pools: stored.pools,
                peerKeys: stored.peerKeys,
                reservedCount: stored.peerKeys?.usedCount ?? 0,
                exchange: KeyExchange(
                    signer: key.privateKey,
                    peer: peer,
                    ownGeneration: stored.ownGeneration,
                    peerKeys: stored.peerKeys,
                    established: stored.established
                ),
                confirmedGeneration: stored.established?.ownGeneration ?? 0,
                verifiedBinding: stored.verifiedBinding
            )
            relations.withLock { $0[peer] = Relationship(peer, state) }
        }
    }

    // MARK: Relationships

    /// The relationship with a peer, which is made if it is missing.
    func known(_ peer: PeerId) -> Relationship {
        relations.withLock { relations in
            if let relationship = relations[peer] { return relationship }
            let exchange = KeyExchange(signer: key.privateKey, peer: peer)
            let state = State(pools: [], reservedCount: 0, exchange: exchange)
            let relationship = Relationship(peer, state)
            relations[peer] = relationship
            return relationship
        }
    }

    func setRefused(_ isRefused: Bool, _ peer: PeerId) {
        refusedPeers.withLock { peers in
            if isRefused { peers.insert(peer) } else { peers.remove(peer) }
        }
    }

    func isRefused(_ peer: PeerId) -> Bool { refusedPeers.withLock { $0.contains(peer) } }

    func existing(_ peer: PeerId) throws -> Relationship {
        guard let relationship = relations.withLock({ $0[peer] }) else { throw SealedMessageError.noKeys(peer) }
        return relationship
    }

    /// Begins an exchange, and does not wait for its outcome.
    @discardableResult
    func begin(_ peer: PeerId) async throws -> Relationship {
        guard node.connectedPeers().contains(peer) else { throw SealedMessageError.notConnected(peer) }
        let relationship = known(peer)
        try await feed(.start, to: relationship)
        return relationship
    }

    func exchangeKeys(with peer: PeerId) async throws -> KeyRelationship {
        let relationship = try await begin(peer)
        return try await relationship.changed.wait {
            guard !relationship.state.withLock({ $0.isRemoved }) else { throw SealedMessageError.noKeys(peer) }
            let report = Self.report(relationship)
            switch report.state {
            case .completed: return report
            case .failed(let failure): throw SealedMessageError.exchangeFailed(failure)
            case .idle, .requestSent, .offerSent, .ackSent, .commitSent, .commitReceivedWaitingForKeys: return nil
            }
        }
    }

    func verify(_ number: SafetyNumber, with peer: PeerId) async throws {
        let relationship = try existing(peer)
        try await withExclusiveAccess(of: relationship) {
            let exchange = relationship.state.withLock { $0.exchange }
            guard let expected = exchange.safetyNumber, let binding = exchange.binding else {
                throw SealedMessageError.noKeys(peer)
            }
            guard expected == number else { throw SealedMessageError.wrongSafetyNumber }
            try files?.saveVerification(of: binding, with: peer)
            relationship.state.withLock { $0.verifiedBinding = binding }
        }
        noteChange(of: relationship)
    }

    func removeKeys(of peer: PeerId) async throws {
        let relationship = try existing(peer)
        try await withExclusiveAccess(of: relationship) {
            try files?.removeAll(of: peer)
            relationship.state.withLock { state in
                state.isRemoved = true
                (state.pools, state.peerKeys) = ([], nil)
                state.exchange = KeyExchange(signer: key.privateKey, peer: peer)
            }
            relations.withLock { $0[peer] = nil }
        }
        noteChange(of: relationship)
    }

    /// Runs `body` with the relationship's mutex held, unless its keys were deleted meanwhile.
    func withExclusiveAccess<Result>(of relationship: Relationship, _ body: () async throws -> Result) async throws
        -> Result
    {
        try await relationship.mutex.withLock {
            guard !relationship.state.withLock({ $0.isRemoved }) else {
                throw SealedMessageError.noKeys(relationship.peer)
            }
            return try await body()
        }
    }

    // MARK: Exchanges

    /// Sends queued messages and passes times and connections on, until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<Self.senderCount { group.addTask { await self.sendOutgoing() } }
            group.addTask { await self.followConnections() }
            group.addTask { await self.followTimers() }
        }
    }

    /// Ends the streams of messages and changes, and the service.
    func end() {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        // The service may be that of another manager by now.
        guard isFirst else { return }
        node.removeBuiltIn(Self.servicePath)
        listeners.finish()
        reports.finish()
    }

    private func sendOutgoing() async {
        while let message = try? await outgoing.next() {  // nil: cancelled
            do {
                _ = try await node.requestRaw(
                    "\(message.network.text):\(Self.servicePath)/exchange",
                    payload: Data(message.bytes),
                    encoding: nil,
                    options: RequestOptions(timeout: Self.sendPatience, peer: message.peer)
                )
            } catch {
                // The exchange sends it again.
            }
        }
    }

    private func followConnections() async {
        for await event in node.eventStream {
            guard case .peerJoined(let peer, let network) = event,
                let relationship = relations.withLock({ $0[peer] })
            else { continue }
            relationship.state.withLock { $0.network = network }
            try? await feed(.connected, to: relationship)  // an error is in the exchange's state
            if relationship.state.withLock({ $0.peerKeys?.isLow == true }) {
                try? await feed(.requestRefill, to: relationship)  // the same
            }
        }
    }

    private func followTimers() async {
        while !Task.isCancelled {
            let due = try? await timersChanged.wait {  // nil: cancelled
                self.relations.withLock { $0.values.compactMap(Self.wake).min() }
            }
            guard let due else { return }
            let now = clock.now().monotonic
            guard due <= now else {
                guard (try? await clock.sleep(min(due, now + Self.tick))) != nil else { return }  // nil: cancelled
                continue
            }
            for relationship in relations.withLock({ Array($0.values) }) {
                guard let time = Self.wake(relationship), time <= now else { continue }
                try? await feed(.timePassed, to: relationship)  // an error is in the exchange's state
            }
        }
    }

    private static func wake(_ relationship: Relationship) -> Duration? {
        relationship.state.withLock { $0.exchange.nextWake }
    }

    /// Feeds an input to an exchange, and applies its effects.
    func feed(_ input: KeyExchange.Input, to relationship: Relationship) async throws {
        try await withExclusiveAccess(of: relationship) {
            var inputs = [input]
            while !inputs.isEmpty {
                let effects = handle(inputs.removeFirst(), of: relationship)
                for effect in effects {
                    if let next = await apply(effect, to: relationship) { inputs.append(next) }
                }
            }
        }
        noteChange(of: relationship)
        timersChanged.broadcast()
    }

    private func handle(_ input: KeyExchange.Input, of relationship: Relationship) -> [KeyExchange.Effect] {
        let now = clock.now().monotonic
        return relationship.state.withLock { state in
            var effects: [KeyExchange.Effect] = []
            var random = SystemRandom()
            state.exchange.handle(input, now: now, random: &random, effects: &effects)
            return effects
        }
    }

    /// Applies one effect; returns the input that follows from it.
    private func apply(_ effect: KeyExchange.Effect, to relationship: Relationship) async -> KeyExchange.Input? {
        let peer = relationship.peer
        do {
            switch effect {
            case .send(let bytes):
                // Without a network the peer is not connected, and the message is sent again when it is.
                guard let network = try network(of: relationship) else { return nil }
                _ = outgoing.offer(Outgoing(peer: peer, network: network, bytes: bytes))
                return nil
            case .generate(let suite, let generation):
                let (pool, publicKeys) = try await Self.generate(suite, generation: generation, capacity: capacity)
                try files?.add(pool, for: peer)
                relationship.state.withLock { $0.pools.append(pool) }
                try prunePools(of: relationship)
                return .generated(publicKeys)
            case .save(let keys):
                try files?.save(keys, of: peer)
                relationship.state.withLock { state in
                    state.peerKeys = keys
                    state.reservedCount = 0
                }
                return .saved
            case .established(let established):
                try files?.save(established, of: peer)
                relationship.state.withLock { $0.confirmedGeneration = established.ownGeneration }
                try prunePools(of: relationship)
                return nil
            case .failed(let failure):
                node.logs[.messages].warning("keys were not exchanged with peer \(peer.short): \(failure)")
                return nil
            }
        } catch {
            node.logs[.messages].error("keys of peer \(peer.short) were not stored: \(error)")
            return .localFailure
        }
    }

    @concurrent private static func generate(
        _ suite: OneTimeKeySuite,
        generation: UInt32,
        capacity: Int?
    ) async throws -> (KeyStore, PublicKeyStore) {
        let (pool, publicKeys) = try KeyStore.generate(suite, generation: generation, capacity: capacity)
        return (pool, publicKeys)
    }

    /// Removes pools with which the peer no longer seals.
    private func prunePools(of relationship: Relationship) throws {
        let kept = relationship.state.withLock { $0.keptGenerations }
        try files?.keepPools(kept, for: relationship.peer)
        relationship.state.withLock { state in state.pools.removeAll { !kept.contains($0.generation) } }
    }

    /// A network in which the peer is connected, or else one in which it is known.
    func network(of relationship: Relationship) throws -> NetworkId? {
        let peer = relationship.peer
        if let network = relationship.state.withLock({ $0.network }), node.connectedPeers(in: network).contains(peer) {
            return network
        }
        let networks = try node.knownPeers().first { $0.peerId == peer }?.networks ?? []
        return networks.first { node.connectedPeers(in: $0).contains(peer) } ?? networks.first
    }
}
