internal import Concurrency
internal import Identity
internal import Kademlia
internal import Testing

@testable internal import Node
@testable internal import NodeCore

@Suite("Graceful shutdown", .timeLimit(.minutes(15))) struct GracefulShutdownTests {
    /// A node that lingers longer than a busy machine takes for a shutdown.
    private func makePatientNode(in lab: Lab) throws -> LabNode {
        try lab.makeNode { $0.pauses.lingerAtStop = .seconds(60) }
    }

    private func connect(_ node: LabNode, to other: LabNode, in lab: Lab) async throws {
        let events = other.events.listen()
        lab.introduce(other, to: node)
        try await node.driver.reach(other.peerId)
        _ = try await events.first { $0 == .peerJoined(node.peerId, lab.networkId) }
    }

    /// Waits until `node` has left: its last frames are applied before, or end the membership themselves.
    private func waitForEnd(of node: LabNode, in events: AsyncStream<NodeEvent>) async throws {
        _ = try await events.first { if case .peerLeft(node.peerId, _, _) = $0 { true } else { false } }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `a revoked peer receives the revocation although the node stops immediately`(
        wire: Lab.Wire
    ) async throws {
        for _ in 0..<20 {
            let lab = Lab(over: wire)
            let (node, other) = (try self.makePatientNode(in: lab), try lab.makeNode())
            let (events, departures) = (other.events.listen(), other.events.listen())
            try await lab.run([other]) {
                try await lab.run([node]) {
                    try await self.connect(node, to: other, in: lab)
                    node.driver.apply(.membership(.revocationsAdded([try lab.revocation(of: other)])))
                }
                try await self.waitForEnd(of: node, in: departures)
            }
            other.events.finish()
            var isTold = false
            for await case .membershipEnded(lab.networkId, _) in events { isTold = true }
            #expect(isTold)
        }
    }

    @Test func `a connection to a revoked member is closed as soon as its last frames have arrived`() async throws {
        let lab = Lab(over: .sockets)
        // Longer than the suite may take: the connection ends before, or the test fails.
        let (node, other) = (try lab.makeNode { $0.pauses.linger = .seconds(3600) }, try lab.makeNode())
        try await lab.run([node, other]) {
            try await self.connect(node, to: other, in: lab)
            node.driver.apply(.membership(.revocationsAdded([try lab.revocation(of: other)])))
            while !node.driver.state.withLock({ $0.connections.lingering.isEmpty }) { await Task.yield() }
        }
    }

    @Test(arguments: Lab.Wire.allCases) func `a node that stops hands over the records that no other member stores`(
        wire: Lab.Wire
    ) async throws {
        let (lab, count) = (Lab(over: wire), 60)
        let (node, other) = (try self.makePatientNode(in: lab), try lab.makeNode())
        let records = try (0..<count).map { try lab.record("value \($0)", byteCount: 20_000) }
        let departures = other.events.listen()
        try await lab.run([other]) {
            try await lab.run([node]) {
                try await self.connect(node, to: other, in: lab)
                node.driver.apply(.table(.recordsLoaded(lab.networkId, records)))
            }
            try await self.waitForEnd(of: node, in: departures)
        }
        let held = other.kept.withLock { kept in
            kept.count { if case .record(lab.networkId, _) = $0 { true } else { false } }
        }
        #expect(held == count)
    }
}

extension Lab {
    /// Creates a record that a new member of its own has written.
    func record(_ key: String = "key", byteCount: Int = 1) throws -> Record {
        let writer = generatePeerKey()
        return try Record.create(
            key: Array(key.utf8),
            value: [UInt8](repeating: 7, count: byteCount),
            version: 1,
            expirySeconds: self.nodeClock.now().wallSeconds + 3600,
            token: try self.token(of: PeerId(publicKey: writer.publicKey)),
            signer: writer.privateKey
        )
    }
}
