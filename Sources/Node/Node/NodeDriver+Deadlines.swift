internal import Concurrency
internal import Identity
internal import NodeCore
internal import Transport

// Streams under way, and the time that those of requests have.
//
// Each request's deadline lies with its stream, and one timer waits for the earliest. A request that ends in time leaves
// the timer alone, so that a request costs neither a task nor an entry in a queue; when the timer comes it looks
// through what is under way and waits for the earliest of that.
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
        if let request { self.arm(request.deadline, in: &state) }
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

    /// Sees to it that requests are looked through at `deadline`.
    func arm(_ deadline: Duration, in state: inout State) {
        if let armed = state.requestsDueAt, armed <= deadline { return }
        state.requestsDueAt = deadline
        self.deadlineQueue.yield(deadline)
    }

    /// Ends requests whose time is over, until the queue of deadlines is finished.
    func watchDeadlines() async {
        var deadlines = self.deadlines.makeAsyncIterator()
        var next = await deadlines.next()
        while let deadline = next {
            next = await withDiscardingTaskGroup { group in
                group.addTask {
                    guard (try? await self.configuration.clock.sleep(deadline)) != nil else { return }  // nil: replaced
                    self.lookThroughRequests()
                }
                let earlier = await deadlines.next()
                group.cancelAll()
                return earlier
            }
        }
    }

    /// Ends requests whose time is over, and probes the peers of those that others could answer.
    private func lookThroughRequests() {
        let now = self.configuration.clock.now().monotonic
        let review = self.state.withLock { state in
            let review = state.connections.reviewRequests(at: now)
            state.requestsDueAt = nil
            if let nextAt = review.nextAt { self.arm(nextAt, in: &state) }
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
