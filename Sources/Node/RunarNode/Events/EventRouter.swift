internal import Concurrency
internal import Identity
internal import Node
internal import PubSub

/// Routes events to the subscriptions of this device: those that members publish, those that stay on this device because
/// their network is a name that no network has, and those about this node's own services.
///
/// A subscription keeps its network as the caller wrote it, and the key that this text means at present. So it follows a
/// network from the moment in which the network has that name, and nothing is moved. A name that two networks have matches
/// neither.
final class EventRouter: EventSink {
    /// A network as a caller names it.
    enum NetworkReference: Hashable, Sendable {
        case id(NetworkId)
        /// An id, a name, or the default network for an empty text.
        case text(String)

        /// - Throws: ``RunarError`` when two networks have the name.
        func key(in names: NetworkNames) throws(RunarError) -> NetworkKey {
            switch self {
            case .id(let id): .known(id)
            case .text(let text): try names.key(text)
            }
        }
    }

    /// The request for a subscription.
    struct Request: Sendable {
        let network: NetworkReference
        let pattern: TopicPath
        let includesPast: Bool
        let queue: SubscriptionQueue

        /// Whether the topics are those of the node itself, published by this device alone.
        var isOwn: Bool { pattern.isReserved }

        /// Whether the pattern matches a topic; a wildcard in the first place matches no topic of the node itself.
        func matches(_ topic: TopicPath) -> Bool {
            guard pattern.matches(topic) else { return false }
            return !topic.isReserved || pattern.segments[0] == topic.segments[0]
        }
    }

    private struct Entry: Sendable {
        let number: Int
        let request: Request
        /// The monotonic time of the subscription.
        let since: Duration
        /// The network that the request means at present; nil while two networks have the name.
        var key: NetworkKey?
        /// The network whose replay window was delivered last, or would have been.
        var followed: NetworkId?

        /// Whether the subscription gets events that were published at that time.
        func isDue(_ publishedAt: Duration) -> Bool { request.includesPast || publishedAt >= since }
    }

    /// The newest state of a service.
    private struct ServiceStatus: Sendable {
        /// The network as the service names it.
        let network: String
        let event: RunarEvent
    }

    private struct State: Sendable {
        var names: NetworkNames
        var lastNumber = 0
        /// Ascending by number.
        var entries: [Entry] = []
        /// The newest events that stayed on this device, oldest first.
        var local: [(network: String, event: RunarEvent)] = []
        /// Oldest first.
        var statuses: [ServiceStatus] = []
    }

    /// The events of each network that are kept for subscriptions that include the past.
    private static let pastLimit = 64
    /// The events of all networks that are kept for them.
    private static let localLimit = 1024
    /// The services whose states are kept, removed ones included.
    private static let statusLimit = 1024

    private let state: Locked<State>

    init(_ names: NetworkNames) {
        state = Locked(State(names: names))
    }

    /// The number of subscriptions.
    var count: Int { state.withLock { $0.entries.count } }

    // MARK: Subscriptions

    /// Adds a subscription at the monotonic time `now`, with the past if it asks for it; `window` returns the batches that
    /// the node keeps of a network.
    ///
    /// - Returns: the number for ``remove(_:)``.
    /// - Throws: ``RunarError`` when two networks have the name.
    func add(_ request: Request, now: Duration, window: (NetworkId) -> [EventBatch]) throws(RunarError) -> Int {
        try state.withLock { state throws(RunarError) in
            let key = try request.network.key(in: state.names)
            if request.includesPast {
                Self.offerLocalPast(of: key, to: request, in: state)
                if let id = key.networkId { Self.offer(window(id), of: id, to: request) }
            }
            state.lastNumber += 1
            state.entries.append(
                Entry(number: state.lastNumber, request: request, since: now, key: key, followed: key.networkId)
            )
            return state.lastNumber
        }
    }

    /// Removes a subscription and finishes its queue.
    func remove(_ number: Int) {
        let entry = state.withLock { state in
            state.entries.firstIndex { $0.number == number }.map { state.entries.remove(at: $0) }
        }
        // Outside the lock: the reader may own the last reference to another subscription.
        entry?.request.queue.finish()
    }

