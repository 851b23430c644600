internal import Concurrency
package import Identity
internal import Kademlia
internal import NodeCore
internal import Transport

// One message, one stream: header, payload, end; one receipt byte comes back.
extension NodeDriver {
    /// What the receiver of a message answers.
    enum Receipt: UInt8 {
        case delivered = 0
        case nobodyListens = 1
        case busy = 2
    }

    /// Sends one message and returns once the peer's listeners have it.
    ///
    /// - Throws: ``NodeError``; `CancellationError` when cancelled.
    package func send(_ payload: [UInt8], to peer: PeerId, in network: NetworkId? = nil) async throws {
        guard payload.count <= self.configuration.messageByteLimit else {
            throw NodeError.tooLarge(limit: self.configuration.messageByteLimit, found: payload.count)
        }
        try await self.reach(peer, in: network)
        let start = self.configuration.clock.now().monotonic
        let receipt = try await self.withPatience(for: peer) {
            try await self.withStream(kind: .message, to: peer, in: network) { stream, header in
                do {
                    try await stream.write(header + payload, finish: true)
                } catch TransportError.stopped {
                    // Whoever wants no more of it may have said why all the same.
                }
                var reader = StreamReader(stream)
                return try await reader.readToEnd(limit: 1)
            }
        }
        self.measure(with: peer, in: network) { $0.noteSent(payload.count, to: peer, in: $1, since: start) }
        switch receipt.first.flatMap({ Receipt(rawValue: $0) }) {
        case .delivered: return
        case .nobodyListens: throw NodeError.nobodyListens(peer)
        case .busy: throw NodeError.receiverBusy(peer)
        case nil: throw NodeError.interrupted(peer, "the receipt is missing")
        }
    }

    func receiveMessage(
        on stream: any Stream,
        _ reader: inout StreamReader,
        from peer: PeerId,
        in network: NetworkId
    ) async {
        do {
            let receipt: Receipt
            do {
                let payload = try await reader.readToEnd(limit: self.configuration.messageByteLimit)
                self.configuration.metrics?.noteReceived(payload.count, in: network)
                receipt =
                    switch self.messages.send(ReceivedMessage(peer: peer, network: network, payload: payload)) {
                    case .delivered: .delivered
                    case .nobodyListens: .nobodyListens
                    case .overflow: .busy
                    }
            } catch StreamReader.Failure.noRoom {
                receipt = .busy
            }
            try await stream.write([receipt.rawValue], finish: true)
        } catch is StreamReader.Failure {
            stream.reset(code: CloseCode.tooLarge.rawValue)
        } catch {
            stream.reset(code: CloseCode.protocolViolation.rawValue)
        }
    }

    /// Opens a stream to an admitted peer and turns its failures into ``NodeError``.
    func withStream<Result: Sendable>(
        kind: StreamHeader.Kind,
        to peer: PeerId,
        in network: NetworkId?,
        _ body: (any Stream, _ header: [UInt8]) async throws -> Result
    ) async throws -> Result {
        let opened = try self.state.withLock { state throws -> (any Stream, Int, Route)? in
            guard state.lifecycle.isRunning else { throw NodeError.notRunning }
            guard let route = state.core.route(to: peer, in: network),
                let connection = state.connections[route.connection]?.connection
            else { return nil }
            let stream = try Self.openStream(on: connection)
            let number = self.track(stream, route.network, on: route.connection, in: &state)
            return number.map { (stream, $0, route) }
        }
        guard let (stream, number, route) = opened else {
            throw NodeError.interrupted(peer, "the connection just ended")
        }
        defer { self.untrack(number, on: route.connection) }
        do {
            return try await body(stream, StreamHeader(kind: kind, networkIndex: route.index).bytes)
        } catch let error as TransportError {
            stream.reset(code: CloseCode.goodbye.rawValue)
            throw Self.nodeError(for: error, peer)
        } catch is StreamReader.Failure {
            stream.reset(code: CloseCode.protocolViolation.rawValue)
            throw NodeError.interrupted(peer, "the answer is malformed")
        } catch {
            stream.reset(code: CloseCode.goodbye.rawValue)
            throw error
        }
    }

    /// Opens a stream; the end of the connection, of which the core may not have heard, is a ``NodeError`` too.
    private static func openStream(on connection: any Connection) throws -> any Stream {
        do {
            return try connection.openStream()
        } catch let error as TransportError {
            throw self.nodeError(for: error, connection.remotePeerId)
        }
    }

    static func nodeError(for error: TransportError, _ peer: PeerId) -> NodeError {
        switch error {
        case .reset(let code), .stopped(let code), .closed(let code, _):
            switch CloseCode(rawValue: code) {
            case .declined: .declined(peer)
            case .networkNotShared, .notAdmitted: .refusedByPeer(peer, CloseCode.networkNotShared.explanation)
            case let reason?: .interrupted(peer, reason.explanation)
            case nil: .interrupted(peer, "\(error)")
            }
        default: .interrupted(peer, "\(error)")
        }
    }
}

// MARK: - Reaching a peer

extension NodeDriver {
    /// The peers that are admitted at this moment, in one network or in any, ascending.
    package func admittedPeers(in network: NetworkId? = nil) -> [PeerId] {
        self.state.withLock { $0.core.admittedPeers(in: network) }
    }

