internal import Bytes
internal import Identity
internal import Testing

@testable internal import Discovery

/// Forged announcements from an attacker that knows the member secret: the worst case on the link.
@Suite("Forged announcements") struct ForgeryTests {
    private let network: Network
    private let other: Network
    private let victim = Member(seed: 1)
    private let attacker = Member(seed: 2)
    private var host: Host
    private let source = "203.0.113.66:4242"

    init() throws {
        network = try Network()
        other = try Network(seed: 2)
        host = try Host(of: network)
        try host.join(other)
        _ = host.take()
    }

    private mutating func expectIgnored(_ reason: Discovery.Reason, _ datagram: [UInt8]) throws {
        try host.hear(datagram, from: source)
        let address = try SocketAddress(parsing: source)
        #expect(host.takeNews() == [.host(.ignored(reason, from: address, count: 1))])
        #expect(host.discovery.peers(in: network.id).isEmpty)
        #expect(host.discovery.peers(in: other.id).isEmpty)
    }

    private mutating func seal(_ bytes: [UInt8], of network: Network) throws -> [UInt8] {
        try #require(network.beaconKey.seal(bytes, nonce: Array(bytes.suffix(6) + bytes.prefix(6))))
    }

    @Test mutating func `another member's name with the sender's signature is refused`() throws {
        let genuine = try victim.announcement(in: network)
        let own = try attacker.announcement(in: network)
        // The victim's key and token, the attacker's addresses and signature.
        var bytes = own.bytes
        bytes.replaceSubrange(2..<34, with: victim.key.publicKey.bytes)
        bytes.replaceSubrange(66..<138, with: genuine.bytes[66..<138])
        try expectIgnored(.badSignature, seal(bytes, of: network))
    }

    @Test mutating func `the sender's name with another member's token is refused`() throws {
        let genuine = try victim.announcement(in: network)
        var bytes = try attacker.announcement(in: network).bytes
        bytes.replaceSubrange(66..<138, with: genuine.bytes[66..<138])
        try expectIgnored(.badToken, seal(bytes, of: network))
    }

    @Test mutating func `a token that is not signed by the network's key is refused`() throws {
        let genuine = try network.token(for: attacker.peerId)
        let forged = try AccessToken(
            peerId: attacker.peerId,
            networkId: network.id,
            expirationSeconds: nil,
            signature: Ed25519Signature(of: genuine.signedBytes, by: attacker.key)
        )
        try expectIgnored(.badToken, seal(attacker.announcement(in: network, token: forged).bytes, of: network))
    }

    @Test mutating func `an announcement copied into another network is refused there`() throws {
        let genuine = try victim.announcement(in: network).bytes
        try expectIgnored(.badToken, seal(genuine, of: other))
        // With the victim's token of the other network, which is known to its members.
        var bytes = genuine
        bytes.replaceSubrange(66..<138, with: try victim.announcement(in: other).bytes[66..<138])
        try expectIgnored(.badSignature, seal(bytes, of: other))
    }

    @Test mutating func `a beacon is no rendezvous probe, and a probe is no beacon`() throws {
        let asRendezvousProbe = try victim.announcement(in: network, for: .beacon)
        let key = network.secrets.newest.rendezvous.publicKey
        let rendezvousProbe = try #require(RendezvousProbe.seal(asRendezvousProbe, to: key) { $1.seal($0, info: $2) })
        try expectIgnored(.badSignature, rendezvousProbe)
        host.pass(.seconds(61))
        _ = host.take()
        let asBeacon = try victim.announcement(in: network, wallSeconds: host.now.wallSeconds, for: .rendezvousProbe)
        try expectIgnored(.badSignature, seal(asBeacon.bytes, of: network))
    }

    /// Everything before the signature, bit by bit.
    @Test mutating func `no part of an announcement can be exchanged`() throws {
        let genuine = try victim.announcement(in: network).bytes
        for bit in stride(from: 8, to: 210 * 8, by: 11) {
            var bytes = genuine
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            try host.hear(seal(bytes, of: network), from: source)
        }
        #expect(host.discovery.peers(in: network.id).isEmpty)
        try host.hear(seal(genuine, of: network), from: source)
        #expect(host.isPresent(victim.peerId, in: network))
    }

    @Test mutating func `a forged counter does not silence its victim`() throws {
        try host.hear(victim.announcement(in: network), of: network)
        var bytes = try victim.announcement(in: network, counter: 2, isGoodbye: true).bytes
        bytes.replaceSubrange(50..<58, with: [UInt8](repeating: 0xFF, count: 8))
        host.pass(.seconds(3))
        try host.hear(seal(bytes, of: network), from: source)
        #expect(host.isPresent(victim.peerId, in: network))
        _ = host.take()
        try host.hear(victim.announcement(in: network, counter: 3), of: network)
        #expect(host.takeNews().count == 1)
    }

    @Test mutating func `a recorded announcement cannot be played back`() throws {
        var recorded: [[UInt8]] = []
        for counter: UInt64 in 1...5 {
            let announcement = try victim.announcement(
                in: network,
                counter: counter,
                wallSeconds: host.now.wallSeconds,
                isGoodbye: counter == 5
            )
            let datagram = try host.seal(announcement, of: network)
            recorded.append(datagram)
            try host.hear(datagram)
            host.pass(.seconds(10))
        }
        #expect(!host.isPresent(victim.peerId, in: network))
        _ = host.take()
        // At once, after the victim was lost, and for as long as the clock permits it.
        for _ in 0..<40 {
            for datagram in recorded { try host.hear(datagram, from: source) }
            #expect(!host.isPresent(victim.peerId, in: network))
            host.pass(.seconds(110))
        }
        #expect(
            host.takeNews().allSatisfy { effect in
                if case .host(.ignored) = effect { true } else { false }
            }
        )
    }

    @Test mutating func `a recorded announcement is too old for every receiver after an hour`() throws {
        let datagram = try host.seal(victim.announcement(in: network), of: network)
        host.pass(.seconds(3602))
        _ = host.take()
        try expectIgnored(.clocksDiffer, datagram)
    }

    @Test mutating func `a replay of an earlier start does not affect the present one`() throws {
        var earlier = victim
        earlier.instance = InstanceId()
        try host.hear(victim.announcement(in: network), of: network)
        try host.hear(earlier.announcement(in: network, addresses: ["203.0.113.66:1"]), of: network, from: source)
        try host.hear(earlier.announcement(in: network, counter: 2, isGoodbye: true), of: network, from: source)
        let addresses = host.discovery.peers(in: network.id).first?.addresses.map(\.description)
        #expect(addresses == ["192.0.2.1:4433"])
        let losses = host.takeNews().contains { if case .peerLost = $0 { true } else { false } }
        #expect(!losses)
    }

    @Test mutating func `a datagram with a changed bit belongs to no network`() throws {
        let datagram = try host.seal(victim.announcement(in: network), of: network)
        for bit in stride(from: 0, to: datagram.count * 8, by: 13) {
            var changed = datagram
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            try host.hear(changed, from: source)
        }
        for length in 0..<500 where length != BeaconKey.byteCount {
            try host.hear([UInt8](repeating: 7, count: length), from: source)
        }
        #expect(host.discovery.peers(in: network.id).isEmpty)
        #expect(host.count.signatures == 0)
    }
}
