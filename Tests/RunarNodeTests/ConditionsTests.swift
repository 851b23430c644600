internal import Foundation
internal import Locking
internal import Logging
internal import NodeCore
internal import Testing
internal import Transport

@testable internal import RunarNode

/// What an app tells its node of the machine.
@Suite("Sleep, memory and the end", .timeLimit(.minutes(1))) struct ConditionsTests {
    @Test func `events of an app are carried out one after the other, a stop inside its background task`() async throws
    {
        let node = try Household().makeNode()
        let steps = Locked<[String]>([])
        let task = LifecycleRunner.BackgroundTask(
            begin: { [weak node] in steps.withLock { $0.append("begin, running: \(node?.isRunning == true)") } },
            end: { [weak node] in steps.withLock { $0.append("end, running: \(node?.isRunning == true)") } }
        )
        let runner = LifecycleRunner(node: node, plan: LifecyclePlan(system: .phone), backgroundTask: task)
        try await node.start()
        for event in [LifecyclePlan.Event.enteredBackground, .willEnterForeground, .enteredBackground] {
            runner.tell(event)
        }
        runner.finish()
        await runner.run()
        #expect(!node.isRunning)
        let once = ["begin, running: true", "end, running: false"]
        #expect(steps.withLock { $0 } == once + once)
    }

    @Test func `what an app says of its machine holds over a stop and a start`() async throws {
        let node = try Household().makeNode()
        node.reduceOperations()
        node.networkUnavailable()
        try await node.start()
        #expect(node.conditions.withLock { $0.isReduced && !$0.hasNetwork })
        node.resumeOperations()
        node.networkAvailable()
        #expect(node.conditions.withLock { !$0.isReduced && $0.hasNetwork })
        #expect(await node.isResponsive())
        await node.drain()
        #expect(!node.isRunning)
        #expect(await node.isResponsive() == false)
    }

    @Test func `a memory warning empties the caches and nothing else`() async throws {
        try await Household.runConnected(members: 1) { network, owner, members in
            let key = Data("key".utf8)
            try await owner.dhtPut(networkId: network, key: key, value: Data("value".utf8))
            #expect(owner.cached([UInt8](key), in: network) != nil)
            owner.optimizeMemoryUsage()
            #expect(owner.cached([UInt8](key), in: network) != nil)
            owner.handleMemoryWarning()
            #expect(owner.cached([UInt8](key), in: network) == nil)
            #expect(try await owner.dhtGet(networkId: network, key: key) == Data("value".utf8))
            #expect(owner.connectedPeers() == [members[0].peerId])
        }
    }

    @Test func `after sleep a peer that had been given up for long answers again`() async throws {
        let household = Household()
        let hands = JumpingClock()
        let owner = try household.makeNode()
        let member = try household.makeNode(clock: hands.clock)
        let network = try owner.createNetwork(name: "Home").networkId
        try await owner.start()
        try await member.start()
        let token = try owner.issueToken(for: member.peerId, in: network, expiration: nil)
        try await member.joinNetwork(networkId: network, accessToken: token)
        try await member.connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
        let (left, joined) = (member.eventStream, member.eventStream)
        await owner.stop()
        _ = try await left.first { if case .peerLeft = $0 { true } else { false } }
        try await owner.start()
        // An hour passes while the machine sleeps; the first timer that comes is an hour late.
        hands.sleep(for: .seconds(3600))
        _ = try await joined.first { $0 == .peerJoined(owner.peerId, network) }
        await member.stop()
        await owner.stop()
    }
}

/// The clocks of this machine, of which the one for timers jumps as it does when the machine sleeps.
private struct JumpingClock: Sendable {
    private let offset = Locked(Duration.zero)

    /// Lets time pass at once, as if the machine slept; timers come when it wakes.
    func sleep(for duration: Duration) { offset.withLock { $0 += duration } }

    var clock: NodeClock {
        let system = NodeClock.system()
        return NodeClock(
            now: { [offset] in
                var now = system.now()
                now.monotonic += offset.withLock { $0 }
                return now
            },
            sleep: { [offset] deadline in
                // The system's own timer goes on by its clock; whatever has passed by ours is due when it is looked at.
                while true {
                    let left = deadline - offset.withLock { $0 } - system.now().monotonic
                    guard left > .zero else { return }
                    try await system.sleep(system.now().monotonic + min(left, .milliseconds(20)))
                }
            }
        )
    }
}

/// How long a node is away after its app is seen again.
@Suite("Resuming over QUIC", .timeLimit(.minutes(2))) struct ResumeTests {
    @Test func `a node that starts again has an answer of its peer, and says after how long`() async throws {
        let nodes = try (0..<2).map { _ in
            let config = RunarNodeConfig.createTestConfig()
            config.loggerLevel = .critical
            return try RunarNode(config: config)
        }
        let (phone, home) = (nodes[0], nodes[1])
        let network = try home.createNetwork(name: "Home").networkId
        let token = try home.issueToken(for: phone.peerId, in: network, expiration: nil)
        try phone.addNetworkToken(networkId: network, token: token)
        for node in nodes { try await node.start() }
        let inbox = home.startListening()
        try await phone.connectToPeer(peerId: home.peerId, networkId: network, address: home.address)
        let runner = LifecycleRunner(node: phone, plan: LifecyclePlan(system: .phone))
        async let work: Void = runner.run()
        var times: [Duration] = []
        for _ in 0..<5 {
            runner.tell(.enteredBackground)
            while phone.isRunning { await Task.yield() }
            let start = ContinuousClock.now
            runner.tell(.willEnterForeground)
            while !phone.isRunning { await Task.yield() }
            try await phone.sendToPeer("there again", peerId: home.peerId)
            times.append(ContinuousClock.now - start)
        }
        runner.finish()
        await work
        let sorted = times.sorted()
        print("resume: from \(sorted[0]) to \(sorted[4]), half of them within \(sorted[2])")
        #expect(times.count == 5)
        withExtendedLifetime(inbox) {}
        for node in nodes { await node.stop() }
    }
}
