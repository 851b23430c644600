internal import Bytes
internal import Concurrency
package import Identity
internal import NodeCore
package import PubSub

// Events: published ones go out batch by batch, and slow peers are waited for, but not for ever.
extension NodeDriver {
    /// How long publishers wait for a slow peer before they look whether it reads at all.
    static let roomPatience = Duration.seconds(1)
    /// Whoever read fewer bytes in that time is only told which events there are.
    private static let leastProgress = 64 * 1024

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
            if state.unsigned.isEmpty { state.unsigned = self.eventQueue.takeAll() }
            guard !state.lifecycle.isStopped, !state.unsigned.isEmpty else { return nil }
            let pending = state.unsigned.removeFirst()
            self.apply(pending.input, to: &state)
            return pending
        }
    }

    /// The same with all of it, so that it leaves before the goodbye.
    func signAll() {
        self.state.withLock { state in
            guard !state.lifecycle.isStopped else { return }
            for pending in state.unsigned + self.eventQueue.takeAll() { self.apply(pending.input, to: &state) }
            state.unsigned = []
        }
    }

    // MARK: Slow peers

    /// Waits until no peer has too much unread, or those that have read hardly anything.
    private func waitForRoom() async {
        let room = self.state.withLock { state -> Promise<Void>? in
            guard !state.lifecycle.isStopped, self.markCrowded(in: &state) else { return nil }
            let room = Promise<Void>()
            state.roomWaiter = room
            return room
        }
        await room?.waitIgnoringCancellation()
    }

    /// Notes how far the peers are that have too much unread, and looks at them again after a while; false if there is
    /// none.
    private func markCrowded(in state: inout State) -> Bool {
        let crowded = state.connections.crowded
        guard !crowded.isEmpty else { return false }
        state.roomMarks = crowded
        state.roomGeneration += 1
        self.jobQueue.yield(.roomOverdue(generation: state.roomGeneration))
        return true
    }

    /// Publishers have waited for a while: from now on they do so only for peers that went on reading.
    func lookAtRoom(_ generation: Int) {
        self.state.withLock { state in
            guard generation == state.roomGeneration, state.roomWaiter != nil else { return }
            for (id, mark) in state.roomMarks {
                guard let entry = state.connections[id], entry.outbox.isCrowded,
                    entry.outbox.writtenBytes - mark < Self.leastProgress
                else { continue }
                self.setCongested(true, id, in: &state)
            }
            if !self.markCrowded(in: &state) { Self.endWaitForRoom(in: &state) }
        }
    }

    /// Lets the publishers go on, whoever is slow.
    static func endWaitForRoom(in state: inout State) {
        state.roomWaiter?.fulfil(())
        state.roomWaiter = nil
    }

    /// A peer has read nearly everything that waited for it.
    func noteRoom(on id: ConnectionId) {
        self.state.withLock { state in
            self.setCongested(false, id, in: &state)
            if state.roomWaiter != nil, !self.markCrowded(in: &state) { Self.endWaitForRoom(in: &state) }
        }
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
        self.jobQueue.yield(.congestion(id))
    }

    /// Tells the core how it is now, since one of two changes may be told of before the other.
    func tellCongestion(of id: ConnectionId) {
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
