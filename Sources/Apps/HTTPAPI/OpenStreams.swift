internal import Concurrency

/// Long-lived answers, which end together: with their server, or when the owner of the list ends them.
package final class OpenStreams: Sendable {
    private struct State {
        var ends: [UInt64: @Sendable () -> Void] = [:]
        var next: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Takes a stream up, which `end` would end.
    func enter(_ end: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.next += 1
            state.ends[state.next] = end
            return state.next
        }
    }

    func leave(_ ticket: UInt64) { state.withLock { _ = $0.ends.removeValue(forKey: ticket) } }

    /// Ends them all.
    package func endAll() {
        let ends = state.withLock { state in
            defer { state.ends = [:] }
            return Array(state.ends.values)
        }
        for end in ends { end() }
    }
}
