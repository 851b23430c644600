internal import Concurrency
internal import Foundation
internal import Testing
internal import Transport

@testable internal import RunarNode

/// Tokens are renewed by an owner's device before they end, on a clock that the test sets.
@Suite("Renewal of tokens", .timeLimit(.minutes(15))) struct RenewalTests {
    /// The wall clock of all devices, moved by hand; the monotonic one is the machine's.
    private final class Calendar: Sendable {
        let start: UInt64
        private let ahead = Locked<UInt64>(0)

        init() { start = NodeClock.system().now().wallSeconds }

        func pass(_ seconds: UInt64) { ahead.withLock { $0 += seconds } }

        var clock: NodeClock {
            let system = NodeClock.system()
            return NodeClock(
                now: {
                    var now = system.now()
                    now.wallSeconds += self.ahead.withLock { $0 }
                    return now
                },
                sleep: system.sleep
            )
        }
    }

    private let calendar = Calendar()
    private let household = Household()

    private func makeNode(_ settings: (RunarNodeConfig) -> Void = { _ in }) throws -> RunarNode {
        try household.makeNode(clock: calendar.clock, settings: settings)
    }

    /// A member whose token lasts 30 days and is 21 days old when it connects to the owner.
    private func run(
        owner: RunarNode,
        member: RunarNode,
        isRenewable: Bool = true,
        isReissued: Bool = false,
        _ body: (NetworkId, AsyncStream<NodeEvent>) async throws -> Void
    ) async throws {
        let network = try owner.createNetwork(name: "Home")
        let token = try owner.issueToken(
            for: member.peerId,
            in: network.networkId,
            expiration: Date(timeIntervalSince1970: Double(calendar.start + 30 * 86_400)),
            isRenewable: isRenewable
        )
        try await member.joinNetwork(networkId: network.networkId, accessToken: token)
        calendar.pass(21 * 86_400)
        if isReissued {
            let end = Date(timeIntervalSince1970: Double(calendar.start + 51 * 86_400))
            _ = try owner.issueToken(for: member.peerId, in: network.networkId, expiration: end)
        }
        let events = member.eventStream
        try await owner.start()
        try await member.start()
        try await member.connectToPeer(peerId: owner.peerId, networkId: network.networkId, address: owner.address)
        try await body(network.networkId, events)
        await member.stop()
        await owner.stop()
    }

    private func end(of network: NetworkId, at node: RunarNode) throws -> UInt64? {
        try node.networks().first { $0.networkId == network }?.token?.expirationSeconds
    }

    @Test func `an expired token is refused in a join, even within the grace period of others`() async throws {
        let (owner, member) = (try makeNode(), try makeNode())
        let network = try owner.createNetwork(name: "Home").networkId
        let end = calendar.start + 3600
        let expiration = Date(timeIntervalSince1970: Double(end))
        let token = try owner.issueToken(for: member.peerId, in: network, expiration: expiration)
        calendar.pass(3600 + 16)
        let error = await failure { try await member.joinNetwork(networkId: network, accessToken: token) }
        #expect(error as? NodeError == .badToken(.expired(at: end)))
        #expect(try member.networks().isEmpty)
    }

    @Test func `a token is renewed for its original lifetime and stored`() async throws {
        let (owner, member) = (try makeNode(), try makeNode())
        try await run(owner: owner, member: member) { network, events in
            let event = try await events.first { if case .tokenRenewed = $0 { true } else { false } }
            guard case .tokenRenewed(network, let end?) = event else {
                Issue.record("\(event)")
                return
            }
            #expect((50 * 86_400..<52 * 86_400).contains(end - calendar.start))
        }
        let network = try #require(try owner.networks().first?.networkId)
        let kept = try #require(try end(of: network, at: member))
        #expect((50 * 86_400..<52 * 86_400).contains(kept - calendar.start))
    }

    @Test func `an owner renews the token of a member that it banned, and stays disconnected`() async throws {
        let (owner, member) = (try makeNode(), try makeNode())
        try owner.banPeer(member.peerId)
        try await run(owner: owner, member: member) { network, events in
            _ = try await events.first { if case .tokenRenewed = $0 { true } else { false } }
            #expect(owner.connectedPeers().isEmpty)
            await #expect(throws: NodeError.banned(member.peerId)) {
                try await owner.sendToPeer("hello", peerId: member.peerId)
            }
            let kept = try #require(try end(of: network, at: member))
            #expect((50 * 86_400..<52 * 86_400).contains(kept - calendar.start))
        }
    }

    @Test(arguments: [true, false])
    func `no owner renews a final token or renews with renewals switched off`(isRenewable: Bool) async throws {
        let owner = try makeNode { $0.grantsRenewals = !isRenewable }
        let member = try makeNode()
        try await run(owner: owner, member: member, isRenewable: isRenewable) { network, _ in
            // The member asked when it was admitted; had the owner granted it, the answer would be here.
            try await member.settle(in: network)
            try await owner.settle(in: network)
            #expect(try end(of: network, at: member) == calendar.start + 30 * 86_400)
        }
    }

    @Test func `a token that was signed but never arrived does not shorten the next one`() async throws {
        let (owner, member) = (try makeNode(), try makeNode())
        try await run(owner: owner, member: member, isReissued: true) { network, events in
            let event = try await events.first { if case .tokenRenewed = $0 { true } else { false } }
            guard case .tokenRenewed(network, let end?) = event else {
                Issue.record("\(event)")
                return
            }
            #expect((50 * 86_400..<52 * 86_400).contains(end - calendar.start))
        }
    }

    @Test(arguments: [false, true])
    func `a restored owner renews only tokens that it issued itself`(isReissued: Bool) async throws {
        let (old, member) = (try makeNode(), try makeNode())
        let home = try old.createNetwork(name: "Home")
        let end = Date(timeIntervalSince1970: Double(calendar.start + 30 * 86_400))
        let token = try old.issueToken(for: member.peerId, in: home.networkId, expiration: end, isRenewable: false)
        try await member.joinNetwork(networkId: home.networkId, accessToken: token)
        let keys = InMemoryKeyStorage()
        try keys.store(try old.recoveryPhrase().masterKey.secret, id: "root")
        let owner = try household.makeNode(keys: keys, clock: calendar.clock)
        #expect(try owner.restoreNetwork(home))
        calendar.pass(21 * 86_400)
        if isReissued {
            let later = Date(timeIntervalSince1970: Double(calendar.start + 51 * 86_400))
            _ = try owner.issueToken(for: member.peerId, in: home.networkId, expiration: later)
        }
        let events = member.eventStream
        try await owner.start()
        try await member.start()
        try await member.connectToPeer(peerId: owner.peerId, networkId: home.networkId, address: owner.address)
        if isReissued {
            _ = try await events.first { if case .tokenRenewed = $0 { true } else { false } }
        } else {
            try await member.settle(in: home.networkId)
            try await owner.settle(in: home.networkId)
            #expect(try self.end(of: home.networkId, at: member) == calendar.start + 30 * 86_400)
        }
        await member.stop()
        await owner.stop()
    }

    @Test func `a member with renewal switched off sends no request`() async throws {
        let (owner, member) = (try makeNode(), try makeNode { $0.renewsTokens = false })
        try await run(owner: owner, member: member) { network, _ in
            try await member.settle(in: network)
            try await owner.settle(in: network)
            #expect(try end(of: network, at: member) == calendar.start + 30 * 86_400)
        }
    }

    @Test func `a member is warned seven days before its token expires`() async throws {
        let member = try makeNode()
        let owner = try makeNode()
        let network = try owner.createNetwork(name: "Home")
        let token = try owner.issueToken(
            for: member.peerId,
            in: network.networkId,
            expiration: Date(timeIntervalSince1970: Double(calendar.start + 30 * 86_400))
        )
        try await member.joinNetwork(networkId: network.networkId, accessToken: token)
        calendar.pass(24 * 86_400)
        let events = member.eventStream
        try await member.start()
        let event = try await events.first { if case .tokenExpiring = $0 { true } else { false } }
        guard case .tokenExpiring(network.networkId, let seconds) = event else {
            Issue.record("\(event)")
            return
        }
        #expect((5 * 86_400..<7 * 86_400).contains(seconds))
        await member.stop()
    }
}
