internal import Locking

/// Wakes the tasks that wait for a change of some state, whatever lock guards that state.
///
/// Nothing is handed over with the wake-up: whoever wakes looks at the state again and takes what is there under the
/// state's own lock. So a cancelled wait cannot lose anything, and a wake-up too many does no harm.
///
/// Change the state first, then call ``raise()``. A change between a look and the following wait is not missed,
/// because the wait compares the epoch that was read before the look.
package final class Signal: Sendable {
    private struct State {
        var epoch: UInt64 = 0
        var lastTicket: UInt64 = 0
        var sleepers: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// Creates a signal that nobody waits for.
    package init() {}

    /// Counts the calls of ``raise()``.
    package var epoch: UInt64 { state.withLock { $0.epoch } }

    /// How many tasks sleep here.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Wakes everybody who waits.
    package func raise() {
        let sleepers = state.withLock { state in
            state.epoch += 1
            defer { state.sleepers.removeAll(keepingCapacity: true) }
            return Array(state.sleepers.values)
        }
        for sleeper in sleepers {
            sleeper.resume()
        }
    }

    /// Calls `attempt` until it returns a value, sleeping between the calls.
    ///
    /// - Throws: what `attempt` throws; `CancellationError` when cancelled, in which case `attempt` has not returned a value.
    package func wait<Outcome>(until attempt: () throws -> Outcome?) async throws -> Outcome {
        while true {
            try Task.checkCancellation()
            let epoch = self.epoch
            if let outcome = try attempt() { return outcome }
            await sleep(since: epoch)
        }
    }

    /// Returns once ``raise()`` was called after `epoch` was read, or the task is cancelled.
    private func sleep(since epoch: UInt64) async {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isStale = state.withLock { state in
                    if state.epoch != epoch || Task.isCancelled { return true }
                    state.sleepers[ticket] = continuation
                    return false
                }
                if isStale { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: ticket) }?.resume()
        }
    }
}
