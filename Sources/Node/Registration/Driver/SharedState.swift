internal import Concurrency

/// The state that the parts of an app share.
package final class SharedState: Sendable {
    private struct State: Sendable {
        var isOffline = false
        var listeners: [AsyncStream<Bool>.Continuation] = []
    }

    private let state = Locked(State())

    /// Creates the state of an app that has not missed its server.
    package init() {}

    /// Whether the app works without its identity server: with a local profile, and "Try to Reconnect".
    package var isOfflineMode: Bool {
        get { state.withLock { $0.isOffline } }
        set {
            state.withLock { state in
                guard state.isOffline != newValue else { return }
                state.isOffline = newValue
                // A reader that ended is removed with the next change.
                state.listeners.removeAll { listener in
                    if case .terminated = listener.yield(newValue) { true } else { false }
                }
            }
        }
    }

    /// The present value and each change; a slow reader gets the newest one.
    package var offlineModes: AsyncStream<Bool> {
        let (modes, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            continuation.yield(state.isOffline)
            state.listeners.append(continuation)
        }
        return modes
    }
}
