internal import Concurrency

/// The progress of a node from its start to its stop.
struct Lifecycle: Sendable {
    enum Phase: Sendable {
        /// May become `draining` or `stopped`.
        case running
        /// Nothing new begins; streams that are open run to completion. May become `stopped`.
        case draining
        /// The core has closed its connections.
        case stopped
    }

    var phase = Phase.running
    /// Fulfilled when the last stream has ended; nil while no task waits for that.
    private var lastStreamEnded: Promise<Void>?

    /// Whether new work may begin.
    var isRunning: Bool {
        if case .running = phase { true } else { false }
    }

    var isStopped: Bool {
        if case .stopped = phase { true } else { false }
    }

    /// Whether a task waits for the end of the last stream.
    var awaitsLastStream: Bool { lastStreamEnded != nil }

    /// Begins to drain, and returns a promise for the end of the last stream; nil if there is nothing to wait for.
    mutating func drain(hasStreams: Bool) -> Promise<Void>? {
        guard !isStopped else { return nil }
        phase = .draining
        guard hasStreams else { return nil }
        let promise = lastStreamEnded ?? Promise()
        lastStreamEnded = promise
        return promise
    }

    /// Ends the waits for the last stream.
    mutating func noteLastStreamEnded() {
        lastStreamEnded?.fulfil(())
        lastStreamEnded = nil
    }

    /// Enters the last phase, in which no task waits for streams.
    mutating func stop() {
        phase = .stopped
        noteLastStreamEnded()
    }
}
