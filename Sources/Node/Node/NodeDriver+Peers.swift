internal import Concurrency
package import Identity
internal import Kademlia
package import NodeCore
internal import Transport
internal import Traversal

// Peers: their admission, joins by invitation, and the paths to them.
extension NodeDriver {
    /// The peers that are admitted at this moment, in one network or in any, ascending.
    package func admittedPeers(in network: NetworkId? = nil) -> [PeerId] {
        state.withLock { $0.core.admittedPeers(in: network) }
    }

    /// The manual disconnect from a peer that is in force: whether it was made here, and the rest of its time.
    package func manualDisconnect(from peer: PeerId) -> (isOurs: Bool, rest: Duration)? {
        let now = self.now
        return state.withLock { $0.core.manualDisconnect(from: peer) }.map {
            ($0.isOurs, max(.zero, $0.end - now))
        }
    }

    /// Returns once `peer` is admitted in `network` (or in any), dialling it if need be.
    ///
    /// If no address of the peer is known, or none answers, the hash tables are searched for others. Then other members
    /// coordinate a traversal.
    ///
    /// - Throws: ``NodeError``; `CancellationError` when cancelled.
    package func reach(_ peer: PeerId, in network: NetworkId? = nil) async throws {
        guard peer != localPeerId else { throw NodeError.ownDevice }
        if state.withLock({ $0.core.route(to: peer, in: network) != nil }) { return }
        let start = now
        var isFound = false
        defer {
            measure(with: peer, in: network) { metrics, network in
                metrics.of(network).recordDiscovery(success: isFound, duration: metrics.seconds(since: start))
            }
        }
        try await withPatience(for: peer) {
            do {
                try await self.waitForAdmission(of: peer, in: network)
            } catch let error as NodeError {
                switch error {
                case .noAddress, .unreachable, .noSharedNetwork:
                    let hasAddress = try await self.lookUp(peer, in: network)
                    try await self.waitForAdmission(
                        of: peer,
                        in: network,
                        by: hasAddress ? .dial : .traversal(overRelay: false, orThrow: error)
                    )
                default: throw error
                }
            }
        }
        isFound = true
    }

    /// Returns once `peer` is admitted in `network` over another member as a relay, even where a direct path would work.
    ///
    /// - Throws: ``NodeError``; `CancellationError` when cancelled.
    package func reachOverRelay(_ peer: PeerId, in network: NetworkId) async throws {
        guard peer != localPeerId else { throw NodeError.ownDevice }
        try await withPatience(for: peer) {
            try await self.waitForAdmission(
                of: peer,
                in: network,
                by: .traversal(overRelay: true, orThrow: .noAddress(peer))
            )
        }
    }

    /// The ways to reach a peer.
    private enum Approach {
        /// A dial at the addresses that are known.
        case dial
        /// A traversal that another member coordinates; with the failure if there is no such member.
        case traversal(overRelay: Bool, orThrow: NodeError)
    }

    /// Looks up the addresses of a peer in the hash table of the network (or of all); false when none is found.
    private func lookUp(_ peer: PeerId, in network: NetworkId?) async throws -> Bool {
        for network in state.withLock({ network.map { [$0] } ?? $0.core.networks }) {
            let answer = try await performTableRequest(
                .nearest(to: peer.words),
                in: network,
                Kademlia.RequestPolicy(attempts: 1)
            )
            guard case .peers(let contacts) = answer.outcome,
                let contact = contacts.first(where: { $0.peerId == peer }), !contact.addresses.isEmpty
            else { continue }
            apply(.peer(.remembered(peer, networks: [network], addresses: contact.addresses)))
            return true
        }
        return false
    }

    /// Runs `body`, for ``DriverPauses/patience`` at most.
    func withPatience<Result: Sendable>(
        for peer: PeerId,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let deadline = now + configuration.pauses.patience
        return try await within(deadline, orThrow: NodeError.timedOut(peer), body)
    }

    /// Runs `body`, until `deadline` at most.
    func within<Result: Sendable>(
        _ deadline: Duration,
        orThrow error: any Error,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let clock = configuration.clock
        return try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await clock.sleep(deadline)
                throw error
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }

