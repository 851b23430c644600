internal import Bytes
internal import Concurrency
internal import Essentials
internal import Identity
internal import Logging
internal import Node
internal import OneTimeKeys
internal import Platform
internal import RunarNode

// The host of the exchanges, whose effects are performed in order.
extension KeyExchangeDriver: KeyExchangeHost {
    /// The driver that runs the exchanges, or the exchanges while none does.
    struct Hosting: Sendable {
        var driver: NodeDriver?
        /// The exchanges that the next driver runs.
        var exchanges: [KeyExchange] = []
        /// The answers to effects of the last driver, for the next one.
        var answers: [KeyExchanges.HostInput] = []
        var hasEnded = false
    }

    // MARK: Drivers

    func begin(on driver: NodeDriver) -> [KeyExchanges.HostInput]? {
        // The pools belong to the key of this device with which they were made.
        guard driver.localPeerId == PeerId(publicKey: key.publicKey) else { return nil }
        return hosting.withLock { hosting in
            guard !hosting.hasEnded else { return nil }
            let inputs = [.opened(hosting.exchanges)] + hosting.answers
            hosting = Hosting(driver: driver)
            return inputs
        }
    }

    func end(_ exchanges: [KeyExchange]) {
        hosting.withLock { hosting in
            hosting.driver = nil
            hosting.exchanges = exchanges
        }
        // Callers no longer wait.
        for relationship in relations.withLock({ Array($0.values) }) { relationship.changed.broadcast() }
    }

    func perform(_ effect: KeyExchanges.HostEffect, of peer: PeerId) {
        if case .removed = effect { return relations.withLock { $0[peer] = nil } }
        let relationship = known(peer)
        let isQueued = relationship.state.withLock { state in
            if case .send = effect, state.effects.count >= Self.effectLimit { return true }
            state.effects.append(effect)
            defer { state.isQueued = true }
            return state.isQueued
        }
        if !isQueued { _ = queue.offer(relationship) }
    }

    // MARK: Tasks

    /// Performs effects and sends messages, until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<Self.senderCount { group.addTask { await self.sendOutgoing() } }
            while let relationship = try? await self.queue.next() {  // nil: cancelled
                group.addTask {
                    try? await self.performEffects(of: relationship)  // an error: its keys were deleted
                }
            }
        }
    }

    /// Ends the streams of messages and changes, and the service.
    func end() {
        let isFirst = hosting.withLock { hosting in
            defer { hosting.hasEnded = true }
            return !hosting.hasEnded
        }
        // The service may be that of another manager by now.
        guard isFirst else { return }
        node.endKeyExchanges()
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

    // MARK: Inputs and effects

    /// Applies an input of a peer's exchange, and performs the effects.
    func feed(_ input: KeyExchanges.HostInput, to relationship: Relationship) async throws {
        apply(input)
        try await performEffects(of: relationship)
    }

    /// Applies an input; without a driver only those that later exchanges depend on.
    func apply(_ input: KeyExchanges.HostInput) {
        while true {
            if hosting.withLock({ $0.driver })?.apply(keys: input) == true { return }
            // Another driver may have begun meanwhile.
            if hosting.withLock({ $0.keep(input) }) { break }
        }
        if case .removed(let peer) = input { perform(.removed, of: peer) }
    }

    private func performEffects(of relationship: Relationship) async throws {
        try await withExclusiveAccess(of: relationship) {
            // A message that was taken just before its peer was refused must not leave keys.
            guard !isRefused(relationship.peer) else { return try remove(relationship) }
            while let effect = relationship.state.withLock({ $0.nextEffect() }) {
                await perform(effect, of: relationship)
            }
        }
        noteChange(of: relationship)
    }

    /// Deletes all keys of a relationship; called with its mutex held.
    func remove(_ relationship: Relationship) throws {
        try files?.removeAll(of: relationship.peer)
        relationship.state.withLock { state in
            state.isRemoved = true
            (state.pools, state.peerKeys, state.status, state.effects) = ([], nil, .idle, [])
        }
        // The effect `removed` follows, in order with those of a later exchange.
        apply(.removed(relationship.peer))
    }

    private func perform(_ effect: KeyExchanges.HostEffect, of relationship: Relationship) async {
        let peer = relationship.peer
        do {
            switch effect {
            case .send(let bytes):
                // Without a network the peer is not connected, and the message is sent again when it is.
                guard let network = try network(of: relationship) else { return }
                _ = outgoing.offer(Outgoing(peer: peer, network: network, bytes: bytes))
            case .generate(let suite, let generation):
                let (pool, publicKeys) = try await Self.generate(suite, generation: generation, capacity: capacity)
                try files?.add(pool, for: peer)
                relationship.state.withLock { $0.pools.append(pool) }
                try prunePools(of: relationship)
                apply(.generated(peer, publicKeys))
            case .save(let keys):
                try files?.save(keys, of: peer)
                relationship.state.withLock { state in
                    state.peerKeys = keys
                    state.reservedCount = 0
                }
                apply(.saved(peer))
            case .established(let established):
                try files?.save(established, of: peer)
                relationship.state.withLock { $0.confirmedGeneration = established.ownGeneration }
                try prunePools(of: relationship)
            case .failed(let failure):
                node.logs[.messages].warning("keys were not exchanged with peer \(peer.short): \(failure)")
            case .connected(let network):
                relationship.state.withLock { $0.network = network }
                if relationship.state.withLock({ $0.peerKeys?.isLow == true }) { apply(.refillRequested(peer)) }
            case .changed(let status): relationship.state.withLock { $0.status = status }
            case .removed: preconditionFailure("a removed relationship is not queued")
            }
        } catch {
            node.logs[.messages].error("keys of peer \(peer.short) were not stored: \(error)")
            apply(.storingFailed(peer))
        }
    }

    @concurrent private static func generate(
        _ suite: OneTimeKeySuite,
        generation: UInt32,
        capacity: Int?
    ) async throws(OneTimeKeyError) -> (KeyStore, PublicKeyStore) {
        let (pool, publicKeys) = try KeyStore.generate(suite, generation: generation, capacity: capacity)
        return (pool, publicKeys)
    }

    /// Removes pools with which the peer no longer seals.
    private func prunePools(of relationship: Relationship) throws(FileError) {
        let kept = relationship.state.withLock { $0.keptGenerations }
        try files?.keepPools(kept, for: relationship.peer)
        relationship.state.withLock { state in state.pools.removeAll { !kept.contains($0.generation) } }
    }
}

extension KeyExchangeDriver.Hosting {
    /// Keeps an input for the next driver; returns false if one runs the exchanges.
    fileprivate mutating func keep(_ input: KeyExchanges.HostInput) -> Bool {
        guard driver == nil else { return false }
        switch input {
        case .generated, .saved, .storingFailed: answers.append(input)
        case .removed(let peer):
            exchanges.removeAll { $0.peer == peer }
            answers.removeAll { $0.answeredPeer == peer }
        case .opened, .closed, .requested, .refillRequested, .messageReceived:
            // Requests of a stopped node fail, and a refill is requested again when the peer is connected.
            break
        }
        return true
    }
}

extension KeyExchanges.HostInput {
    /// The peer whose effect is answered.
    fileprivate var answeredPeer: PeerId? {
        switch self {
        case .generated(let peer, _), .saved(let peer), .storingFailed(let peer): peer
        case .opened, .closed, .requested, .refillRequested, .messageReceived, .removed: nil
        }
    }
}
