internal import Concurrency
internal import Essentials
internal import Identity
internal import Node

/// A service on a node.
final class HostedService: Sendable {
    /// The state of the service on the node.
    struct Status: Sendable {
        /// `initialized` may become `running`, `error` or `stopped`; `running` may become `paused` and `stopped`.
        var state = RunarServiceState.initialized
        var startedAt: Date?
        var following = Following.pending

        /// Keeps subscriptions until the service is removed; false when it was, and they are to end with the caller's.
        mutating func follow(_ further: [Subscription]) -> Bool {
            switch following {
            case .pending: following = .active(further)
            case .active(let subscriptions): following = .active(subscriptions + further)
            case .ended: return false
            }
            return true
        }
    }

    /// The subscriptions to the topics that the service registered.
    enum Following: Sendable {
        /// It is just being added. Becomes any of the others.
        case pending
        /// By these subscriptions, and those that follow. Becomes `ended`.
        case active([Subscription])
        /// It was removed.
        case ended
    }

    let service: RunarService
    /// The network that it names, by id or name.
    let network: String
    let registeredAt: Date
    let status = Locked(Status())
    /// The latest answers of its cacheable actions.
    let answers: AnswerCache
    /// The actions that every service has.
    private let cacheActions: [any ServiceAction]

    init(_ service: RunarService, network: String, clock: NodeClock) {
        self.service = service
        let answers = AnswerCache(clock)
        self.answers = answers
        cacheActions = Self.cacheActions(
            clear: { _ in answers.clear() },
            delete: { key, _ in answers.delete(key) },
            revoke: { pattern, _ in answers.revoke(matching: pattern) }
        )
        self.network = network
        registeredAt = clock.date
    }

    var state: RunarServiceState { status.withLock { $0.state } }

    /// Runs `body` while no other task changes the state of the service; see ``ServiceMutex``.
    func withExclusiveAccess<Success: Sendable>(
        _ body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        try await service.mutex.withExclusiveAccess(body)
    }

    /// The action of a path, and the values of its parameters in the path.
    func action(_ path: TopicPath) -> (any ServiceAction, [String: String])? {
        if let found = service.table.withLock({ $0.action(path) }) { return found }
        guard path.segments.count == 3 else { return nil }
        let name = path.segments.dropFirst().joined(separator: "/")
        return cacheActions.first { $0.name == name }.map { ($0, [:]) }
    }

    /// The actions that callers can request: those of the cache only if an action is cacheable.
    var actions: [any ServiceAction] {
        let own = service.table.withLock { $0.actions }
        return own.contains { $0.options.cacheAge != nil } ? own + cacheActions : own
    }

    /// Answers in bytes, from memory where the action allows it.
    func answer(
        _ request: RunarRequest,
        _ action: any ServiceAction,
        in encoding: PayloadEncoding
    ) async throws -> EncodedAnswer {
        guard let age = action.options.cacheAge else { return try await action.answer(request, in: encoding) }
        let key = AnswerCache.key(of: request)
        if let answer = answers.answer(key, in: encoding) { return answer }
        let generation = answers.generation
        let answer = try await action.answer(request, in: encoding)
        answers.insert(answer, key, in: encoding, age: age, unlessForgottenSince: generation)
        return answer
    }

    /// Returns the description of the service.
    func info(in network: NetworkKey, providers: [PeerId] = []) -> RunarServiceInfo {
        let (state, startedAt) = status.withLock { ($0.state, $0.startedAt) }
        return RunarServiceInfo(
            networkId: network.text,
            servicePath: service.path,
            name: service.name,
            version: service.version,
            description: service.description,
            state: state,
            actions: actions.map(RunarActionInfo.init),
            registeredAt: registeredAt,
            startedAt: startedAt,
            providers: providers
        )
    }
}

extension RunarActionInfo {
    init(_ action: any ServiceAction) {
        self.init(
            name: action.name,
            description: action.options.description,
            input: action.options.input,
            output: action.options.output,
            isIdempotent: action.options.isIdempotent,
            isStreaming: action is any StreamingServiceAction
        )
    }
}

extension HostedService {
    /// The payload of an action of a cache.
    private struct CacheRequest: Codable, Sendable {
        var key: String?
        var pattern: String?
    }

    /// The actions that remove a service's cached answers: `cache/clear`, `cache/delete` with `{"key": …}`, and
    /// `cache/revoke` with `{"pattern": …}`, in which `*` matches any characters.
    static func cacheActions(
        clear: @escaping @Sendable (RunarContext) throws -> Void,
        delete: @escaping @Sendable (String, RunarContext) throws -> Void,
        revoke: @escaping @Sendable (String, RunarContext) throws -> Int
    ) -> [any ServiceAction] {
        let options = ActionOptions(isIdempotent: true)
        return [
            TypedAction<CacheRequest, [String: RunarValue]>("cache/clear", options) { _, context in
                try clear(context)
                return [:]
            },
            TypedAction<CacheRequest, [String: RunarValue]>("cache/delete", options) { request, context in
                guard let key = request?.key else { throw RunarError.invalidParameters }
                try delete(key, context)
                return [:]
            },
            TypedAction<CacheRequest, [String: RunarValue]>("cache/revoke", options) { request, context in
                guard let pattern = request?.pattern else { throw RunarError.invalidParameters }
                return ["count": .int(Int64(try revoke(pattern, context)))]
            },
        ]
    }
}
