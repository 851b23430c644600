internal import Bytes
internal import Identity
internal import PubSub
internal import TestSupport
internal import Testing

@testable internal import Node

@Suite("Events for handlers") struct EventHubTests {
    @Test func `a handler that stands still costs bounded memory, however much it misses`() throws {
        var random = SeededGenerator(seed: 1)
        let (signer, network) = (FakeSigner(using: &random), FakeNetwork(using: &random))
        let batch = try #require(
            EventBatch.create(
                topic: "news",
                content: EventBatch.content(of: [[UInt8](repeating: 7, count: 250_000)]),
                count: 1,
                first: 1,
                instance: InstanceId(),
                publishedSeconds: 1_800_000_000,
                token: try network.token(for: PeerId(publicKey: signer.publicKey)),
                signer: signer
            )
        )
        let hub = EventHub()
        let pattern = try TopicPath(">")
        let wish = EventHub.Wish(network: network.id, pattern: pattern, includesPast: false) { _, _, _ in }
        _ = hub.subscribe(wish, past: [], now: .zero)
        // Nobody hands out: as if the first handler never returned.
        for _ in 0..<2_000 { hub.offer(.batch(network.id, batch, publishedAt: .seconds(1))) }
        for _ in 0..<2_000 { hub.offer(.lost(network.id, EventLosses(missed: 3))) }
        // The subscription, 32 MiB of batches, and what came after them as one.
        #expect((100...140).contains(hub.waitingCount), "\(hub.waitingCount)")
    }

    /// What an app's handler may own: it ends another subscription when it goes.
    private final class Owner: Sendable {
        private let hub: EventHub
        private let number: Int

        init(_ hub: EventHub, _ number: Int) {
            self.hub = hub
            self.number = number
        }

        deinit { self.hub.cancel(self.number) }
    }

    @Test(.timeLimit(.minutes(15)))
    func `a handler that owns another subscription ends it when it is let go of`() throws {
        var random = SeededGenerator(seed: 1)
        let (hub, network, pattern) = (EventHub(), FakeNetwork(using: &random), try TopicPath(">"))
        func subscribe(_ deliver: @escaping @Sendable (EventBatch, TopicPath, EventLosses) -> Void) -> Int {
            let wish = EventHub.Wish(network: network.id, pattern: pattern, includesPast: false, deliver: deliver)
            return hub.subscribe(wish, past: [], now: .zero)
        }
        let outer = {
            let owner = Owner(hub, subscribe { _, _, _ in })
            return subscribe { _, _, _ in withExtendedLifetime(owner) {} }
        }()
        #expect(hub.count == 2)
        hub.cancel(outer)
        #expect(hub.count == 0)
    }

    @Test func `whatever publishers say of their numbers, losses add up to the largest number at most`() throws {
        var random = SeededGenerator(seed: 1)
        let (hub, network) = (EventHub(), FakeNetwork(using: &random))
        for _ in 0..<2 { hub.offer(.lost(network.id, EventLosses(dropped: .max - 1, missed: .max - 16_385))) }
        #expect(hub.waitingCount == 1)
        var losses = EventLosses(dropped: 1, missed: .max - 7)
        losses += EventLosses(dropped: 2, missed: 7)
        #expect(losses == EventLosses(dropped: 3, missed: .max))
        losses += EventLosses(missed: 1)
        #expect(losses == EventLosses(dropped: 3, missed: .max))
    }
}
