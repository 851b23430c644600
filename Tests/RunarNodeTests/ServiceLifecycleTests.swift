internal import Concurrency
internal import Foundation
internal import Testing

@testable internal import RunarNode

@Suite("Services come and go", .timeLimit(.minutes(15))) struct ServiceLifecycleTests {
    /// A service that waits in `start()` for a yield to `permit`, and notes its calls.
    private final class Slow: RunarService, @unchecked Sendable {
        let calls = Locked<[String]>([])
        let begins: AsyncStream<Void>
        let permit: AsyncStream<Void>.Continuation
        private let began: AsyncStream<Void>.Continuation
        private let permits: AsyncStream<Void>
        private let afterwards: @Sendable (Slow) async throws -> Void

        init(path: String = "slow", afterwards: @escaping @Sendable (Slow) async throws -> Void = { _ in }) {
            (self.begins, self.began) = AsyncStream.makeStream(of: Void.self)
            (self.permits, self.permit) = AsyncStream.makeStream(of: Void.self)
            self.afterwards = afterwards
            super.init(name: "Slow", path: path, version: "1", description: "")
        }

        override func start() async throws {
            self.calls.withLock { $0.append("start") }
            self.began.yield()
            for await _ in self.permits { break }
            try await self.afterwards(self)
        }

        override func stop() async throws { self.calls.withLock { $0.append("stop") } }

        var noted: [String] { self.calls.withLock { $0 } }

        /// Returns once it is starting.
        func hasBegun() async { for await _ in self.begins { return } }
    }

    /// Returns the state of a service in the registry of its node.
    private func state(of path: String, on node: RunarNode) -> RunarServiceState? {
        node.serviceInfos(in: .named("test-network")).first { $0.servicePath == path }?.state
    }

    @Test func `removing a service during its start stops it`() async throws {
        let node = try Household().makeNode()
        try await node.start()
        let service = Slow()
        let adding = Task { try await node.addService(service) }
        await service.hasBegun()
        let removing = Task { try await node.removeService("slow") }
        while state(of: "slow", on: node) != nil { await Task.yield() }
        service.permit.yield()
        try await adding.value
        try await removing.value
        #expect(service.noted == ["start", "stop"])
        await node.stop()
        #expect(service.noted == ["start", "stop"])
    }

    @Test func `a service that is removed and added during its start is started again in order`()
        async throws
    {
        let node = try Household().makeNode()
        try await node.start()
        let service = Slow()
        let first = Task { try await node.addService(service) }
        await service.hasBegun()
        let removing = Task { try await node.removeService("slow") }
        while state(of: "slow", on: node) != nil { await Task.yield() }
        let second = Task { try await node.addService(service) }
        while state(of: "slow", on: node) == nil { await Task.yield() }
        service.permit.yield()
        service.permit.yield()
        for task in [first, removing, second] { try await task.value }
        #expect(service.noted == ["start", "stop", "start"])
        #expect(state(of: "slow", on: node) == .running && service.context != nil)
        await node.stop()
    }

    @Test func `a cancelled addition does not leave a service half started`() async throws {
        let node = try Household().makeNode()
        try await node.start()
        let service = Slow()
        let adding = Task { try await node.addService(service) }
        await service.hasBegun()
        adding.cancel()
        service.permit.yield()
        try await adding.value
        #expect(service.noted == ["start"] && state(of: "slow", on: node) == .running)
        await node.stop()
    }

    @Test func `a node that is stopped while its services start stops and restarts them`() async throws {
        let node = try Household().makeNode()
        let service = Slow()
        try await node.addService(service)
        let starting = Task { try await node.start() }
        await service.hasBegun()
        let stopping = Task { await node.stop() }
        service.permit.yield()
        try await starting.value
        await stopping.value
        #expect(service.noted == ["start", "stop"])
        #expect(state(of: "slow", on: node) == .stopped)
        service.permit.yield()
        try await node.start()
        #expect(service.noted == ["start", "stop", "start"])
        await node.stop()
    }

    @Test func `a service that is added while the node starts is started once`() async throws {
        for _ in 0..<20 {
            let node = try Household().makeNode()
            let service = Slow()
            service.permit.finish()
            async let started: Void = node.start()
            try await node.addService(service)
            try await started
            #expect(service.noted == ["start"])
            await node.stop()
            #expect(service.noted == ["start", "stop"])
        }
    }

    @Test func `a service may remove itself or stop its node during its start`() async throws {
        let node = try Household().makeNode()
        try await node.start()
        let leaving = Slow { _ in try await node.removeService("slow") }
        leaving.permit.finish()
        try await node.addService(leaving)
        #expect(leaving.noted == ["start", "stop"] && state(of: "slow", on: node) == nil)
        // Also one that another one brings along.
        let ending = Slow(path: "ending") { _ in await node.stop() }
        ending.permit.finish()
        let bringing = Slow { _ in try await node.addService(ending) }
        bringing.permit.finish()
        try await node.addService(bringing)
        #expect(ending.noted == ["start", "stop"] && bringing.noted == ["start", "stop"] && !node.isRunning)
    }

    @Test func `a service that fails to start reports an error and starts with the node's next start`()
        async throws
    {
        struct Broken: Error {}
        let isBroken = Locked(true)
        let node = try Household().makeNode()
        try await node.start()
        let (states, queue) = AsyncStream.makeStream(of: String.self)
        let subscription = try node.subscribe("$registry/services/slow/state/*") {
            queue.yield($0.topic.segments.last ?? "")
        }
        let service = Slow { _ in if isBroken.withLock({ $0 }) { throw Broken() } }
        service.registerAction("get") { (_: Int?) async throws -> Int in 1 }
        service.permit.finish()
        let error = await failure { try await node.addService(service) }
        #expect(error is Broken)
        #expect(state(of: "slow", on: node) == .error)
        #expect(try await states.first { _ in true } == "initialized")
        #expect(try await states.first { _ in true } == "error")
        let asked = await failure { let _: Int = try await node.request("slow/get", payload: 1) }
        #expect((asked as? RunarError)?.code == RunarError.failure(.serviceNotRunning, message: "").code)
        await node.stop()
        isBroken.withLock { $0 = false }
        try await node.start()
        let answer: Int = try await node.request("slow/get", payload: 1)
        #expect(answer == 1)
        subscription.cancel()
        await node.stop()
    }

    @Test func `an answer in flight is not cached after its key is deleted`() async throws {
        let node = try Household().makeNode()
        let (begins, began) = AsyncStream.makeStream(of: Void.self)
        let (permits, permit) = AsyncStream.makeStream(of: Void.self)
        let value = Locked("old")
        let service = RunarService(name: "Shop", path: "shop", version: "1", description: "")
        service.registerAction("price", options: .cached) { (_: Int?) async throws -> String in
            let price = value.withLock { $0 }
            began.yield()
            for await _ in permits { break }
            return price
        }
        try await node.addService(service)
        try await node.start()
        let early = Task { () -> String in try await node.request("shop/price", payload: 1) }
        _ = try await begins.first { true }
        value.withLock { $0 = "new" }
        try await node.deleteCache(service: "shop", key: "price:1")
        permit.yield()
        #expect(try await early.value == "old")
        permit.yield()
        let late: String = try await node.request("shop/price", payload: 1)
        #expect(late == "new")
        await node.stop()
    }

    @Test func `the registry describes the input and output of actions`() async throws {
        let node = try Household().makeNode()
        let service = ServiceTests.makeMath()
        let options = ActionOptions(description: "Halves", input: "a number", output: "half of it", isIdempotent: true)
        service.registerAction("halve", options: options) { (number: Double?) async throws -> Double in
            (number ?? 0) / 2
        }
        try await node.addService(service)
        try await node.start()
        let infos: [RunarServiceInfo] = try await node.request("$registry/services/list", payload: Int?.none)
        let math = try #require(infos.first { $0.servicePath == "math" })
        #expect(math.name == "Math" && math.version == "1.0.0" && math.description == "Sums")
        let halve = try #require(math.actions.first { $0.name == "halve" })
        #expect(halve.description == "Halves" && halve.input == "a number" && halve.output == "half of it")
        #expect(halve.isIdempotent && !halve.isStreaming)
        await node.stop()
    }

    @Test func `a service with its own dispatch answers requests and gets its events`() async throws {
        final class Foreign: RunarServiceProtocol, @unchecked Sendable {
            let (name, path, version, description) = ("Foreign", "foreign", "1", "")
            var networkId: String?
            let heard: AsyncStream<String>.Continuation
            init(_ heard: AsyncStream<String>.Continuation) { self.heard = heard }
            func handleAction(_ action: String, payload: [String: RunarValue]?) async throws -> [String: RunarValue] {
                ["action": .string(action), "payload": .object(payload ?? [:])]
            }
            func handleEvent(_ event: String, data: [String: RunarValue]?) async throws {
                self.heard.yield("\(event) \(data ?? [:])")
            }
        }
        let (heard, queue) = AsyncStream.makeStream(of: String.self)
        let node = try Household().makeNode()
        try await node.addService(Foreign(queue) as any RunarServiceProtocol)
        try await node.start()
        let answer: [String: RunarValue] = try await node.request("foreign/a/b", payload: ["x": 1])
        #expect(answer == ["action": "a/b", "payload": .object(["x": 1])])
        try await node.publish("foreign/added", data: ["y": 2])
        #expect(try await heard.first { _ in true }.hasPrefix("foreign/added"))
        await node.stop()
    }

    @Test func `a running service's registrations apply at once, and malformed ones are ignored`() async throws {
        let (heard, queue) = AsyncStream.makeStream(of: String.self)
        let node = try Household().makeNode()
        let service = RunarService(name: "Late", path: "late", version: "1", description: "")
        try await node.addService(service)
        try await node.start()
        service.registerEvent("added") { (event: RunarEvent) in queue.yield(event.topic.path) }
        service.registerEvent("a/>/b") { (_: RunarEvent) in queue.yield("malformed") }
        service.registerAction("twice") { (number: Int?) async throws -> Int in 2 * (number ?? 0) }
        service.registerAction("a/>/b") { (_: Int?) async throws -> Int in 0 }
        try await node.publish("late/added", data: ["x": 1])
        #expect(try await heard.first { _ in true } == "late/added")
        #expect(try await node.request("late/twice", payload: 21) == 42)
        try await node.removeService("late")
        try await node.publish("late/added", data: ["x": 2])
        await #expect(throws: RunarError.self) { try await node.addService(service) }
        await node.stop()
        queue.finish()
        for await topic in heard { Issue.record("heard \(topic)") }
    }

    @Test func `a service on two nodes registers on both, and one of them can remove it`() async throws {
        let household = Household()
        let nodes = [try household.makeNode(), try household.makeNode()]
        let service = RunarService(name: "Shared", path: "shared", version: "1", description: "")
        let (heard, queue) = AsyncStream.makeStream(of: PeerId.self)
        for node in nodes {
            try await node.addService(service)
            try await node.start()
        }
        service.registerEvent("news") { (event: RunarEvent) in queue.yield(event.publisher) }
        service.registerAction("twice") { (number: Int?) async throws -> Int in 2 * (number ?? 0) }
        for node in nodes {
            try await node.publishRaw("shared/news", data: Data())
            #expect(try await heard.first { _ in true } == node.peerId)
            #expect(try await node.request("shared/twice", payload: 21) == 42)
        }
        #expect(service.context?.node === nodes[1])
        try await nodes[1].removeService("shared")
        #expect(service.context?.node === nodes[0])
        service.registerAction("thrice") { (number: Int?) async throws -> Int in 3 * (number ?? 0) }
        #expect(try await nodes[0].request("shared/thrice", payload: 14) == 42)
        for node in nodes { await node.stop() }
    }

    @Test func `a service that is removed during its addition receives no events`() async throws {
        let node = try Household().makeNode()
        try await node.start()
        let heard = Locked(0)
        for _ in 0..<300 {
            let service = RunarService(name: "Brief", path: "brief", version: "1", description: "")
            service.registerEvent("news") { (_: RunarEvent) in heard.withLock { $0 += 1 } }
            let adding = Task { try await node.addService(service) }
            while (try? await node.removeService("brief")) == nil { await Task.yield() }  // not added yet
            try await adding.value
        }
        let (news, queue) = AsyncStream.makeStream(of: RunarEvent.self)
        let subscription = try node.subscribe("brief/news") { queue.yield($0) }
        try await node.publishRaw("brief/news", data: Data())
        _ = try await news.first { _ in true }
        // Any other subscriber would have been notified before.
        for _ in 0..<1000 { await Task.yield() }
        #expect(heard.withLock { $0 } == 0)
        subscription.cancel()
        await node.stop()
    }

    @Test func `a service is released with its node despite its event handlers`() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        func make() async throws -> Weakly {
            let (system, notice) = (NodeClock.system(), EndNotice(end))
            let clock = NodeClock(now: { withExtendedLifetime(notice) { system.now() } }, sleep: system.sleep)
            let node = try Household().makeNode(clock: clock)
            let service = Listening(end)
            service.registerEvent("news") { (_: RunarEvent) in }
            try await node.addService(service)
            return Weakly(node: node, service: service)
        }
        let gone = try await make()
        for _ in ["the node", "the service"] { _ = try await ends.first { true } }
        #expect(gone.node == nil && gone.service == nil)
    }

    /// A part of an object that reports the object's end: weak references to the object are nil before its parts are
    /// released.
    private final class EndNotice: Sendable {
        private let end: AsyncStream<Void>.Continuation

        init(_ end: AsyncStream<Void>.Continuation) { self.end = end }

        deinit { end.yield() }
    }

    /// A service that reports its end.
    private final class Listening: RunarService, @unchecked Sendable {
        private let notice: EndNotice

        init(_ end: AsyncStream<Void>.Continuation) {
            notice = EndNotice(end)
            super.init(name: "Listening", path: "listening", version: "1", description: "")
        }
    }

    /// Weak references to a node and a service, nil once no other owner holds them.
    private struct Weakly {
        weak var node: RunarNode?
        weak var service: RunarService?
    }

    @Test func `a service uses its encoding for answers and events and serves its own process`() async throws {
        for encoding in PayloadEncoding.allCases {
            let (heard, queue) = AsyncStream.makeStream(of: RunarEvent.self)
            let (taken, took) = AsyncStream.makeStream(of: ServiceTests.Operands.self)
            let node = try Household().makeNode()
            let service = ServiceTests.makeMath()
            service.encoding = encoding
            service.registerAction("tell") { (sum: Double?, context: RunarContext) async throws -> Bool in
                try await context.publish("math/told", data: ServiceTests.Operands(a: sum ?? 0, b: 1))
                return true
            }
            service.registerEvent("told") { (operands: ServiceTests.Operands?) async throws in
                if let operands { took.yield(operands) }
            }
            try await node.addService(service)
            try await node.start()
            let subscription = try node.subscribe("math/told") { queue.yield($0) }
            let isTold: Bool = try await node.request("math/tell", payload: 3.0)
            #expect(isTold)
            let event = try await heard.first { _ in true }
            #expect(try event.decode(ServiceTests.Operands.self, from: encoding).a == 3)
            #expect(try await taken.first { _ in true }.a == 3)
            let bytes = try await node.requestRaw(
                "math/add",
                payload: encoding.encode(ServiceTests.Operands(a: 1, b: 2)),
                encoding: encoding
            )
            #expect(try encoding.decode(Double.self, from: bytes) == 3)
            try await service.handleEvent("math/told", data: ["a": 7, "b": 8])
            #expect(try await taken.first { _ in true }.a == 7)
            subscription.cancel()
            await node.stop()
        }
    }
}
