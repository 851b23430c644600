internal import CryptoPrimitives
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import WireGuard

@Suite("Transport messages") struct TransportTests {
    @Test func `a packet with a source of another peer is not delivered`() {
        var pair = Pair()
        pair.connect()
        let spoofed = Packets.ipv4(from: .v4(0x0A00_0009), to: pair.nodes[1].address, payload: [1])
        pair.feed(0, .packetSent(spoofed))
        let mapped = Packets.ipv6(from: .v6(high: 0, low: 1, scope: 0), to: .v6(high: 0, low: 2, scope: 0))
        let block = AddressPrefix(.v6(high: 0, low: 2, scope: 0), length: 128)
        var change = WireGuardInterface.PeerChange()
        change.allowedAddresses = [block].compactMap(\.self)
        pair.feed(0, .configured(.peer(pair.nodes[1].publicKey, change)))
        pair.feed(0, .packetSent(mapped))
        pair.deliverAll()
        #expect(pair.nodes[1].arrived.count == 1 && pair.nodes[1].interface.drops.wrongSource == 2)
    }

    @Test func `a repeated, changed or unknown message is dropped`() throws {
        var pair = Pair()
        pair.connect()
        pair.send([1], from: 0)
        let message = try #require(pair.takeAll().first)
        pair.deliver(message)
        pair.deliver(message)
        #expect(pair.nodes[1].arrived.count == 2 && pair.nodes[1].interface.drops.replayed == 1)
        for position in [8, 16, message.bytes.count - 1] {
            var forged = message
            forged.bytes[position] ^= 1
            pair.deliver(forged)
        }
        #expect(pair.nodes[1].interface.drops.forged == 3)
        var unknown = message
        unknown.bytes[4] ^= 1
        pair.deliver(unknown)
        var last = message
        last.bytes.replaceSubrange(8..<16, with: [UInt8](repeating: 0xFF, count: 8))
        pair.deliver(last)
        #expect(pair.nodes[1].interface.drops.unknownIndex == 2 && pair.nodes[1].arrived.count == 2)
    }

    @Test func `a session whose counter reached the limit sends nothing more`() throws {
        var pair = Pair()
        pair.connect()
        let place = try #require(pair.nodes[0].interface.peers[0]?.sessions.current)
        pair.nodes[0].interface.sessions[place]?.nextCounter = Constants.rejectAfterMessages - 1
        pair.monotonic += .seconds(6)
        pair.send([1], from: 0)
        // The last message, and the handshake for the next session.
        #expect(pair.takeAll().map { $0.bytes[0] } == [4, 1])
        pair.send([2], from: 0)
        #expect(pair.network.isEmpty && pair.nodes[0].interface.staged.count == 1)
    }

    @Test func `padding never exceeds the MTU`() {
        var pair = Pair()
        pair.connect()
        for (count, expected) in [(20, 32), (32, 32), (33, 48), (1_408, 1_408), (1_409, 1_420), (1_420, 1_420)] {
            let packet = pair.send([UInt8](repeating: 7, count: count - 20), from: 0)
            #expect(pair.network.first?.bytes.count == expected + 32)
            pair.deliverAll()
            #expect(pair.nodes[1].arrived.last?.packet == packet)
        }
    }

    @Test func `packets of the former session arrive after a renewal`() throws {
        var pair = Pair()
        pair.connect()
        pair.run(for: .seconds(121))
        pair.send([1], from: 0)
        pair.send([2], from: 1)
        let delayed = pair.takeAll().filter { $0.bytes[0] == 4 }
        pair.deliver(try #require(pair.sent.last { $0.bytes[0] == 1 }))
        pair.deliverAll()
        #expect(pair.nodes[0].events.count == 2)
        for message in delayed { pair.deliver(message) }
        #expect(delayed.count == 2 && pair.nodes[1].arrived.count == 2 && pair.nodes[0].arrived.count == 1)
    }

    @Test func `the endpoint follows authentic packets that are newer than all others`() throws {
        var pair = Pair()
        pair.connect()
        let moved = SocketAddress(.v4(0xCB00_7105), port: 9)
        pair.send([1], from: 0)
        pair.send([2], from: 0)
        let messages = pair.takeAll()
        var forged = messages[1]
        forged.bytes[20] ^= 1
        pair.feed(1, .datagramReceived(forged.bytes, from: moved))
        #expect(pair.nodes[1].interface.status(of: pair.nodes[0].publicKey)?.endpoint == pair.nodes[0].endpoint)
        pair.feed(1, .datagramReceived(messages[1].bytes, from: moved))
        #expect(pair.nodes[1].events.last == .endpointChanged(pair.nodes[0].publicKey, moved))
        // A packet that was overtaken does not move it back; a repetition does not move it at all.
        pair.feed(1, .datagramReceived(messages[0].bytes, from: pair.nodes[0].endpoint))
        pair.feed(1, .datagramReceived(messages[1].bytes, from: pair.nodes[0].endpoint))
        #expect(pair.nodes[1].interface.status(of: pair.nodes[0].publicKey)?.endpoint == moved)
        #expect(pair.nodes[1].arrived.count == 3)
    }

    @Test func `packets that are no IP packets or have no peer are dropped`() {
        var pair = Pair()
        pair.connect()
        for packet in [[], [0x45], [UInt8](repeating: 0, count: 40), Packets.ipv4(from: .v4(1), to: .v4(2))] {
            pair.feed(0, .packetSent(packet))
        }
        #expect(pair.network.isEmpty && pair.nodes[0].interface.drops.unroutable == 4)
    }

    @Test func `a batch is sealed, opened and accepted like single packets`() {
        var pair = Pair()
        pair.connect()
        var packets = PacketBatch()
        let sent = (0..<100).map { number in
            Packets.ipv4(
                from: pair.nodes[0].address,
                to: number % 10 == 9 ? .v4(7) : pair.nodes[1].address,
                payload: [UInt8](repeating: UInt8(number), count: number)
            )
        }
        for packet in sent { packets.append(packet) }
        var work = SealingWork()
        var effects: [WireGuardInterface.Effect] = []
        var random = SplitMix64(seed: 1)
        pair.nodes[0].interface.prepare(packets, at: pair.moment, using: &random, into: &work, effects: &effects)
        var datagrams = DatagramBatch()
        work.seal(packets, into: &datagrams)
        #expect(work.packetCount == 90 && datagrams.count == 90 && effects.isEmpty)
        var opening = OpeningWork()
        pair.nodes[1].interface.lookUp(datagrams, into: &opening)
        var opened = OpenedBatch()
        opening.open(&datagrams, into: &opened)
        let moment = pair.moment
        pair.nodes[1].interface.accept(&opened, of: datagrams, at: moment, using: &random, effects: &effects)
        #expect(opened.deliveries.map { Array(opened.packets[$0.packet]) } == sent.filter { $0[19] == 2 })
    }

    @Test func `damaged datagrams never end the process`() throws {
        var pair = Pair()
        pair.connect()
        pair.send([1, 2, 3], from: 0)
        pair.monotonic += .seconds(130)
        pair.send([1, 2, 3], from: 0)
        let source = pair.nodes[0].endpoint
        neverCrash(on: pair.sent.map(\.bytes), rounds: 3_000) { bytes in
            pair.feed(1, .datagramReceived(bytes, from: source))
            pair.network = []
            pair.sent = []
        }
        neverCrash(on: [Packets.ipv4(from: .v4(1), to: .v4(0x0A00_0002))], rounds: 1_000) { bytes in
            pair.feed(0, .packetSent(bytes))
            pair.network = []
        }
    }
}
