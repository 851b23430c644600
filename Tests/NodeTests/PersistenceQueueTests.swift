internal import Concurrency
internal import Identity
internal import Platform
internal import Testing

@testable internal import Node

@Suite("The queue of changes to store", .timeLimit(.minutes(15))) struct PersistenceQueueTests {
    private struct DiskFull: Error {}

    /// A disk, and the reports of a queue.
    private final class Disk: Sendable {
        struct State: Sendable {
            var stored: [[NodeDriver.Persistence]] = []
            var outcomes: [(change: NodeDriver.Persistence, isStored: Bool)] = []
            var pauses: [Duration] = []
            var isFull = false
        }

        let state = Locked(State())
        let queue = PersistenceQueue()

        var isFull: Bool {
            get { self.state.withLock { $0.isFull } }
            set { self.state.withLock { $0.isFull = newValue } }
        }

        /// Stores the added changes, as a task of the node does; `then` adds more after each batch.
        func drain(then: @escaping @Sendable (Disk) -> Void = { _ in }) async {
            let surroundings = PersistenceQueue.Surroundings(
                store: { changes in
                    let isFull = self.state.withLock { state in
                        if !state.isFull { state.stored.append(changes) }
                        return state.isFull
                    }
                    then(self)
                    return changes.map { _ in isFull ? .failed(DiskFull(), canSucceedLater: true) : .stored }
                },
                settle: { change, outcome in
                    self.state.withLock { $0.outcomes.append((change, outcome.isStored)) }
                },
                planAttempt: { pause in self.state.withLock { $0.pauses.append(pause) } }
            )
            await self.queue.drain(into: surroundings)
        }

        var stored: [[NodeDriver.Persistence]] { self.state.withLock { $0.stored } }
        var outcomes: [Bool] { self.state.withLock { $0.outcomes.map(\.isStored) } }
    }

    private let first = NodeDriver.Persistence.revokedHere(Lab().networkId)
    private let second = NodeDriver.Persistence.revokedHere(Lab().networkId)

    @Test func `all changes are stored in order before the end`() async {
        let disk = Disk()
        disk.queue.add(self.first)
        disk.queue.add(self.second)
        disk.queue.finish()
        await disk.drain()
        #expect(disk.stored == [[self.first], [self.second]] && disk.outcomes == [true, true])
    }

    @Test func `changes that are added while others are stored form the next batch`() async {
        let disk = Disk()
        disk.queue.add(self.first)
        await disk.drain { [first, second] disk in
            guard disk.stored == [[first]] else { return }
            disk.queue.add(second)
            disk.queue.finish()
        }
        #expect(disk.stored == [[self.first], [self.second]])
    }

    @Test func `a change that failed is stored before later ones once the disk has room`() async {
        let disk = Disk()
        disk.isFull = true
        disk.queue.add(self.first)
        disk.queue.add(self.second)
        await disk.drain { disk in
            guard disk.isFull else { return }
            #expect(disk.queue.failure == nil)
            disk.isFull = false
            disk.queue.finish()
        }
        #expect(disk.stored == [[self.first], [self.second]])
        #expect(disk.outcomes == [false, false, true, true])
        #expect(disk.queue.failure == nil && disk.state.withLock { $0.pauses } == [.seconds(1)])
    }

    @Test func `the pauses between attempts grow to a minute`() async {
        let disk = Disk()
        disk.isFull = true
        disk.queue.add(self.first)
        let attempts = Locked(0)
        await disk.drain { disk in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            if attempt == 9 { disk.queue.finish() } else { disk.queue.attemptAgain() }
        }
        let pauses = disk.state.withLock { $0.pauses }
        #expect(pauses.first == .seconds(1) && pauses.contains(.seconds(32)) && pauses.last == .seconds(60))
        #expect(disk.queue.failure?.waitingCount == 1 && disk.outcomes == [false])
    }

    @Test func `a change that waits for an outcome is not overtaken, and its failure is reported`() async throws {
        let lab = Lab()
        let disk = Disk()
        let forgotten = NodeDriver.Persistence.revokedHere(lab.networkId)
        let record = try NodeDriver.Persistence.record(lab.networkId, lab.record())
        disk.isFull = true
        disk.queue.add(forgotten)
        disk.queue.add(record)
        disk.queue.finish()
        await disk.drain()
        // The record is not tried while a change of the same network waits.
        #expect(disk.stored.isEmpty && disk.outcomes == [false, false])
        #expect(disk.queue.failure?.waitingCount == 1)
    }

    @Test func `changes that can be lost are dropped beyond the limit, others are not`() async throws {
        let lab = Lab()
        let disk = Disk()
        let peer = PeerId(publicKey: generatePeerKey().publicKey)
        disk.isFull = true
        disk.queue.add(self.first)
        for _ in 0...PersistenceQueue.limit { disk.queue.add(.peer(peer, lab.networkId, nil)) }
        disk.queue.finish()
        await disk.drain()
        #expect(disk.queue.failure?.waitingCount == PersistenceQueue.limit)
        #expect(disk.state.withLock { $0.outcomes.first?.change } == self.first)
    }

    @Test(arguments: NodeDriver.Persistence.Kind.allCases)
    func `a kind whose failure is repeated stays in order`(kind: NodeDriver.Persistence.Kind) {
        // Only changes with an awaited outcome fail permanently; those that may be dropped are repeated.
        if kind.isLossHarmless { #expect(kind.failurePolicy == .retry) }
        if kind.isBatched { #expect(kind.failurePolicy != .none) }
    }
}
