internal import Concurrency
internal import Identity

/// The tasks that wait until peers are admitted.
struct AdmissionWaiters: Sendable {
    typealias Outcome = Promise<Result<Void, any Error>>

    private struct Waiter: Sendable {
        let peer: PeerId
        /// Nil for any network.
        let network: NetworkId?
        /// The error if the peer is unreachable and this error is more specific than the last failure.
        let failure: NodeError?
        let outcome: Outcome
    }

    private var waiters: [Waiter] = []

    /// Whether no task waits.
    var isEmpty: Bool { waiters.isEmpty }

    /// Adds a task that waits for `peer` in `network`, or in any network.
    mutating func add(_ outcome: Outcome, for peer: PeerId, in network: NetworkId?, failure: NodeError? = nil) {
        waiters.append(Waiter(peer: peer, network: network, failure: failure, outcome: outcome))
    }

    /// Forgets a task that was cancelled.
    mutating func remove(_ outcome: Outcome) { waiters.removeAll { $0.outcome === outcome } }

    /// Notes that a peer was admitted in a network.
    mutating func admit(_ peer: PeerId, in network: NetworkId) {
        settle(.success(())) { $0.peer == peer && ($0.network ?? network) == network }
    }

    /// Fails the tasks that wait for a peer after a refusal by either side, in one network, or in every one for nil.
    mutating func refuse(_ peer: PeerId, in network: NetworkId?, _ error: NodeError) {
        settle(.failure(error)) { waiter in
            guard waiter.peer == peer, let wanted = waiter.network, let network else { return waiter.peer == peer }
            return wanted == network
        }
    }

    /// Notes that no way leads to a peer at present.
    mutating func fail(_ peer: PeerId, unreachable reason: String) {
        for waiter in waiters where waiter.peer == peer {
            waiter.outcome.fulfil(.failure(waiter.failure ?? .unreachable(peer, reason)))
        }
        waiters.removeAll { $0.peer == peer }
    }

    /// Ends all waits.
    mutating func failAll(_ error: NodeError) { settle(.failure(error)) { _ in true } }

    private mutating func settle(_ result: Result<Void, any Error>, _ isMeant: (Waiter) -> Bool) {
        for waiter in waiters where isMeant(waiter) { waiter.outcome.fulfil(result) }
        waiters.removeAll(where: isMeant)
    }
}
