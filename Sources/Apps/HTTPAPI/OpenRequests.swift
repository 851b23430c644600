internal import Concurrency

/// The requests that a server answers, each until its answer was written or dropped.
final class OpenRequests: Sendable {
    /// The entry of a request, which ends with the last reference to it.
    final class Ticket: Sendable {
        private let requests: OpenRequests

        fileprivate init(_ requests: OpenRequests) {
            self.requests = requests
        }

        deinit { requests.leave() }
    }

    private struct State {
        var count = 0
        /// Fulfilled when the last request of a server that drains has ended.
        var drained: Promise<Void>?
    }

    private let state = Locked(State())

    /// Whether the server drains: each connection closes after its next answer.
    var isDraining: Bool { state.withLock { $0.drained != nil } }

    func enter() -> Ticket {
        state.withLock { $0.count += 1 }
        return Ticket(self)
    }

    /// Waits until no request is open, or until the task is cancelled.
    func drain() async {
        let drained = state.withLock { state in
            let drained = state.drained ?? Promise<Void>()
            state.drained = drained
            if state.count == 0 { drained.fulfil(()) }
            return drained
        }
        try? await drained.wait()  // the patience has ended
    }

    private func leave() {
        let drained = state.withLock { state -> Promise<Void>? in
            state.count -= 1
            return state.count == 0 ? state.drained : nil
        }
        drained?.fulfil(())
    }
}
