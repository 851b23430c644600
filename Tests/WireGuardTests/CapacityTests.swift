internal import CryptoPrimitives
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import WireGuard

@Suite("Many peers") struct CapacityTests {
    @Test func `a peer without a session is below 1 KB, and a session below 2 KB`() {
        let window = Int(ReplayWindow.size / 8) + 48
        // The rest of a session: two keys on the heap, and the entry of its index.
        #expect(MemoryLayout<Session?>.stride + window + 2 * 96 + 32 < 2_048)
        // The rest of a peer: its key in a table, the nodes of two blocks, an entry of the heap, and the static secret.
        #expect(MemoryLayout<Peer?>.stride + 64 + 4 * 32 + 64 + 32 + 80 < 1_024)
    }

    @Test func `10,000 peers are routed, found and removed`() throws {
        var random = SplitMix64(seed: 1)
        var interface = WireGuardInterface(.init(privateKey: X25519PrivateKey(using: &random)))
        let moment = Moment(monotonic: .seconds(1), wall: Pair.start)
        var keys: [X25519PublicKey] = []
        for number in 0..<10_000 {
            let key = try X25519PublicKey(rawRepresentation: random.bytes(count: 32))
            var change = WireGuardInterface.PeerChange()
            let block = try #require(AddressPrefix(.v4(0x0A00_0000 | UInt32(number)), length: 32))
            change.allowedAddresses = [block]
            change.endpoint = SocketAddress(.v4(0xC000_0201), port: UInt16(number))
            _ = interface.handle(.configured(.peer(key, change)), at: moment, using: &random)
            keys.append(key)
        }
        #expect(interface.peerCount == 10_000 && interface.nextDeadline == nil)
        let packet = Packets.ipv4(from: .v4(1), to: .v4(0x0A00_0000 | 4_321))
        let effects = interface.handle(.packetSent(packet), at: moment, using: &random)
        guard case .send(_, let endpoint) = effects.first else {
            Issue.record("no initiation")
            return
        }
        #expect(endpoint.port == 4_321 && effects.count == 1)
        #expect(interface.peerStatuses.map(\.publicKey) == keys)
        for key in keys { _ = interface.handle(.configured(.peerRemoved(key)), at: moment, using: &random) }
        #expect(interface.peerCount == 0 && interface.routes.nodeCount == 0 && interface.sessions.indexCount == 0)
        #expect(interface.nextDeadline == nil && interface.staged.count == 0)
    }
}
