internal import Bytes
internal import Foundation
internal import Identity
internal import PubSub
internal import TestSupport
internal import Testing

@testable internal import RunarNode

@Suite("Routing of events", .timeLimit(.minutes(15))) struct EventRouterTests {
    private let network: FakeNetwork
    private let signer: FakeSigner

    init() {
        var random = SeededGenerator(seed: 1)
        (self.signer, self.network) = (FakeSigner(using: &random), FakeNetwork(using: &random))
    }

    /// A router that has the network by the name Home, or by its id alone.
    private func makeRouter(named isNamed: Bool = true) -> EventRouter {
        EventRouter(isNamed ? self.home : NetworkNames())
    }

    private var home: NetworkNames {
        let key = generateMasterKey().publicKey
        let metadata = NetworkMetadata(networkId: self.network.id, name: "Home", adminPublicKey: key)
        return NetworkNames([
            NetworkInfo(networkId: self.network.id, metadata: metadata, isOwner: false, index: nil, token: nil)
        ])
    }

    private func batch(_ topic: String, _ events: [[UInt8]] = [[1]], first: UInt64 = 1) throws -> EventBatch {
        try #require(
            EventBatch.create(
                topic: topic,
                content: EventBatch.content(of: events),
                count: events.count,
                first: first,
                instance: InstanceId(),
                publishedSeconds: 1_800_000_000,
                token: try self.network.token(for: PeerId(publicKey: self.signer.publicKey)),
                signer: self.signer
            )
        )
    }

    private func subscribe(
        _ router: EventRouter,
        _ network: EventRouter.NetworkReference,
        _ pattern: String = ">",
        includesPast: Bool = false,
        window: [EventBatch] = []
    ) throws -> (queue: SubscriptionQueue, number: Int) {
        let queue = SubscriptionQueue()
        let request = EventRouter.Request(
            network: network,
            pattern: try TopicPath(pattern),
            includesPast: includesPast,
            queue: queue
        )
        return (queue, try router.add(request, now: .seconds(10)) { _ in window })
    }

    private func event(_ bytes: Int = 1) throws -> RunarEvent {
        RunarEvent(
            topic: try TopicPath("a"),
            networkId: nil,
            publisher: PeerId(publicKey: self.signer.publicKey),
            publishedAt: Date(timeIntervalSince1970: 0),
            data: Data(count: bytes)
        )
    }

    @Test func `a subscription by a name follows the network that gets the name`() throws {
        let router = self.makeRouter(named: false)
        let byName = try self.subscribe(router, .text("Home"))
        let byId = try self.subscribe(router, .id(self.network.id))
        router.receive(try self.batch("news"), in: self.network.id, publishedAt: .seconds(11))
        #expect((byName.queue.count, byId.queue.count) == (0, 1))
        router.setNames(self.home) { _ in [] }
        router.receive(try self.batch("news", first: 2), in: self.network.id, publishedAt: .seconds(12))
        #expect((byName.queue.count, byId.queue.count) == (1, 2))
    }

    @Test func `a subscription with the past gets the window of the network that gets its name, once`() throws {
        let router = self.makeRouter(named: false)
        let window = [try self.batch("news"), try self.batch("other")]
        let past = try self.subscribe(router, .text("Home"), "news", includesPast: true)
        let now = try self.subscribe(router, .text("Home"), "news")
        for _ in 0..<2 { router.setNames(self.home) { _ in window } }
        #expect((past.queue.count, now.queue.count) == (1, 0))
    }

    @Test func `a name that two networks have matches neither`() throws {
        var random = SeededGenerator(seed: 2)
        let other = FakeNetwork(using: &random)
        let router = self.makeRouter()
        let byName = try self.subscribe(router, .text("Home"))
        let infos = [self.network.id, other.id].map { id in
            let metadata = NetworkMetadata(networkId: id, name: "Home", adminPublicKey: generateMasterKey().publicKey)
            return NetworkInfo(networkId: id, metadata: metadata, isOwner: false, index: nil, token: nil)
        }
        router.setNames(NetworkNames(infos)) { _ in [] }
        router.receive(try self.batch("news"), in: self.network.id, publishedAt: .seconds(11))
        #expect(byName.queue.count == 0)
        #expect(throws: RunarError.self) { try self.subscribe(router, .text("Home")) }
        let event = try self.event()
        #expect(throws: RunarError.self) { try router.publish("Home") { _ in event } }
    }

    @Test func `a network that loses and regains its name gives its window once`() throws {
        let (router, window) = (self.makeRouter(named: false), [try self.batch("news")])
        let past = try self.subscribe(router, .text("Home"), includesPast: true)
        for names in [self.home, NetworkNames(), self.home] { router.setNames(names) { _ in window } }
        #expect(past.queue.count == 1)
    }

    @Test func `a member's events on topics of the node itself reach no subscription, and its losses no state`()
        async throws
    {
        let router = self.makeRouter()
        let (all, own) = (
            try self.subscribe(router, .text("Home")), try self.subscribe(router, .text("Home"), "$registry/>")
        )
        router.receive(try self.batch("$registry/a"), in: self.network.id, publishedAt: .seconds(11))
        router.noteMissed(3, in: self.network.id)
        #expect((all.queue.count, own.queue.count) == (0, 0))
        let status = RunarEvent(
            topic: try TopicPath("$registry/services/a/state/running"),
            networkId: nil,
            publisher: PeerId(publicKey: self.signer.publicKey),
            publishedAt: Date(timeIntervalSince1970: 0),
            data: Data()
        )
        router.publishStatus(status.topic, of: "Home") { _ in status }
        #expect((all.queue.count, own.queue.count) == (0, 1))
        #expect(await own.queue.next()?.losses == EventLosses())
    }

    @Test func `the end of a router ends its subscriptions`() async throws {
        let router = self.makeRouter()
        let (queue, _) = try self.subscribe(router, .id(self.network.id))
        router.finish()
        #expect(await queue.next() == nil)
        #expect(router.count == 0)
    }

    @Test func `events from before a subscription are routed only if it includes the past`() throws {
        let router = self.makeRouter()
        let (now, past) = (
            try self.subscribe(router, .id(self.network.id)),
            try self.subscribe(router, .id(self.network.id), includesPast: true)
        )
        router.receive(try self.batch("news"), in: self.network.id, publishedAt: .seconds(9))
        #expect((now.queue.count, past.queue.count) == (0, 1))
    }

    @Test func `a removed subscription gets nothing more and its queue is empty`() async throws {
        let router = self.makeRouter()
        let (queue, number) = try self.subscribe(router, .id(self.network.id))
        router.receive(try self.batch("news"), in: self.network.id, publishedAt: .seconds(11))
        router.remove(number)
        router.receive(try self.batch("news", first: 2), in: self.network.id, publishedAt: .seconds(11))
        #expect(await queue.next() == nil)
        #expect(router.count == 0)
    }

    /// An object of an application that ends another subscription when it is released.
    private final class Owner: Sendable {
        private let router: EventRouter
        private let number: Int

        init(_ router: EventRouter, _ number: Int) {
            self.router = router
            self.number = number
        }

        deinit { self.router.remove(self.number) }
    }

    @Test func `a reader that owns another subscription ends it when it is released`() async throws {
        let router = self.makeRouter()
        let outer = try self.subscribe(router, .id(self.network.id))
        let reading = {
            let owner = Owner(router, try self.subscribe(router, .id(self.network.id)).number)
            return Task {
                while await outer.queue.next() != nil {}
                withExtendedLifetime(owner) {}
            }
        }
        let task = try reading()
        #expect(router.count == 2)
        router.remove(outer.number)
        await task.value
        while router.count > 0 { await Task.yield() }
    }

    // MARK: The queue of a subscription

    @Test func `the events that wait are bounded in bytes, and the next one says how many were dropped`() async throws {
        let queue = SubscriptionQueue()
        let delivery = EventDelivery(content: .local(try self.event(256 * 1024)), topic: try TopicPath("a"))
        // 128 of them are 32 MiB.
        for _ in 0..<200 { queue.offer(delivery) }
        #expect(queue.count == 128)
        for _ in 0..<128 { #expect(await queue.next()?.losses == EventLosses()) }
        queue.offer(delivery)
        #expect(await queue.next()?.first { _ in true }?.droppedBefore == 72)
    }

    @Test func `small events wait in any number, as long as their bytes have room`() throws {
        let queue = SubscriptionQueue()
        let batch = try self.batch("news", Array(repeating: [UInt8](repeating: 7, count: 63), count: 4_000))
        let delivery = EventDelivery(content: .batch(batch, self.network.id), topic: try TopicPath("news"))
        for _ in 0..<200 { queue.offer(delivery) }
        #expect(queue.count == SubscriptionQueue.byteLimit / (4_000 * 64) * 4_000)
    }

    @Test func `events without data are bounded as well`() throws {
        let queue = SubscriptionQueue()
        let empty = EventDelivery(content: .local(try self.event(0)), topic: try TopicPath("a"))
        for _ in 0..<70_000 { queue.offer(empty) }
        #expect(queue.count == SubscriptionQueue.byteLimit / EventDelivery.leastByteCount)
    }

    @Test func `past events always have room`() throws {
        let router = self.makeRouter()
        let window = try (0..<20).map { number in
            try self.batch("news", [[UInt8](repeating: 7, count: 200_000)], first: UInt64(number + 1))
        }
        let past = try self.subscribe(router, .id(self.network.id), includesPast: true, window: window)
        #expect(past.queue.count == 20)
    }

    @Test func `losses of a subscription add up to the largest number at most`() async throws {
        let router = self.makeRouter()
        let (queue, _) = try self.subscribe(router, .id(self.network.id))
        for _ in 0..<2 { router.noteMissed(.max - 16_385, in: self.network.id) }
        router.receive(try self.batch("news"), in: self.network.id, publishedAt: .seconds(11))
        #expect(await queue.next()?.losses == EventLosses(missed: .max))
        var losses = EventLosses(dropped: 1, missed: .max - 7)
        losses += EventLosses(dropped: 2, missed: 7)
        #expect(losses == EventLosses(dropped: 3, missed: .max))
    }

    @Test func `the events of a batch are numbered, and only the first carries the losses`() throws {
        var delivery = EventDelivery(
            content: .batch(try self.batch("news", [[1], [2], [3]], first: 5), self.network.id),
            topic: try TopicPath("news")
        )
        delivery.losses = EventLosses(dropped: 2, missed: 1)
        let events = Array(delivery)
        #expect(events.map(\.number) == [5, 6, 7])
        #expect(events.map(\.data) == [Data([1]), Data([2]), Data([3])])
        #expect(events.map(\.droppedBefore) == [2, 0, 0] && events.map(\.missedBefore) == [1, 0, 0])
    }
}
