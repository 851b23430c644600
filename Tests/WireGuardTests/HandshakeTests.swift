internal import CryptoPrimitives
internal import Identity
internal import Testing

@testable internal import WireGuard

@Suite("Handshakes") struct HandshakeTests {
    /// A pair with an initiation of node 0 on its way.
    private func pairWithInitiation() throws -> (Pair, Pair.Datagram) {
        var pair = Pair()
        pair.send([1], from: 0)
        let initiation = try #require(pair.takeAll().first)
        return (pair, initiation)
    }

    @Test func `both sides exchange packets after one handshake`() {
        var pair = Pair()
        let first = pair.send([1], from: 0)
        pair.deliverAll()
        let second = pair.send([2, 3], from: 1)
        pair.deliverAll()
        #expect(pair.nodes[1].arrived.map(\.packet) == [first] && pair.nodes[0].arrived.map(\.packet) == [second])
        #expect(pair.nodes[1].arrived.first?.peer == pair.nodes[0].publicKey)
        #expect(pair.nodes[0].events == [.sessionEstablished(pair.nodes[1].publicKey, isInitiator: true)])
        #expect(pair.nodes[1].events == [.sessionEstablished(pair.nodes[0].publicKey, isInitiator: false)])
        #expect(pair.sent.count == 4)
    }

    @Test func `the responder does not send with a session before its first packet arrived`() throws {
        var (pair, initiation) = try pairWithInitiation()
        pair.deliver(initiation)
        let response = try #require(pair.takeAll().first)
        pair.send([9], from: 1)
        // The packet waits, and an initiation of the responder's own is all that is sent.
        #expect(pair.takeAll().allSatisfy { $0.bytes.first == 1 })
        pair.deliver(response)
        pair.deliverAll()
        #expect(pair.nodes[0].arrived.count == 1 && pair.nodes[1].arrived.count == 1)
    }

    @Test func `an initiation with a wrong first code has no answer`() throws {
        var (pair, initiation) = try pairWithInitiation()
        initiation.bytes[120] ^= 1
        pair.deliver(initiation)
        #expect(pair.network.isEmpty && pair.nodes[1].interface.drops.wrongCode == 1)
    }

    @Test func `a replayed initiation has no answer`() throws {
        var (pair, initiation) = try pairWithInitiation()
        pair.deliver(initiation)
        #expect(pair.takeAll().count == 1)
        pair.monotonic += .seconds(10)
        pair.deliver(initiation)
        #expect(pair.network.isEmpty && pair.nodes[1].interface.drops.replayedInitiation == 1)
    }

    @Test func `an initiation that is older than the last one has no answer`() throws {
        var (pair, old) = try pairWithInitiation()
        pair.run(for: .seconds(6), delivering: false)
        let new = try #require(pair.takeAll().first)
        pair.deliver(new)
        #expect(pair.takeAll().count == 1)
        pair.monotonic += .seconds(1)
        pair.deliver(old)
        #expect(pair.network.isEmpty && pair.nodes[1].interface.drops.replayedInitiation == 1)
    }

    @Test func `truncated, prolonged and random datagrams have no answer`() throws {
        var (pair, initiation) = try pairWithInitiation()
        for count in 0..<initiation.bytes.count {
            pair.feed(1, .datagramReceived(Array(initiation.bytes[..<count]), from: pair.nodes[0].endpoint))
        }
        pair.feed(1, .datagramReceived(initiation.bytes + [0], from: pair.nodes[0].endpoint))
        var reserved = initiation.bytes
        reserved[1] = 1
        pair.feed(1, .datagramReceived(reserved, from: pair.nodes[0].endpoint))
        #expect(pair.network.isEmpty && pair.nodes[1].interface.drops.malformed == 150)
    }

