internal import Testing

@testable internal import RunarNode

@Suite("A new key of a device") struct NewKeyTests {
    private let owner: RunarNode
    private let device: RunarNode
    private let keys = InMemoryKeyStorage()

    init() throws {
        owner = try RunarNode(config: .createTestConfig())
        let config = RunarNodeConfig.createTestConfig()
        config.keyStorage = keys
        device = try RunarNode(config: config)
    }

    @Test func `own networks stay, memberships end, and a revoked device can join again`() async throws {
        let other = try owner.createNetwork(name: "Home").networkId
        let own = try device.createNetwork(name: "Mine").networkId
        let (old, root) = (device.peerId, try keys.retrieve(id: KeyId.root.rawValue))
        try device.addNetworkToken(
            networkId: other,
            token: owner.issueToken(for: old, in: other, expiration: nil)
        )
        try owner.revoke(old, in: other)
        let new = try await device.renewDevice()
        #expect(new == device.peerId && new != old)
        #expect(try keys.retrieve(id: KeyId.root.rawValue) == root)
        let networks = try device.networks()
        #expect(networks.count == 2 && networks.first { $0.networkId == other }?.token == nil)
        let kept = try #require(networks.first { $0.networkId == own })
        #expect(kept.isOwner && kept.token?.peerId == new)
        let gone = #expect(throws: NodeError.self) {
            try device.issueToken(for: old, in: own, expiration: nil)
        }
        guard case .badToken(.revoked)? = gone else { throw gone ?? CancellationError() }
        // The owner takes the new key.
        try device.addNetworkToken(
            networkId: other,
            token: owner.issueToken(for: new, in: other, expiration: nil)
        )
        #expect(try device.networks().allSatisfy { $0.token?.peerId == new })
        #expect(try await device.keychain.getCertificateStatus() == .none)
        // What is stored is this key.
        let config = RunarNodeConfig.createTestConfig()
        config.keyStorage = keys
        #expect(try RunarNode(config: config).peerId == new)
    }

    @Test func `a running node keeps its key, and starts with the new one afterwards`() async throws {
        let old = device.peerId
        try await device.start()
        let error = await #expect(throws: RunarError.self) { try await self.device.renewDevice() }
        #expect(error?.kind == .inUse && device.peerId == old)
        await device.stop()
        let new = try await device.renewDevice()
        try await device.start()
        #expect(device.peerId == new && new != old)
        await device.stop()
    }
}
