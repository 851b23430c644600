internal import Concurrency
internal import CoreMetrics
internal import Logging
internal import MetricsText
internal import RunarNode
internal import TestSupport
internal import Testing

/// Two nodes over sockets, whose instruments are read from the console by Prometheus' own parser.
@Suite(
    "Instruments of a node",
    .timeLimit(.minutes(15)),
    .enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing))
)
struct InstrumentTests {
    /// The metrics that a node shows.
    private struct Reading {
        let families: [String: ConsoleVisitor.Family]

        init(_ registry: MetricsRegistry) async throws {
            let families = Locked<[String: ConsoleVisitor.Family]>([:])
            try await withConsole(registry) { port in
                let found = try await ConsoleVisitor.metrics(port, token: secretOfTests)
                families.withLock { $0 = found }
            }
            self.families = families.withLock { $0 }
        }

        func family(_ metric: RunarMetric) -> ConsoleVisitor.Family? {
            let name = metric.rawValue
            return families[name.hasSuffix("_total") ? String(name.dropLast(6)) : name]
        }

        /// The total of a counter or a gauge, over all labels.
        func total(_ metric: RunarMetric) -> Double {
            family(metric)?.values(metric.rawValue).reduce(0, +) ?? .nan
        }

        /// Returns the number of values that a histogram recorded.
        func count(_ metric: RunarMetric) -> Double {
            family(metric)?.values(metric.rawValue + "_count").reduce(0, +) ?? .nan
        }
    }

    private static let gauges: Set<RunarMetric> = [.activeConnections, .activeNetworks, .dhtStorageSize, .activePeers]

    private func makeNode(_ registry: MetricsRegistry, clock: NodeClock = .system()) throws -> RunarNode {
        let config = RunarNodeConfig.createTestConfig()
        config.loggerLevel = .critical
        config.metricsFactory = registry
        return try RunarNode(config: config, clock: clock)
    }

    private func expectEveryInstrument(in reading: Reading) {
        for metric in RunarMetric.allCases {
            let family = reading.family(metric)
            let name = metric.rawValue
            #expect(family?.help == metric.explanation)
            if Self.gauges.contains(metric) {
                #expect(family?.type == "gauge" && reading.total(metric) > 0, "\(name)")
            } else if name.hasSuffix("_total") {
                #expect(family?.type == "counter" && reading.total(metric) > 0, "\(name)")
            } else {
                #expect(family?.type == "histogram" && reading.count(metric) > 0, "\(name)")
            }
        }
    }

