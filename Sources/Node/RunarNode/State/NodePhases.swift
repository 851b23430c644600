internal import Concurrency
internal import Node

/// The phases of a node: off the network, on it, and between.
struct NodePhases: Sendable {
    /// Whether the node is on the network.
    enum Phase: Sendable {
        /// Not on the network. May become `starting`.
        case stopped
        /// Being bound. May become `running`, or `stopped` when that fails or a stop was requested meanwhile.
        case starting(isAbandoned: Bool)
        /// On the network. May become `stopping`.
        case running(NodeDriver, Task<Void, Never>)
        /// Shutting down. Becomes `stopped`.
        case stopping(Task<Void, Never>)
    }

    private let phase = Locked(Phase.stopped)
    /// The tasks that start the node, one after another.
    private let starts = AsyncMutex()

    /// The driver while the node is on the network.
    var driver: NodeDriver? {
        if case .running(let driver, _) = phase.withLock({ $0 }) { driver } else { nil }
    }

    var isStopped: Bool {
        if case .stopped = phase.withLock({ $0 }) { true } else { false }
    }

    /// Whether a start is under way that no stop has overtaken.
    var isStarting: Bool {
        if case .starting(isAbandoned: false) = phase.withLock({ $0 }) { true } else { false }
    }

    /// Runs `body` when no start is under way.
    ///
    /// - Throws: The error of `body`; `CancellationError` when cancelled before it began.
    func withExclusiveAccess<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await starts.withLock(body)
    }

    /// Begins a start if the node is stopped; returns the phase that was found.
    func claimStart() -> Phase {
        phase.withLock { phase in
            defer { if case .stopped = phase { phase = .starting(isAbandoned: false) } }
            return phase
        }
    }

    /// Ends the caller's start with the phase that `next` makes, or with `stopped` after a stop was requested; then false.
    func endStart(with next: () -> Phase) -> Bool {
        phase.withLock { phase in
            if case .starting(isAbandoned: true) = phase {
                phase = .stopped
                return false
            }
            phase = next()
            return true
        }
    }

    /// Begins a stop, or abandons a start that is under way; returns the phase that was found.
    func beginStop() -> Phase {
        phase.withLock { phase in
            let found = phase
            if case .running(_, let task) = phase { phase = .stopping(task) }
            if case .starting = phase { phase = .starting(isAbandoned: true) }
            return found
        }
    }

    /// Notes that a driver has ended.
    func noteEnd() {
        phase.withLock { if case .stopping = $0 { $0 = .stopped } }
    }

    /// Cancels a running driver when its node is released.
    func cancel() {
        if case .running(_, let task) = phase.withLock({ $0 }) { task.cancel() }
    }
}
