internal import Bytes
internal import Identity
internal import Testing

@testable internal import Discovery

/// The handling of genuine announcements.
@Suite("Hearing") struct HearingTests {
    private let network: Network
    private let peer = Member(seed: 1)
    private var host: Host

    init() throws {
        network = try Network()
        host = try Host(of: network)
        _ = host.take()
    }

    private func addresses(_ texts: String...) throws -> [SocketAddress] {
        try texts.map { try SocketAddress(parsing: $0) }
    }

    @Test mutating func `a member is heard with its addresses`() throws {
        try host.hear(peer.announcement(in: network), of: network)
        let heard = try Discovery.Effect.peerHeard(peer.peerId, network.id, addresses("192.0.2.1:4433"))
        #expect(host.takeNews() == [heard])
        #expect(host.isPresent(peer.peerId, in: network))
    }

    @Test mutating func `a node does not hear itself`() throws {
        host.pass(.seconds(30))
        let own = host.takeDatagrams()
        #expect(own.count > 4)
        for datagram in own { try host.hear(datagram, from: "192.0.2.100:4242") }
        #expect(host.take().isEmpty)
    }

    @Test mutating func `each announcement is a sign of life, but not each is verified`() throws {
        for counter: UInt64 in 1...8 {
            try host.hear(peer.announcement(in: network, counter: counter), of: network)
            host.pass(.milliseconds(100))
        }
        #expect(host.takeNews().count == 1)
        #expect(host.count.signatures == 1)
        for counter: UInt64 in 9...12 {
            host.pass(.seconds(10))
            try host.hear(peer.announcement(in: network, counter: counter), of: network)
        }
        #expect(host.takeNews().count == 4)
        #expect(host.count.signatures == 5)
        #expect(host.count.tokens == 1)
        #expect(host.isPresent(peer.peerId, in: network))
    }

    @Test mutating func `new addresses are reported immediately`() throws {
        try host.hear(peer.announcement(in: network), of: network)
        try host.hear(peer.announcement(in: network, counter: 2, addresses: ["192.0.2.9:1"]), of: network)
        let heard = try Discovery.Effect.peerHeard(peer.peerId, network.id, addresses("192.0.2.9:1"))
        #expect(host.takeNews().last == heard)
    }

    @Test mutating func `a renewed token is verified once`() throws {
        try host.hear(peer.announcement(in: network), of: network)
        let renewed = try network.token(for: peer.peerId, until: 1_900_000_000)
        for counter: UInt64 in 2...4 {
            host.pass(.seconds(10))
            try host.hear(peer.announcement(in: network, counter: counter, token: renewed), of: network)
        }
        #expect(host.count.tokens == 2)
        #expect(host.takeNews().count == 4)
    }

    @Test mutating func `a late announcement changes nothing`() throws {
        try host.hear(peer.announcement(in: network, counter: 9), of: network)
        for counter: UInt64 in [8, 7, 3] {
            try host.hear(peer.announcement(in: network, counter: counter, addresses: []), of: network)
        }
        #expect(host.discovery.peers(in: network.id).first?.addresses == (try addresses("192.0.2.1:4433")))
        host.pass(.seconds(5))
        try host.hear(peer.announcement(in: network, counter: 11, isGoodbye: true), of: network)
        try host.hear(peer.announcement(in: network, counter: 10), of: network)
        #expect(!host.isPresent(peer.peerId, in: network))
    }

    @Test mutating func `a leave announcement removes a peer, and its next start adds it again`() throws {
        try host.hear(peer.announcement(in: network), of: network)
        _ = host.take()
        try host.hear(peer.announcement(in: network, counter: 2, isGoodbye: true), of: network)
        #expect(host.takeNews() == [.peerLost(peer.peerId, network.id)])
        try host.hear(peer.announcement(in: network, counter: 3, isGoodbye: true), of: network)
        #expect(host.takeNews().isEmpty)
        var restarted = peer
        restarted.instance = InstanceId()
        try host.hear(restarted.announcement(in: network), of: network)
        #expect(host.isPresent(peer.peerId, in: network))
    }

