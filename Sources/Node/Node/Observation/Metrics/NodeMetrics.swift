internal import Concurrency
package import CoreMetrics
package import Identity
internal import Kademlia
internal import NodeCore

/// The instruments of one node: ``P2PMetrics``, and ``NetworkMetrics`` for each network.
package final class NodeMetrics: Sendable {
    package let p2p: P2PMetrics
    private let factory: any MetricsFactory
    private let now: @Sendable () -> Duration
    private let networks = Locked<[NetworkId: NetworkMetrics]>([:])
    /// The start of each search for members on the local network that has found none.
    private let searches = Locked<[NetworkId: Duration]>([:])

    /// Creates the instruments, or returns nil without a collector, so that no measurement is wasted.
    package init?(factory: any MetricsFactory, now: @escaping @Sendable () -> Duration) {
        guard !(factory is NOOPMetricsHandler) else { return nil }
        p2p = P2PMetrics(factory: factory)
        self.factory = factory
        self.now = now
    }

    /// Returns the metrics of a network; callers ask only for networks of this device, so they are few.
    package func of(_ network: NetworkId) -> NetworkMetrics {
        networks.withLock { networks in
            if let metrics = networks[network] { return metrics }
            let metrics = NetworkMetrics(networkId: network, factory: factory, now: now)
            networks[network] = metrics
            return metrics
        }
    }

    /// Seconds since a time by the node's clock.
    func seconds(since start: Duration) -> Double { (now() - start).inSeconds }

    /// Measures the changes in the core.
    func note(_ tallies: Tallies, since before: Tallies) {
        p2p.setActiveNetworks(tallies.networks)
        let checks = tallies.tokenChecks - before.tokenChecks
        if checks > 0 {
            p2p.recordTokenValidations(count: checks, failures: tallies.tokenCheckFailures - before.tokenCheckFailures)
        }
    }

    /// Measures a message that a peer has confirmed or answered.
    func noteSent(_ byteCount: Int, to peer: PeerId, in network: NetworkId, since start: Duration) {
        p2p.recordMessage(size: byteCount, isOutbound: true)
        of(network).recordPeerMessage(peerId: peer, size: byteCount, duration: seconds(since: start))
    }

    /// Measures a request that a peer has answered.
    func noteAnswer(_ answer: Int, to request: Int, from peer: PeerId, in network: NetworkId, since start: Duration) {
        noteSent(request, to: peer, in: network, since: start)
        noteReceived(answer, in: network)
    }

    /// Measures bytes sent to a peer, or to many, without an answer.
    func noteSent(_ byteCount: Int, in network: NetworkId) {
        p2p.recordMessage(size: byteCount, isOutbound: true)
        of(network).recordBytes(sent: byteCount)
    }

    /// Measures received bytes.
    func noteReceived(_ byteCount: Int, in network: NetworkId) {
        p2p.recordMessage(size: byteCount, isOutbound: false)
        of(network).recordBytes(received: byteCount)
    }

    func noteArrival(of peer: PeerId, in network: NetworkId) {
        p2p.recordPeers(inNetwork: of(network).recordArrival(of: peer))
    }

    func noteDeparture(of peer: PeerId, in network: NetworkId) {
        p2p.recordPeers(inNetwork: of(network).recordDeparture(of: peer))
    }

    /// Members of the network are looked for on the local network from now on.
    func noteSearchStart(in network: NetworkId) {
        let now = self.now()
        searches.withLock { $0[network] = now }
    }

    /// Ends the search in a network whose member was discovered.
    func noteHeard(in network: NetworkId) {
        guard let start = searches.withLock({ $0.removeValue(forKey: network) }) else { return }
        of(network).recordDiscovery(success: true, duration: seconds(since: start))
    }

    /// Ends all searches without success.
    func noteSearchEnd() {
        let open = searches.withLock { searches in
            defer { searches = [:] }
            return searches
        }
        for (network, start) in open {
            of(network).recordDiscovery(success: false, duration: seconds(since: start))
        }
    }

    /// Measures a request to a hash table that ended.
    func note(_ request: Kademlia.Request, since start: Duration) {
        p2p.recordDHTOperation(type: request.metricType, duration: seconds(since: start))
    }

    /// Resets the gauges when the node has stopped, and counts the connections that were open.
    func noteEnd(openConnections: Int) {
        for _ in 0..<openConnections { p2p.recordDisconnection() }
        noteSearchEnd()
        p2p.setActiveNetworks(0)
        p2p.setDHTStorageSize(0)
        for metrics in networks.withLock({ $0.values }) { metrics.recordEnd() }
    }
}

extension Kademlia.Request {
    /// As `dhtOperations` is labelled.
    var metricType: String {
        switch self {
        case .get: "get"
        case .all: "all"
        case .one: "one"
        case .put: "put"
        case .delete: "delete"
        case .nearest: "find_peers"
        case .bootstrap: "bootstrap"
        }
    }
}