    /// Changes the names of networks; subscriptions that include the past get the window of the networks that their names
    /// mean from now on.
    func setNames(_ names: NetworkNames, window: (NetworkId) -> [EventBatch]) {
        state.withLock { state in
            state.names = names
            for index in state.entries.indices {
                let request = state.entries[index].request
                let key = try? request.network.key(in: names)  // an ambiguous name means no network
                state.entries[index].key = key
                guard let id = key?.networkId, id != state.entries[index].followed else { continue }
                state.entries[index].followed = id
                if request.includesPast { Self.offer(window(id), of: id, to: request) }
            }
        }
    }

    private static func offerLocalPast(of key: NetworkKey, to request: Request, in state: State) {
        let events: [RunarEvent] =
            if request.isOwn {
                state.statuses.filter { state.names.isMeant(key, by: $0.network) }.map(\.event)
            } else {
                state.local.filter { state.names.isMeant(key, by: $0.network) }.map(\.event)
            }
        for var event in events where request.matches(event.topic) {
            event.networkId = key.networkId
            request.queue.offer(EventDelivery(content: .local(event), topic: event.topic), arePast: true)
        }
    }

    private static func offer(_ window: [EventBatch], of network: NetworkId, to request: Request) {
        for batch in window {
            guard let topic = batch.routedTopic, request.matches(topic) else { continue }
            request.queue.offer(EventDelivery(content: .batch(batch, network), topic: topic), arePast: true)
        }
    }

    // MARK: Events

    func receive(_ batch: EventBatch, in network: NetworkId, publishedAt: Duration) {
        guard let topic = batch.routedTopic else { return }
        state.withLock { state in
            for entry in state.entries where entry.key == .known(network) {
                guard entry.isDue(publishedAt), entry.request.matches(topic) else { continue }
                entry.request.queue.offer(EventDelivery(content: .batch(batch, network), topic: topic))
            }
        }
    }

    func noteMissed(_ count: UInt64, in network: NetworkId) {
        state.withLock { state in
            for entry in state.entries where entry.key == .known(network) && !entry.request.isOwn {
                entry.request.queue.noteMissed(count)
            }
        }
    }

    /// Routes an event that stays on this device, in the network that a text means.
    ///
    /// - Throws: ``RunarError`` when two networks have the name.
    func publish(_ network: String, _ makeEvent: (NetworkKey) -> RunarEvent) throws(RunarError) {
        try state.withLock { state throws(RunarError) in
            let key = try state.names.key(network)
            let event = makeEvent(key)
            state.local.append((network, event))
            if state.local.count(where: { $0.network == network }) > Self.pastLimit,
                let oldest = state.local.firstIndex(where: { $0.network == network })
            {
                state.local.remove(at: oldest)
            }
            if state.local.count > Self.localLimit { state.local.removeFirst() }
            Self.route(event, in: key, state)
        }
    }

    /// Routes the new state of a service, in the network that a text means; a name that two networks have means none.
    func publishStatus(_ topic: TopicPath, of network: String, _ makeEvent: (NetworkKey) -> RunarEvent) {
        state.withLock { state in
            let names = state.names
            let key = try? names.key(network)  // see above
            // Only the newest state of a service is of interest, whatever its network is called now.
            state.statuses.removeAll { status in
                status.event.topic.parent == topic.parent
                    && (status.network == network || key.map { names.isMeant($0, by: status.network) } ?? false)
            }
            guard let key else { return }
            let event = makeEvent(key)
            state.statuses.append(ServiceStatus(network: network, event: event))
            if state.statuses.count > Self.statusLimit { state.statuses.removeFirst() }
            Self.route(event, in: key, state)
        }
    }

    private static func route(_ event: RunarEvent, in key: NetworkKey, _ state: State) {
        for entry in state.entries where entry.key == key && entry.request.matches(event.topic) {
            entry.request.queue.offer(EventDelivery(content: .local(event), topic: event.topic))
        }
    }

    /// Ends all subscriptions.
    func finish() {
        let entries = state.withLock { state in
            defer { state.entries = [] }
            return state.entries
        }
        for entry in entries { entry.request.queue.finish() }
    }
}

extension TopicPath {
    /// Whether it is a topic of the node itself, such as `$registry/…`.
    var isReserved: Bool { segments[0].hasPrefix("$") }
}

extension EventBatch {
    /// The topic; nil for a malformed or reserved one, to which only a member that breaks the rules publishes.
    fileprivate var routedTopic: TopicPath? {
        guard let topic = try? TopicPath(self.topic), !topic.isReserved else { return nil }  // see above
        return topic
    }
}
