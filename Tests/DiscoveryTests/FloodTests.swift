internal import Bytes
internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import Discovery

/// Floods of every kind: their bounded cost, and that other members are not affected.
@Suite("Floods") struct FloodTests {
    private let network: Network
    private let friend = Member(seed: 1)
    private var host: Host
    private var random = SeededGenerator(seed: 9)
    private var friendCounter: UInt64 = 0

    init() throws {
        network = try Network()
        host = try Host(of: network)
        _ = host.take()
    }

    /// Expects that the friend's next beacon is accepted.
    private mutating func expectFriend(_ comment: Comment) throws {
        friendCounter += 1
        let announcement = try friend.announcement(
            in: network,
            counter: friendCounter,
            wallSeconds: host.now.wallSeconds
        )
        try host.hear(announcement, of: network)
        let heard = host.takeNews().contains { effect in
            if case .peerHeard(friend.peerId, _, _) = effect { true } else { false }
        }
        #expect(heard, comment)
    }

    private mutating func source(_ number: Int) -> SocketAddress {
        SocketAddress(.v4(0x0A00_0000 | UInt32(number)), port: 4242)
    }

    @Test mutating func `garbage from one source is bounded and does not affect other peers`() throws {
        try expectFriend("before")
        let datagrams = (0..<64).map { _ in random.bytes(BeaconKey.byteCount) }
        for round in 0..<30_000 {
            host.give(.datagramReceived(datagrams[round % 64], from: source(1)))
        }
        host.pass(.seconds(3))
        try expectFriend("after")
        let reports = host.takeNews()
        #expect(reports.count <= 4)
        #expect(!host.discovery.budget.hasRoom(for: .trial, from: source(1), at: host.now.monotonic - .seconds(3)))
        #expect(host.count.tokens == 1)
    }

    @Test mutating func `garbage from ten thousand sources costs bounded work and memory`() throws {
        try expectFriend("before")
        host.pass(.seconds(3))
        let datagram = random.bytes(BeaconKey.byteCount)
        for number in 0..<10_000 {
            for _ in 0..<5 { host.give(.datagramReceived(datagram, from: source(number))) }
        }
        let peerCount = host.discovery.networks.values.reduce(0) { $0 + $1.peers.count }
        #expect(host.discovery.budget.count + peerCount <= 4 * 512 + 1)
        #expect(!host.discovery.budget.hasRoom(for: .trial, from: source(77_777), at: host.now.monotonic))
        try expectFriend("meanwhile: strangers used up their share, not a known member's")
    }

    @Test mutating func `rendezvous probes cost a hash without the key and few openings with it`() throws {
        let key = network.secrets.newest.rendezvous.publicKey
        let announcement = try Member(seed: 5).announcement(in: network, for: .rendezvousProbe)
        let genuine = try #require(RendezvousProbe.seal(announcement, to: key) { $1.seal($0, info: $2) })
        var spoilt = genuine
        spoilt[200] ^= 1
        for _ in 0..<1000 { host.give(.datagramReceived(spoilt, from: source(1))) }
        for number in 2..<1000 { host.give(.datagramReceived(spoilt, from: source(number))) }
        #expect(host.count.signatures == 0)
        // All share a hundred openings at once; rendezvous probes of unverified sources wait, beacons do not.
        host.give(.datagramReceived(genuine, from: source(5_000)))
        #expect(!host.isPresent(Member(seed: 5).peerId, in: network))
        try expectFriend("meanwhile")
        host.pass(.seconds(1))
        host.give(.datagramReceived(genuine, from: source(5_000)))
        #expect(host.isPresent(Member(seed: 5).peerId, in: network))
        let unverified = random.bytes(RendezvousProbe.byteCount)
        for _ in 0..<1000 { host.give(.datagramReceived(unverified, from: source(6_000))) }
        #expect(host.discovery.budget.hasRoom(for: .rendezvousProbe, from: source(6_000), at: host.now.monotonic))
    }

    @Test mutating func `a member that invents members adds none and costs bounded verification`() throws {
        try expectFriend("before")
        let attacker = Member(seed: 2)
        try host.hear(attacker.announcement(in: network), of: network, from: "203.0.113.66:1")
        _ = host.take()
        let before = host.count.signatures + host.count.tokens
        for number in 0..<600 {
            let made = Member(seed: 10_000 + UInt64(number))
            let token = try AccessToken.create(
                peerId: made.peerId,
                networkId: NetworkId(publicKey: attacker.key.publicKey),
                signer: attacker.key,
                expirationSeconds: nil
            )
            let forged = try AccessToken(
                peerId: made.peerId,
                networkId: network.id,
                expirationSeconds: nil,
                signature: token.signatureValue
            )
            try host.hear(made.announcement(in: network, token: forged), of: network, from: "203.0.113.66:1")
        }
        #expect(host.discovery.peers(in: network.id).map(\.peer).sorted() == [friend.peerId, attacker.peerId].sorted())
        #expect(host.count.signatures + host.count.tokens - before <= 400)
        host.pass(.seconds(3))
        try expectFriend("after")
    }

    @Test mutating func `a member that keeps restarting causes bounded replies and bounded memory`() throws {
        try expectFriend("before")
        host.pass(.seconds(3))
        _ = host.take()
        var sent = 0
        for start in 0..<200 {
            var attacker = Member(seed: 2)
            var boot = SeededGenerator(seed: UInt64(start))
            attacker.instance = InstanceId(generating: &boot)
            let announcement = try attacker.announcement(in: network, wallSeconds: host.now.wallSeconds)
            try host.hear(announcement, of: network, from: "203.0.113.66:1")
            host.pass(.milliseconds(100))
            sent += host.takeDatagrams().count
        }
        // Twenty seconds: three answers of four datagrams, and the regular ones.
        #expect(sent <= 3 * 4 + 3)
        #expect(host.discovery.networks[network.id]?.peers.count == 2)
        #expect(host.discovery.networks[network.id]?.peers.values.allSatisfy { $0.boots.count <= 4 } == true)
        try expectFriend("after")
    }

    @Test mutating func `a full table keeps its peers`() throws {
        var limits = Discovery.Limits()
        limits.peersPerNetwork = 8
        var lan = Lan(seed: 1)
        let cheap = try CheapNetwork()
        let index = lan.add(.cheap(500, limits: limits))
        lan.input(.networkAdded(try cheap.token(for: lan.nodes[0].peerId), cheap.secrets), to: index)
        try lan.addMembers(12, of: cheap)
        for node in 0...12 { lan.start(node, at: .seconds(node)) }
        lan.run(until: .seconds(20))
        let first = lan.nodes[0].discovery.peers(in: cheap.id).map(\.peer)
        #expect(first.count == 8)
        lan.run(until: .seconds(200))
        #expect(lan.nodes[0].discovery.peers(in: cheap.id).map(\.peer) == first)
        #expect(lan.nodes[0].lost.isEmpty)
    }

    @Test mutating func `the number of networks is bounded`() throws {
        var limits = Discovery.Limits()
        limits.networks = 3
        var lan = Lan(seed: 1)
        lan.add(.cheap(1, limits: limits))
        for seed: UInt64 in 1...5 {
            let network = try CheapNetwork(seed: seed)
            lan.input(.networkAdded(try network.token(for: lan.nodes[0].peerId), network.secrets), to: 0)
        }
        #expect(lan.nodes[0].discovery.networks.count == 3)
    }
}
