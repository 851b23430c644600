internal import Concurrency
internal import Identity
internal import Node

/// The subscriptions of a node by topic, and the events that never leave the device: those of names that are no network
/// yet, and those of the node itself.
final class LocalEvents: Sendable {
    private struct Entry: Sendable {
        let number: Int
        /// The network as it was written.
        let network: String
        var key: NetworkKey
        let pattern: TopicPath
        let pump: EventPump
        /// Subscribes to what members publish there.
        let follow: @Sendable (NetworkId) -> Subscription
        var followed: Subscription?
    }

    private struct State: Sendable {
        var names: NetworkNames
        var last = 0
        var entries: [Entry] = []
        /// The newest events of each network, oldest first.
        var past: [NetworkKey: [RunarEvent]] = [:]
        /// The newest state of each service, oldest first.
        var states: [Standing] = []
    }

    /// How a service stands.
    private struct Standing: Sendable {
        /// The network as it was written.
        let network: String
        var key: NetworkKey
        var event: RunarEvent
    }

    /// What is kept of each network for those who ask for the past.
    private static let pastLimit = 64
    /// How many services' states are kept, also of those that were removed.
    private static let stateLimit = 1024

    private let state: Locked<State>

    init(_ names: NetworkNames) {
        self.state = Locked(State(names: names))
    }

    /// Begins a subscription in the network that a name means; it ends with the result.
    ///
    /// - Throws: ``RunarError`` when two networks have the name.
    func subscribe(
        _ pattern: TopicPath,
        network: String,
        includesPast: Bool,
        pump: EventPump,
        follow: @escaping @Sendable (NetworkId) -> Subscription
    ) throws -> Subscription {
        let number = try self.state.withLock { state in
            let here = try state.names.key(network)
            if includesPast {
                let states = state.states.filter { $0.key == here }.map(\.event)
                let past = Self.isOwn(pattern) ? states : state.past[here] ?? []
                let meant = past.filter { Self.matches(pattern, $0.topic) }
                for event in meant.suffix(pump.capacity) { pump.offer(event) }
            }
            let followed = Self.isOwn(pattern) ? nil : here.networkId.map(follow)
            state.last += 1
            state.entries.append(
                Entry(
                    number: state.last,
                    network: network,
                    key: here,
                    pattern: pattern,
                    pump: pump,
                    follow: follow,
                    followed: followed
                )
            )
            return state.last
        }
        return Subscription { [weak self] in
            pump.cancel()
            self?.remove(number)
        }
    }

    private func remove(_ number: Int) {
        let entry = self.state.withLock { state -> Entry? in
            guard let index = state.entries.firstIndex(where: { $0.number == number }) else { return nil }
            return state.entries.remove(at: index)
        }
        entry?.followed?.cancel()
    }

    /// Hands an event to the subscriptions of this device in the network that a name means.
    ///
    /// - Throws: ``RunarError`` when two networks have the name.
    func publish(_ network: String, _ makeEvent: (NetworkKey) -> RunarEvent) throws {
        try self.state.withLock { state in
            let here = try state.names.key(network)
            let event = makeEvent(here)
            state.past[here, default: []].append(event)
            if state.past[here]?.count ?? 0 > Self.pastLimit { state.past[here]?.removeFirst() }
            Self.offer(event, in: here, to: state.entries)
        }
    }

    /// Hands how a service stands to the subscriptions of this device in the network that a name means; to nobody if two
    /// networks have the name, and nobody can ask for it.
    func publishState(_ topic: TopicPath, of network: String, _ makeEvent: (NetworkKey) -> RunarEvent) {
        self.state.withLock { state in
            let here = try? state.names.key(network)  // see above
            // Of a service's states only the present one is of interest, whatever the network is called now.
            state.states.removeAll {
                ($0.network == network || $0.key == here) && $0.event.topic.parent == topic.parent
            }
            guard let here else { return }
            let event = makeEvent(here)
            state.states.append(Standing(network: network, key: here, event: event))
            if state.states.count > Self.stateLimit { state.states.removeFirst() }
            Self.offer(event, in: here, to: state.entries)
        }
    }

