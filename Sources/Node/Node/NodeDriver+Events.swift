internal import Bytes
internal import Concurrency
package import Identity
internal import NodeCore
package import PubSub

// Events: published ones go out batch by batch, and slow peers are waited for, but not for ever.
extension NodeDriver {
    /// Publishes an event, after all that this node published before; returns once it is on its way to the neighbours
    /// or kept for them.
    ///
    /// - Throws: ``NodeError/notRunning``, ``NodeError/notAMember(_:)``; `CancellationError` when the task is cancelled
    ///   while it waits for room in the queue.
    package func publish(_ event: some Collection<UInt8>, to topic: String, in network: NetworkId) async throws {
        try self.state.withLock { state in
            guard !state.lifecycle.isStopped else { throw NodeError.notRunning }
            guard state.core.isMember(of: network) else { throw NodeError.notAMember(network) }
        }
        try await self.eventQueue.add(event, to: topic, of: network)
    }

    /// Publishes an event at once if it goes with others that this node has just published there; false otherwise.
    ///
    /// What was checked for those, topic and membership, holds for it.
    package func append(_ event: some Collection<UInt8>, to topic: String, in network: NetworkId) -> Bool {
        self.eventQueue.append(event, to: topic, of: network)
    }

    /// Calls `body` while no event can arrive, with a function that returns the replay window of a network.
    package func withEventWindows<Result: Sendable, Failure: Error>(
        _ body: (_ window: (NetworkId) -> [EventBatch]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.state.withLock { state throws(Failure) in
            try body { state.core.eventWindow(of: $0) }
        }
    }

    /// Whether there is nobody with whom to exchange events of a network.
    package func isIsolated(in network: NetworkId) -> Bool {
        self.state.withLock { $0.core.isIsolated(in: network) }
    }

    /// Signs and sends what waits, until the queue is finished.
    func sendEvents() async {
        for await _ in self.eventQueue.signals {
            while let pending = self.signNext() {
                self.configuration.metrics?.noteSent(pending.content.bytes.count, in: pending.network)
                await self.waitForRoom()
            }
        }
    }

    /// Signs the first of what waits and hands it to those who write frames.
    private func signNext() -> EventQueue.Pending? {
        self.state.withLock { state in
            guard !state.lifecycle.isStopped, let pending = self.eventQueue.takeNext() else { return nil }
            self.apply(pending.input, to: &state)
            return pending
        }
    }

    /// Signs and sends everything that waits, so that it leaves before the connections are closed.
    func signAll() {
        self.state.withLock { state in
            guard !state.lifecycle.isStopped else { return }
            for pending in self.eventQueue.takeAll() { self.apply(pending.input, to: &state) }
        }
    }

    // MARK: Slow peers

    /// Waits until no peer is crowded, except those that hardly read.
    private func waitForRoom() async {
        let room = self.state.withLock { state -> Promise<Void>? in
            guard !state.lifecycle.isStopped, let wait = state.backpressure.begin(for: state.connections) else {
                return nil
            }
            self.jobs.add(.checkRoom(wait.check))
            return wait.room
        }
        await room?.waitIgnoringCancellation()
    }

    /// Stops waiting for the peers that hardly read.
    func checkRoom(_ check: Int) {
        self.state.withLock { state in
            guard let stalled = state.backpressure.stalled(at: check, in: state.connections) else { return }
            for id in stalled { self.setCongested(true, id, in: &state) }
            self.reviewRoom(in: &state)
        }
    }

    /// Notes that a peer has read nearly all that waited for it.
    func noteRoom(on id: ConnectionId) {
        self.state.withLock { state in
            self.setCongested(false, id, in: &state)
            self.reviewRoom(in: &state)
        }
    }

    private func reviewRoom(in state: inout State) {
        guard let check = state.backpressure.review(state.connections) else { return }
        self.jobs.add(.checkRoom(check))
    }

    func carryOut(_ effect: PubSub.HostEffect, of network: NetworkId) {
        switch effect {
        case .deliver(let batch, let publishedAt, _):
            self.eventSink?.receive(batch, in: network, publishedAt: publishedAt)
        case .missed(_, let count): self.eventSink?.noteMissed(count, in: network)
        case .isolated(let isIsolated): self.events.send(.eventsIsolated(network, isIsolated))
        }
    }

    /// Looks at what waits for a peer after something was added that comes from others and cannot wait.
    func noteBacklog(on id: ConnectionId, of frame: Frame, in state: inout State) {
        guard case .events = frame, let entry = state.connections[id], entry.outbox.isCongested else { return }
        self.setCongested(true, id, in: &state)
    }

    private func setCongested(_ isCongested: Bool, _ id: ConnectionId, in state: inout State) {
        guard state.connections.setCongested(isCongested, id) else { return }
        // Later, because the core may be in the middle of something.
        self.jobs.add(.reportCongestion(id))
    }

    /// Tells the core how it is now, since one of two changes may be told of before the other.
    func reportCongestion(of id: ConnectionId) {
        self.state.withLock { state in
            guard let entry = state.connections[id] else { return }
            self.apply(.connection(.congestionChanged(id, entry.isCongested)), to: &state)
        }
    }
}

extension EventQueue.Pending {
    var input: Input {
        .events(.published(self.network, topic: self.topic, content: self.content.bytes, count: self.count))
    }
}