    @Test func `every specified instrument changes, and the gauges fall when the node stops`() async throws {
        let (registry, other) = (MetricsRegistry(explanations: RunarMetric.explanations), MetricsRegistry())
        let hands = ShiftedClock()
        let owner = try self.makeNode(registry, clock: hands.clock)
        let (member, nonMember) = (try self.makeNode(other), try self.makeNode(other))
        let network = try owner.createNetwork(name: "Home").networkId
        let token = try owner.issueToken(for: member.peerId, in: network, expiration: nil)
        try member.addNetworkToken(networkId: network, token: token)
        let foreign = try nonMember.createNetwork(name: "Home").networkId
        for node in [owner, member, nonMember] { try await node.start() }
        let (inbox, outbox) = (owner.startListening(), member.startListening())
        let address = try #require(member.listenAddresses.first).description
        let ownAddress = try #require(owner.listenAddresses.first).description

        // The connection fails because another key answers at the address, the token because the owner does not know its
        // network.
        await #expect(throws: (any Error).self) {
            try await owner.connectToPeer(peerId: nonMember.peerId, networkId: network, address: address)
        }
        await #expect(throws: (any Error).self) {
            try await nonMember.connectToPeer(peerId: owner.peerId, networkId: foreign, address: ownAddress)
        }
        try await owner.connectToPeer(peerId: member.peerId, networkId: network, address: address)
        for _ in 0..<3 {
            try await owner.sendToPeer("twelve bytes", peerId: member.peerId)
            hands.shift(by: .seconds(2))
        }
        for await _ in outbox { break }
        try await member.sendToPeer("answer", peerId: owner.peerId)
        for await _ in inbox { break }
        try await owner.dhtPut(networkId: network, key: .init([1]), value: .init([2, 3]))
        _ = try await owner.dhtGet(networkId: network, key: .init([1]), cache: false)

        let reading = try await Reading(registry)
        self.expectEveryInstrument(in: reading)
        #expect(reading.total(.activePeers) == 1 && reading.total(.activeNetworks) == 1)
        #expect(reading.total(.messagesSent) == 3 && reading.total(.messagesReceived) == 1)
        #expect(reading.count(.messageSize) == 4 && reading.count(.peerMessageRates) == 2)
        #expect(reading.total(.totalConnections) > reading.total(.failedConnections))
        #expect(reading.total(.tokenValidations) > reading.total(.tokenValidationFailures))
        let operations = try #require(reading.family(.dhtOperations)).samples
        #expect(Set(operations.compactMap { $0.labels["type"] }).isSuperset(of: ["put", "get"]))
        #expect(reading.family(.activePeers)?.samples.first?.labels == ["network": network.short])

        for node in [member, nonMember] { await node.stop() }
        let events = owner.eventStream
        if !owner.connectedPeers().isEmpty {
            for await event in events { if case .peerLeft = event { break } }
        }
        let alone = try await Reading(registry)
        #expect(alone.total(.activePeers) == 0 && alone.total(.activeNetworks) == 1)
        await owner.stop()
        let end = try await Reading(registry)
        for gauge in Self.gauges { #expect(end.total(gauge) == 0, "\(gauge.rawValue)") }
        #expect(end.total(.messagesSent) == 3)
    }

    @Test func `a node without a metrics collector measures nothing`() {
        #expect(NodeMetrics(factory: NOOPMetricsHandler.instance, now: { .zero }) == nil)
        #expect(NodeMetrics(factory: MetricsRegistry(), now: { .zero }) != nil)
    }

    @Test func `nodes that share a collector add up`() {
        let registry = MetricsRegistry()
        let (one, two) = (P2PMetrics(factory: registry), P2PMetrics(factory: registry))
        one.recordConnection(success: true)
        two.recordConnection(success: true)
        two.recordConnection(success: false)
        one.setActiveNetworks(2)
        two.setActiveNetworks(3)
        one.setActiveNetworks(1)
        one.recordDisconnection()
        let text = registry.text()
        #expect(text.contains("\nrunar_active_connections 1\n") && text.contains("\nrunar_active_networks 4\n"))
        #expect(text.contains("\nrunar_connections_total 3\n") && text.contains("\nrunar_failed_connections_total 1\n"))
    }

    @Test func `types of operations are labels of a bounded number`() {
        let registry = MetricsRegistry()
        let metrics = P2PMetrics(factory: registry)
        for number in 0..<100 { metrics.recordDHTOperation(type: "t\(number)", duration: 0.25) }
        let lines = registry.text().split(separator: "\n").filter { $0.hasPrefix("runar_dht_operations_total{") }
        #expect(lines.count == 33 && lines.contains("runar_dht_operations_total{type=\"other\"} 68"))
    }
}

/// The clocks of this machine, of which the one for timers can be put forward.
private struct ShiftedClock: Sendable {
    private let offset = Locked(Duration.zero)

    func shift(by duration: Duration) { offset.withLock { $0 += duration } }

    var clock: NodeClock {
        let system = NodeClock.system()
        return NodeClock(
            now: { [offset] in
                var now = system.now()
                now.monotonic += offset.withLock { $0 }
                return now
            },
            sleep: { [offset] in try await system.sleep($0 - offset.withLock { $0 }) }
        )
    }
}
