internal import Concurrency
public import Identity
internal import Node
internal import OneTimeKeys
internal import RunarNode

// The relationships, and the exchanges that begin and renew them.
extension KeyStoreManager {
    /// The relationships, ordered by the peer's id.
    public var relationships: [KeyRelationship] {
        driver.relations.withLock { Array($0.values) }.sorted { $0.peer < $1.peer }.map(KeyExchangeDriver.report)
            .filter { !$0.isEmpty }
    }

    /// The relationship with one peer; nil if keys were never exchanged.
    public func relationship(with peer: PeerId) -> KeyRelationship? {
        guard let relationship = driver.relations.withLock({ $0[peer] }).map(KeyExchangeDriver.report),
            !relationship.isEmpty
        else { return nil }
        return relationship
    }

    /// Each relationship that changes from now on, as it is after the change.
    public var changes: AsyncStream<KeyRelationship> { driver.reports.listen() }

    /// Exchanges new pools with a peer, in both directions, and returns once both devices have stored them.
    ///
    /// - Throws: ``SealedMessageError/exchangeFailed(_:)`` and ``SealedMessageError/notConnected(_:)``;
    ///   `CancellationError`. Earlier pools stay after a failure.
    @discardableResult
    public func exchangeKeys(with peer: PeerId) async throws -> KeyRelationship {
        let relationship = try await begin(peer)
        return try await relationship.changed.wait { try driver.outcome(of: relationship) }
    }

    /// Begins an exchange, and does not wait for its outcome, which ``changes`` reports.
    package func beginExchange(with peer: PeerId) async throws { _ = try await begin(peer) }

    private func begin(_ peer: PeerId) async throws -> KeyExchangeDriver.Relationship {
        guard driver.node.connectedPeers().contains(peer) else { throw SealedMessageError.notConnected(peer) }
        let relationship = driver.known(peer)
        try await driver.feed(.requested(peer), to: relationship)
        return relationship
    }

    /// Marks the relationship as verified if the digits are those of its exchange.
    ///
    /// - Throws: ``SealedMessageError/wrongSafetyNumber`` and ``SealedMessageError/noKeys(_:)``.
    public func verify(_ number: SafetyNumber, with peer: PeerId) async throws {
        let relationship = try driver.existing(peer)
        try await driver.withExclusiveAccess(of: relationship) {
            let status = relationship.state.withLock { $0.status }
            guard let expected = status.safetyNumber, let binding = status.binding else {
                throw SealedMessageError.noKeys(peer)
            }
            guard expected == number else { throw SealedMessageError.wrongSafetyNumber }
            try driver.files?.saveVerification(of: binding, with: peer)
            relationship.state.withLock { $0.verifiedBinding = binding }
        }
        driver.noteChange(of: relationship)
    }

    /// Deletes all keys of the relationship with a peer.
    public func removeKeys(of peer: PeerId) async throws {
        let relationship = try driver.existing(peer)
        try await driver.withExclusiveAccess(of: relationship) { try driver.remove(relationship) }
        driver.noteChange(of: relationship)
    }

    /// Refuses the exchanges that a peer begins, or takes them again.
    ///
    /// An exchange under way with a refused peer ends at its next step, and its keys are deleted.
    package func setRefused(_ isRefused: Bool, _ peer: PeerId) {
        driver.refusedPeers.withLock { peers in
            if isRefused { peers.insert(peer) } else { peers.remove(peer) }
        }
    }
}