    @Test(arguments: [3600, -3600] as [Int64])
    mutating func `clocks may differ by an hour and no more`(offset: Int64) throws {
        let wall = Int64(host.now.wallSeconds)
        let good = try peer.announcement(in: network, wallSeconds: UInt64(wall + offset))
        try host.hear(good, of: network)
        #expect(host.isPresent(peer.peerId, in: network))
        let far = try Member(seed: 2).announcement(in: network, wallSeconds: UInt64(wall + offset + offset.signum()))
        try host.hear(far, of: network)
        #expect(!host.isPresent(Member(seed: 2).peerId, in: network))
        let source = try SocketAddress(parsing: "192.0.2.1:4242")
        #expect(host.takeNews().last == .host(.ignored(.clocksDiffer, from: source, count: 1)))
    }

    @Test mutating func `a revoked peer is ignored from then on`() throws {
        try host.hear(peer.announcement(in: network), of: network)
        _ = host.take()
        host.give(.memberRevoked(peer.peerId, network.id))
        #expect(host.takeNews() == [.peerLost(peer.peerId, network.id)])
        try host.hear(peer.announcement(in: network, counter: 2), of: network)
        #expect(!host.isPresent(peer.peerId, in: network))
        #expect(host.count.signatures == 1)
    }

    @Test mutating func `an expired token makes no member`() throws {
        let expired = try network.token(for: peer.peerId, until: host.now.wallSeconds - 61)
        try host.hear(peer.announcement(in: network, token: expired), of: network)
        #expect(!host.isPresent(peer.peerId, in: network))
        #expect(host.count.tokens == 0)
    }

    @Test mutating func `announcements of different networks are kept apart`() throws {
        let other = try Network(seed: 2)
        let unknown = try Network(seed: 3)
        try host.join(other)
        _ = host.take()
        try host.hear(peer.announcement(in: other), of: other)
        #expect(host.isPresent(peer.peerId, in: other))
        #expect(!host.isPresent(peer.peerId, in: network))
        try host.hear(peer.announcement(in: unknown), of: unknown)
        let source = try SocketAddress(parsing: "192.0.2.1:4242")
        #expect(host.takeNews().last == .host(.ignored(.notForUs, from: source, count: 1)))
        host.give(.networkRemoved(other.id))
        #expect(host.discovery.peers(in: other.id).isEmpty)
    }

    @Test mutating func `no announcement is processed before the start or after the stop`() throws {
        let announcement = try peer.announcement(in: network)
        host.give(.stopping)
        _ = host.take()
        try host.hear(announcement, of: network)
        #expect(host.take().isEmpty)
        host.give(.started)
        try host.hear(announcement, of: network)
        #expect(host.isPresent(peer.peerId, in: network))
    }

    @Test mutating func `another version is reported`() throws {
        var bytes = try peer.announcement(in: network).bytes
        bytes[0] = 2
        let nonce = [UInt8](repeating: 7, count: BeaconKey.nonceByteCount)
        let datagram = try #require(network.beaconKey.seal(bytes, nonce: nonce))
        try host.hear(datagram)
        let source = try SocketAddress(parsing: "192.0.2.1:4242")
        #expect(host.takeNews() == [.host(.ignored(.unknownVersion(2), from: source, count: 1))])
    }

    @Test mutating func `a reason is reported once a minute, with its count`() throws {
        for _ in 0..<50 { try host.hear([1, 2, 3]) }
        host.pass(.seconds(61))
        try host.hear([1, 2, 3])
        let reports = host.takeNews()
        let source = try SocketAddress(parsing: "192.0.2.1:4242")
        #expect(
            reports == [
                .host(.ignored(.notForUs, from: source, count: 1)), .host(.ignored(.notForUs, from: source, count: 50)),
            ]
        )
    }
}