    /// Reaches for a peer and waits for its admission.
    private func waitForAdmission(
        of peer: PeerId,
        in network: NetworkId?,
        by approach: Approach = .dial
    ) async throws {
        try Task.checkCancellation()
        let outcome = AdmissionWaiters.Outcome()
        let mustWait = try state.withLock { state in
            try enroll(outcome, peer, network, by: approach, in: &state)
        }
        if mustWait { try await outcome.get { state.withLock { $0.pending.admissions.remove(outcome) } } }
    }

    /// Makes the core reach for a peer; false if the peer is admitted already.
    private func enroll(
        _ outcome: AdmissionWaiters.Outcome,
        _ peer: PeerId,
        _ network: NetworkId?,
        by approach: Approach,
        in state: inout State
    ) throws(NodeError) -> Bool {
        guard !state.lifecycle.isStopped else { throw .notRunning }
        guard state.core.route(to: peer, in: network) == nil else { return false }
        guard !state.core.isBanned(peer) else { throw .banned(peer) }
        switch approach {
        case .traversal(let isRelayOnly, let error):
            let networks = network.map { [$0] } ?? state.core.networks
            guard let shared = networks.first(where: { state.core.hasCoordinator(in: $0, for: peer) }) else {
                throw error
            }
            state.pending.admissions.add(outcome, for: peer, in: network, failure: error)
            apply(.peer(.traversalRequested(peer, shared, overRelay: isRelayOnly)), to: &state)
        case .dial:
            guard state.core.knowsWayTo(peer) else { throw .noAddress(peer) }
            guard state.core.sharesNetwork(with: peer) else { throw .noSharedNetwork(peer) }
            state.pending.admissions.add(outcome, for: peer, in: network)
            apply(.peer(.wanted(peer)), to: &state)
        }
        return true
    }

    // MARK: Joins

    /// Dials the inviter, requests admission, and returns the grant.
    ///
    /// `onPending` gets the digits that both devices show. It is called under the lock of this driver and must not call
    /// the driver. A task that is cancelled abandons the join.
    ///
    /// - Throws: ``JoinFailure``, ``NodeError/notRunning``; `CancellationError` when cancelled.
    package func join(
        by invitation: Invitation,
        onPending: @escaping @Sendable (_ digits: String) -> Void
    ) async throws -> JoinGrant {
        let inviter = invitation.inviter
        try Task.checkCancellation()
        let outcome = try state.withLock { state in
            guard !state.lifecycle.isStopped else { throw NodeError.notRunning }
            guard let outcome = state.pending.addJoin(through: inviter, onPending: onPending) else {
                throw JoinFailure.underWay
            }
            apply(.join(.wanted(invitation)), to: &state)
            return outcome
        }
        return try await outcome.get {
            state.withLock { state in
                // First, so that the core's effects do not end the join with another error.
                guard state.pending.removeJoin(through: inviter, outcome) else { return }
                apply(.join(.abandoned(inviter)), to: &state)
            }
        }
    }

    // MARK: Paths

    /// The last attempts to reach a peer, the newest last.
    package func pathHistory(of peer: PeerId) -> [PathHistory.Entry] {
        state.withLock { $0.observations.paths[peer] }
    }

    /// Whether a peer was admitted in `network` at `start` or later, by the monotonic clock; it may have left since.
    package func wasAdmitted(_ peer: PeerId, in network: NetworkId, since start: Duration) -> Bool {
        pathHistory(of: peer).contains { $0.time.monotonic >= start && $0.event == .admitted(network) }
    }

    /// The round-trip time to a peer; nil when it is not connected, or before a measurement.
    package func roundTrip(to peer: PeerId) -> Duration? {
        state.withLock { state in
            state.core.route(to: peer).flatMap { state.connections[$0.connection]?.connection.roundTrip }
        }
    }

    /// The path of a peer's packets at the moment; nil when it is not connected.
    package func path(to peer: PeerId) -> PeerPath? {
        state.withLock { state in
            guard let route = state.core.route(to: peer),
                let address = state.connections[route.connection]?.connection.remoteAddress
            else { return nil }
            guard ChannelId(address: address) != nil else { return .direct(address) }
            return .relayed(over: state.core.relay(at: address))
        }
    }
}
