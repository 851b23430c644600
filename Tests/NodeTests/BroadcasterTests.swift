internal import Testing

@testable internal import Node

@Suite("Broadcaster") struct BroadcasterTests {
    @Test func `the queue of a listener is bounded in bytes, and reading makes room`() async throws {
        let messages = Broadcaster<[UInt8]>(capacity: 100, byteLimit: 1000) { $0.count }
        let slow = messages.listen()
        for size in [400, 600, 0] {
            #expect(messages.send([UInt8](repeating: 7, count: size)).delivery == .delivered)
        }
        #expect(messages.send([1]).delivery == .overflow)
        var reader = slow.makeAsyncIterator()
        #expect(await reader.next()?.count == 400)
        #expect(messages.send([UInt8](repeating: 8, count: 401)).delivery == .overflow)
        #expect(messages.send([UInt8](repeating: 8, count: 400)).delivery == .delivered)
        for size in [600, 0, 400] { #expect(await reader.next()?.count == size) }
        // One that is alone has room, however large it is.
        #expect(messages.send([UInt8](repeating: 9, count: 5000)).delivery == .delivered)
        #expect(messages.send([1]).delivery == .overflow)
        #expect(await reader.next()?.count == 5000)
    }

    @Test func `each listener has its own limit on queued messages`() async throws {
        let messages = Broadcaster<Int>(capacity: 2)
        let slow = messages.listen()
        let quick = messages.listen { $0 * 10 }
        var reader = quick.makeAsyncIterator()
        for number in 1...2 {
            #expect(messages.send(number).delivery == .delivered)
            #expect(await reader.next() == number * 10)
        }
        #expect(messages.send(3).delivery == .overflow)
        #expect(await reader.next() == 30)
        messages.finish()
        #expect(await reader.next() == nil)
        #expect(await slow.reduce(into: []) { $0.append($1) } == [1, 2])
        #expect(await messages.listen().reduce(0, +) == 0)
        #expect(messages.send(4).delivery == .noListener)
    }

    @Test func `a full listener gets its elements and then ends, if the broadcaster ends full listeners`() async {
        let lines = Broadcaster<Int>(capacity: 2, endsFullListeners: true)
        let (slow, quick) = (lines.listen(), lines.listen())
        var reader = quick.makeAsyncIterator()
        for number in 1...3 {
            lines.send(number)
            #expect(await reader.next() == number)
        }
        #expect(await slow.reduce(into: []) { $0.append($1) } == [1, 2])
        #expect(lines.listenerCount == 1)
        lines.send(4)
        #expect(await reader.next() == 4)
    }

    @Test func `a listener that stops is removed`() async throws {
        let messages = Broadcaster<Int>(capacity: 2)
        do {
            let unread = messages.listen()
            #expect(messages.listenerCount == 1)
            _ = unread
        }
        #expect(messages.listenerCount == 0)
        let reading = Task { [stream = messages.listen()] in await stream.reduce(0, +) }
        #expect(messages.send(5).delivery == .delivered)
        reading.cancel()
        _ = await reading.value
        #expect(messages.listenerCount == 0)
    }
}
