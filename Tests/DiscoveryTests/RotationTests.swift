internal import Bytes
internal import Identity
internal import Testing

@testable internal import Discovery

/// Secrets that are replaced, and devices that have none yet.
@Suite("Rotation and rendezvous probes") struct RotationTests {
    private var network: Network
    private let day: UInt64 = 86_400

    init() throws {
        network = try Network(epoch: 1_700_000_000)
    }

    /// Delivers the pending datagrams of `host` to `other`, and returns the news of `other`.
    private func exchange(_ host: inout Host, _ other: inout Host, from source: String) throws -> [Discovery.Effect] {
        for datagram in host.takeDatagrams() { try other.hear(datagram, from: source) }
        return other.takeNews()
    }

    private func heard(_ peer: Host, in effects: [Discovery.Effect]) -> Bool {
        effects.contains { effect in
            if case .peerHeard(peer.member.peerId, network.id, _) = effect { true } else { false }
        }
    }

    @Test mutating func `a node with the old secret is heard for a day and hears no node with the new one`() throws {
        var sleeper = try Host(seed: 1, of: network)
        let old = network
        network.secrets.insert(try network.secrets.successor(signer: network.key, nowSeconds: sleeper.now.wallSeconds))
        var awake = try Host(seed: 2, of: network)
        sleeper.pass(.seconds(1))
        awake.pass(.seconds(1))
        #expect(heard(sleeper, in: try exchange(&sleeper, &awake, from: "192.0.2.1:1")))
        #expect(!heard(awake, in: try exchange(&awake, &sleeper, from: "192.0.2.2:1")))
        // Beacons are sealed with the newest secret only.
        awake.pass(.seconds(10))
        for datagram in awake.takeDatagrams() {
            let isReadable = old.beaconKey.open(datagram) != nil
            #expect(!isReadable)
        }

        for host in [0, 1] {
            var late = try Host(seed: 3 + UInt64(host), of: network)
            late.now.wallSeconds += day - 60 + UInt64(host) * 120
            sleeper.now.wallSeconds = late.now.wallSeconds
            _ = sleeper.take()
            sleeper.pass(.seconds(12))
            late.now = NodeTime(monotonic: late.now.monotonic, wallSeconds: sleeper.now.wallSeconds)
            #expect(heard(sleeper, in: try exchange(&sleeper, &late, from: "192.0.2.1:1")) == (host == 0))
        }
    }

    @Test mutating func `a newer secret is announced at once, an unchanged one is not`() throws {
        var host = try Host(of: network)
        host.pass(.seconds(60))
        _ = host.take()
        try host.join(network)
        host.pass(.seconds(1))
        let quiet = host.takeDatagrams().count
        #expect(quiet <= 1)
        network.secrets.insert(try network.secrets.successor(signer: network.key, nowSeconds: host.now.wallSeconds))
        try host.join(network)
        host.pass(.seconds(1))
        let datagrams = host.takeDatagrams()
        #expect(datagrams.count >= 3)
        #expect(datagrams.allSatisfy { network.beaconKey.open($0) != nil })
    }

    @Test mutating func `the rendezvous probes of a device without the secret reach only members`() throws {
        var member = try Host(seed: 1, of: network)
        var outsider = try Host(seed: 2, of: Network(seed: 2))
        var newcomer = try Host(seed: 3)
        let token = try network.token(for: newcomer.member.peerId)
        newcomer.give(.networkKnown(token, network.secrets.newest.rendezvous.publicKey))
        newcomer.pass(.seconds(1))
        let rendezvousProbes = newcomer.takeDatagrams()
        #expect(rendezvousProbes.count == 4)
        for rendezvousProbe in rendezvousProbes {
            #expect(rendezvousProbe.count == RendezvousProbe.byteCount)
            try member.hear(rendezvousProbe, from: "192.0.2.3:1")
            try outsider.hear(rendezvousProbe, from: "192.0.2.3:1")
        }
        #expect(heard(newcomer, in: member.takeNews()))
        #expect(outsider.discovery.peers(in: network.id).isEmpty)
        // A member does not answer: the newcomer could not read it.
        member.pass(.milliseconds(500))
        #expect(member.takeDatagrams().count <= 4)
    }

    @Test mutating func `rendezvous probes end when the secret arrives`() throws {
        var newcomer = try Host(seed: 3)
        let token = try network.token(for: newcomer.member.peerId)
        newcomer.give(.networkKnown(token, network.secrets.newest.rendezvous.publicKey))
        newcomer.pass(.seconds(25))
        let rendezvousProbes = newcomer.takeDatagrams()
        #expect((5...7).contains(rendezvousProbes.count))
        try newcomer.join(network)
        newcomer.pass(.seconds(25))
        let beacons = newcomer.takeDatagrams()
        #expect(beacons.count >= 5)
        #expect(beacons.allSatisfy { $0.count == BeaconKey.byteCount })
        var member = try Host(seed: 1, of: network)
        for datagram in rendezvousProbes + beacons { try member.hear(datagram, from: "192.0.2.3:1") }
        #expect(member.isPresent(newcomer.member.peerId, in: network))
    }

    @Test mutating func `a device with an outdated secret may also send rendezvous probes`() throws {
        var sleeper = try Host(seed: 1, of: network)
        let twoDaysAgo = sleeper.now.wallSeconds - 2 * day
        network.secrets.insert(try network.secrets.successor(signer: network.key, nowSeconds: twoDaysAgo))
        var member = try Host(seed: 2, of: network)
        sleeper.pass(.seconds(1))
        #expect(!heard(sleeper, in: try exchange(&sleeper, &member, from: "192.0.2.1:1")))
        let token = try network.token(for: sleeper.member.peerId)
        sleeper.give(.networkKnown(token, network.secrets.newest.rendezvous.publicKey))
        sleeper.pass(.seconds(1))
        #expect(heard(sleeper, in: try exchange(&sleeper, &member, from: "192.0.2.1:1")))
    }
}
