internal import Concurrency
internal import Essentials
internal import RunarNode

/// A service of a program in C.
final class ServiceHandle: Sendable {
    let service: RunarService
    private let owner = ServiceOwner()

    init(_ service: RunarService) {
        self.service = service
    }

    /// Makes the service one of `node`, to which it is added until ``endJoin()``.
    ///
    /// - Throws: ``RunarError`` 5003 when it is one of another node.
    func join(_ node: NodeHandle) throws(RunarError) {
        guard owner.take(node, isFree: { service.context == nil }) else {
            throw Arguments.refused("the service is on a node already: remove it there first", service.path)
        }
    }

    /// It was added, or could not be.
    func endJoin() { owner.endTaking() }

    func registerAction(_ name: String, _ target: ActionTarget) {
        service.registerRawAction(name) { [owner] request in
            guard let node = owner.node else { throw RequestHandle.noNode(request) }
            return try await RequestHandle(node).answer(request, target)
        }
    }

    func registerEvent(_ topic: String, _ target: EventTarget) {
        service.registerEvent(topic) { [owner] (event: RunarEvent) in
            owner.node?.gate.pass { target.call(event) }
        }
    }
}

/// On which node a service is; it outlives the service's handle with the service's actions.
private final class ServiceOwner: Sendable {
    private struct State: Sendable {
        var node = WeakNode(nil)
        /// Whether it is being added to the node.
        var isBeingAdded = false
    }

    private let state = Locked(State())

    var node: NodeHandle? { state.withLock { $0.node.value } }

    func take(_ node: NodeHandle, isFree: () -> Bool) -> Bool {
        state.withLock { state in
            guard state.node.value == nil || !state.isBeingAdded && isFree() else { return false }
            state = State(node: WeakNode(node), isBeingAdded: true)
            return true
        }
    }

    func endTaking() { state.withLock { $0.isBeingAdded = false } }
}

/// A request that a program in C answers, now or later.
final class RequestHandle: Sendable {
    private enum State {
        /// Becomes `waiting` or `ended`.
        case new
        /// The program was asked, or is about to be. Becomes `ended`.
        case waiting(UInt)
        case ended
    }

    private let state = Locked(State.new)
    private let outcome = Promise<Result<Data, any Error>>()
    private let node: NodeHandle

    init(_ node: NodeHandle) {
        self.node = node
    }

    static func noNode(_ request: RunarRequest) -> RunarError {
        .failure(.serviceNotRunning, message: "the service's node is gone", context: request.path)
    }

    /// Asks the program and waits for its answer.
    func answer(_ request: RunarRequest, _ target: ActionTarget) async throws -> Data {
        let parameters =
            request.parameters.isEmpty
            ? "{}" : String(decoding: try JSONEncoder().encode(request.parameters), as: UTF8.self)
        guard node.keep(self) else { throw Self.noNode(request) }
        defer { node.forget(self) }
        return try await withTaskCancellationHandler {
            let handle = Handles.requests.add(self)
            let isWanted = state.withLock { state in
                guard case .new = state else { return false }
                state = .waiting(handle)
                return true
            }
            guard isWanted else {
                Handles.requests.remove(handle)
                throw CancellationError()
            }
            target.call(handle, request, parameters: parameters)
            return try await outcome.get()
        } onCancel: {
            // At once: the program may ask within its callback whether the request is still wanted.
            abandon()
        }
    }

    /// Ends the request; false when it had ended.
    @discardableResult
    func end(_ result: Result<Data, any Error>) -> Bool {
        let handle = state.withLock { state -> UInt? in
            defer { state = .ended }
            guard case .waiting(let handle) = state else { return nil }
            return handle
        }
        guard let handle else { return false }
        Handles.requests.remove(handle)
        // Outside the lock, which the cancellation handler takes.
        return outcome.fulfil(result)
    }

    /// Ends the request because its answer is no longer awaited.
    func abandon() {
        end(.failure(CancellationError()))
    }
}
