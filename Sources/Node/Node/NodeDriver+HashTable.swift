internal import Concurrency
package import Identity
package import Kademlia
package import NodeCore

// Requests to the networks' hash tables.
extension NodeDriver {
    /// Asks a network's hash table and returns how it ended, a failure included.
    ///
    /// - Throws: ``NodeError/notRunning``; `CancellationError` when cancelled.
    package func ask(
        _ request: Kademlia.Request,
        in network: NetworkId,
        _ policy: Kademlia.RequestPolicy
    ) async throws -> TableAnswer {
        let id = self.state.withLock { $0.pending.makeTableRequestId() }
        let start = self.configuration.clock.now().monotonic
        defer { self.configuration.metrics?.note(request, since: start) }
        guard let tell = self.configuration.tableOperations else {
            return try await self.ask(id, request, network, policy)
        }
        tell(TableOperation(number: id.number, networkId: network, request: request, phase: .begun))
        var outcome: Kademlia.Outcome?
        defer {
            let took = self.configuration.clock.now().monotonic - start
            let phase = TableOperation.Phase.ended(outcome, after: took)
            tell(TableOperation(number: id.number, networkId: network, request: request, phase: phase))
        }
        let answer = try await self.ask(id, request, network, policy)
        outcome = answer.outcome
        return answer
    }

    private func ask(
        _ id: Kademlia.RequestId,
        _ request: Kademlia.Request,
        _ network: NetworkId,
        _ policy: Kademlia.RequestPolicy
    ) async throws -> TableAnswer {
        try Task.checkCancellation()
        let answer = try self.state.withLock { state throws(NodeError) in
            guard !state.lifecycle.isStopped else { throw .notRunning }
            let answer = state.pending.addTableRequest(id)
            self.apply(.table(.requested(id, network, request, policy)), to: &state)
            return answer
        }
        return try await answer.get {
            self.state.withLock { state in
                guard state.pending.removeTableRequest(id) else { return }
                self.apply(.table(.cancelled(id)), to: &state)
            }
        }
    }

    /// The record that this node holds under an id, or nil.
    package func heldRecord(_ id: RecordId, in network: NetworkId) -> Record? {
        self.state.withLock { $0.core.heldRecord(id, in: network) }
    }

    /// The heads of all records that this node holds for a network.
    package func heldHeads(in network: NetworkId) -> [Record.Head] {
        self.state.withLock { $0.core.heldHeads(in: network) }
    }

    /// The members in the table of a network, the nearest first.
    package func tableRows(of network: NetworkId) -> [Kademlia.Row] {
        self.state.withLock { $0.core.tableRows(of: network) }
    }

    /// How well the table of a network stands; nil when this node is no member.
    package func tableHealth(of network: NetworkId) -> Kademlia.Health? {
        self.state.withLock { $0.core.tableHealth(of: network) }
    }

    func carryOut(_ effect: Kademlia.HostEffect, of network: NetworkId, in state: inout State) {
        switch effect {
        case .finished(let id, let outcome, let effort):
            state.pending.endTableRequest(id, TableAnswer(outcome: outcome, effort: effort))
        case .persist(let record): self.persistence.add(.record(network, record))
        case .forget(let id): self.persistence.add(.recordForgotten(network, id))
        }
    }

    /// Gives a member the new token that it asked for; nil for no.
    package func renew(_ request: RenewalRequest, with token: AccessToken?) {
        self.apply(.membership(.renewalDecided(request.connection, request.network, token)))
    }
}

/// How a request to a hash table ended, and what it cost.
package struct TableAnswer: Sendable {
    package let outcome: Kademlia.Outcome
    package let effort: Kademlia.Effort
}

/// A request to a hash table that began or ended, for whoever watches.
package struct TableOperation: Sendable {
    package enum Phase: Sendable {
        case begun
        /// Without an outcome it was cancelled, or the node stopped.
        case ended(Kademlia.Outcome?, after: Duration)
    }

    /// The same at its beginning and end.
    package let number: UInt64
    package let networkId: NetworkId
    package let request: Kademlia.Request
    package let phase: Phase
}

/// A member that wants a new token before its own ends.
package struct RenewalRequest: Hashable, Sendable {
    package let peer: PeerId
    package let network: NetworkId
    /// The one that it has, which is good.
    package let token: AccessToken
    package let connection: ConnectionId
}
