internal import Testing
internal import Transport

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
