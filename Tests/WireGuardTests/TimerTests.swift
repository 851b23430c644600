internal import CryptoPrimitives
internal import Identity
internal import Testing

@testable internal import WireGuard

@Suite("Timers") struct TimerTests {
    private func types(_ datagrams: [Pair.Datagram]) -> [UInt8] { datagrams.map { $0.bytes[0] } }

    @Test func `an unanswered initiation is repeated every 5 to 5,333 milliseconds for 90 seconds`() {
        var pair = Pair()
        let start = pair.monotonic
        pair.send([1], from: 0)
        for number in 1...17 {
            let due = pair.nodes[0].interface.nextDeadline ?? .zero
            #expect(due - pair.monotonic >= .seconds(5) && due - pair.monotonic <= .milliseconds(5_333))
            pair.monotonic = due
            pair.feed(0, .timeReached)
            #expect(pair.initiations(by: 0) == number + 1)
        }
        pair.run(for: .seconds(100), delivering: false)
        #expect(pair.initiations(by: 0) == 18 && pair.monotonic - start >= .seconds(90))
        #expect(pair.nodes[0].events == [.handshakeFailed(pair.nodes[1].publicKey)])
        #expect(pair.nodes[0].interface.staged.count == 0 && pair.nodes[0].interface.sessions.indexCount == 0)
        pair.network = []
        pair.connect()
        #expect(pair.nodes[1].arrived.count == 1)
    }

    @Test func `received data is acknowledged by an empty packet after 10 seconds`() {
        var pair = Pair()
        pair.connect()
        let before = pair.sent.count
        pair.run(for: .milliseconds(9_999))
        #expect(pair.sent.count == before)
        pair.run(for: .seconds(100))
        #expect(pair.sent.count == before + 1 && pair.sent.last?.bytes.count == 32)
        #expect(pair.sent.last?.source == pair.nodes[1].endpoint)
    }

    @Test func `an idle session is not renewed`() {
        var pair = Pair()
        pair.connect()
        pair.run(for: .seconds(1_000))
        #expect(pair.initiations(by: 0) == 1 && pair.initiations(by: 1) == 0)
        #expect(pair.nodes[0].events.last == .sessionExpired(pair.nodes[1].publicKey))
        #expect(pair.nodes[0].interface.sessions.sessionCount == 0)
    }

    @Test(arguments: [0, 1])
    func `traffic in one direction has one handshake in 120 seconds`(sender: Int) {
        var pair = Pair()
        pair.connect()
        for _ in 0..<3_600 {
            pair.send([1], from: sender)
            pair.run(for: .seconds(1))
        }
        let handshakes = pair.initiations(by: 0) + pair.initiations(by: 1)
        #expect((20...31) ~= handshakes, "\(handshakes)")
        #expect(pair.nodes[1 - sender].arrived.count >= 3_600)
    }

    @Test func `data without an answer leads to a handshake after 15 seconds`() {
        var pair = Pair()
        pair.connect()
        pair.run(for: .seconds(20))
        pair.send([1], from: 0)
        pair.run(for: .milliseconds(14_999), delivering: false)
        #expect(pair.initiations(by: 0) == 1)
        pair.run(for: .milliseconds(335), delivering: false)
        #expect(pair.initiations(by: 0) == 2)
    }

    @Test func `persistent keepalive begins a handshake at once and sends every interval`() {
        var pair = Pair(keepaliveSeconds: 25)
        pair.run(for: .zero)
        #expect(types(pair.sent) == [1, 2, 4])
        pair.run(for: .seconds(76))
        #expect(types(pair.sent) == [1, 2, 4, 4, 4, 4])
        pair.run(for: .seconds(3_600))
        #expect((28...32) ~= pair.initiations(by: 0), "\(pair.initiations(by: 0))")
    }

    @Test(arguments: [true, false])
    func `a peer that slept for an hour begins a handshake at once`(countsSleep: Bool) {
        var pair = Pair(keepaliveSeconds: 25)
        pair.run(for: .seconds(50))
        let before = pair.initiations(by: 0)
        if countsSleep { pair.monotonic += .seconds(3_600) } else { pair.wallOffset += .seconds(3_600) }
        if countsSleep { pair.feed(0, .timeReached) } else { pair.send([1], from: 0) }
        #expect(pair.initiations(by: 0) == before + 1)
        pair.deliverAll()
        pair.send([2], from: 0)
        pair.deliverAll()
        #expect(pair.nodes[1].arrived.last?.packet.last == 2)
    }

    @Test func `a wall clock that goes back does not prevent handshakes`() {
        var pair = Pair()
        pair.connect()
        pair.wallOffset -= .seconds(86_400)
        pair.run(for: .seconds(200))
        pair.send([3], from: 0)
        pair.deliverAll()
        #expect(pair.nodes[1].arrived.last?.packet.last == 3)
    }

    @Test func `waiting packets arrive in order once the session exists`() {
        var pair = Pair()
        let packets = (0..<40).map { pair.send([UInt8($0)], from: 0) }
        pair.deliverAll()
        #expect(pair.nodes[1].arrived.map(\.packet) == Array(packets.suffix(32)))
        #expect(pair.initiations(by: 0) == 1)
    }
}
