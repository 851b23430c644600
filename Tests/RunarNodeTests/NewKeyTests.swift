internal import NodeStore
internal import TestSupport
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
        // The stored key is this one.
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

    /// A crash at a durable step.
    private struct Crash: Error {}

    /// The ids and networks of a device that owns `networkCount` networks and is a member of another one.
    private struct Home {
        let folder: TemporaryDirectory
        let keys = InMemoryKeyStorage()
        var networks: [NetworkId] = []

        init(networkCount: Int, memberOf owner: RunarNode) throws {
            folder = try TemporaryDirectory()
            let device = try open()
            networks = try (0..<networkCount).map { try device.createNetwork(name: "Net \($0)").networkId }
            let other = try owner.createNetwork(name: "Home").networkId
            let token = try owner.issueToken(for: device.peerId, in: other, expiration: nil)
            try device.addNetworkToken(networkId: other, token: token)
        }

        /// The node as a new process opens it.
        func open() throws -> RunarNode {
            let config = RunarNodeConfig.createTestConfig()
            config.keyStorage = keys
            config.statePath = folder.file("state.sqlite")
            return try RunarNode(config: config)
        }

        /// Starts the node, and checks that its key alone is a member of every own network.
        func check(former: Set<PeerId>) async throws {
            let device = try open()
            try await device.start()
            await device.stop()
            #expect(!former.contains(device.peerId))
            for network in try device.networks() {
                guard networks.contains(network.networkId) else {
                    #expect(network.token == nil || network.token?.peerId == device.peerId)
                    continue
                }
                #expect(network.token?.peerId == device.peerId)
                let revoked = try device.store.revocationSet(of: network.networkId)
                #expect(former.allSatisfy { revoked.contains($0) } && !revoked.contains(device.peerId))
            }
            for peer in former {
                let pools = DevicePools.directory(of: peer, in: folder.path)
                #expect(try SystemFileSystem().status(of: pools, followingLink: false) == nil)
            }
            #expect(try device.store.replacedDevices().isEmpty)
        }
    }

    /// Renews the key until the step with this number, and returns whether that was reached.
    private func renew(_ device: RunarNode, until number: Int) async throws -> Bool {
        var count = 0
        do {
            try await device.renewDevice { _ in
                count += 1
                if count == number { throw Crash() }
            }
            return false
        } catch is Crash {
            return true
        }
    }

    @Test(arguments: [false, true])
    func `a renewal that crashed at any step is completed by the next start`(
        afterAnotherRenewal isRepeated: Bool
    ) async throws {
        var step = 1
        var hasCrashed = true
        while hasCrashed {
            let home = try Home(networkCount: 2, memberOf: owner)
            let first = try home.open()
            var former: Set<PeerId> = [first.peerId]
            let pools = DevicePools.directory(of: first.peerId, in: home.folder.path)
            for path in [FilePath.directory(of: pools), pools] {
                try SystemFileSystem().makeDirectory(path, mode: 0o700)
            }
            try AtomicFile.write([1], to: FilePath.joining(pools, "pool"))
            hasCrashed = try await renew(first, until: step)
            let second = try home.open()
            if isRepeated {
                former.insert(second.peerId)
                try await second.renewDevice()
            } else if second.peerId == former.first {
                // Nothing was replaced yet.
                former = []
            }
            try await home.check(former: former)
            step += 1
        }
        #expect(step == 11)
    }

    @Test func `only the newest key is a member of twelve networks (killed after the vault was written)`() async throws
    {
        let home = try Home(networkCount: 12, memberOf: owner)
        let first = try home.open()
        let leaked = first.peerId
        #expect(try await renew(first, until: 2))
        let second = try home.open()
        let former: Set = [leaked, second.peerId]
        #expect(former.count == 2)
        try await second.renewDevice()
        try await home.check(former: former)
    }
}
