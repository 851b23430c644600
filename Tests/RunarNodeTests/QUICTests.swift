internal import Foundation
internal import Logging
internal import TestSupport
internal import Testing

@testable internal import RunarNode

@Suite("Over QUIC", .timeLimit(.minutes(15))) struct QUICTests {
    private func makeNode() throws -> RunarNode {
        let config = RunarNodeConfig.createTestConfig()
        config.loggerLevel = .critical
        return try RunarNode(config: config)
    }

    @Test func `two nodes talk over sockets, and a node without membership is refused`() async throws {
        let (owner, member, nonMember) = (try self.makeNode(), try self.makeNode(), try self.makeNode())
        let metadata = try owner.createNetwork(name: "Home")
        let token = try owner.issueToken(for: member.peerId, in: metadata.networkId, expiration: nil)
        try member.addNetworkToken(networkId: metadata.networkId, token: token)
        let foreign = try nonMember.createNetwork(name: "Home")
        for node in [owner, member, nonMember] { try await node.start() }
        let listener = member.startListening()
        let network = metadata.networkId
        try await owner.connectToPeer(peerId: member.peerId, networkId: network, address: member.address)
        try await owner.sendToPeer("over the wire", peerId: member.peerId)
        let (peer, data) = try await listener.first { _ in true }
        #expect(peer == owner.peerId)
        #expect(try Bincode.deserialize(String.self, from: [UInt8](data)) == "over the wire")
        let error = await failure {
            try await nonMember.connectToPeer(
                peerId: owner.peerId,
                networkId: foreign.networkId,
                address: owner.address
            )
        }
        #expect(error is NodeError)
        for node in [owner, member, nonMember] { await node.stop() }
    }

    @Test func `calls that are cancelled as they end block no other call`() async throws {
        let (owner, member) = (try self.makeNode(), try self.makeNode())
        let network = try owner.createNetwork(name: "Home").networkId
        let token = try owner.issueToken(for: member.peerId, in: network, expiration: nil)
        try member.addNetworkToken(networkId: network, token: token)
        for node in [owner, member] { try await node.start() }
        try await member.connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
        try await RemoteServiceTests.offer(ServiceTests.makeMath(), by: owner, to: member, in: network)
        let listener = owner.startListening()
        let work: [@Sendable () async throws -> Void] = [
            { let _: Data = try await member.request("\(network):math/echo", payload: Data([1, 2])) },
            { try await member.sendToPeer("hello", peerId: owner.peerId) },
            { _ = try await member.dhtGet(networkId: network, key: Data("nothing".utf8)) },
            { for try await _ in try member.events(networkId: network, topic: "news") {} },
            { try await member.publish(networkId: network, topic: "news", message: Data("new".utf8)) },
        ]
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<10 {
                group.addTask {
                    for round in 0..<100 {
                        let task = Task { try? await work[(number + round) % work.count]() }  // it is cancelled
                        for _ in 0..<(round * 7 % 60) { await Task.yield() }
                        task.cancel()
                        await task.value
                    }
                }
            }
        }
        let sum: Double = try await member.request("\(network):math/add", payload: ServiceTests.Operands(a: 1, b: 2))
        #expect(sum == 3)
        for node in [owner, member] { await node.stop() }
        _ = listener
    }

    @Test func `a joiner sends no proof to an intermediary and reports an unreachable inviter`()
        async throws
    {
        let (owner, mallory) = (try self.makeNode(), try self.makeNode())
        let config = RunarNodeConfig.createTestConfig()
        config.loggerLevel = .critical
        // Half a minute of its time is three seconds.
        let joiner = try RunarNode(config: config, clock: .system(timesFaster: 10))
        let network = try owner.createNetwork(name: "Home").networkId
        _ = try mallory.createNetwork(name: "Home")
        for node in [owner, mallory, joiner] { try await node.start() }
        let seen = mallory.eventStream
        let invitation = try owner.invite(to: network, addresses: mallory.listenAddresses, isPreallowed: true)
        let error = await failure { try await joiner.join(by: invitation) }
        guard case .unreachable? = error as? JoinFailure else { throw error ?? CancellationError() }
        #expect(try joiner.networks().isEmpty)
        await mallory.stop()
        // A proof, right or wrong, would have been refused and reported.
        mallory.broadcasts.events.finish()
        for await event in seen {
            if case .refused = event { Issue.record("\(event)") }
        }
        // The network still admits a device that reaches the owner directly.
        let direct = try owner.invite(to: network, addresses: owner.listenAddresses, isPreallowed: true)
        let patient = try self.makeNode()
        try await patient.start()
        try await patient.join(by: direct)
        #expect(patient.connectedPeers(in: network) == [owner.peerId])
        for node in [owner, joiner, patient] { await node.stop() }
    }

    @Test func `a file arrives over sockets, and a revocation disconnects its receiver`() async throws {
        let (owner, member) = (try self.makeNode(), try self.makeNode())
        let metadata = try owner.createNetwork(name: "Home")
        let token = try owner.issueToken(for: member.peerId, in: metadata.networkId, expiration: nil)
        try member.addNetworkToken(networkId: metadata.networkId, token: token)
        let (source, target) = (try TemporaryDirectory(), try TemporaryDirectory())
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        let film = try source.write(bytes, to: "film.bin")
        for node in [owner, member] { try await node.start() }
        member.receiveFiles(FileReceiver { _ in target.path })
        let network = metadata.networkId
        try await owner.connectToPeer(peerId: member.peerId, networkId: network, address: member.address)
        try await owner.sendFile(at: film, peerId: member.peerId)
        #expect(try target.bytes("film.bin") == bytes)
        let events = member.eventStream
        try owner.revoke(member.peerId, in: network)
        #expect(owner.connectedPeers().isEmpty)
        _ = try await events.first { if case .membershipEnded(network, _) = $0 { true } else { false } }
        for node in [owner, member] { await node.stop() }
    }
}

extension NodeClock {
    /// The clocks of this machine, of which the one for timers runs faster.
    fileprivate static func system(timesFaster factor: Int) -> NodeClock {
        let system = NodeClock.system()
        return NodeClock(
            now: {
                let now = system.now()
                return NodeTime(monotonic: now.monotonic * factor, wallSeconds: now.wallSeconds)
            },
            sleep: { try await system.sleep($0 / factor) }
        )
    }
}
