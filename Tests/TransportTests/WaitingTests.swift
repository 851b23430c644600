internal import Locking
internal import Testing
internal import Transport

@Suite("Signal") struct SignalTests {
    @Test(.timeLimit(.minutes(15))) func `a change wakes everybody who waits for it`() async throws {
        let (signal, value) = (Signal(), Locked<Int?>(nil))
        let waiters = (0..<3).map { _ in Task { try await signal.wait { value.withLock { $0 } } } }
        while signal.sleeperCount < 3 { await Task.yield() }
        value.withLock { $0 = 5 }
        signal.raise()
        for waiter in waiters { #expect(try await waiter.value == 5) }
        #expect(signal.sleeperCount == 0)
    }

    @Test(.timeLimit(.minutes(15))) func `a change between the look and the sleep is not missed`() async throws {
        let (signal, value) = (Signal(), Locked(0))
        let outcome = try await signal.wait { () -> Int? in
            if value.withLock({ $0 }) == 1 { return 1 }
            // As another thread would, just after this look.
            value.withLock { $0 = 1 }
            signal.raise()
            return nil
        }
        #expect(outcome == 1)
    }

    @Test(.timeLimit(.minutes(15))) func `a cancelled wait ends and leaves no sleeper`() async throws {
        let signal = Signal()
        let waiter = Task { try await signal.wait { () -> Int? in nil } }
        while signal.sleeperCount < 1 { await Task.yield() }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        #expect(signal.sleeperCount == 0)
    }

    @Test func `what an attempt throws ends the wait`() async {
        await #expect(throws: TransportError.timedOut) {
            try await Signal().wait { () -> Int? in throw TransportError.timedOut }
        }
    }
}

@Suite("Bounded queue") struct BoundedQueueTests {
    @Test func `elements come in their order and no more than the limit are kept`() async throws {
        let queue = BoundedQueue<Int>(limit: 2)
        #expect(queue.offer(1) && queue.offer(2))
        #expect(!queue.offer(3))
        #expect(try await queue.next() == 1)
        #expect(queue.offer(4))
        #expect(queue.count == 2)
        #expect(try await queue.next() == 2)
        #expect(try await queue.next() == 4)
    }

    @Test func `a finished queue gives what waits and then nil`() async throws {
        let queue = BoundedQueue<Int>(limit: 2)
        #expect(queue.offer(1))
        #expect(queue.finish(discarding: false) == [])
        #expect(!queue.offer(2))
        #expect(try await queue.next() == 1)
        #expect(try await queue.next() == nil)
        #expect(try await queue.next() == nil)
    }

    @Test func `a queue that discards returns what nobody gets`() async throws {
        let queue = BoundedQueue<Int>(limit: 3)
        #expect(queue.offer(1) && queue.offer(2))
        #expect(queue.finish(discarding: true) == [1, 2])
        #expect(try await queue.next() == nil)
    }

    @Test(.timeLimit(.minutes(15))) func `the end wakes the consumer`() async throws {
        let queue = BoundedQueue<Int>(limit: 3)
        let consumer = Task { try await queue.next() }
        await Task.yield()
        queue.finish(discarding: false)
        #expect(try await consumer.value == nil)
    }

    @Test(.timeLimit(.minutes(15))) func `consumers that are cancelled at any moment lose no element`() async throws {
        let queue = BoundedQueue<Int>(limit: 1000)
        let producer = Task {
            for number in 0..<1000 {
                #expect(queue.offer(number))
                if number.isMultiple(of: 5) { await Task.yield() }
            }
            queue.finish(discarding: false)
        }
        var taken: [Int] = []
        for round in 0... {
            let consumer = Task { try await queue.next() }
            if round.isMultiple(of: 2) {
                await Task.yield()
                consumer.cancel()
            }
            do {
                guard let number = try await consumer.value else { break }
                taken.append(number)
            } catch is CancellationError {
                continue
            }
        }
        await producer.value
        #expect(taken == Array(0..<1000))
    }
}

@Suite("Byte queue") struct ByteQueueTests {
    @Test func `bytes come in their order across pieces`() {
        var queue = ByteQueue()
        for piece in [[1, 2, 3], [], [4], [5, 6]] as [[UInt8]] { queue.append(piece) }
        #expect(queue.count == 6)
        #expect(queue.take(atMost: 2) == [1, 2])
        #expect(queue.take(atMost: 2) == [3, 4])
        #expect(queue.take(atMost: 0) == [])
        #expect(queue.count == 2)
        #expect(queue.take(atMost: 100) == [5, 6])
        #expect(queue.take(atMost: 100) == [])
        #expect(queue.count == 0)
    }

    @Test func `emptying says how much there was`() {
        var queue = ByteQueue()
        queue.append([1, 2, 3])
        #expect(queue.take(atMost: 1) == [1])
        #expect(queue.removeAll() == 2)
        #expect(queue.removeAll() == 0)
        #expect(queue.count == 0)
    }
}

@Suite("Close reason") struct CloseReasonTests {
    @Test(arguments: [
        ("", ""),
        (String(repeating: "a", count: 256), String(repeating: "a", count: 256)),
        (String(repeating: "a", count: 257), String(repeating: "a", count: 256)),
        (String(repeating: "a", count: 255) + "ä", String(repeating: "a", count: 255)),
        (String(repeating: "👩‍👩‍👧‍👦", count: 11), String(repeating: "👩‍👩‍👧‍👦", count: 10)),
    ])
    func `a reason keeps the whole characters that fit into 256 bytes`(reason: String, kept: String) {
        #expect(CloseReason.bounded(reason) == kept)
    }
}
