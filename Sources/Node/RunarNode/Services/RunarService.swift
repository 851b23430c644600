internal import Concurrency
internal import Essentials
internal import Identity

/// A service with its own dispatch, as a node calls it; most services subclass ``RunarService`` instead.
public protocol RunarServiceProtocol: AnyObject, Sendable {
    /// The display name.
    var name: String { get }
    /// The path of its requests: one segment.
    var path: String { get }
    /// Its version.
    var version: String { get }
    /// The purpose of the service.
    var description: String { get }
    /// The network in which it answers, by id or name; nil for the node's default one.
    var networkId: String? { get set }

    /// Answers a request for one of its actions.
    func handleAction(_ action: String, payload: [String: RunarValue]?) async throws -> [String: RunarValue]
    /// Takes an event.
    func handleEvent(_ event: String, data: [String: RunarValue]?) async throws
}

/// A service for requests of devices: make one with actions, or subclass it, and add it to a node.
///
/// ```swift
/// final class MathService: RunarService, @unchecked Sendable {
///     init() {
///         super.init(name: "Math", path: "math", version: "1.0.0", description: "Sums")
///         registerAction("add") { (numbers: [Double]?) async throws -> Double in (numbers ?? []).reduce(0, +) }
///     }
/// }
/// ```
///
/// A service answers many requests concurrently. A lock protects its properties. A subclass with state of its own must
/// protect that as well, hence its `@unchecked Sendable`.
open class RunarService: RunarServiceProtocol, @unchecked Sendable {
    // The mutable state of this class is behind `table` and `mutex`; it is unchecked because it can be subclassed.

    /// The display name.
    public let name: String
    /// The path of its requests: one segment.
    public let path: String
    /// Its version.
    public let version: String
    /// The purpose of the service.
    public let description: String

    let table = Locked(ServiceTable())
    let mutex = ServiceMutex()
    /// The lock for registering a topic and for subscribing to the registered ones, so that each is subscribed to once.
    let following = Locked(())

    /// A service without actions; `registerAction` and its sisters give it some.
    public init(name: String, path: String, version: String, description: String) {
        self.name = name
        self.path = path
        self.version = version
        self.description = description
    }

    /// The network in which it answers, by id or name; nil for the node's default one.
    ///
    /// Set it before the service is added.
    public final var networkId: String? {
        get { table.withLock { $0.network } }
        set { table.withLock { $0.network = newValue } }
    }

    /// The encoding of answers and of events in both directions; nil for that of each request, and JSON for events.
    public final var encoding: PayloadEncoding? {
        get { table.withLock { $0.encoding } }
        set { table.withLock { $0.encoding = newValue } }
    }

    /// Ways to send requests and events by the node to which it was added last; nil while it is on none.
    public final var context: RunarContext? {
        let (nodes, network) = table.withLock { ($0.nodes, $0.network) }
        guard let node = nodes.last,
            let key = try? node.services.key(network ?? "")  // two networks have the name: it answers in none
        else { return nil }
        return RunarContext(
            path: path,
            parameters: [:],
            networkId: key.networkId,
            peer: nil,
            deadline: nil,
            metadata: [:],
            node: node,
            network: key,
            encoding: encoding ?? .json
        )
    }

    /// Called when the node starts, or when the service is added to one that runs; at most 30 seconds.
    ///
    /// A service that throws here does not run, and the node logs the reason.
    open func start() async throws {}

    /// Called when the node stops, or when the service is removed.
    open func stop() async throws {}

    /// Answers a request for one of its actions, from this process.
    ///
    /// - Throws: The error of the action's handler; ``RunarError`` 4002 when the action does not exist.
    open func handleAction(_ action: String, payload: [String: RunarValue]?) async throws -> [String: RunarValue] {
        let path = try TopicPath("\(self.path)/\(action)")
        guard let (found, parameters) = table.withLock({ $0.action(path) }) else {
            throw ServiceFailures.noAction(path.path)
        }
        guard let context else {
            throw RunarError.failure(.serviceNotRunning, message: "the service belongs to no node", context: self.path)
        }
        let request = RunarRequest(
            context: context.at(path.path, parameters: parameters, timeout: context.node.config.requestTimeout),
            payload: try payload.map { try PayloadEncoding.json.encode($0) } ?? Data(),
            encoding: .json
        )
        return try PayloadEncoding.json.decode(from: try await found.answer(request, in: .json).bytes)
    }

