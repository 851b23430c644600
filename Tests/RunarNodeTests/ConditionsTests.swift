internal import Concurrency
internal import Foundation
internal import Logging
internal import NodeCore
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import RunarNode

/// Events of the machine that an app reports to its node.
@Suite("Sleep, memory and the end", .timeLimit(.minutes(15))) struct ConditionsTests {
    @Test func `events of an app are applied in order, a stop inside its background task`() async throws {
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

    @Test func `a start that fails in the foreground is reported and retried with a network`() async throws {
        let binds = Locked(0)
        let network = InMemoryNetwork(seed: 1)
        let node = try RunarNode(config: RunarNodeConfig.createTestConfig()) { key, _ in
            let number = binds.withLock { count in
                count += 1
                return count
            }
            guard number != 2 else { throw KeychainError.unableToRead("the device is locked") }
            return try network.makeEndpoint(peerId: PeerId(publicKey: key.publicKey))
        }
        let failures = Locked<[String]>([])
        let runner = LifecycleRunner(node: node, plan: LifecyclePlan(system: .phone)) { error in
            failures.withLock { $0.append("\(error)") }
        }
        try await node.start()
        for event in [LifecyclePlan.Event.enteredBackground, .willEnterForeground, .memoryPressure, .networkAvailable] {
            runner.tell(event)
        }
        runner.finish()
        await runner.run()
        #expect(node.isRunning && binds.withLock { $0 } == 3)
        #expect(failures.withLock { $0 } == ["the keys could not be read: the device is locked"])
        await node.stop()
    }

    /// A node that signals when it is about to bind, and waits for a permit each time.
    private static func makeSlowNode() throws -> (RunarNode, AsyncStream<Void>, permit: AsyncStream<Void>.Continuation)
    {
        let (binds, bind) = AsyncStream.makeStream(of: Void.self)
        let (permits, permit) = AsyncStream.makeStream(of: Void.self)
        let network = InMemoryNetwork(seed: 1)
        let node = try RunarNode(config: RunarNodeConfig.createTestConfig()) { key, _ in
            bind.yield()
            for await _ in permits { break }
            return try network.makeEndpoint(peerId: PeerId(publicKey: key.publicKey))
        }
        return (node, binds, permit)
    }

    @Test func `a node that its app stops during a planned start stays stopped`() async throws {
        let (node, binds, permit) = try Self.makeSlowNode()
        let failures = Locked(0)
        let runner = LifecycleRunner(node: node, plan: LifecyclePlan(system: .phone)) { _ in
            failures.withLock { $0 += 1 }
        }
        var bindIterator = binds.makeAsyncIterator()
        permit.yield()
        try await node.start()
        _ = await bindIterator.next()
        async let ran: Void = runner.run()
        for event in [LifecyclePlan.Event.enteredBackground, .willEnterForeground] { runner.tell(event) }
        _ = await bindIterator.next()
        await node.stop()
        // The second one is for a start that must not happen.
        for _ in 0..<2 { permit.yield() }
        for event in [LifecyclePlan.Event.becameActive, .networkAvailable] { runner.tell(event) }
        runner.finish()
        await ran
        #expect(!node.isRunning && failures.withLock { $0 } == 0)
        await node.stop()
    }

    @Test func `a node that starts as the app enters the background stops and restarts later`()
        async throws
    {
        let (node, binds, permit) = try Self.makeSlowNode()
        let runner = LifecycleRunner(node: node, plan: LifecyclePlan(system: .phone))
        async let failed = failure { try await node.start() }
        var bindIterator = binds.makeAsyncIterator()
        _ = await bindIterator.next()
        async let ran: Void = runner.run()
        runner.tell(.enteredBackground)
        while node.isStarting { await Task.yield() }
        permit.yield()
        #expect(await failed as? NodeError == .notRunning)
        #expect(!node.isRunning && node.listenAddresses.isEmpty)
        runner.tell(.willEnterForeground)
        permit.yield()
        runner.finish()
        await ran
        #expect(node.isRunning)
        await node.stop()
    }

    /// A service with a `stop()` that never returns.
    private final class Endless: RunarService, @unchecked Sendable {
        let isStopping = Locked(false)

        init() { super.init(name: "Endless", path: "endless", version: "1", description: "") }

        override func stop() async throws {
            self.isStopping.withLock { $0 = true }
            // Does not even look whether it was cancelled.
            try await Task { try await suspendUntilCancelled() }.value
        }
    }

    /// A clock on which a minute passes in a second once it is fast.
    private struct AcceleratingClock {
        private let system = NodeClock.system()
        /// The time at which it became fast, by the system's clock.
        private let start = Locked<Duration?>(nil)

        var clock: NodeClock {
            NodeClock(
                now: { [system, start] in
                    // Read first, so that the time is never before it.
                    let begin = start.withLock { $0 }
                    let time = system.now()
                    guard let begin else { return time }
                    return NodeTime(monotonic: begin + (time.monotonic - begin) * 60, wallSeconds: time.wallSeconds)
                },
                sleep: { [system, start] time in
                    let begin = start.withLock { $0 }
                    try await system.sleep(begin.map { $0 + (time - $0) / 60 } ?? time)
                }
            )
        }

        func accelerate() {
            let now = system.now().monotonic
            start.withLock { $0 = now }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a background task ends in time with the node off the network, despite any service`() async throws {
        let (time, service) = (AcceleratingClock(), Endless())
        let node = try Household().makeNode(clock: time.clock)
        try await node.addService(service)
        let isRunning = Locked<Bool?>(nil)
        let task = LifecycleRunner.BackgroundTask(
            begin: {},
            end: { [weak node] in isRunning.withLock { $0 = node?.isRunning } }
        )
        let runner = LifecycleRunner(node: node, plan: LifecyclePlan(system: .phone), backgroundTask: task)
        try await node.start()
        // The node stops only services that run.
        try #require(node.services.services.map(\.state) == [.running])
        time.accelerate()
        runner.tell(.enteredBackground)
        runner.finish()
        await runner.run()
        #expect(isRunning.withLock { $0 } == false)
        // The service is stopped too, perhaps after the wait for it has ended.
        while !service.isStopping.withLock(\.self) { await Task.yield() }
        #expect(node.listenAddresses.isEmpty)
    }

    @Test func `a stop with a short time limit does not wait for a running handler`() async throws {
        try await Household.runConnected(members: 1) { network, owner, members in
            let (begins, begin) = AsyncStream.makeStream(of: Void.self)
            let (permits, permit) = AsyncStream.makeStream(of: Void.self)
            let service = RunarService(name: "Slow", path: "slow", version: "1", description: "")
            service.registerAction("go") { (_: Int?) async throws -> Bool in
                begin.yield()
                // Continues when it is cancelled.
                await Task { for await _ in permits { return } }.value
                return true
            }
            try await RemoteServiceTests.offer(service, by: owner, to: members[0], in: network)
            async let failed = failure { let _: Bool = try await members[0].request("Home:slow/go", payload: 1) }
            _ = try await begins.first { _ in true }
            await owner.stop(within: .milliseconds(100))
            #expect(!owner.isRunning && owner.listenAddresses.isEmpty)
            #expect(await failed is RunarError)
            permit.yield()
            try await owner.start()
            #expect(owner.isRunning)
        }
    }

    @Test func `the conditions that an app reports outlive a stop and a start`() async throws {
        let node = try Household().makeNode()
        node.reduceOperations()
        node.networkUnavailable()
        try await node.start()
        #expect(node.settings.conditions.withLock { $0.isReduced && !$0.hasNetwork })
        node.resumeOperations()
        node.networkAvailable()
        #expect(node.settings.conditions.withLock { !$0.isReduced && $0.hasNetwork })
        #expect(await node.isResponsive())
        await node.drain()
        #expect(!node.isRunning)
        #expect(await node.isResponsive() == false)
    }

    @Test func `a memory warning empties only the caches`() async throws {
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
}

/// The events between the return of an app and its first answer.
@Suite("Resuming", .timeLimit(.minutes(15))) struct ResumingTests {
    @Test func `a phone that returns to the foreground connects and gets an answer without a timer`() async throws {
        let time = VirtualClock()
        let clock = NodeClock(
            now: { NodeTime(monotonic: time.now.offset, wallSeconds: 1_800_000_000) },
            sleep: { deadline in try await time.sleep(until: time.now.advanced(by: deadline - time.now.offset)) }
        )
        let household = Household(network: InMemoryNetwork(seed: 3, clock: time))
        let (phone, home) = (try household.makeNode(clock: clock), try household.makeNode(clock: clock))
        try await Household.run(home, [phone]) { metadata in
            let network = metadata.networkId
            try await phone.connectToPeer(peerId: home.peerId, networkId: network, address: home.address)
            try await RemoteServiceTests.offer(ServiceTests.makeMath(), by: home, to: phone, in: network)
            let runner = LifecycleRunner(node: phone, plan: LifecyclePlan(system: .phone))
            var events = phone.eventStream.makeAsyncIterator()
            let began = time.now
            for event in [LifecyclePlan.Event.enteredBackground, .willEnterForeground] { runner.tell(event) }
            runner.finish()
            await runner.run()
            let options = RequestOptions(peer: home.peerId)
            let answer: Data = try await phone.request("Home:math/echo", payload: Data([7]), options: options)
            #expect(answer == Data([7]))
            // The clock is stopped: neither the connection nor the request waited for a timer.
            #expect(time.now == began)
            var order: [String] = []
            while order.last != "joined", let event = await events.next() {
                switch event {
                case .peerLeft: order.append("left")
                case .peerJoined: order.append("joined")
                default: continue
                }
            }
            #expect(order == ["left", "joined"])
        }
    }
}

/// The return to a peer over sockets; the time that it took is printed, and compared by a reader.
@Suite("Resuming over QUIC", .timeLimit(.minutes(15))) struct ResumeTests {
    @Test func `a node that restarts over sockets gets an answer of its peer each time`() async throws {
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
        let service = ServiceTests.makeMath()
        service.networkId = network.base64Encoded
        try await home.addService(service)
        let options = RequestOptions(peer: home.peerId)
        try await phone.connectToPeer(peerId: home.peerId, networkId: network, address: home.address)
        var times: [Duration] = []
        for _ in 0..<5 {
            await phone.stop()
            let start = ContinuousClock.now
            try await phone.start()
            let answer: Data = try await phone.request("\(network):math/echo", payload: Data([7]), options: options)
            times.append(ContinuousClock.now - start)
            #expect(answer == Data([7]))
        }
        let sorted = times.sorted()
        print("resume: from \(sorted[0]) to \(sorted[4]), half of them within \(sorted[2])")
        for node in nodes { await node.stop() }
    }
}
