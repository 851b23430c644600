internal import Concurrency
internal import Identity
internal import Kademlia
internal import NodeCore
internal import PubSub

// What is measured, for whoever collects it.
extension NodeDriver {
    /// Measures what an input did to the core.
    func measure(_ input: Input, _ effects: [Effect], in state: inout State) {
        guard let metrics = self.configuration.metrics else { return }
        let tallies = state.core.tallies
        if tallies != state.tallies {
            metrics.note(tallies, since: state.tallies)
            state.tallies = tallies
        }
        var areRecordsOthers = false
        switch input {
        case .membership(.added(let token, _, _)):
            if state.localNetwork.discoveryLink != nil { metrics.noteSearchStart(in: token.networkId) }
        case .membership(.removed), .table(.recordsLoaded): areRecordsOthers = true
        case .connection, .peer, .membership, .join, .paths, .discovery, .table, .events, .services, .timeReached,
            .addressesChanged, .conditionsChanged, .resumed, .stopping:
            // These are measured by their effects.
            break
        }
        for effect in effects {
            switch effect {
            case .table(_, .persist), .table(_, .forget): areRecordsOthers = true
            case .peer(.joined(let peer, let network)): metrics.noteArrival(of: peer, in: network)
            case .peer(.left(let peer, let network, _)): metrics.noteDeparture(of: peer, in: network)
            case .peer(.discovered(_, let network, _)): metrics.noteHeard(in: network)
            case .events(let network, .deliver(let batch, _, _)): metrics.noteReceived(batch.byteCount, in: network)
            case .connection, .peer, .membership, .join, .paths, .discovery, .table, .events, .services, .wake:
                // These are measured where they are performed, or not at all.
                break
            }
        }
        if areRecordsOthers { metrics.p2p.setDHTStorageSize(state.core.recordBytes) }
    }

    /// Takes a connection out of the table; nil when it is there no more.
    func forget(_ id: ConnectionId, in state: inout State) -> ConnectionTable.Entry? {
        guard let entry = state.connections.remove(id) else { return nil }
        self.configuration.metrics?.p2p.recordDisconnection()
        return entry
    }

    /// Measures a message that its receiver has confirmed.
    func measureSent(_ byteCount: Int, to peer: PeerId, in network: NetworkId?, since start: Duration) {
        guard let metrics = self.configuration.metrics, let network = self.network(of: peer, network) else { return }
        metrics.noteSent(byteCount, to: peer, in: network, since: start)
    }

    /// Measures bytes that are no message.
    func measureBytes(sent byteCount: UInt64, to peer: PeerId, in network: NetworkId?) {
        guard let metrics = self.configuration.metrics, let network = self.network(of: peer, network) else { return }
        metrics.of(network).recordBytes(sent: Int(clamping: byteCount))
    }

    /// Measures a request to a hash table that ended.
    func measure(_ request: Kademlia.Request, since start: Duration) {
        guard let metrics = self.configuration.metrics else { return }
        metrics.p2p.recordDHTOperation(type: request.metricType, duration: metrics.seconds(since: start))
    }

    /// Measures how long a peer is looked for, and whether it is found.
    func measuringSearch(for peer: PeerId, in network: NetworkId?, _ body: () async throws -> Void) async throws {
        guard let metrics = self.configuration.metrics else { return try await body() }
        let start = self.configuration.clock.now().monotonic
        var isFound = false
        defer {
            if let network = self.network(of: peer, network) {
                metrics.of(network).recordDiscovery(success: isFound, duration: metrics.seconds(since: start))
            }
        }
        try await body()
        isFound = true
    }

    func beginMeasuringSearch(in networks: [NetworkId]) {
        for network in networks { self.configuration.metrics?.noteSearchStart(in: network) }
    }

    /// The node has stopped.
    func endMeasuring() {
        guard let metrics = self.configuration.metrics else { return }
        let count = self.state.withLock { $0.connections.removeAll() }
        for _ in 0..<count { metrics.p2p.recordDisconnection() }
        metrics.noteEnd()
    }

    /// The network that a call is about: the one given, or that in which the peer is reached, or the first.
    private func network(of peer: PeerId, _ network: NetworkId?) -> NetworkId? {
        if let network { return network }
        return self.state.withLock { $0.core.route(to: peer)?.network ?? $0.core.networks.first }
    }
}
