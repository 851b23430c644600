internal import Concurrency
internal import Testing

@Suite("Bounded channel", .timeLimit(.minutes(15))) struct BoundedChannelTests {
    @Test func `elements come in their order and no more than the limit are kept`() async throws {
        let channel = BoundedChannel<Int>(limit: 2)
        #expect(channel.offer(1) && channel.offer(2))
        #expect(!channel.offer(3))
        #expect(try await channel.next() == 1)
        #expect(channel.offer(4))
        #expect(channel.count == 2)
        #expect(try await channel.next() == 2)
        #expect(try await channel.next() == 4)
    }

    @Test func `readers that wait are served in the order of their arrival`() async throws {
        let channel = BoundedChannel<Int>(limit: 0)
        var readers: [Task<Int?, any Error>] = []
        for count in 1...3 {
            readers.append(Task { try await channel.next() })
            while channel.readerCount < count { await Task.yield() }
        }
        // Without a reader there is no room.
        for number in 1...3 { #expect(channel.offer(number)) }
        #expect(!channel.offer(4))
        for (position, reader) in readers.enumerated() { #expect(try await reader.value == position + 1) }
    }

    @Test func `a finished channel gives the rest and then nil`() async throws {
        let channel = BoundedChannel<Int>(limit: 2)
        #expect(channel.offer(1))
        #expect(channel.finish(discarding: false) == [])
        #expect(!channel.offer(2))
        #expect(try await channel.next() == 1)
        #expect(try await channel.next() == nil)
        #expect(try await channel.next() == nil)
    }

    @Test func `a channel that discards returns the elements that no reader gets`() async throws {
        let channel = BoundedChannel<Int>(limit: 3)
        #expect(channel.offer(1) && channel.offer(2))
        #expect(channel.finish(discarding: true) == [1, 2])
        #expect(try await channel.next() == nil)
    }

    @Test func `the end wakes readers and writers`() async throws {
        let (empty, full) = (BoundedChannel<Int>(limit: 3), BoundedChannel<Int>(limit: 1))
        let reader = Task { try await empty.next() }
        #expect(full.offer(1))
        let writer = Task { try await full.send(2) }
        while empty.readerCount < 1 || full.writerCount < 1 { await Task.yield() }
        empty.finish(discarding: false)
        full.finish(discarding: false)
        #expect(try await reader.value == nil)
        #expect(try await writer.value == false)
    }

    @Test func `a reader that is cancelled before the end does not take it for a regular end`() async throws {
        for _ in 0..<100 {
            let channel = BoundedChannel<Int>()
            let reader = Task { try await channel.next() }
            while channel.readerCount < 1 { await Task.yield() }
            reader.cancel()
            channel.finish(discarding: true)
            await #expect(throws: CancellationError.self) { try await reader.value }
        }
    }

    @Test func `a writer hands its element to the reader that arrives at a channel without room`() async throws {
        let channel = BoundedChannel<Int>(limit: 0)
        let writer = Task { try await channel.send(1) }
        while channel.writerCount < 1 { await Task.yield() }
        #expect(try await channel.next() == 1)
        #expect(try await writer.value)
    }

    @Test func `a writer waits for room`() async throws {
        let channel = BoundedChannel<Int>(limit: 1)
        #expect(try await channel.send(1))
        let writer = Task { try await channel.send(2) }
        while channel.writerCount < 1 { await Task.yield() }
        #expect(channel.count == 1)
        #expect(try await channel.next() == 1)
        #expect(try await writer.value)
        #expect(try await channel.next() == 2)
    }

    @Test func `a cancelled writer adds nothing`() async throws {
        let channel = BoundedChannel<Int>(limit: 1)
        #expect(channel.offer(1))
        let writer = Task { try await channel.send(2) }
        while channel.writerCount < 1 { await Task.yield() }
        writer.cancel()
        await #expect(throws: CancellationError.self) { try await writer.value }
        #expect(try await channel.next() == 1)
        #expect(channel.count == 0)
    }

    @Test func `readers that are cancelled at any moment lose no element`() async throws {
        let channel = BoundedChannel<Int>(limit: 1000)
        let producer = Task {
            for number in 0..<1000 {
                #expect(channel.offer(number))
                if number.isMultiple(of: 5) { await Task.yield() }
            }
            channel.finish(discarding: false)
        }
        var taken: [Int] = []
        for round in 0... {
            let reader = Task { try await channel.next() }
            if round.isMultiple(of: 2) {
                await Task.yield()
                reader.cancel()
            }
            do {
                guard let number = try await reader.value else { break }
                taken.append(number)
            } catch is CancellationError {
                continue
            }
        }
        await producer.value
        #expect(taken == Array(0..<1000))
    }
}
