internal import Concurrency

/// The changes that the core wants stored, in order.
///
/// Adding never blocks. One task stores what was added; changes that are added while it stores others form the next
/// batch.
final class PersistenceQueue: Sendable {
    private let waiting = Locked<[NodeDriver.Persistence]>([])
    /// A signal for the task that stores: changes wait.
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() {
        (self.signals, self.signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds a change after all earlier ones.
    func add(_ item: NodeDriver.Persistence) {
        self.waiting.withLock { $0.append(item) }
        self.signal.yield()
    }

    /// Ends ``drain(into:)`` when everything is stored.
    func finish() { self.signal.finish() }

    /// Passes the changes to `store`, batch by batch, until the queue is finished and empty.
    func drain(into store: @Sendable ([NodeDriver.Persistence]) async -> Void) async {
        for await _ in self.signals { await self.storeBatch(with: store) }
        await self.storeBatch(with: store)
    }

    private func storeBatch(with store: @Sendable ([NodeDriver.Persistence]) async -> Void) async {
        let items = self.waiting.withLock { items in
            defer { items = [] }
            return items
        }
        if !items.isEmpty { await store(items) }
    }
}