    private static func offer(_ event: RunarEvent, in here: NetworkKey, to entries: [Entry]) {
        for entry in entries where entry.key == here && Self.matches(entry.pattern, event.topic) {
            entry.pump.offer(event)
        }
    }

    /// Learns what the names of networks mean: subscriptions follow the networks that their names have become, and what
    /// was published by those names belongs there.
    func setNames(_ names: NetworkNames) {
        let earlier = self.state.withLock { state in
            state.names = names
            Self.movePast(in: &state)
            Self.moveStates(in: &state)
            return Self.moveEntries(in: &state)
        }
        for subscription in earlier { subscription.cancel() }
    }

    private static func movePast(in state: inout State) {
        for case .named(let name) in Array(state.past.keys) {
            guard let new = try? state.names.key(name), new != .named(name) else { continue }  // ambiguous: it stays
            let past = (state.past.removeValue(forKey: .named(name)) ?? []).map { event in
                var event = event
                event.networkId = new.networkId
                return event
            }
            // What came by the name is older.
            state.past[new] = (past + (state.past[new] ?? [])).suffix(Self.pastLimit)
        }
    }

    private static func moveStates(in state: inout State) {
        for index in state.states.indices {
            guard let new = try? state.names.key(state.states[index].network) else { continue }  // ambiguous: it stays
            state.states[index].key = new
            state.states[index].event.networkId = new.networkId
        }
    }

    /// Returns what is not to be followed any more.
    private static func moveEntries(in state: inout State) -> [Subscription] {
        state.entries.indices.compactMap { index in
            let entry = state.entries[index]
            guard let new = try? state.names.key(entry.network),  // an ambiguous one stays
                new != entry.key
            else { return nil }
            state.entries[index].key = new
            state.entries[index].followed = self.isOwn(entry.pattern) ? nil : new.networkId.map(entry.follow)
            return entry.followed
        }
    }

    /// Whether topics are of the node itself, and come from this device alone: what others publish by their names is
    /// nobody's word.
    private static func isOwn(_ pattern: TopicPath) -> Bool { pattern.segments[0].hasPrefix("$") }

    /// Whether a pattern stands for a topic; a wildcard in the first place stands for no topic of the node itself.
    private static func matches(_ pattern: TopicPath, _ topic: TopicPath) -> Bool {
        guard pattern.matches(topic) else { return false }
        return !topic.segments[0].hasPrefix("$") || pattern.segments[0] == topic.segments[0]
    }
}

/// Takes events to one handler, one after another.
final class EventPump: Sendable {
    private struct State: Sendable {
        var waiting = 0
        var waitingBytes = 0
        var dropped: UInt64 = 0
        var isCancelled = false
    }

    private let state = Locked(State())
    let capacity: Int
    private let queue: AsyncStream<RunarEvent>.Continuation

    /// A pump whose task ends when it is cancelled.
    init(capacity: Int, handler: @escaping @Sendable (RunarEvent) async -> Void) {
        let (events, queue) = AsyncStream.makeStream(of: RunarEvent.self)
        self.capacity = capacity
        self.queue = queue
        Task { [weak self] in
            for await event in events {
                guard self?.take(event) == true else { return }
                await handler(event)
            }
        }
    }

    deinit {
        self.queue.finish()
    }

    /// Adds an event, or counts it as dropped when the handler is far behind.
    func offer(_ event: RunarEvent) {
        self.state.withLock { state in
            guard !state.isCancelled else { return }
            let isLight = state.waiting == 0 || event.data.count <= EventHub.byteLimit - state.waitingBytes
            guard state.waiting < self.capacity, isLight else {
                state.dropped += 1 + event.droppedBefore
                return
            }
            state.waiting += 1
            state.waitingBytes += event.data.count
            var event = event
            event.droppedBefore += state.dropped
            state.dropped = 0
            self.queue.yield(event)
        }
    }

    /// Takes no event to the handler once this returned; one that is being taken there comes to its end.
    func cancel() {
        self.state.withLock { $0.isCancelled = true }
        self.queue.finish()
    }

    private func take(_ event: RunarEvent) -> Bool {
        self.state.withLock { state in
            state.waiting -= 1
            state.waitingBytes -= event.data.count
            return !state.isCancelled
        }
    }
}
