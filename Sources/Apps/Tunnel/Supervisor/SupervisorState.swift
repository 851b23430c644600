/// The restarts of an engine, as a value.
///
/// An engine that ends is started again at once. If it ends or fails repeatedly before it has run for
/// ``stableDuration``, the pauses between starts double from ``firstPause`` to ``longestPause``. The number of starts is
/// not limited: the interface blocks traffic while no engine runs, and it is the user who stops the tunnel.
package struct SupervisorState: Equatable, Sendable {
    /// An event, in the order of its occurrence.
    package enum Input: Equatable, Sendable {
        case start
        case engineStarted
        /// The engine could not be started or configured.
        case startFailed
        case engineEnded
        case timeReached
        case stop
    }

    /// The action that the driver performs before the next input.
    package enum Effect: Equatable, Sendable {
        /// Start the engine and configure it; the next input is `engineStarted` or `startFailed`.
        case startEngine
        /// Wait for the end of the engine; the next input is `engineEnded`.
        case awaitEnd
        /// Wait until a monotonic time; the next input is `timeReached`.
        case wait(until: Duration)
        /// Stop the engine; the next input is `engineEnded`.
        case stopEngine
        /// Remove the network and end.
        case finish
    }

    private enum Phase: Equatable, Sendable {
        /// Can transition to `starting` or `finished`.
        case idle
        /// Can transition to `running`, `pausing` or `stopping`.
        case starting
        /// Can transition to `starting`, `pausing` or `stopping`.
        case running(since: Duration)
        /// Can transition to `starting` or `finished`.
        case pausing
        /// Can transition to `finished`.
        case stopping
        case finished
    }

    /// The pause before the second of several restarts.
    package static let firstPause: Duration = .milliseconds(50)
    /// The longest pause.
    package static let longestPause: Duration = .seconds(10)
    /// The time after which an engine counts as stable.
    package static let stableDuration: Duration = .seconds(10)

    private var phase = Phase.idle
    /// The ends and failures since the engine was stable.
    private var failures = 0
    /// The starts after the first one.
    package private(set) var restartCount = 0

    package init() {}

    /// Applies an input at a monotonic time and returns the next action.
    package mutating func handle(_ input: Input, at now: Duration) -> Effect {
        switch (phase, input) {
        case (.idle, .start):
            phase = .starting
            return .startEngine
        case (.starting, .engineStarted):
            phase = .running(since: now)
            return .awaitEnd
        case (.starting, .startFailed), (.starting, .engineEnded):
            return restart(at: now)
        case (.running(let since), .engineEnded):
            if now - since >= Self.stableDuration { failures = 0 }
            return restart(at: now)
        case (.pausing, .timeReached):
            return begin()
        case (.starting, .stop), (.running, .stop):
            phase = .stopping
            return .stopEngine
        case (.idle, .stop), (.pausing, .stop), (.stopping, .engineEnded), (.finished, _):
            phase = .finished
            return .finish
        case (.idle, _), (.starting, _), (.running, _), (.pausing, _), (.stopping, _):
            preconditionFailure("the input \(input) in the phase \(phase)")
        }
    }

    private mutating func restart(at now: Duration) -> Effect {
        failures += 1
        guard failures > 1 else { return begin() }
        phase = .pausing
        // 2^8 times the first pause is more than the longest one.
        return .wait(until: now + min(Self.firstPause * (1 << min(failures - 2, 8)), Self.longestPause))
    }

    private mutating func begin() -> Effect {
        restartCount += 1
        phase = .starting
        return .startEngine
    }
}
