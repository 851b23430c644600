internal import CryptoPrimitives
internal import Identity
internal import Testing

@testable internal import WireGuard

@Suite("Cookies and load") struct CookieTests {
    @Test func `under load an initiation is answered by a cookie, and the repetition is processed`() {
        var pair = Pair()
        pair.nodes[1].interface.isLoadReported = true
        pair.nodes[0].interface.isLoadReported = true
        pair.send([1], from: 0)
        pair.deliverAll()
        #expect(pair.sent.map { $0.bytes[0] } == [1, 3] && pair.nodes[1].interface.sessions.indexCount == 0)
        // The response needs a cookie too, because the initiator is loaded.
        pair.run(for: .seconds(20))
        #expect(pair.nodes[1].arrived.count == 1)
    }

    @Test func `a cookie is bound to the source address`() throws {
        var pair = Pair()
        pair.nodes[1].interface.isLoadReported = true
        pair.send([1], from: 0)
        pair.deliverAll()
        pair.run(for: .seconds(6), delivering: false)
        let repetition = try #require(pair.takeAll().first)
        let other = SocketAddress(pair.nodes[0].endpoint.ip, port: 1)
        let effects = pair.feed(1, .datagramReceived(repetition.bytes, from: other))
        guard case .send(let reply, other) = effects.first else {
            Issue.record("no cookie for the other address")
            return
        }
        #expect(reply[0] == 3)
    }

    @Test func `a reply for another message is refused`() throws {
        var pair = Pair()
        pair.nodes[1].interface.isLoadReported = true
        pair.send([1], from: 0)
        pair.deliver(pair.network.removeFirst())
        var reply = try #require(pair.takeAll().first)
        reply.bytes[40] ^= 1
        pair.deliver(reply)
        #expect(pair.nodes[0].interface.drops.forged == 1)
    }

    @Test func `a flood switches to load and has bounded tables and answers`() {
        var limits = WireGuardInterface.Limits()
        limits.handshakesPerSecond = 10
        limits.handshakesAtOnce = 10
        limits.cookieRepliesPerSecond = 50
        limits.handshakeSources = 16
        var pair = Pair(limits: limits)
        pair.send([1], from: 0)
        let initiation = pair.takeAll()[0].bytes
        for number in 0..<1_000 {
            let source = SocketAddress(.v4(UInt32(number) << 8), port: 1)
            pair.feed(1, .datagramReceived(initiation, from: source))
        }
        let replies = pair.sent.count { $0.bytes[0] == 3 }
        #expect(replies == 50 && pair.nodes[1].interface.drops.overloaded == 990)
        #expect(pair.nodes[1].interface.load.sourceCount <= 32 && pair.nodes[1].interface.load.blockCount <= 32)
        // A peer that can be reached connects in spite of the flood.
        pair.network = []
        pair.run(for: .seconds(12))
        #expect(pair.nodes[1].arrived.count == 1)
    }

    @Test(arguments: [false, true]) func `a flood from one block leaves cookies for other sources`(isIPv6: Bool) {
        var limits = WireGuardInterface.Limits()
        limits.cookieRepliesPerSecond = 200
        var pair = Pair(limits: limits)
        pair.nodes[1].interface.isLoadReported = true
        pair.send([1], from: 0)
        let initiation = pair.takeAll()[0]
        for second in 0..<12 {
            for number in 0..<1_000 {
                let word = UInt64(number % 250)
                let source: IPAddress =
                    isIPv6 ? .v6(high: 0x2001_0DB8_0000_0001, low: word, scope: 0) : .v4(0xCB00_7100 | UInt32(word))
                pair.feed(1, .datagramReceived(initiation.bytes, from: SocketAddress(source, port: 1)))
            }
            // The block has a twentieth of the replies, at once and in each second.
            #expect(pair.sent.count { $0.bytes[0] == 3 && $0.to < 0 } == 10 * (second + 1))
            // The peer's initiation arrives during the flood, and its repetition after 5 seconds has the cookie.
            if second == 0 { pair.deliver(initiation) }
            pair.run(for: .seconds(1))
            #expect(pair.nodes[1].arrived.count == (second < 5 ? 0 : 1), "second \(second)")
        }
        #expect(pair.nodes[1].interface.load.blockCount == 2)
    }
}
