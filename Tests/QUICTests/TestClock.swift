internal import CQUICShim
internal import Concurrency

/// A clock for an endpoint that a test stops and turns.
final class TestClock: Sendable {
    private struct State: Sendable {
        /// A month, so that there is room to turn back.
        var ahead: UInt64 = 2_592_000_000_000_000
        var stoppedAt: UInt64?
    }

    private let state = Locked(State())

    /// The time of the clock, in nanoseconds.
    var now: UInt64 {
        let real = rq_now()
        return state.withLock { $0.stoppedAt ?? (real &+ $0.ahead) }
    }

    /// Stops the clock.
    func stop() {
        let now = now
        state.withLock { $0.stoppedAt = now }
    }

    /// Resumes the clock at the time at which it stopped.
    func goOn() {
        let real = rq_now()
        state.withLock { state in
            guard let stoppedAt = state.stoppedAt else { return }
            state.ahead = stoppedAt &- real
            state.stoppedAt = nil
        }
    }

    /// Turns the clock, forwards or back.
    func shift(milliseconds: Int64) {
        let difference = UInt64(bitPattern: milliseconds * 1_000_000)
        state.withLock { state in
            state.ahead &+= difference
            state.stoppedAt = state.stoppedAt.map { $0 &+ difference }
        }
    }
}