    /// Takes an event, from this process, as if it had been published.
    ///
    /// - Throws: The error of a handler of the topic.
    open func handleEvent(_ event: String, data: [String: RunarValue]?) async throws {
        let topic = try TopicPath(event)
        guard let context else {
            throw RunarError.failure(.serviceNotRunning, message: "the service belongs to no node", context: path)
        }
        let event = RunarEvent(
            topic: topic,
            networkId: context.networkId,
            publisher: context.node.peerId,
            publishedAt: context.node.clock.date,
            data: try data.map { try (encoding ?? .json).encode($0) } ?? Data()
        )
        for handler in table.withLock({ $0.handlers(of: topic) }) { try await handler(event) }
    }
}

/// The state of a service: the nodes that it is on, its actions and its topics.
struct ServiceTable: Sendable {
    typealias EventHandler = @Sendable (RunarEvent) async throws -> Void

    /// A node to which it was added.
    private struct Place: Sendable {
        let id: ObjectIdentifier
        weak var node: RunarNode?

        init(_ node: RunarNode) {
            id = ObjectIdentifier(node)
            self.node = node
        }
    }

    var network: String?
    var encoding: PayloadEncoding?
    private var places: [Place] = []
    /// By their names, in the order in which they were registered.
    private(set) var actions: [any ServiceAction] = []
    /// By topic, as it was registered.
    private(set) var events: [(topic: String, handler: EventHandler)] = []
    /// Why something could not be registered.
    private(set) var problems: [RunarError] = []
    private var exact: [String: any ServiceAction] = [:]
    private var patterns: [(pattern: TopicPath, action: any ServiceAction)] = []

    /// The nodes that it is on; the last one is that to which it was added last.
    ///
    /// Release them outside the lock: the last reference to a node releases its handlers, which may call back.
    var nodes: [RunarNode] { places.compactMap(\.node) }

    mutating func addNode(_ node: RunarNode) {
        removeNode(node)
        places.append(Place(node))
    }

    mutating func removeNode(_ node: RunarNode) {
        places.removeAll { $0.id == ObjectIdentifier(node) }
    }

    /// Adds an action in place of an earlier one of the same name, or returns why that cannot be.
    mutating func add(_ action: any ServiceAction, to service: String) -> RunarError? {
        do {
            let path = try TopicPath("\(service)/\(action.name)")
            guard path.network.isEmpty, path.segments.count > 1 else {
                throw RunarError.failure(.invalidPath, message: "an action's name has no colon", context: action.name)
            }
            actions.removeAll { $0.name == action.name }
            actions.append(action)
            patterns.removeAll { $0.pattern == path }
            if path.isPattern { patterns.append((path, action)) } else { exact[path.path] = action }
            return nil
        } catch {
            return note(RunarError(error))
        }
    }

    /// Adds a handler of a topic, or returns why that cannot be.
    mutating func addEvent(_ topic: String, handler: @escaping EventHandler) -> RunarError? {
        do {
            _ = try TopicPath(topic)
            events.append((topic, handler))
            return nil
        } catch {
            return note(RunarError(error))
        }
    }

    private mutating func note(_ problem: RunarError) -> RunarError {
        problems.append(problem)
        return problem
    }

    /// The action of a path, and the values of its parameters in the path.
    func action(_ path: TopicPath) -> (any ServiceAction, [String: String])? {
        if let action = exact[path.path] { return (action, [:]) }
        let plain = TopicPath.withoutNetwork(path)
        for (pattern, action) in patterns {
            if let parameters = pattern.parameters(of: plain) { return (action, parameters) }
        }
        return nil
    }

    /// The handlers of a topic that was published.
    func handlers(of topic: TopicPath) -> [EventHandler] {
        let plain = TopicPath.withoutNetwork(topic)
        return events.compactMap { event in
            guard let pattern = try? TopicPath(event.topic) else { return nil }  // it is one
            return TopicPath.withoutNetwork(pattern).matches(plain) ? event.handler : nil
        }
    }
}

extension TopicPath {
    /// Returns the path without its network, for a caller that knows the network.
    static func withoutNetwork(_ path: TopicPath) -> TopicPath {
        guard !path.network.isEmpty, let plain = try? TopicPath(path.path) else { return path }  // it was one before
        return plain
    }
}
