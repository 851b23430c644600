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
    /// A stream of an admitted network.
    struct TrackedStream: Sendable {
        let network: NetworkId
        let stream: any Stream
        /// Of a request's stream.
        var request: TrackedRequest?
    }

    /// A request under way.
    struct TrackedRequest: Sendable {
        let end: RequestEnd
        /// By the monotonic clock.
        let deadline: Duration
        /// Whether this node asks; otherwise it answers.
        let isOurs: Bool
        /// Who else may be asked in the peer's place; nil when only its answer counts.
        var alternative: Alternative?
    }

    /// What another provider would be asked.
    struct Alternative: Sendable {
        let path: String
        /// Who was asked before, and who is being asked.
        let tried: [PeerId]
        /// When the peer is next made to give a sign of life: until it is heard the request may be with the dead.
        var probeAt: Duration
    }

    /// How long such a request waits before its peer is made to give a sign of life, and before the next one.
    static let probePause = Duration.seconds(1)

    /// Remembers a stream so that the end of its admission resets it; nil when the connection is gone.
    func track(
        _ stream: any Stream,
        _ network: NetworkId,
        on id: ConnectionId,
        _ request: TrackedRequest? = nil,
        in state: inout State
    ) -> Int? {
        guard state.links[id] != nil else { return nil }
        state.nextNumber += 1
        state.links[id]?.streams[state.nextNumber] = TrackedStream(network: network, stream: stream, request: request)
        if let request {
            if !request.isOurs { state.links[id]?.incomingRequests += 1 }
            self.arm(request.deadline, in: &state)
        }
        self.apply(.connection(.streamBegan(id)), to: &state)
        return state.nextNumber
    }

    func untrack(_ number: Int, on id: ConnectionId) {
        self.state.withLock { state in
            let entry = state.links[id]?.streams.removeValue(forKey: number)
            if entry?.request?.isOurs == false { state.links[id]?.incomingRequests -= 1 }
            self.apply(.connection(.streamEnded(id)), to: &state)
            if state.lifecycle.awaitsLastStream, state.isAtRest { state.lifecycle.noteLastStreamEnded() }
            if state.links[id]?.isDraining == true { Self.closeDrained(id, evenIfBusy: false, in: &state) }
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
        let (overdue, silent) = self.state.withLock { state -> ([TrackedStream], [any Connection]) in
            var overdue: [TrackedStream] = []
            var silent: [any Connection] = []
            var earliest: Duration?
            for (id, link) in state.links {
                var isSilent = false
                for (number, entry) in link.streams {
                    guard let request = entry.request else { continue }
                    if request.deadline <= now {
                        overdue.append(entry)
                        continue
                    }
                    var next = request.deadline
                    if var probeAt = request.alternative?.probeAt {
                        if probeAt <= now {
                            isSilent = true
                            probeAt = now + Self.probePause
                            state.links[id]?.streams[number]?.request?.alternative?.probeAt = probeAt
                        }
                        next = min(next, probeAt)
                    }
                    earliest = min(earliest ?? next, next)
                }
                if isSilent { silent.append(link.connection) }
            }
            state.requestsDueAt = nil
            if let earliest { self.arm(earliest, in: &state) }
            return (overdue, silent)
        }
        for connection in silent { connection.probe() }
        for entry in overdue {
            guard let request = entry.request else { continue }
            request.end.end(.overdue)
            // One that was answered waits for nothing but its delivery.
            if request.isOurs || request.end.isFinished { entry.stream.reset(code: CloseCode.requestOverdue.rawValue) }
        }
    }
}