    /// Whether a person keeps this node apart from a peer, who did, and for how long still.
    package func parting(from peer: PeerId) -> (isOurs: Bool, rest: Duration)? {
        let now = self.configuration.clock.now().monotonic
        return self.state.withLock { $0.core.parting(from: peer) }.map { ($0.isOurs, max(.zero, $0.end - now)) }
    }

    /// Returns once `peer` is admitted in `network` (or in any), dialling it if need be.
    ///
    /// Where no address of it is known, or none answers, other members are asked for one, and then to bring the two
    /// together.
    ///
    /// - Throws: ``NodeError``; `CancellationError` when cancelled.
    package func reach(_ peer: PeerId, in network: NetworkId? = nil) async throws {
        if self.state.withLock({ $0.core.route(to: peer, in: network) != nil }) { return }
        let start = self.configuration.clock.now().monotonic
        var isFound = false
        defer {
            self.measure(with: peer, in: network) { metrics, network in
                metrics.of(network).recordDiscovery(success: isFound, duration: metrics.seconds(since: start))
            }
        }
        try await self.withPatience(for: peer) {
            do {
                try await self.waitForAdmission(of: peer, in: network)
            } catch let error as NodeError {
                switch error {
                case .noAddress, .unreachable, .noSharedNetwork:
                    let isFound = try await self.lookUp(peer, in: network)
                    try await self.waitForAdmission(
                        of: peer,
                        in: network,
                        by: isFound ? .dial : .call(overRelay: false, orThrow: error)
                    )
                default: throw error
                }
            }
        }
        isFound = true
    }

    /// Measures something that concerns a peer, in the given network, or in the one in which it is reached.
    func measure(with peer: PeerId, in network: NetworkId?, _ body: (NodeMetrics, NetworkId) -> Void) {
        guard let metrics = self.configuration.metrics else { return }
        let found = network ?? self.state.withLock { $0.core.route(to: peer)?.network ?? $0.core.networks.first }
        if let found { body(metrics, found) }
    }

    /// Returns once `peer` is admitted in `network` over another member as a relay, even where a direct way would work.
    ///
    /// - Throws: ``NodeError``; `CancellationError` when cancelled.
    package func reachOverRelay(_ peer: PeerId, in network: NetworkId) async throws {
        try await self.withPatience(for: peer) {
            try await self.waitForAdmission(
                of: peer,
                in: network,
                by: .call(overRelay: true, orThrow: .noAddress(peer))
            )
        }
    }

    /// How a peer is reached for.
    private enum Approach {
        /// At the addresses that are known.
        case dial
        /// By asking others; the failure if there is nobody to ask.
        case call(overRelay: Bool, orThrow: NodeError)
    }

    /// Asks the members of the network (or of all) where a peer can be dialled; false when nobody knows.
    private func lookUp(_ peer: PeerId, in network: NetworkId?) async throws -> Bool {
        for network in self.state.withLock({ network.map { [$0] } ?? $0.core.networks }) {
            let answer = try await self.ask(.nearest(to: peer.words), in: network, Kademlia.RequestPolicy(attempts: 1))
            guard case .peers(let contacts) = answer.outcome,
                let contact = contacts.first(where: { $0.peerId == peer }), !contact.addresses.isEmpty
            else { continue }
            self.apply(.peer(.remembered(peer, networks: [network], addresses: contact.addresses)))
            return true
        }
        return false
    }

    /// Gives `body` a bounded time.
    private func withPatience<Result: Sendable>(
        for peer: PeerId,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let deadline = self.configuration.clock.now().monotonic + self.configuration.patience
        return try await self.within(deadline, orThrow: NodeError.timedOut(peer), body)
    }

    /// Gives `body` the time until `deadline`.
    func within<Result: Sendable>(
        _ deadline: Duration,
        orThrow error: any Error,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let clock = self.configuration.clock
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

    /// Waits for the end of a dial, or of a call.
    private func waitForAdmission(
        of peer: PeerId,
        in network: NetworkId?,
        by approach: Approach = .dial
    ) async throws {
        try Task.checkCancellation()
        let outcome = AdmissionWaiters.Outcome()
        let mustWait = try self.state.withLock { state in
            try self.enroll(outcome, peer, network, by: approach, in: &state)
        }
        if mustWait { try await outcome.get { self.state.withLock { $0.pending.admissions.remove(outcome) } } }
    }

    /// Asks the core for a way to a peer; false if there is one already.
    private func enroll(
        _ outcome: AdmissionWaiters.Outcome,
        _ peer: PeerId,
        _ network: NetworkId?,
        by approach: Approach,
        in state: inout State
    ) throws(NodeError) -> Bool {
        guard !state.lifecycle.isStopped else { throw .notRunning }
        guard state.core.route(to: peer, in: network) == nil else { return false }
        switch approach {
        case .call(let isRelayOnly, let error):
            let networks = network.map { [$0] } ?? state.core.networks
            guard let shared = networks.first(where: { state.core.hasCoordinator(in: $0, for: peer) }) else {
                throw error
            }
            state.pending.admissions.add(outcome, for: peer, in: network, failure: error)
            self.apply(.peer(.called(peer, shared, overRelay: isRelayOnly)), to: &state)
        case .dial:
            guard state.core.knowsWayTo(peer) else { throw .noAddress(peer) }
            guard state.core.sharesNetwork(with: peer) else { throw .noSharedNetwork(peer) }
            state.pending.admissions.add(outcome, for: peer, in: network)
            self.apply(.peer(.wanted(peer)), to: &state)
        }
        return true
    }
}
