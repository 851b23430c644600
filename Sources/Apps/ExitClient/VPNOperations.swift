internal import Concurrency

/// The operations of a connection under way: requests at the same time, and changes of the tunnel one after another.
final class VPNOperations: Sendable {
    private struct State: Sendable {
        /// The number of operations that were started.
        var number: UInt64 = 0
        var tasks: [UInt64: Task<Void, Never>] = [:]
        /// The latest change of the tunnel.
        var last: Task<Void, Never>?
        /// The number of that change; nil once it has ended.
        var lastNumber: UInt64?
        /// The number of watches that were started or ended.
        var watchNumber: UInt64 = 0
        var watch: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// The number of operations that were started; nil while one is under way.
    var idleNumber: UInt64? {
        state.withLock { $0.tasks.isEmpty && $0.lastNumber == nil ? $0.number : nil }
    }

    /// Starts an operation after the changes of the tunnel so far have ended: a request on a tunnel that is being removed
    /// would be lost.
    func start(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.number += 1
            let (number, former) = (state.number, state.last)
            state.tasks[number] = Task {
                await former?.value
                await body()
                self.state.withLock { _ = $0.tasks.removeValue(forKey: number) }
            }
        }
    }

    /// Starts a change of the tunnel after the earlier changes have ended.
    func startNext(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            let former = state.last
            state.number += 1
            let number = state.number
            state.lastNumber = number
            state.last = Task {
                await former?.value
                await body()
                self.state.withLock { if $0.lastNumber == number { $0.lastNumber = nil } }
            }
        }
    }

    /// Starts a watch in place of the former one; `body` gets its number, with which it notes what it sees.
    func watch(_ body: @escaping @Sendable (UInt64) async -> Void) {
        state.withLock { state in
            Self.endWatch(&state)
            let number = state.watchNumber
            state.watch = Task { await body(number) }
        }
    }

    /// Ends the watch.
    func endWatch() { state.withLock { Self.endWatch(&$0) } }

    /// Calls `note` for a watch, unless it was replaced or ended: a reading of its tunnel would count for a later one.
    ///
    /// - Returns: Whether `note` was called.
    func note(from watch: UInt64, _ note: () -> Void) -> Bool {
        state.withLock { state in
            guard state.watchNumber == watch else { return false }
            note()
            return true
        }
    }

    private static func endWatch(_ state: inout State) {
        state.watch?.cancel()
        state.watch = nil
        state.watchNumber += 1
    }

    /// Cancels all operations, and waits until no change of the tunnel is under way.
    func cancel() async {
        let last = state.withLock { state in
            for task in state.tasks.values { task.cancel() }
            Self.endWatch(&state)
            state.last?.cancel()
            return state.last
        }
        await last?.value
    }
}
