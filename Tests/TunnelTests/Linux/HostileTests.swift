#if os(Linux)
internal import Concurrency
internal import CryptoPrimitives
internal import Glibc
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Tunnel

/// Engines of two namespaces under attack: from spoofed addresses outside, and from a configured peer inside.
@Suite(
    "Hostile peers",
    .enabled(if: TunnelLab.obstacle == nil, "needs root, namespaces, /dev/net/tun and nft"),
    .serialized,
    .timeLimit(.minutes(5))
)
struct HostileTests {
    private let payload: [UInt8] = {
        var random = SplitMix64(seed: 99)
        return random.bytes(count: 1 << 20)
    }()

    @Test func `streams pass an engine during a flood from many spoofed sources`() async throws {
        let pair = try await EnginePair()
        #expect(try await pair.stream(from: 1, [1]) == [1])
        let names = EnginePair.roles.map(pair.spaces.space)
        // Answers to spoofed sources find a way, as on the Internet; the longest datagrams fit into one packet.
        try NetworkSpaces.run(
            """
            ip -n \(names[0]) route add default via \(EnginePair.outer[1])
            ip -n \(names[0]) link set eth0 mtu 2100
            ip -n \(names[1]) link set eth0 mtu 2100
            """
        )
        let place = SocketAddress(try #require(IPAddress(EnginePair.outer[0])), port: pair.resources[0].port)
        let key = pair.keys[0].publicKey
        let before = try await pair.client(0).device()
        async let flood = pair.spaces.inside(EnginePair.roles[1]) {
            let socket = try SpoofingSocket()
            var messages = HostileMessages(against: key, seed: 4)
            for length in 0...2_000 {
                let point = HostileMessages.lowOrderPoints[length % HostileMessages.lowOrderPoints.count]
                let all = [
                    messages.junk(count: length), messages.initiation(), messages.initiation(ephemeral: point),
                    messages.response(), messages.cookieReply(), messages.transport(count: 32 + length % 1_400),
                ]
                for datagram in all { try socket.send(datagram, from: messages.source(), to: place) }
            }
        }
        for index in [0, 1, 0, 1] { #expect(try await pair.stream(from: index, payload) == payload) }
        try await flood
        #expect(try await pair.stream(from: 1, payload) == payload)
        let after = try await pair.client(0).device()
        #expect(after.peers.map(\.publicKey) == before.peers.map(\.publicKey))
        // Neither the endpoint nor the session of the peer was touched.
        #expect(after.peers.map(\.endpoint) == before.peers.map(\.endpoint))
        #expect(after.peers.map(\.lastHandshake) == before.peers.map(\.lastHandshake))
        let received = try #require(after.peers.first?.receivedBytes) - (before.peers.first?.receivedBytes ?? 0)
        #expect(received > UInt64(3 * payload.count))
    }

    @Test func `no packet with another source than the peer's leaves the tunnel`() async throws {
        let pair = try await EnginePair()
        let capture = try await pair.spaces.inside(EnginePair.roles[0]) { try PacketCapture(interface: "wg0") }
        let peer = try await HostilePeer(pair)
        let sources = [
            "10.66.0.2", "10.66.0.1", "10.66.0.4", "127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "192.0.2.1",
            "fd66::2", "fd66::1", "fd66::4", "::1", "::", "ff02::1", "2001:db8::1", "::ffff:10.66.0.3",
        ]
        let own = try ["own", "own IPv6"].map {
            try HostilePeer.packet($0, from: $0 == "own" ? HostilePeer.inner : HostilePeer.innerIPv6)
        }
        try peer.send(
            try sources.map { try HostilePeer.packet("spoofed", from: $0) } + own.flatMap(HostilePackets.unreadable)
        )
        // Packets of the own source arrive once each, although their datagrams are repeated.
        let datagrams = try peer.send(own)
        for _ in 0..<3 { try peer.repeatDatagrams(datagrams) }
        try peer.send([try HostilePeer.packet("end")])
        let arrived = try await aside { try capture.packets(until: Array("end".utf8)) }
        #expect(arrived.filter { !$0.ends(with: "begin") && !$0.isNeighbourDiscovery } == own)
    }

    @Test func `fragments and chains of headers pass as they are, and others are served`() async throws {
        let pair = try await EnginePair()
        let capture = try await pair.spaces.inside(EnginePair.roles[0]) { try PacketCapture(interface: "wg0") }
        let peer = try await HostilePeer(pair)
        let source = (try #require(IPAddress(HostilePeer.inner)), try #require(IPAddress(HostilePeer.innerIPv6)))
        let destination = (
            try #require(IPAddress(EnginePair.inner[0])), try #require(IPAddress(EnginePair.innerIPv6[0]))
        )
        let odd = HostilePackets.odd(from: source, to: destination)
        async let stream = pair.stream(from: 1, payload)
        var arrived: [[UInt8]] = []
        for _ in 0..<20 {
            // One round at a time, which fits into the buffers of an engine whose thread is paused.
            try peer.send(odd + [try HostilePeer.packet("end")])
            arrived += try await aside { try capture.packets(until: Array("end".utf8)) }
        }
        #expect(try await stream == payload)
        let peers = arrived.filter { $0.source == source.0.bytes || $0.source == source.1.bytes }
        #expect(peers.filter { !$0.ends(with: "begin") } == (0..<20).flatMap { _ in odd })
        #expect(try await pair.stream(from: 0, payload) == payload)
    }

    @Test func `an engine stops while the local machine sends without a pause`() async throws {
        let pair = try await EnginePair()
        #expect(try await pair.stream(from: 0, [1]) == [1])
        let (begun, hasStopped) = (Promise<Void>(), Locked(false))
        async let wasStopped = pair.spaces.inside(EnginePair.roles[0]) {
            let sender = try PlainSocket(isIPv6: false, isStream: false, patience: PlainSocket.shortPatience)
            // Each call gives the engine 64 packets, so that its queue does not become empty.
            try sender.set(Int32(IPPROTO_UDP), Self.segmentation, 100)
            try sender.connect(EnginePair.inner[1], EnginePair.port)
            let packets = [UInt8](repeating: 0, count: 6_400)
            let end = ContinuousClock.now + .seconds(120)
            var count = 0
            while ContinuousClock.now < end {
                if hasStopped.withLock({ $0 }) { return true }
                count += 1
                if count == 1_000 { begun.fulfil(()) }
                // The other machine refuses the port, and a stopped engine reads nothing.
                _ = try? sender.send(packets)  // a refusal is no failure of the test
            }
            return false
        }
        await begun.waitIgnoringCancellation()
        await pair.engine(0).stop()
        hasStopped.withLock { $0 = true }
        #expect(try await wasStopped, "the engine did not stop before the packets ended")
    }

    /// Linux's UDP_SEGMENT.
    private static let segmentation: Int32 = 103
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count) == Array(text.utf8)[...] }

    /// The bytes of the source address of an IP packet.
    fileprivate var source: [UInt8] {
        Array(first.map { $0 >> 4 } == 6 ? prefix(24).dropFirst(8) : prefix(16).dropFirst(12))
    }

    /// Whether the packet is ICMPv6, which the kernel of the other machine sends by itself.
    fileprivate var isNeighbourDiscovery: Bool { count > 40 && self[0] >> 4 == 6 && self[6] == 58 }
}
#endif
