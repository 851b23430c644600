internal import Bytes
internal import Concurrency
package import Identity
internal import NodeCore
package import PubSub

// Events: they are signed and sent batch by batch, and publishers wait for slow peers for a bounded time.
extension NodeDriver {
    /// Publishes an event after all earlier ones of this node; returns once it is queued.
    ///
    /// - Throws: ``NodeError/notRunning``, ``NodeError/notAMember(_:)``; `CancellationError` when the task is cancelled
    ///   while it waits for room in the queue.
    package func publish(_ event: some Collection<UInt8>, to topic: String, in network: NetworkId) async throws {
        try state.withLock { state in
            guard !state.lifecycle.isStopped else { throw NodeError.notRunning }
            guard state.core.isMember(of: network) else { throw NodeError.notAMember(network) }
        }
        try await publishQueue.add(event, to: topic, of: network)
    }

    /// Adds an event to the batch of the previous ones if it has the same topic and network; false otherwise.
    ///
    /// The topic and the membership were checked for those.
    package func append(_ event: some Collection<UInt8>, to topic: String, in network: NetworkId) -> Bool {
        publishQueue.append(event, to: topic, of: network)
    }

    /// Calls `body` while no event can arrive, with a function that returns the replay window of a network.
    package func withEventWindows<Result: Sendable, Failure: Error>(
        _ body: (_ window: (NetworkId) -> [EventBatch]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withLock { state throws(Failure) in
            try body { state.core.eventWindow(of: $0) }
        }
    }

    /// Whether no neighbour exchanges events of a network with this node.
    package func isIsolated(in network: NetworkId) -> Bool {
        state.withLock { $0.core.isIsolated(in: network) }
    }

    /// Signs and sends the batches that wait, until the queue is finished.
    func sendEvents() async {
        for await _ in publishQueue.signals {
            while let pending = signNext() {
                configuration.metrics?.noteSent(pending.content.bytes.count, in: pending.network)
                await waitForRoom()
            }
        }
    }

    /// Signs the first batch that waits and adds it to the send queues.
    private func signNext() -> PublishQueue.Pending? {
        state.withLock { state in
            guard !state.lifecycle.isStopped, let pending = publishQueue.takeNext() else { return nil }
            apply(pending.input, to: &state)
            return pending
        }
    }

    /// Signs and sends everything that waits, so that it leaves before the connections are closed.
    func signAll() {
        state.withLock { state in
            guard !state.lifecycle.isStopped else { return }
            for pending in publishQueue.takeAll() { apply(pending.input, to: &state) }
        }
    }

    // MARK: Slow peers

    /// Waits until no peer is crowded, except those that hardly read.
    private func waitForRoom() async {
        let room = state.withLock { state -> Promise<Void>? in
            guard !state.lifecycle.isStopped, let wait = state.backpressure.begin(for: state.connections) else {
                return nil
            }
            jobs.add(.checkRoom(wait.check))
            return wait.room
        }
        await room?.waitIgnoringCancellation()
    }

    /// Stops waiting for the peers that hardly read.
    func checkRoom(_ check: Int) {
        state.withLock { state in
            guard let stalled = state.backpressure.stalled(at: check, in: state.connections) else { return }
            for id in stalled { setCongested(true, id, in: &state) }
            reviewRoom(in: &state)
        }
    }

    /// Notes that a peer has read nearly all that waited for it.
    func noteRoom(on id: ConnectionId) {
        state.withLock { state in
            setCongested(false, id, in: &state)
            reviewRoom(in: &state)
        }
    }

    private func reviewRoom(in state: inout State) {
        guard let check = state.backpressure.review(state.connections) else { return }
        jobs.add(.checkRoom(check))
    }

    /// Notes that a peer is congested after events were added to its send queue.
    func noteBacklog(on id: ConnectionId, of frame: Frame, in state: inout State) {
        guard case .events = frame, let entry = state.connections[id], entry.sendQueue.isCongested else { return }
        setCongested(true, id, in: &state)
    }

    private func setCongested(_ isCongested: Bool, _ id: ConnectionId, in state: inout State) {
        guard state.connections.setCongested(isCongested, id) else { return }
        // In a job, because the core may be handling another input.
        jobs.add(.reportCongestion(id))
    }

    /// Reports the present state to the core, since jobs for two changes may run in either order.
    func reportCongestion(of id: ConnectionId) {
        state.withLock { state in
            guard let entry = state.connections[id] else { return }
            apply(.connection(.congestionChanged(id, entry.isCongested)), to: &state)
        }
    }
}

extension PublishQueue.Pending {
    var input: Input {
        .events(.published(network, topic: topic, content: content.bytes, count: count))
    }
}