    @Test(arguments: [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        [
            0xE0, 0xEB, 0x7A, 0x7C, 0x3B, 0x41, 0xB8, 0xAE, 0x16, 0x56, 0xE3, 0xFA, 0xF1, 0x9F, 0xC4, 0x6A, 0xDA, 0x09,
            0x8D, 0xEB, 0x9C, 0x32, 0xB1, 0xFD, 0x86, 0x62, 0x05, 0x16, 0x5F, 0x49, 0xB8, 0x00,
        ],
        [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
    ])
    func `an ephemeral key of low order has no answer`(point: [UInt8]) throws {
        var (pair, initiation) = try pairWithInitiation()
        initiation.bytes.replaceSubrange(8..<40, with: point)
        // With a valid first code, so that the key itself is judged.
        let code = CookieChecker.code(
            of: initiation.bytes[..<116],
            key: CookieChecker.firstKey(of: pair.nodes[1].publicKey)
        )
        initiation.bytes.replaceSubrange(116..<132, with: code)
        pair.deliver(initiation)
        #expect(pair.network.isEmpty && pair.nodes[1].interface.drops.forged == 1)
    }

    @Test func `a peer with a key of low order is never connected`() throws {
        var pair = Pair()
        let zero = try X25519PublicKey(rawRepresentation: [UInt8](repeating: 0, count: 32))
        var change = WireGuardInterface.PeerChange()
        change.endpoint = pair.nodes[1].endpoint
        change.allowedAddresses = [AddressPrefix(.v4(0x0B00_0000), length: 8)].compactMap(\.self)
        change.keepaliveSeconds = 1
        pair.feed(0, .configured(.peer(zero, change)))
        pair.feed(0, .packetSent(Packets.ipv4(from: pair.nodes[0].address, to: .v4(0x0B00_0001))))
        pair.run(for: .seconds(30), delivering: false)
        #expect(pair.sent.isEmpty && pair.nodes[0].interface.sessions.indexCount == 0)
    }

    @Test func `an initiation of a peer that is not configured has no answer`() throws {
        var (pair, initiation) = try pairWithInitiation()
        pair.feed(1, .configured(.peerRemoved(pair.nodes[0].publicKey)))
        pair.deliver(initiation)
        #expect(pair.network.isEmpty && pair.nodes[1].interface.drops.unknownPeer == 1)
    }

    @Test func `a handshake with different preshared keys fails`() throws {
        var pair = Pair()
        var change = WireGuardInterface.PeerChange()
        change.presharedKey = PresharedKey(using: &pair.nodes[1].random)
        pair.feed(1, .configured(.peer(pair.nodes[0].publicKey, change)))
        pair.connect()
        #expect(pair.nodes[0].interface.drops.forged == 1 && pair.nodes[0].events.isEmpty)
        #expect(pair.nodes[1].arrived.isEmpty)
    }

    @Test func `a response that was changed or repeated is refused`() throws {
        var (pair, initiation) = try pairWithInitiation()
        pair.deliver(initiation)
        let response = try #require(pair.takeAll().first)
        for position in [12, 50] {
            var forged = response
            forged.bytes[position] ^= 0x10
            let code = CookieChecker.code(
                of: forged.bytes[..<60],
                key: CookieChecker.firstKey(of: pair.nodes[0].publicKey)
            )
            forged.bytes.replaceSubrange(60..<76, with: code)
            pair.deliver(forged)
        }
        #expect(pair.nodes[0].interface.drops.forged == 2 && pair.network.isEmpty)
        pair.deliver(response)
        #expect(pair.takeAll().count == 1)
        pair.deliver(response)
        #expect(pair.network.isEmpty && pair.nodes[0].interface.drops.unknownIndex == 1)
    }

    @Test(arguments: [[0, 1], [1, 0]])
    func `two handshakes that begin at once result in one session`(order: [Int]) {
        var pair = Pair()
        pair.send([1], from: 0)
        pair.send([2], from: 1)
        let initiations = pair.takeAll()
        for index in order { pair.deliver(initiations[index]) }
        pair.deliverAll()
        #expect(pair.nodes[0].arrived.count == 1 && pair.nodes[1].arrived.count == 1)
        let initiators = pair.nodes.map { node in
            node.interface.peers[0]?.sessions.current.flatMap { node.interface.sessions[$0]?.isInitiator }
        }
        #expect(initiators[0] != initiators[1] && initiators[0] != nil)
        // The next renewal is one handshake, although both sides send.
        let before = pair.initiations(by: 0) + pair.initiations(by: 1)
        for second in 0..<170 {
            pair.send([UInt8(second)], from: second % 2)
            pair.run(for: .seconds(1))
        }
        #expect(pair.initiations(by: 0) + pair.initiations(by: 1) == before + 1)
    }

    @Test func `a change of the local key ends all sessions`() {
        var pair = Pair()
        pair.connect()
        let key = X25519PrivateKey(using: &pair.nodes[0].random)
        pair.feed(0, .configured(.privateKey(key)))
        #expect(pair.nodes[0].interface.sessions.sessionCount == 0)
        #expect(pair.nodes[0].interface.sessions.indexCount == 0)
        pair.monotonic += .seconds(6)
        pair.send([1], from: 0)
        pair.deliverAll()
        #expect(pair.nodes[1].arrived.count == 1 && pair.nodes[1].interface.drops.unknownPeer == 1)
    }
}
