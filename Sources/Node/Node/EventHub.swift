internal import Concurrency
package import Identity
package import PubSub

/// Hands events to whoever subscribed to them, in order; subscriptions outlive the drivers that bring the events.
package final class EventHub: Sendable {
    /// What a subscription wants.
    package struct Wish: Sendable {
        package var network: NetworkId
        package var pattern: TopicPath
        /// Whether it also wants what is in the replay window.
        package var includesPast: Bool
        /// Takes the events of one batch, and how many were lost before it; runs on the hub's task, one at a time.
        package var deliver: @Sendable (EventBatch, TopicPath, EventLosses) -> Void

        package init(
            network: NetworkId,
            pattern: TopicPath,
            includesPast: Bool,
            deliver: @escaping @Sendable (EventBatch, TopicPath, EventLosses) -> Void
        ) {
            self.network = network
            self.pattern = pattern
            self.includesPast = includesPast
            self.deliver = deliver
        }
    }

    /// What is handed out, in the order in which it came up.
    enum Item: Sendable {
        case batch(NetworkId, EventBatch, publishedAt: Duration)
        case lost(NetworkId, EventLosses)
        /// From here on the subscription gets everything; before that, what was in the window.
        case began(Int, past: [EventBatch])
    }

    fileprivate struct Subscriber: Sendable {
        let wish: Wish
        /// When it began, by the monotonic clock.
        let since: Duration
        /// Whether its turn in the queue came.
        var isActive = false
        /// Since the last event that it got.
        var losses = EventLosses()
    }

    private struct State: Sendable {
        /// Ascending by number.
        var subscribers: [(number: Int, subscriber: Subscriber)] = []
        var last = 0
        var items: [Item] = []
        var waitingBytes = 0

        /// Counts what is lost: together with what was lost just before, so that a handler that stands still costs no
        /// memory for each event that it misses.
        mutating func note(_ losses: EventLosses, in network: NetworkId) {
            var losses = losses
            if case .lost(network, let before)? = self.items.last {
                losses += before
                self.items.removeLast()
            }
            self.items.append(.lost(network, losses))
        }
    }

    /// The bytes of events that wait for slow handlers; later ones are dropped, and told of.
    package static let byteLimit = 32 << 20

    private let state = Locked(State())
    /// Broadcast when there is something to hand out.
    private let arrivals = ConditionVariable()

    package init() {}

    /// Registers a subscription at the time `now`; `past` is what the replay window has, if it wants that.
    ///
    /// Everything that is queued afterwards reaches it.
    package func subscribe(_ wish: Wish, past: [EventBatch], now: Duration) -> Int {
        let number = self.state.withLock { state in
            state.last += 1
            state.subscribers.append((state.last, Subscriber(wish: wish, since: now)))
            state.items.append(.began(state.last, past: past))
            return state.last
        }
        self.arrivals.broadcast()
        return number
    }

    /// Ends a subscription; its handler may still be running, and is not called again.
    package func cancel(_ number: Int) {
        let ended = self.state.withLock { state in
            state.subscribers.firstIndex { $0.number == number }.map { state.subscribers.remove(at: $0) }
        }
        // Its handler may own the last reference to something that comes back here when it goes: let it go outside.
        withExtendedLifetime(ended) {}
    }

    /// How many things wait to be handed out.
    var waitingCount: Int { self.state.withLock { $0.items.count } }

    /// How many subscriptions there are.
    package var count: Int { self.state.withLock { $0.subscribers.count } }

    func offer(_ item: Item) {
        self.state.withLock { state in
            if case .lost(let network, let losses) = item { return state.note(losses, in: network) }
            guard case .batch(let network, let batch, _) = item else { return state.items.append(item) }
            guard state.subscribers.contains(where: { $0.subscriber.wish.network == network }) else { return }
            if state.waitingBytes > Self.byteLimit {
                state.note(EventLosses(dropped: UInt64(batch.count)), in: network)
            } else {
                state.waitingBytes += batch.byteCount
                state.items.append(item)
            }
        }
        self.arrivals.broadcast()
    }

    /// Hands out what comes, one at a time, until it is cancelled and nothing is left.
    func run() async {
        while true {
            let arrived = try? await self.arrivals.wait { self.takeItems() }  // nil: cancelled; the rest is handed out
            guard let items = arrived ?? self.takeItems() else { return }
            for item in items { self.handOut(item) }
        }
    }

    /// Takes the items that wait; nil if there are none.
    private func takeItems() -> [Item]? {
        self.state.withLock { state in
            defer { state.items = [] }
            return state.items.isEmpty ? nil : state.items
        }
    }

    private func handOut(_ item: Item) {
        switch item {
        case .batch(let network, let batch, let publishedAt):
            self.handOut(batch) { $0.isActive && $0.wish.network == network && $0.isDue(publishedAt) }
            self.state.withLock { $0.waitingBytes -= batch.byteCount }
        case .lost(let network, let losses):
            self.state.withLock { state in
                for index in state.subscribers.indices where state.subscribers[index].subscriber.isActive {
                    guard state.subscribers[index].subscriber.wish.network == network else { continue }
                    state.subscribers[index].subscriber.losses += losses
                }
            }
        case .began(let number, let past):
            self.state.withLock { state in
                guard let index = state.subscribers.firstIndex(where: { $0.number == number }) else { return }
                state.subscribers[index].subscriber.isActive = true
            }
            for batch in past { self.handOut(batch, to: number) }
        }
    }

    private func handOut(
        _ batch: EventBatch,
        to number: Int? = nil,
        where isWanted: (Subscriber) -> Bool = { _ in true }
    ) {
        guard let topic = try? TopicPath(batch.topic) else { return }  // a publisher's fault that harms nobody
        let matching = self.state.withLock { state in
            state.subscribers.indices.compactMap { index -> (Wish, EventLosses)? in
                let (own, subscriber) = state.subscribers[index]
                guard number == nil || number == own, isWanted(subscriber), subscriber.wish.pattern.matches(topic)
                else { return nil }
                state.subscribers[index].subscriber.losses = EventLosses()
                return (subscriber.wish, subscriber.losses)
            }
        }
        for (wish, losses) in matching { wish.deliver(batch, topic, losses) }
    }
}

extension EventHub.Subscriber {
    /// Whether the subscription wants what was published at that time.
    fileprivate func isDue(_ publishedAt: Duration) -> Bool { self.wish.includesPast || publishedAt >= self.since }
}

/// Events that a subscription did not get.
package struct EventLosses: Hashable, Sendable {
    /// Here, because its reader or handler was slow.
    package var dropped: UInt64
    /// On the way: nobody had them any more.
    package var missed: UInt64

    package init(dropped: UInt64 = 0, missed: UInt64 = 0) {
        self.dropped = dropped
        self.missed = missed
    }

    /// Adds up to the largest number: publishers say how many they sent, and one may say anything.
    package static func += (left: inout EventLosses, right: EventLosses) {
        left.dropped = UInt64.capped(left.dropped, right.dropped)
        left.missed = UInt64.capped(left.missed, right.missed)
    }
}

extension UInt64 {
    /// The sum, or the largest number where it is larger.
    fileprivate static func capped(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (sum, isTooLarge) = left.addingReportingOverflow(right)
        return isTooLarge ? .max : sum
    }
}
