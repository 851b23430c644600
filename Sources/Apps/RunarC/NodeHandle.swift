internal import Circle
internal import Concurrency
internal import Dispatch
internal import Essentials
internal import RunarNode
internal import SealedMessages

/// A node for programs in C: its operations in progress, and the gate for its callbacks.
final class NodeHandle: Sendable {
    private struct State: Sendable {
        var isFreed = false
        var lastNumber: UInt64 = 0
        /// The operations in progress, by number.
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var subscriptions: [String: any ProgramSubscription] = [:]
        /// The pending requests to its services.
        var requests: [ObjectIdentifier: RequestHandle] = [:]
    }

    let node: RunarNode
    /// Everything that ends in a callback of this node passes here.
    let gate = CallbackGate()
    private let state = Locked(State())
    private let keyStoreManager = Locked<Result<KeyStoreManager, RunarError>?>(nil)
    private let circleManager = Locked<Result<CircleManager, RunarError>?>(nil)

    init(_ node: RunarNode) {
        self.node = node
    }

    /// Begins something that takes time, and returns its number; nil when the node was freed.
    ///
    /// `finish` is called exactly once, on another thread, unless nil is returned.
    func begin<Success: Sendable>(
        _ body: @escaping @Sendable (RunarNode) async throws -> Success,
        finish: @escaping @Sendable (Result<Success, RunarError>) -> Void
    ) -> UInt64? {
        state.withLock { state in
            guard !state.isFreed, gate.enter() else { return nil }
            state.lastNumber += 1
            let number = state.lastNumber
            state.tasks[number] = Task {
                let result: Result<Success, RunarError>
                do {
                    result = .success(try await body(node))
                } catch {
                    result = .failure(RunarError(error))
                }
                // Removed first, so that nothing is left to cancel when `finish` runs.
                self.state.withLock { $0.tasks[number] = nil }
                finish(result)
                gate.leave()
            }
            return number
        }
    }

    /// Gives something up that was begun.
    func cancel(_ number: UInt64) -> Bool {
        guard let task = state.withLock({ $0.tasks[number] }) else { return false }
        task.cancel()
        return true
    }

    /// Stops the node and ends everything that is under way, and waits for it, except in a callback.
    func free() {
        let (tasks, subscriptions, requests) = state.withLock { state in
            defer { state.subscriptions = [:] }
            state.isFreed = true
            gate.close()
            return (Array(state.tasks.values), Array(state.subscriptions.values), Array(state.requests.values))
        }
        for task in tasks { task.cancel() }
        for subscription in subscriptions { subscription.end() }
        for request in requests { request.abandon() }
        let stopped = DispatchGroup()
        stopped.enter()
        // Lives until the node has stopped.
        Task {
            await endCircle()
            await endKeyStores()
            await node.stop()
            stopped.leave()
        }
        guard !CallbackThread.isInside else { return }
        stopped.wait()
        gate.wait()
    }

    // MARK: - One-time keys

    /// The one-time keys of the device, which answer peers from the first call on.
    ///
    /// - Throws: ``SealedMessageError``; `KeychainError`.
    func keyStores() throws -> KeyStoreManager {
        try keyStoreManager.withLock { manager in
            if let manager { return try manager.get() }
            let made = try KeyStoreManager(node: node)
            manager = .success(made)
            return made
        }
    }

    /// Ends them; there are none afterwards.
    private func endKeyStores() async {
        let former = keyStoreManager.withLock { manager in
            defer { manager = .failure(Self.freed) }
            return manager
        }
        if case .success(let keys)? = former { await keys.end() }
    }

    private static let freed = RunarError.failure(.cancelled, message: "the node was freed")

    // MARK: - Circle

    /// Returns the circle of the node, which the first call opens.
    ///
    /// - Throws: ``CircleError``; the errors of ``keyStores()``.
    func circle() throws -> CircleManager {
        let keys = try keyStores()
        return try circleManager.withLock { manager in
            if let manager { return try manager.get() }
            let made = try CircleManager(node: node, keys: keys)
            manager = .success(made)
            return made
        }
    }

    /// Ends the circle, which no later call opens again.
    private func endCircle() async {
        let former = circleManager.withLock { manager in
            defer { manager = .failure(Self.freed) }
            return manager
        }
        if case .success(let circle)? = former { await circle.end() }
    }

    // MARK: - Subscriptions

    /// - Throws: ``RunarError``.
    func subscribe(_ topic: String, includesPast: Bool, _ target: EventTarget) throws -> String {
        let subscription = EventSubscription(target, node: self)
        subscription.follow(
            try node.subscribe(topic, includesPast: includesPast) { event in subscription.deliver(event) }
        )
        return add(subscription)
    }

    /// Subscribes to the events of the circle, which this opens.
    ///
    /// - Throws: As ``circle()``.
    func subscribe(toCircle target: CircleEventTarget) throws -> String {
        let subscription = CircleSubscription(target, node: self)
        subscription.follow(try circle())
        return add(subscription)
    }

    /// Returns the id by which ``unsubscribe(_:)`` finds the subscription.
    private func add(_ subscription: any ProgramSubscription) -> String {
        let id = UUID().uuidString
        state.withLock { $0.subscriptions[id] = subscription }
        return id
    }

    func unsubscribe(_ id: String) -> Bool {
        guard let subscription = state.withLock({ $0.subscriptions.removeValue(forKey: id) }) else { return false }
        subscription.end()
        return true
    }

    // MARK: - Requests to services

    /// Counts a request that ``forget(_:)`` ends; false when the node was freed.
    func keep(_ request: RequestHandle) -> Bool {
        state.withLock { state in
            guard !state.isFreed, gate.enter() else { return false }
            state.requests[ObjectIdentifier(request)] = request
            return true
        }
    }

    func forget(_ request: RequestHandle) {
        state.withLock { $0.requests[ObjectIdentifier(request)] = nil }
        gate.leave()
    }
}

/// A subscription of a program in C.
protocol ProgramSubscription: Sendable {
    /// Ends it, and waits for a delivery under way, except in a callback; nothing is delivered afterwards.
    func end()
}

/// A subscription of a program in C to the events of a topic.
final class EventSubscription: ProgramSubscription {
    private let target: EventTarget
    private let gate = CallbackGate()
    private let source = Locked<Subscription?>(nil)
    /// Keeps the subscription, so the other way must be weak.
    private let node: WeakNode

    init(_ target: EventTarget, node: NodeHandle) {
        self.target = target
        self.node = WeakNode(node)
    }

    func follow(_ subscription: Subscription) {
        source.withLock { $0 = subscription }
    }

    func deliver(_ event: RunarEvent) {
        node.value?.gate.pass { gate.pass { target.call(event) } }
    }

    func end() {
        gate.close()
        source.withLock { source in
            defer { source = nil }
            return source
        }?.cancel()
        gate.wait()
    }
}

/// A node that others keep.
struct WeakNode: Sendable {
    private(set) weak var value: NodeHandle?

    init(_ value: NodeHandle?) {
        self.value = value
    }
}
