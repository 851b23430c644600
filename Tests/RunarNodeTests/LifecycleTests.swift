internal import Database
internal import Foundation
internal import NodeStore
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import RunarNode

@Suite("Lifecycle", .timeLimit(.minutes(15))) struct LifecycleTests {
    @Test func `repeated starts and stops have no effect`() async throws {
        let node = try Household().makeNode()
        #expect(!node.isRunning && node.listeningPort == 0)
        for _ in 0..<2 {
            try await node.start()
            try await node.start()
            #expect(node.isRunning && node.listeningPort != 0)
            await node.stop()
            await node.stop()
            #expect(!node.isRunning && node.listenAddresses.isEmpty)
        }
    }

    /// Makes a node that reports each attempt to bind on `bindRequests`, and waits for a yield to `bind`.
    private func makeSlowNode() throws -> (
        RunarNode, bindRequests: AsyncStream<Void>, bind: AsyncStream<Void>.Continuation
    ) {
        let (bindRequests, bindRequest) = AsyncStream.makeStream(of: Void.self)
        let (permits, permit) = AsyncStream.makeStream(of: Void.self)
        let network = InMemoryNetwork(seed: 3)
        let node = try RunarNode(config: .createTestConfig()) { key, _ in
            bindRequest.yield()
            for await _ in permits { break }
            return try network.makeEndpoint(peerId: PeerId(publicKey: key.publicKey))
        }
        return (node, bindRequests, permit)
    }

    @Test func `a start during another start returns when the node runs`() async throws {
        let (node, bindRequests, bind) = try makeSlowNode()
        async let first: Void = node.start()
        for await _ in bindRequests { break }
        let second = Task {
            try await node.start()
            return node.isRunning
        }
        for _ in 0..<100 { await Task.yield() }
        bind.yield()
        #expect(try await second.value)
        try await first
        await node.stop()
    }

    @Test func `a start that a stop overtakes fails, and the next one starts the node`() async throws {
        let (node, bindRequests, bind) = try makeSlowNode()
        let overtaken = Task { try await node.start() }
        for await _ in bindRequests { break }
        await node.stop()
        let next = Task {
            try await node.start()
            return node.isRunning
        }
        bind.yield()
        await #expect(throws: NodeError.notRunning) { try await overtaken.value }
        bind.yield()
        #expect(try await next.value)
        await node.stop()
    }

    @Test func `a start during a stop leaves the node running`() async throws {
        let node = try Household().makeNode()
        for _ in 0..<20 {
            try await node.start()
            async let stopped: Void = node.stop()
            while node.isRunning { await Task.yield() }
            try await node.start()
            #expect(node.isRunning)
            await stopped
            #expect(node.isRunning)
            await node.stop()
        }
    }

    @Test func `a node that cannot read its state does not start at all`() async throws {
        let directory = try TemporaryDirectory()
        let node = try Household().makeNode(statePath: directory.file("state.sqlite"))
        try node.store.database.close()
        await #expect(throws: StorageError.self) { try await node.start() }
        #expect(!node.isRunning && node.listenAddresses.isEmpty)
    }

    @Test func `a stopped node reports that it does not run`() async throws {
        let node = try Household().makeNode()
        let peer = PeerId(publicKey: generatePeerKey().publicKey)
        let error = await failure { try await node.sendToPeer("x", peerId: peer) }
        #expect(error as? NodeError == .notRunning)
    }

    @Test func `identity, networks and peers survive a restart`() async throws {
        let directory = try TemporaryDirectory()
        let statePath = directory.file("state.sqlite")
        let household = Household()
        let keys = InMemoryKeyStorage()
        let owner = try household.makeNode()
        let metadata = try owner.createNetwork(name: "Home")
        try await owner.start()
        let peerId: PeerId
        do {
            let member = try household.makeNode(keys: keys, statePath: statePath)
            peerId = member.peerId
            let token = try owner.issueToken(for: peerId, in: metadata.networkId, expiration: nil)
            try member.addNetworkToken(networkId: metadata.networkId, token: token)
            try await member.start()
            try await member.connectToPeer(
                peerId: owner.peerId,
                networkId: metadata.networkId,
                address: owner.address
            )
            await member.stop()
        }
        let events = owner.eventStream
        let again = try household.makeNode(keys: keys, statePath: statePath)
        #expect(again.peerId == peerId)
        #expect(try again.networks().map(\.networkId) == [metadata.networkId])
        try await again.start()
        _ = try await events.first { $0 == .peerJoined(peerId, metadata.networkId) }
        await again.stop()
        await owner.stop()
    }

    @Test func `a start forgets a peer that was not seen for half a year`() async throws {
        let node = try Household().makeNode()
        let network = try node.createNetwork(name: "Home").networkId
        let peers = (0..<2).map { _ in PeerId(publicKey: generatePeerKey().publicKey) }
        for (peer, days) in zip(peers, [181, 179] as [UInt64]) {
            try node.store.noteAdmission(of: peer, in: network, address: nil, at: node.wallSeconds - days * 86_400)
        }
        #expect(try node.knownPeers().count == 2)
        try await node.start()
        #expect(try node.knownPeers().map(\.peerId) == [peers[1]])
        await node.stop()
    }

    @Test func `listeners outlive a stop and a start`() async throws {
        try await Household.run(members: 1) { metadata, owner, members in
            let listener = members[0].startListening()
            await members[0].stop()
            try await members[0].start()
            try await owner.connectToPeer(
                peerId: members[0].peerId,
                networkId: metadata.networkId,
                address: members[0].address
            )
            try await owner.sendToPeer("still there", peerId: members[0].peerId)
            _ = try await listener.first { _ in true }
        }
    }

    @Test func `a key that cannot be read is never replaced`() throws {
        let keys = UnreadableKeys()
        #expect(throws: KeychainError.self) { try Household().makeNode(keys: keys) }
        let short = InMemoryKeyStorage()
        try short.store(SecretBytes(copying: [1, 2, 3]), id: "peer")
        #expect(throws: IdentityError.self) { try Household().makeNode(keys: short) }
        #expect(try short.retrieve(id: "peer")?.count == 3)
    }

    @Test func `the recovery phrase restores the networks' keys`() throws {
        let node = try Household().makeNode()
        #expect(throws: NodeError.self) { try node.recoveryPhrase() }
        let metadata = try node.createNetwork(name: "Home")
        let phrase = try node.recoveryPhrase()
        let key = deriveNetworkKey(masterKey: phrase.masterKey, networkIndex: 0)
        #expect(NetworkId(publicKey: key.publicKey) == metadata.networkId)
    }

    @Test func `the connection text carries this device's token`() throws {
        let node = try Household().makeNode()
        let metadata = try node.createNetwork(name: "Home")
        let data = try node.connectionData(networkId: metadata.networkId, address: "192.0.2.1:4433")
        #expect(data.peerId == node.peerId && data.token.verify())
        let other = NetworkId(publicKey: generatePeerKey().publicKey)
        #expect(throws: NodeError.notAMember(other)) { try node.connectionData(networkId: other, address: "x") }
    }

    @Test func `a node that is dropped while it runs leaves the network`() async throws {
        try await Household.run(members: 0) { _, owner, _ in #expect(owner.isRunning) }
        let household = Household()
        var node: RunarNode? = try household.makeNode()
        try await node?.start()
        let address = try #require(node?.listenAddresses.first)
        let peer = try #require(node?.peerId)
        node = nil
        let other = try household.network.makeEndpoint(peerId: PeerId(publicKey: generatePeerKey().publicKey))
        while await failure({ _ = try await other.connect(to: address, expecting: peer) }) == nil {
            await Task.yield()
        }
    }
}

/// A key storage whose keys exist and cannot be read.
private struct UnreadableKeys: KeyStorage {
    var enforcesBiometrics: Bool { false }

    func store(_ key: SecretBytes, id: String, accessControl: AccessControl) throws(KeychainError) {
        Issue.record("a key was replaced")
    }

    func retrieve(id: String) throws(KeychainError) -> SecretBytes? { throw .denied }

    func accessControl(id: String) throws(KeychainError) -> AccessControl? { nil }

    func delete(id: String) throws(KeychainError) {}

    func list() throws(KeychainError) -> [String] { ["peer"] }

    func exists(id: String) throws(KeychainError) -> Bool { true }
}
