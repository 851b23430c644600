internal import Foundation
internal import Logging
internal import Simulation
internal import TestSupport
internal import Testing

@testable internal import RunarNode

/// One scenario in two worlds: twenty nodes join, store, find and revoke, simulated and over QUIC.
@Suite("Simulated and real", .timeLimit(.minutes(15))) struct RealLifeTests {
    private static let nodeCount = 20

    /// The results, in terms that hold both simulated and over QUIC.
    private struct Outcome: Equatable {
        /// Records that were acknowledged by at least 15 other nodes, and the share of reads that gave them.
        var acknowledgedByMost: Bool
        var readShare: Double
        /// Whether every search for members found the nearest.
        var searchShare: Double
        /// Members that have not received the revocation in the end, and that still admit the revoked one.
        var ignorant: Int
        var admitting: Int
    }

    private func simulated() throws -> Outcome {
        let report = try Simulation(.named("real-life"), nodeCount: Self.nodeCount).run()
        func figure(_ name: String) throws -> Double { try #require(report.figures[name], "\(name)") }
        return Outcome(
            acknowledgedByMost: try figure("dhtPutHoldersMin") >= 15,
            readShare: try figure("dhtGetCorrectShare"),
            searchShare: try figure("dhtLookupCorrectShare"),
            ignorant: Int(try figure("revocationUnknownNodes")),
            admitting: Int(try figure("revokedStillAdmitted"))
        )
    }

    private func makeNode() throws -> RunarNode {
        let config = RunarNodeConfig.createTestConfig()
        config.loggerLevel = .critical
        config.listenerCapacity = 256
        // The patience of a busy machine.
        config.peerTimeout = .seconds(60)
        config.dhtPolicy.deadline = .seconds(60)
        return try RunarNode(config: config)
    }

    private func real() async throws -> Outcome {
        let nodes = try (0..<Self.nodeCount).map { _ in try makeNode() }
        let network = try nodes[0].createNetwork(name: "Home").networkId
        for node in nodes { try await node.start() }
        let result: Result<Outcome, any Error>
        do {
            result = .success(try await self.live(nodes, in: network))
        } catch {
            result = .failure(error)
        }
        for node in nodes { await node.stop() }
        return try result.get()
    }

    private func live(_ nodes: [RunarNode], in network: NetworkId) async throws -> Outcome {
        let owner = nodes[0]
        for member in nodes.dropFirst() {
            let token = try owner.issueToken(for: member.peerId, in: network, expiration: nil)
            try await member.joinNetwork(networkId: network, accessToken: token)
            try await member.connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
            try await member.dhtBootstrap(networkId: network, bootstrapPeer: owner.peerId)
        }
        // A lookup continues without those that do not answer at once, as none does while 190 handshakes are in progress.
        for node in nodes { await self.waitForAll(node, in: network) }
        var leastReplicas = Int.max
        for (number, node) in nodes.enumerated() {
            leastReplicas = min(leastReplicas, try await self.put(number, by: node, in: network))
        }
        var read = 0
        var searched = 0
        for (number, node) in nodes.enumerated() {
            for step in 1...3 {
                let other = (number + step * 6) % nodes.count
                let value = try await node.dhtGet(networkId: network, key: self.key(other), cache: false)
                if value == self.value(other) { read += 1 }
            }
            let target = nodes[(number + 7) % nodes.count].peerId
            if try await self.finds(target, by: node, in: network) { searched += 1 }
        }
        let victim = nodes[nodes.count - 1].peerId
        let others = nodes.dropLast()
        let streams = others.map(\.eventStream)
        _ = try owner.revoke(victim, in: network)
        for events in streams { _ = try await events.first { $0 == .revoked(victim, network) } }
        return Outcome(
            acknowledgedByMost: leastReplicas >= 15,
            readShare: Double(read) / Double(3 * nodes.count),
            searchShare: Double(searched) / Double(nodes.count),
            ignorant: 0,
            admitting: others.count { $0.connectedPeers(in: network).contains(victim) }
        )
    }

    /// Waits until a node is connected with all others.
    private func waitForAll(_ node: RunarNode, in network: NetworkId) async {
        var events = node.eventStream.makeAsyncIterator()
        while node.connectedPeers(in: network).count < Self.nodeCount - 1, await events.next() != nil {}
    }

    /// Stores a record, and again while fewer than 15 members hold it; returns how many do.
    ///
    /// A lookup continues without members that are slower than their round trips, as some are on a busy machine. In the
    /// simulation none is.
    private func put(_ number: Int, by node: RunarNode, in network: NetworkId) async throws -> Int {
        var replicas = 0
        for _ in 0..<10 where replicas < 15 {
            replicas = try await node.dhtPut(networkId: network, key: self.key(number), value: self.value(number))
                .replicas
        }
        return replicas
    }

    /// Searches for a member, and again while the search leaves it out; see ``put(_:by:in:)``.
    private func finds(_ target: PeerId, by node: RunarNode, in network: NetworkId) async throws -> Bool {
        for _ in 0..<10 {
            let found = try await node.dhtFindPeers(networkId: network, near: target)
            if found.contains(where: { $0.peerId == target }) { return true }
        }
        return false
    }

    private func key(_ number: Int) -> Data { Data("record \(number)".utf8) }

    private func value(_ number: Int) -> Data { Data(repeating: UInt8(number), count: 1024) }

    // Takes seconds of processor time: 190 connections with their handshakes, and the same in the simulation.
    @Test func `twenty nodes over QUIC come to what the simulation says`() async throws {
        let simulated = try await aside { try self.simulated() }
        #expect(
            simulated
                == Outcome(acknowledgedByMost: true, readShare: 1, searchShare: 1, ignorant: 0, admitting: 0)
        )
        let real = try await self.real()
        #expect(real == simulated)
    }
}
