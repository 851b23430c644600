internal import Concurrency
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import RunarNode

@Suite("Invitations of a node", .timeLimit(.minutes(15))) struct InvitationTests {
    /// Runs `body` with the running nodes of a network's owner and of a joiner that is no member.
    private static func run(
        clock: NodeClock = .system(),
        _ body: @Sendable (_ network: NetworkId, _ owner: RunarNode, _ joiner: RunarNode) async throws -> Void
    ) async throws {
        let household = Household()
        let (owner, joiner) = (try household.makeNode(clock: clock), try household.makeNode())
        let metadata = try owner.createNetwork(name: "Home")
        for node in [owner, joiner] { try await node.start() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(metadata.networkId, owner, joiner))
        } catch {
            result = .failure(error)
        }
        for node in [owner, joiner] { await node.stop() }
        try result.get()
    }

    /// The next joiner that asks.
    private static func request(in events: AsyncStream<NodeEvent>) async throws -> JoinRequest {
        for await event in events {
            if case .joinRequested(let request) = event { return request }
        }
        throw CancellationError()
    }

    @Test func `one scan makes a member, with consent and equal digits on both screens`() async throws {
        try await Self.run { network, owner, joiner in
            let asked = owner.eventStream
            let invitation = try owner.invite(to: network)
            let shown = Locked<[String]>([])
            let hasShown = Promise<Void>()
            async let membership = joiner.join(by: Invitation(text: invitation.qrString)) { digits in
                // It may ask its node something.
                #expect(joiner.connectedPeers().isEmpty)
                shown.withLock { $0.append(digits) }
                hasShown.fulfil(())
            }
            let request = try await Self.request(in: asked)
            #expect(request.peer == joiner.peerId)
            #expect(request.invitation == invitation.id)
            let end = Date(timeIntervalSince1970: 4_000_000_000)
            // The answer connects the two.
            try await hasShown.wait()
            try owner.answer(request, allow: true, expiration: end, label: "phone")
            #expect(try await membership.metadata.name == "Home")
            #expect(try await membership.isConnected)
            #expect(shown.withLock { $0 } == [request.digits])
            #expect(joiner.connectedPeers(in: network) == [owner.peerId])
            let info = try #require(try joiner.networks().first)
            #expect(info.name == "Home")
            #expect(info.token?.expirationSeconds == 4_000_000_000)
            // With the rendezvous key the joiner finds the members even if the inviter disconnects now.
            #expect(info.metadata?.rendezvous != nil)
            #expect(info.metadata?.rendezvous == (try owner.networks().first?.metadata?.rendezvous))
            #expect(try owner.knownPeers().first { $0.peerId == joiner.peerId }?.label == "phone")
            let known = try await owner.getKnownPeers()
            #expect(known.map { $0.peerId } == [joiner.peerId] && known.first?.label == "phone")
            let inviter = try #require(try await joiner.getKnownPeers().first)
            #expect(inviter.peerId == owner.peerId && inviter.label == nil && inviter.networkIds == [network])
            #expect(inviter.isConnected)
            // A node that has stopped has stored everything.
            await joiner.stop()
            #expect(try await joiner.getKnownPeers().first?.addresses == owner.listenAddresses)
        }
    }

    @Test func `a member with a stale connection to its inviter joins by a new invitation`() async throws {
        let household = Household()
        let (owner, joiner) = (try household.makeNode(), try household.makeNode())
        let network = try owner.createNetwork(name: "Home").networkId
        for node in [owner, joiner] { try await node.start() }
        try await joiner.join(by: owner.invite(to: network, isPreallowed: true))
        let (before, own) = (try #require(owner.listenAddresses.first), try #require(joiner.listenAddresses.first))
        household.network.partition(before, from: own)
        await owner.stop()
        try await owner.start()
        #expect(owner.listenAddresses.first != before)
        #expect(joiner.connectedPeers(in: network) == [owner.peerId])
        let membership = try await joiner.join(by: owner.invite(to: network, isPreallowed: true))
        #expect(membership.isConnected)
        #expect(joiner.connectedPeers(in: network) == [owner.peerId])
        for node in [owner, joiner] { await node.stop() }
    }

    @Test func `a pre-approved joiner needs no consent`() async throws {
        try await Self.run { network, owner, joiner in
            try await joiner.join(by: owner.invite(to: network, isPreallowed: true))
            #expect(joiner.connectedPeers(in: network) == [owner.peerId])
        }
    }

    @Test(.aside) func `a join reports a connected inviter even after the inviter has left`() async throws {
        try await Self.run { network, owner, joiner in
            let events = owner.eventStream
            let hasLeft = DispatchSemaphore(value: 0)
            async let membership = joiner.join(by: owner.invite(to: network, isPreallowed: true)) { _ in
                hasLeft.wait()
            }
            _ = try await events.first { $0 == .peerJoined(joiner.peerId, network) }
            await owner.stop()
            hasLeft.signal()
            #expect(try await membership.isConnected)
        }
    }

    @Test func `a network's name resolves to the network as soon as a join returns`() async throws {
        let household = Household()
        let owner = try household.makeNode()
        let network = try owner.createNetwork(name: "Home").networkId
        try await owner.start()
        // The new membership is stored by two, the caller of `join` and the node, in any order.
        for round in 0..<30 {
            let joiner = try household.makeNode()
            try await joiner.start()
            let (events, queue) = AsyncStream.makeStream(of: RunarEvent.self)
            async let early = joiner.subscribe("Home:news") { queue.yield($0) }
            try await joiner.join(by: owner.invite(to: network, isPreallowed: true))
            #expect(try joiner.services.key("Home") == .known(network))
            #expect(try joiner.networks().map { $0.name } == ["Home"])
            let late = try joiner.subscribe("Home:news") { queue.yield($0) }
            let subscriptions = try await [early, late]
            try await owner.publish("Home:news", data: round)
            // Events published just before may arrive, too.
            for _ in subscriptions { _ = try await events.first { $0.data == Data("\(round)".utf8) } }
            for subscription in subscriptions { subscription.cancel() }
            await joiner.stop()
        }
        await owner.stop()
    }

    @Test func `a pre-approved joiner gets the grants of its own invitation only`() async throws {
        try await Self.run { network, owner, joiner in
            let end = Date(timeIntervalSince1970: 4_000_000_000)
            let invitation = try owner.invite(to: network, isPreallowed: true, expiration: end, label: "Guest")
            _ = try owner.invite(to: network, isPreallowed: true)
            try await joiner.join(by: invitation)
            #expect(try joiner.networks().first?.token?.expiration == end)
            #expect(try owner.knownPeers().first { $0.peerId == joiner.peerId }?.label == "Guest")
            #expect(owner.settings.preallowances.withLock { $0.count } == 1)
        }
    }

    @Test func `a declined joiner gets the reason, and its invitation is then used`() async throws {
        try await Self.run { network, owner, joiner in
            let events = owner.eventStream
            let invitation = try owner.invite(to: network)
            let joining = Task { try await joiner.join(by: invitation) }
            try owner.answer(await Self.request(in: events), allow: false)
            await #expect(throws: JoinFailure.declined) { try await joining.value }
            await #expect(throws: JoinFailure.used) { try await joiner.join(by: invitation) }
            #expect(try joiner.networks().isEmpty)
        }
    }

    @Test func `a withdrawn, a forgotten and an own invitation are refused`() async throws {
        try await Self.run { network, owner, joiner in
            let invitation = try owner.invite(to: network)
            owner.withdraw(invitation.id)
            await #expect(throws: JoinFailure.withdrawn) { try await joiner.join(by: invitation) }
            let open = try owner.invite(to: network, addresses: owner.listenAddresses)
            await owner.stop()
            try await owner.start()
            let moved = try Invitation(text: open.link).moved(to: owner.listenAddresses)
            await #expect(throws: JoinFailure.unknown) { try await joiner.join(by: moved) }
            await #expect(throws: JoinFailure.own) { try await owner.join(by: open) }
        }
    }

    @Test func `an inviter that stops while the joiner waits is reported as gone`() async throws {
        try await Self.run { network, owner, joiner in
            let events = owner.eventStream
            let joining = Task { try await joiner.join(by: owner.invite(to: network)) }
            _ = try await Self.request(in: events)
            await owner.stop()
            await #expect(throws: JoinFailure.gone) { try await joining.value }
        }
    }

    @Test func `an invitation that is expired by the inviter's clock is refused as expired`() async throws {
        let late = Locked<UInt64>(0)
        let system = NodeClock.system()
        let clock = NodeClock(
            now: {
                let now = system.now()
                return NodeTime(monotonic: now.monotonic, wallSeconds: now.wallSeconds + late.withLock { $0 })
            },
            sleep: system.sleep
        )
        try await Self.run(clock: clock) { network, owner, joiner in
            let invitation = try owner.invite(to: network)
            late.withLock { $0 = 601 }
            await #expect(throws: JoinFailure.expired) { try await joiner.join(by: invitation) }
        }
    }

    @Test func `a cancelled join ends its request and permits another`() async throws {
        try await Self.run { network, owner, joiner in
            let events = owner.eventStream
            let joining = Task { try await joiner.join(by: owner.invite(to: network)) }
            let request = try await Self.request(in: events)
            await #expect(throws: JoinFailure.underWay) { try await joiner.join(by: owner.invite(to: network)) }
            joining.cancel()
            await #expect(throws: CancellationError.self) { try await joining.value }
            _ = try await events.first { $0 == .joinRequestEnded(joiner.peerId, network, reason: .gone) }
            try owner.answer(request, allow: true)
            #expect(try joiner.networks().isEmpty)
            try await joiner.join(by: owner.invite(to: network, isPreallowed: true))
        }
    }

    @Test func `a join of a node that stops ends with it`() async throws {
        try await Self.run { network, owner, joiner in
            let events = owner.eventStream
            let joining = Task { try await joiner.join(by: owner.invite(to: network)) }
            _ = try await Self.request(in: events)
            await joiner.stop()
            await #expect(throws: NodeError.notRunning) { try await joining.value }
        }
    }
}

extension Invitation {
    /// Returns the invitation with other addresses.
    fileprivate func moved(to addresses: [SocketAddress]) throws -> Invitation {
        var binary = self.binary
        binary.replaceSubrange(89..., with: [UInt8(addresses.count)])
        for address in addresses {
            var writer = ByteWriter()
            address.write(to: &writer)
            binary += writer.bytes
        }
        return try Invitation(binary: binary)
    }
}
