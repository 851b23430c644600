internal import Concurrency
internal import Foundation
internal import Logging
internal import Transport

@testable internal import RunarNode

/// Devices on one network, in memory unless `carrier` is `sockets`.
struct Household: Sendable {
    /// The transport that connects the devices.
    enum Carrier: CaseIterable, Sendable {
        case memory
        /// QUIC on this machine.
        case sockets
    }

    var carrier = Carrier.memory
    var network = InMemoryNetwork(seed: 3)
    let localNetwork = InMemoryLocalNetwork()

    /// A device; one that `isNear` discovers the others on the local network.
    func makeNode(
        keys: any KeyStorage = InMemoryKeyStorage(),
        statePath: String? = nil,
        isNear: Bool = false,
        clock: NodeClock = .system(),
        outgoingMailLimit: Int? = nil,
        settings: (RunarNodeConfig) -> Void = { _ in }
    ) throws -> RunarNode {
        let config = RunarNodeConfig.createTestConfig()
        config.keyStorage = keys
        config.statePath = statePath
        config.loggerLevel = .critical
        config.listenerCapacity = 16
        if isNear { config.discoveryGroups = .standard }
        settings(config)
        guard carrier == .memory else { return try RunarNode(config: config, clock: clock) }
        return try RunarNode(
            config: config,
            clock: clock,
            outgoingMailLimit: outgoingMailLimit,
            localNetwork: { [localNetwork] endpoint, _ in localNetwork.makeLink(addresses: endpoint.localAddresses) }
        ) { [network] key, _ in
            try network.makeEndpoint(peerId: PeerId(publicKey: key.publicKey))
        }
    }

    /// An owner and members of its network, all running.
    static func run(
        members count: Int,
        over carrier: Carrier = .memory,
        _ body: (NetworkMetadata, _ owner: RunarNode, _ members: [RunarNode]) async throws -> Void
    ) async throws {
        let household = Household(carrier: carrier)
        let owner = try household.makeNode()
        let members = try (0..<count).map { _ in try household.makeNode() }
        try await run(owner, members) { try await body($0, owner, members) }
    }

    /// Runs `body` with an owner and members that were made before.
    static func run(
        _ owner: RunarNode,
        _ members: [RunarNode],
        _ body: (NetworkMetadata) async throws -> Void
    ) async throws {
        let metadata = try owner.createNetwork(name: "Home")
        for node in [owner] + members { try await node.start() }
        for member in members {
            let token = try owner.issueToken(for: member.peerId, in: metadata.networkId, expiration: nil)
            try await member.joinNetwork(networkId: metadata.networkId, accessToken: token)
            try member.addNetwork(metadata)
        }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(metadata))
        } catch {
            result = .failure(error)
        }
        for node in members + [owner] { await node.stop() }
        try result.get()
    }
}

extension Household {
    /// Runs `body` with an owner and members of its network, each connected to the owner.
    static func runConnected(
        members count: Int,
        over carrier: Carrier = .memory,
        _ body: (NetworkId, _ owner: RunarNode, _ members: [RunarNode]) async throws -> Void
    ) async throws {
        try await run(members: count, over: carrier) { metadata, owner, members in
            for member in members { try await member.connect(to: owner, in: metadata.networkId) }
            try await body(metadata.networkId, owner, members)
        }
    }
}

extension RunarNode {
    /// Connects to another node and returns once that node has reported the admission, too.
    func connect(to other: RunarNode, in network: NetworkId) async throws {
        let events = other.eventStream
        try await self.connectToPeer(peerId: other.peerId, networkId: network, address: other.address)
        // One of the two may have connected by itself before.
        if other.connectedPeers(in: network).contains(self.peerId) { return }
        _ = try await events.first { $0 == .peerJoined(self.peerId, network) }
    }

    /// Returns once the one other member has received everything that this node has sent so far: frames arrive in order.
    func settle(in network: NetworkId) async throws {
        let receipt = try await self.dhtPut(networkId: network, key: Data("settled".utf8), value: Data())
        guard receipt.replicas == 1 else { throw CancellationError() }
    }

    /// The record that is cached under a key.
    func cached(_ key: [UInt8], in network: NetworkId) -> Record? {
        self.tables.record(for: key, in: network, at: self.clock.now())
    }

    /// The first address at which this node listens, or an empty string.
    var address: String { self.listenAddresses.first?.description ?? "" }
}

extension NodeClock {
    /// The clocks of this machine, of which a test sets the one for timers ahead.
    static func system(ahead: Locked<Duration>) -> NodeClock {
        let system = NodeClock.system()
        return NodeClock(
            now: {
                let time = system.now()
                return NodeTime(monotonic: time.monotonic + ahead.withLock { $0 }, wallSeconds: time.wallSeconds)
            },
            sleep: { time in try await system.sleep(time - ahead.withLock { $0 }) }
        )
    }
}

extension AsyncStream {
    /// The next element that matches.
    func first(_ isMeant: (Element) -> Bool) async throws -> Element {
        for await element in self where isMeant(element) { return element }
        throw CancellationError()
    }
}

/// The error that `body` throws.
func failure(_ body: () async throws -> Void) async -> (any Error)? {
    do {
        try await body()
        return nil
    } catch {
        return error
    }
}
