internal import Concurrency
public import Essentials

// Registration of actions, events and topics.
extension RunarService {
    /// Adds an action that takes a value and returns one; `nil` means that nothing was sent.
    ///
    /// The name is one or more segments behind the service's path; `{name}` matches any segment, which the handler with a
    /// ``RunarContext`` finds among its parameters. An action of the same name is replaced. An invalid name is refused when
    /// the service is added; if the service is on a node already, the node logs the error.
    public final func registerAction<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ name: String,
        options: ActionOptions = ActionOptions(),
        handler: @escaping @Sendable (Input?) async throws -> Output
    ) {
        registerAction(name, options: options) { (input: Input?, _: RunarContext) in try await handler(input) }
    }

    /// Adds an action whose handler also gets the requester, and can send requests and events.
    public final func registerAction<Input: Codable & Sendable, Output: Codable & Sendable>(
        _ name: String,
        options: ActionOptions = ActionOptions(),
        handler: @escaping @Sendable (Input?, RunarContext) async throws -> Output
    ) {
        register(TypedAction(name, options, handler))
    }

    /// Adds an action that takes and returns bytes, whatever they mean.
    public final func registerRawAction(
        _ name: String,
        options: ActionOptions = ActionOptions(),
        handler: @escaping @Sendable (RunarRequest) async throws -> Data
    ) {
        register(RawAction(name: name, options: options, handler: handler))
    }

    /// Registers a handler for each event of a topic, or of many topics with `*`, `{name}` and a trailing `>`.
    ///
    /// A topic without a slash is the service's own: `added` of the service `math` is `math/added`. An event that cannot
    /// be read, and an error of the handler, is logged. A topic that is none is refused as an action's name is.
    public final func registerEvent<Input: Codable & Sendable>(
        _ topic: String,
        handler: @escaping @Sendable (Input?) async throws -> Void
    ) {
        registerEvent(topic) { [weak self] (event: RunarEvent) in
            try await handler(event.data.isEmpty ? nil : event.decode(Input?.self, from: self?.encoding ?? .json))
        }
    }

    /// Registers a handler that receives each event of a topic with its metadata.
    public final func registerEvent(
        _ topic: String,
        handler: @escaping @Sendable (RunarEvent) async throws -> Void
    ) {
        let full = topic.contains("/") || topic.contains(":") ? topic : "\(path)/\(topic)"
        let nodes = following.withLock { _ in
            let (nodes, problem) = table.withLock { table in
                let problem = table.addEvent(full, handler: handler)
                return (table.nodes, problem)
            }
            for node in nodes {
                if let problem {
                    node.report(problem, of: self)
                } else {
                    node.follow(full, for: self, handler: handler)
                }
            }
            return nodes
        }
        // Releasing the last reference to a node may call back into this service: release the nodes outside the lock.
        withExtendedLifetime(nodes) {}
    }

    func register(_ action: any ServiceAction) {
        let (before, problem) = table.withLock { table in
            let before = table
            return (before, table.add(action, to: path))
        }
        for node in before.nodes {
            if let problem { node.report(problem, of: self) } else { node.servicesChanged() }
        }
        // The objects of a replaced action may call this again when they are released: release them outside the lock.
        withExtendedLifetime(before) {}
    }
}

/// Makes a service of whatever answers by itself.
final class ForeignService: RunarService, @unchecked Sendable {
    private let service: any RunarServiceProtocol

    init(_ service: any RunarServiceProtocol) {
        self.service = service
        super.init(
            name: service.name,
            path: service.path,
            version: service.version,
            description: service.description
        )
        networkId = service.networkId
        registerRawAction(">") { [service] request in
            let action = request.path.split(separator: "/").dropFirst().joined(separator: "/")
            let payload = request.payload.isEmpty ? nil : try request.decode([String: RunarValue].self)
            return try (request.encoding ?? .json).encode(try await service.handleAction(action, payload: payload))
        }
        registerEvent("\(service.path)/>") { [service] (event: RunarEvent) in
            let data = event.data.isEmpty ? nil : try event.decode([String: RunarValue].self)
            try await service.handleEvent(event.topic.path, data: data)
        }
    }
}
