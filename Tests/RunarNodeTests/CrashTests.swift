internal import Concurrency
internal import Logging
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import QUIC
@testable internal import RunarNode

/// Members that fall silent in the middle of a request, like a device that loses power: no connection is closed.
@Suite("Providers that crash", .timeLimit(.minutes(15))) struct CrashTests {
    private func ask(_ owner: RunarNode, within timeout: Duration = .seconds(3600)) async throws -> String {
        try await owner.request("Home:who/are", payload: 1, options: RequestOptions(timeout: timeout))
    }

    @Test(arguments: Household.Carrier.allCases)
    func `an idempotent request moves to another provider, and the first returns when heard`(
        over carrier: Household.Carrier
    ) async throws {
        try await Outage.run(over: carrier, isIdempotent: true) { outage, owner, members in
            let answer = try await ask(owner)
            let asked = outage.asked.withLock { $0 }
            try #require(asked.count == 2 && asked[0] != asked[1])
            #expect(answer == asked[1].base64Encoded)
            #expect(try await ask(owner) == answer)
            let silent = try #require(members.first { $0.peerId == asked[0] })
            outage.mend(silent, with: owner)
            while try await ask(owner) == answer { await Task.yield() }
        }
    }

    // Takes seconds: over sockets only the idle timeout, in real time, reveals that a device fell silent.
    @Test(arguments: Household.Carrier.allCases)
    func `any other request ends at its deadline or with the connection, without a retry`(
        over carrier: Household.Carrier
    ) async throws {
        // The time limit of the request, the idle timeout of the connection and the code of the one that ends first.
        let cases: [(Duration, Duration, Int32)] = [
            (.seconds(8), .seconds(120), 4004), (.seconds(3600), .seconds(10), 3006),
        ]
        for (timeout, patience, code) in cases {
            try await Outage.run(over: carrier, isIdempotent: false, patience: patience) { outage, owner, _ in
                let error = await failure { _ = try await ask(owner, within: timeout) }
                #expect((error as? RunarError)?.code == code, "\(String(describing: error))")
                let asked = outage.asked.withLock { $0 }
                try #require(asked.count == 1)
                // From then on it is the other one's turn.
                #expect(try await ask(owner) != asked[0].base64Encoded)
            }
        }
    }
}

/// Two members with one service, the first of which to get a request is cut off before it answers.
private struct Outage: Sendable {
    /// The members that were asked, in order.
    let asked = Locked<[PeerId]>([])
    private let household: Household
    /// The idle timeout here, instead of half a minute.
    private let patience: Duration
    /// Members on sockets that send nothing.
    private let mute = Locked<Set<PeerId>>([])

    private init(over carrier: Household.Carrier, patience: Duration) {
        var limits = InMemoryLimits()
        limits.suspicionTime = .seconds(1)
        limits.idleTimeout = patience
        self.patience = patience
        self.household = Household(carrier: carrier, network: InMemoryNetwork(seed: 3, limits: limits))
    }

    static func run(
        over carrier: Household.Carrier,
        isIdempotent: Bool,
        patience: Duration = .seconds(10),
        _ body: (Outage, _ owner: RunarNode, _ members: [RunarNode]) async throws -> Void
    ) async throws {
        let outage = Outage(over: carrier, patience: patience)
        let owner = try outage.household.makeNode()
        let members = try (0..<2).map { _ in try outage.makeMember() }
        try await Household.run(owner, members) { metadata in
            let network = metadata.networkId
            for member in members {
                try await member.connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
                let service = outage.makeService(isIdempotent: isIdempotent, askedBy: owner)
                try await RemoteServiceTests.offer(service, by: member, to: owner, in: network)
            }
            try await body(outage, owner, members)
        }
    }

    private func makeMember() throws -> RunarNode {
        guard self.household.carrier == .sockets else { return try self.household.makeNode() }
        let config = RunarNodeConfig.createTestConfig()
        config.loggerLevel = .critical
        return try RunarNode(config: config) { [mute, patience] key, settings in
            let peer = PeerId(publicKey: key.publicKey)
            var configuration = QUICConfiguration(identity: key, addresses: settings.listenAddresses)
            configuration.timers.idle = patience
            configuration.timers.keepAlive = patience / 4
            // EPERM: as if a firewall were in the way.
            configuration.seams.fault = { _, _, _ in mute.withLock { $0.contains(peer) } ? 1 : 0 }
            return try QUICEndpoint.bind(configuration)
        }
    }

    private func makeService(isIdempotent: Bool, askedBy owner: RunarNode) -> RunarService {
        let service = RunarService(name: "Who", path: "who", version: "1", description: "")
        let options = ActionOptions(isIdempotent: isIdempotent)
        service.registerAction("are", options: options) { (_: Int?, context: RunarContext) async throws -> String in
            let isFirst = self.asked.withLock { asked in
                asked.append(context.node.peerId)
                return asked.count == 1
            }
            if isFirst {
                self.cut(context.node, from: owner)
                try await suspendUntilCancelled()
            }
            return context.node.peerId.base64Encoded
        }
        return service
    }

    /// Silences a member without closing its connection: the owner no longer receives its packets.
    private func cut(_ member: RunarNode, from owner: RunarNode) {
        switch self.household.carrier {
        case .memory: self.household.network.partition(member.listenAddresses[0], from: owner.listenAddresses[0])
        case .sockets: self.mute.withLock { _ = $0.insert(member.peerId) }
        }
    }

    /// Connects a silenced member to the owner again.
    func mend(_ member: RunarNode, with owner: RunarNode) {
        switch self.household.carrier {
        case .memory: self.household.network.heal(member.listenAddresses[0], with: owner.listenAddresses[0])
        case .sockets: self.mute.withLock { _ = $0.remove(member.peerId) }
        }
    }
}
