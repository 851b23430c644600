internal import Concurrency
internal import Identity
internal import NodeCore
internal import Transport

// Streams under way, and the time that those of requests have.
extension NodeDriver {
    /// Remembers a stream so that the end of its admission resets it; nil when the connection is gone.
    func track(
        _ stream: any Stream,
        _ network: NetworkId,
        on id: ConnectionId,
        _ request: TrackedRequest? = nil,
        in state: inout State
    ) -> Int? {
        let tracked = TrackedStream(network: network, stream: stream, request: request)
        guard let number = state.connections.beginStream(tracked, on: id) else { return nil }
        if let request { self.requestTimer.arm(request.deadline) }
        self.apply(.connection(.streamBegan(id)), to: &state)
        return number
    }

    func untrack(_ number: Int, on id: ConnectionId) {
        self.state.withLock { state in
            state.connections.endStream(number, on: id)
            self.apply(.connection(.streamEnded(id)), to: &state)
            if state.lifecycle.awaitsLastStream, state.connections.isAtRest { state.lifecycle.noteLastStreamEnded() }
            state.connections.closeDrained(id)
        }
    }

    /// Ends requests whose time is over, and probes the peers of those that others could answer.
    func reviewRequests() {
        let now = self.configuration.clock.now().monotonic
        let review = self.state.withLock { state in
            let review = state.connections.reviewRequests(at: now)
            self.requestTimer.rearm(review.nextAt)
            return review
        }
        for connection in review.silent { connection.probe() }
        for entry in review.overdue {
            guard let request = entry.request else { continue }
            request.end.end(.overdue)
            // One that was answered waits for nothing but its delivery.
            if request.isOurs || request.end.isFinished { entry.stream.reset(code: CloseCode.requestOverdue.rawValue) }
        }
    }
}
