internal import Concurrency
internal import Testing

@testable internal import Node

@Suite("The queue of changes to store", .timeLimit(.minutes(15))) struct PersistenceQueueTests {
    private let first = NodeDriver.Persistence.revokedHere(Lab().networkId)
    private let second = NodeDriver.Persistence.revokedHere(Lab().networkId)
    private let stored = Locked<[[NodeDriver.Persistence]]>([])

    @Test func `all changes are stored in order before the end`() async {
        let queue = PersistenceQueue()
        queue.add(self.first)
        queue.add(self.second)
        queue.finish()
        await queue.drain { items in self.stored.withLock { $0.append(items) } }
        #expect(self.stored.withLock { $0 } == [[self.first, self.second]])
    }

    @Test func `changes that are added while others are stored form the next batch`() async {
        let queue = PersistenceQueue()
        queue.add(self.first)
        await queue.drain { items in
            self.stored.withLock { $0.append(items) }
            guard items == [self.first] else { return }
            queue.add(self.second)
            queue.finish()
        }
        #expect(self.stored.withLock { $0 } == [[self.first], [self.second]])
    }
}
