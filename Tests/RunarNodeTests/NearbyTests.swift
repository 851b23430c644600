internal import Foundation
internal import Logging
internal import NodeStore
internal import Testing
internal import Transport

@testable internal import RunarNode

/// Members that find each other on a local network without a typed address.
@Suite("Nodes that are near", .timeLimit(.minutes(15))) struct NearbyTests {
    private let household = Household()

    /// Runs `body` on nodes that are started, and stops them.
    private func run(_ nodes: [RunarNode], _ body: () async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do {
            for node in nodes { try await node.start() }
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        for node in nodes { await node.stop() }
        try result.get()
    }

    /// Gives `member` nothing but the two texts that the owner shows.
    private func admit(_ member: RunarNode, to network: NetworkMetadata, by owner: RunarNode) async throws {
        let token = try owner.issueToken(for: member.peerId, in: network.networkId, expiration: nil)
        let read = try AccessToken.fromQRString(token.qrString)
        try member.addNetwork(NetworkMetadata.fromQRString(network.qrString))
        try await member.joinNetwork(networkId: network.networkId, accessToken: read)
    }

    private func joined(_ event: NodeEvent) -> PeerId? {
        if case .peerJoined(let peer, _) = event { peer } else { nil }
    }

    @Test func `two devices with nothing but texts connect and exchange messages`() async throws {
        let (owner, member) = (try household.makeNode(isNear: true), try household.makeNode(isNear: true))
        let network = try owner.createNetwork(name: "Home")
        try await admit(member, to: network, by: owner)
        let events = owner.eventStream
        try await run([owner, member]) {
            _ = try await events.first { joined($0) == member.peerId }
            let inbox = member.startListening()
            try await owner.sendToPeer("near", peerId: member.peerId)
            _ = try await inbox.first { _ in true }
            try await member.dhtPut(networkId: network.networkId, key: Data([1]), value: Data([2]))
            #expect(try await owner.dhtGet(networkId: network.networkId, key: Data([1])) == Data([2]))
            // A connection may precede what is heard.
            while owner.discoveryService.getDiscoveredPeers(for: network.networkId).isEmpty { await Task.yield() }
            let near = owner.discoveryService.getDiscoveredPeers(for: network.networkId)
            #expect(near.map(\.peerId) == [member.peerId])
            #expect(near.first?.addresses == member.listenAddresses)
            let found = await owner.discoverPeers(for: network.networkId)
            #expect(found.map(\.sources) == [[.localNetwork, .hashTable]])
        }
    }

    @Test func `who joins later is met at once, by devices that run already`() async throws {
        let (owner, member) = (try household.makeNode(isNear: true), try household.makeNode(isNear: true))
        let network = try owner.createNetwork(name: "Home")
        let events = member.eventStream
        try await run([owner, member]) {
            try await admit(member, to: network, by: owner)
            _ = try await events.first { joined($0) == owner.peerId }
        }
    }

    @Test func `the service starts, stops and says who is there`() async throws {
        let owner = try household.makeNode(isNear: true)
        let member = try household.makeNode(isNear: true) { $0.discoveryGroups = nil }
        let network = try owner.createNetwork(name: "Home")
        try await admit(member, to: network, by: owner)
        let events = owner.eventStream
        try await run([owner, member]) {
            #expect(owner.discoveryService.isRunning)
            #expect(!member.discoveryService.isRunning)
            #expect(member.discoveryService.getDiscoveredPeers(for: network.networkId).isEmpty)
            try member.discoveryService.start()
            try member.discoveryService.start()
            #expect(member.discoveryService.isRunning)
            _ = try await events.first { if case .peerDiscovered(member.peerId, _, _) = $0 { true } else { false } }
            // Only a member with the secret can announce that it leaves.
            _ = try await events.first { joined($0) == member.peerId }
            try await owner.settle(in: network.networkId)
            await member.discoveryService.stop()
            #expect(!member.discoveryService.isRunning)
            _ = try await events.first { $0 == .peerLost(member.peerId, network.networkId) }
            #expect(owner.discoveryService.getDiscoveredPeers(for: network.networkId).isEmpty)
        }
    }

    @Test func `a local network that cannot be opened leaves the node running`() async throws {
        let config = RunarNodeConfig.createTestConfig()
        config.discoveryGroups = .standard
        config.loggerLevel = .critical
        let node = try RunarNode(
            config: config,
            localNetwork: { _, _ in throw MulticastError.noDescriptors }
        ) { [network = household.network] key, _ in
            try network.makeEndpoint(peerId: PeerId(publicKey: key.publicKey))
        }
        try await run([node]) {
            #expect(node.isRunning && !node.discoveryService.isRunning)
            let error = await failure { try node.discoveryService.start() }
            #expect(error as? NodeError == .noLocalNetwork("\(MulticastError.noDescriptors)"))
        }
    }

    @Test func `a revocation replaces the secret of those who stay`() async throws {
        let nodes = try (0..<3).map { _ in try household.makeNode(isNear: true) }
        let (owner, friend, thief) = (nodes[0], nodes[1], nodes[2])
        let network = try owner.createNetwork(name: "Home")
        for node in [friend, thief] { try await admit(node, to: network, by: owner) }
        let (atOwner, atFriend) = (owner.eventStream, friend.eventStream)
        try await run(nodes) {
            var missing: Set = [friend.peerId, thief.peerId]
            _ = try await atOwner.first { event in
                if let peer = joined(event) { missing.remove(peer) }
                return missing.isEmpty
            }
            let first = try #require(try owner.memberSecrets(of: network.networkId)).newest
            try owner.revoke(thief.peerId, in: network.networkId)
            let second = try #require(try owner.memberSecrets(of: network.networkId)).newest
            #expect(second != first && second.verify())
            _ = try await atFriend.first { $0 == .revoked(thief.peerId, network.networkId) }
            try await owner.settle(in: network.networkId)
            #expect(owner.connectedPeers() == [friend.peerId])
        }
        let kept = try #require(try friend.memberSecrets(of: network.networkId))
        #expect(try kept.newest == owner.memberSecrets(of: network.networkId)?.newest)
        #expect(try thief.memberSecrets(of: network.networkId)?.newest != kept.newest)
    }

    /// An owner that was restored on a new device from its root key and the text of its network.
    private func restore(_ network: NetworkMetadata, of owner: RunarNode) throws -> RunarNode {
        let keys = InMemoryKeyStorage()
        try keys.store(owner.recoveryPhrase().masterKey.secret, id: KeyId.root.rawValue)
        let restored = try household.makeNode(keys: keys, isNear: true)
        let text = try NetworkMetadata.fromQRString(network.qrString)
        try restored.addNetwork(text)
        #expect(try restored.restoreNetwork(text))
        return restored
    }

    @Test(arguments: [false, true])
    func `a restored owner and its members find each other by the text of the network`(
        afterAnInvitation hasInvited: Bool
    ) async throws {
        let (owner, member) = (try household.makeNode(isNear: true), try household.makeNode(isNear: true))
        let network = try owner.createNetwork(name: "Home")
        try await admit(member, to: network, by: owner)
        let atOwner = owner.eventStream
        try await run([owner, member]) {
            _ = try await atOwner.first { joined($0) == member.peerId }
            try await owner.settle(in: network.networkId)
        }
        let secret = try #require(try member.memberSecrets(of: network.networkId)).newest
        let restored = try restore(network, of: owner)
        let tablet = PeerId(publicKey: generatePeerKey().publicKey)
        if hasInvited { _ = try restored.issueToken(for: tablet, in: network.networkId, expiration: nil) }
        try await run([restored, member]) {
            try await restored.wait { $0.connectedPeers() == [member.peerId] }
            // Answers follow the secrets that were sent before them.
            for node in [restored, member] {
                _ = try await node.dhtPut(networkId: network.networkId, key: Data("settled".utf8), value: Data())
            }
        }
        let known = try #require(try restored.memberSecrets(of: network.networkId)).newest
        #expect(try member.memberSecrets(of: network.networkId)?.newest == known)
        // After an invitation there are two secrets, perhaps of one second, and both sides take the same one.
        #expect(known == secret || hasInvited)
        #expect(try restored.store.formerRendezvous(of: network.networkId) == nil)
    }
}
