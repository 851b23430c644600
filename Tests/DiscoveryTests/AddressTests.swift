internal import Bytes
internal import Identity
internal import Testing

@testable internal import Discovery

/// The meaning of an announcement's addresses to its receiver.
@Suite("Addresses in announcements") struct AddressTests {
    private let network: Network
    private let peer = Member(seed: 1)
    private var host: Host

    init() throws {
        network = try Network()
        host = try Host(of: network)
    }

    private mutating func meaning(of addresses: [String], from source: String) throws -> [String] {
        try host.hear(peer.announcement(in: network, addresses: addresses), of: network, from: source)
        return host.discovery.peers(in: network.id).first?.addresses.map(\.description) ?? []
    }

    @Test(arguments: [
        (["192.0.2.1:1", "[2001:db8::1]:2"], "198.51.100.7:9", ["192.0.2.1:1", "[2001:db8::1]:2"]),
        (["0.0.0.0:4433"], "198.51.100.7:9", ["198.51.100.7:4433"]),
        (["0.0.0.0:4433", "[::]:4433"], "[2001:db8::7]:9", ["[2001:db8::7]:4433"]),
        (["[::]:4433"], "[fe80::7%3]:9", ["[fe80::7%3]:4433"]),
        (["0.0.0.0:4433", "198.51.100.7:4433"], "198.51.100.7:9", ["198.51.100.7:4433"]),
        (["[fe80::1]:4433"], "[fe80::1%3]:9", ["[fe80::1%3]:4433"]),
        (["[fe80::1]:4433"], "192.0.2.1:9", []),
        (["169.254.7.7:4433"], "192.0.2.1:9", ["169.254.7.7:4433"]),
        (["127.0.0.1:4433", "[::1]:4433"], "192.0.2.1:9", []),
        (["127.0.0.1:4433"], "127.0.0.1:9", ["127.0.0.1:4433"]),
        (["127.0.0.1:4433"], "192.0.2.100:9", ["127.0.0.1:4433"]),
        ([], "192.0.2.1:9", []),
    ])
    mutating func `addresses are taken as the specification says`(
        named: [String],
        source: String,
        meant: [String]
    ) throws {
        #expect(try meaning(of: named, from: source) == meant)
        #expect(host.isPresent(peer.peerId, in: network))
    }

    @Test mutating func `one announcement by several links adds what each means`() throws {
        let announcement = try peer.announcement(in: network, addresses: ["0.0.0.0:4433", "[::]:4433"])
        let datagram = try host.seal(announcement, of: network)
        let sources = ["192.0.2.1:9", "[fe80::1%2]:9", "[fe80::1%3]:9", "192.0.2.1:9"]
        for source in sources { try host.hear(datagram, from: source) }
        let addresses = host.discovery.peers(in: network.id).first?.addresses.map(\.description)
        #expect(addresses == ["192.0.2.1:4433", "[fe80::1%2]:4433", "[fe80::1%3]:4433"])
        #expect(host.count.signatures == 1)
    }

    @Test mutating func `a copy under other sources adds three addresses at most, behind the genuine one`() throws {
        let announcement = try peer.announcement(in: network, addresses: ["0.0.0.0:4433"])
        let datagram = try host.seal(announcement, of: network)
        try host.hear(datagram, from: "192.0.2.1:9")
        for last in 1...200 { try host.hear(datagram, from: "198.51.100.\(last):9") }
        let addresses = try #require(host.discovery.peers(in: network.id).first?.addresses)
        #expect(addresses.count == 4)
        #expect(addresses[0].description == "192.0.2.1:4433")
        // The next one of its own sets it right.
        try host.hear(
            peer.announcement(in: network, counter: 2, addresses: ["0.0.0.0:4433", "192.0.2.1:1"]),
            of: network,
            from: "192.0.2.1:9"
        )
        #expect(host.discovery.peers(in: network.id).first?.addresses.count == 2)
    }

    @Test mutating func `a copied announcement keeps no peer alive`() throws {
        let datagram = try host.seal(peer.announcement(in: network, addresses: ["0.0.0.0:4433"]), of: network)
        try host.hear(datagram)
        for last in 1...3 {
            host.pass(.seconds(9))
            try host.hear(datagram, from: "198.51.100.\(last):9")
        }
        host.pass(.seconds(6))
        #expect(!host.isPresent(peer.peerId, in: network))
    }
}
