internal import Bytes
internal import Identity
internal import Testing

@testable internal import Discovery

/// The datagrams that a node sends on the link.
@Suite("Sending") struct SendingTests {
    private let network: Network
    private var host: Host

    init() throws {
        network = try Network()
        host = try Host(of: network)
    }

    private func announcements(_ datagrams: [[UInt8]]) throws -> [Announcement] {
        try datagrams.map { try Announcement(#require(network.beaconKey.open($0)), of: network.id) }
    }

    @Test mutating func `a node starts with a burst of four beacons`() throws {
        host.pass(.milliseconds(400))
        let sent = try announcements(host.takeDatagrams())
        #expect(sent.map(\.counter) == [1, 2, 3, 4])
        #expect(sent.allSatisfy { $0.peerId == host.member.peerId && !$0.isGoodbye })
        #expect(sent[0].addresses.map(\.description) == ["192.0.2.100:4433"])
        #expect(sent[0].wallSeconds == host.now.wallSeconds)
    }

    @Test mutating func `no byte of a node's beacons is stable`() throws {
        host.pass(.seconds(600))
        let datagrams = host.takeDatagrams()
        #expect(datagrams.count >= 60)
        for position in 0..<BeaconKey.byteCount {
            var counts = [Int](repeating: 0, count: 256)
            for datagram in datagrams.prefix(64) { counts[Int(datagram[position])] += 1 }
            // By chance, a value occurs 9 times or more at any of the 412 places once in 10^6 runs.
            #expect((counts.max() ?? 0) < 9, "byte \(position)")
        }
        #expect(Set(datagrams.map { $0.prefix(BeaconKey.nonceByteCount) }).count == datagrams.count)
    }

    @Test mutating func `new addresses are announced at once, and unchanged ones are not`() throws {
        host.pass(.seconds(60))
        _ = host.take()
        host.give(.addressesChanged([try SocketAddress(parsing: "192.0.2.100:4433")]))
        host.pass(.milliseconds(500))
        #expect(host.takeDatagrams().count <= 1)
        host.give(
            .addressesChanged([
                try SocketAddress(parsing: "[fe80::1%3]:4433"), try SocketAddress(parsing: "[::ffff:192.0.2.7]:4433"),
                try SocketAddress(parsing: "192.0.2.7:4433"), try SocketAddress(parsing: "224.0.0.1:4433"),
                try SocketAddress(parsing: "192.0.2.7:0"), try SocketAddress(parsing: "0.0.0.0:4433"),
            ])
        )
        host.pass(.milliseconds(500))
        let sent = try announcements(host.takeDatagrams())
        #expect(sent.count >= 3)
        #expect(sent.first?.addresses.map(\.description) == ["[fe80::1]:4433", "192.0.2.7:4433", "0.0.0.0:4433"])
    }

    @Test mutating func `a node that leaves or stops announces it twice and then falls silent`() throws {
        host.pass(.seconds(1))
        _ = host.take()
        host.give(.networkRemoved(network.id))
        let goodbyes = try announcements(host.takeDatagrams())
        #expect(goodbyes.map(\.isGoodbye) == [true, true])
        host.pass(.seconds(60))
        #expect(host.takeDatagrams().isEmpty)
        try host.join(network)
        host.pass(.seconds(1))
        let again = try announcements(host.takeDatagrams())
        // The counter increases further, or no receiver would accept the announcements.
        let last = try #require(goodbyes.last?.counter)
        #expect(again.allSatisfy { $0.counter > last && !$0.isGoodbye })
        host.give(.stopping)
        #expect(try announcements(host.takeDatagrams()).map(\.isGoodbye) == [true, true])
        host.pass(.seconds(60))
        #expect(host.take().isEmpty)
    }

    @Test mutating func `a node with an expired token is silent`() throws {
        let token = try network.token(for: host.member.peerId, until: host.now.wallSeconds + 10)
        host.give(.networkAdded(token, network.secrets))
        host.pass(.seconds(65))
        #expect(host.takeDatagrams().count >= 8)
        host.pass(.seconds(20))
        _ = host.take()
        host.pass(.seconds(100))
        #expect(host.takeDatagrams().isEmpty)
        try host.join(network)
        host.pass(.seconds(15))
        #expect(!host.takeDatagrams().isEmpty)
    }

    @Test mutating func `a machine that slept sends no missed beacons`() throws {
        host.pass(.seconds(10))
        _ = host.take()
        host.now.monotonic += .seconds(36_000)
        host.now.wallSeconds += 36_000
        host.give(.timeReached)
        #expect(host.takeDatagrams().count == 1)
        host.pass(.seconds(7))
        #expect(host.takeDatagrams().count == 0)
        host.pass(.seconds(6))
        #expect(host.takeDatagrams().count == 1)
    }

    @Test mutating func `one wake is requested, for the earliest time`() throws {
        var quiet = try Host(seed: 9)
        var effects: [Discovery.Effect] = []
        quiet.discovery.handle(.timeReached, at: quiet.now, into: &effects)
        #expect(effects.isEmpty)
        let token = try network.token(for: quiet.member.peerId)
        quiet.discovery.handle(.networkAdded(token, network.secrets), at: quiet.now, into: &effects)
        let wakes = effects.compactMap { if case .wake(let time) = $0 { time } else { nil } }
        #expect(wakes.count == 1)
        #expect(wakes[0] >= quiet.now.monotonic && wakes[0] <= quiet.now.monotonic + .milliseconds(20))
        effects = []
        quiet.discovery.handle(
            .datagramReceived([1], from: try SocketAddress(parsing: "1.2.3.4:5")),
            at: quiet.now,
            into: &effects
        )
        #expect(effects.count == 1)
    }
}
