internal import Concurrency
internal import RunarNode

/// The requests to one service that wait for the process that answers them.
final class ServedCalls: Sendable {
    private struct State {
        var ends: [Int: @Sendable () -> Void] = [:]
        var hasEnded = false
    }

    private let state = Locked(State())

    /// The failure of a request whose process has disconnected.
    static func gone(_ path: String) -> RunarError {
        .failure(.serviceNotRunning, message: "the program that offers the service has ended", context: path)
    }

    /// Adds a request, which `end` ends without an answer; false once the process has disconnected.
    func add(_ number: Int, ending end: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard !state.hasEnded else { return false }
            state.ends[number] = end
            return true
        }
    }

    func remove(_ number: Int) { state.withLock { _ = $0.ends.removeValue(forKey: number) } }

    /// Ends all requests, and refuses later ones.
    func end() {
        let ends = state.withLock { state in
            state.hasEnded = true
            defer { state.ends = [:] }
            return Array(state.ends.values)
        }
        for end in ends { end() }
    }
}
