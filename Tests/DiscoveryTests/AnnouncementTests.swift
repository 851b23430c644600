internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Discovery

@Suite("Announcement") struct AnnouncementTests {
    private let network: Network
    private let member = Member(seed: 1)

    init() throws {
        network = try Network()
    }

    @Test func `it is read back, whatever it names`() throws {
        let addressLists = [
            [], ["192.0.2.1:1"], ["[2001:db8::1]:65535", "[fe80::1]:4433"],
            ["0.0.0.0:4433", "[::]:4433", "127.0.0.1:9"],
        ]
        for addresses in addressLists {
            for isGoodbye in [true, false] {
                let announcement = try member.announcement(in: network, isGoodbye: isGoodbye, addresses: addresses)
                let read = try Announcement(announcement.bytes, of: network.id)
                #expect(read == announcement)
                #expect(read.addresses.map(\.description) == addresses)
                #expect(read.isGoodbye == isGoodbye)
            }
        }
    }

    @Test func `its length tells nothing`() throws {
        for count in 0...12 {
            let addresses = (0..<count).map { "[2001:db8::\($0)]:4433" }
            let announcement = try member.announcement(in: network, addresses: addresses)
            #expect(announcement.bytes.count == Announcement.byteCount)
            #expect(announcement.addresses.count == min(count, Announcement.maximumAddressCount))
        }
    }

    @Test func `a scope stays at home`() throws {
        let announcement = try member.announcement(in: network, addresses: ["[fe80::1%7]:4433"])
        #expect(try Announcement(announcement.bytes, of: network.id).addresses.map(\.scope) == [0])
    }

    @Test func `another version is refused by name, before anything else`() throws {
        var bytes = try member.announcement(in: network).bytes
        for version: UInt8 in [0, 2, 255] {
            bytes[0] = version
            bytes[1] = 0xFF
            #expect(throws: Announcement.Problem.unknownVersion(version)) { try Announcement(bytes, of: network.id) }
        }
    }

    /// Offsets with forbidden values.
    @Test(
        arguments: [
            (1, [0x02]), (1, [0x80]), (2, [1] + [UInt8](repeating: 0, count: 31)),
            (50, [UInt8](repeating: 0, count: 8)), (58, [UInt8](repeating: 0xFF, count: 8)),
            (66, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE]), (138, [9]), (138, [255]), (139, [5]), (139, [0]),
            (140, [224, 0, 0, 1]), (140, [255, 255, 255, 255]), (144, [0, 0]), (383, [1]), (210, [1]),
        ] as [(Int, [UInt8])]
    )
    func `what is not canonical is refused`(offset: Int, bytes: [UInt8]) throws {
        var changed = try member.announcement(in: network).bytes
        changed.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        #expect(throws: Announcement.Problem.malformed) { try Announcement(changed, of: network.id) }
    }

    @Test func `an IPv4 address in the clothes of IPv6 is refused`() throws {
        #expect(Announcement.canName(try SocketAddress(parsing: "192.0.2.1:1")))
        #expect(!Announcement.canName(try SocketAddress(parsing: "[::ffff:192.0.2.1]:1")))
    }

    @Test func `it has one length`() throws {
        let bytes = try member.announcement(in: network).bytes
        for wrong in [[], Array(bytes.dropLast()), bytes + [0]] {
            #expect(throws: Announcement.Problem.malformed) { try Announcement(wrong, of: network.id) }
        }
    }

    @Test func `any changed bit is refused or breaks a signature`() throws {
        let announcement = try member.announcement(in: network)
        for bit in 0..<(announcement.bytes.count * 8) {
            var bytes = announcement.bytes
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let read = try? Announcement(bytes, of: network.id) else { continue }  // refused by its shape
            let isSigned = read.publicKey.isValidSignature(
                read.signature.bytes,
                for: read.signedBytes(for: .beacon)
            )
            #expect(!isSigned, "bit \(bit)")
        }
    }

    @Test func `nothing crashes its reader`() throws {
        let valid = try [
            member.announcement(in: network).bytes, member.announcement(in: network, addresses: []).bytes,
            member.announcement(in: network, addresses: ["[2001:db8::1]:1", "192.0.2.1:1"]).bytes,
        ]
        neverCrash(on: valid, rounds: 5_000) { _ = try Announcement($0, of: network.id).bytes }
        // The reader checks the length first, so only damage that keeps it reaches the other checks.
        neverCrash(on: valid, rounds: 5_000) { damaged in
            let bytes = Array(damaged.prefix(Announcement.byteCount))
            _ = try Announcement(
                bytes + [UInt8](repeating: 0, count: Announcement.byteCount - bytes.count),
                of: network.id
            )
        }
    }
}

@Suite("Beacon") struct BeaconTests {
    private let network: Network
    private let other: Network
    private let member = Member(seed: 1)

    init() throws {
        network = try Network()
        other = try Network(seed: 2)
    }

    private func nonces(_ seed: UInt64 = 1) -> NonceSource {
        var random = SeededGenerator(seed: seed)
        var bytes = random.bytes(32)
        return NonceSource(key: SecretBytes(consuming: &bytes), instance: member.instance)
    }

    @Test func `only members open it`() throws {
        var nonces = nonces()
        let announcement = try member.announcement(in: network)
        let beacon = try #require(network.beaconKey.seal(announcement, nonce: nonces.next()))
        #expect(beacon.count == BeaconKey.byteCount)
        #expect(network.beaconKey.open(beacon) == announcement.bytes)
        #expect(other.beaconKey.open(beacon) == nil)
        for bit in stride(from: 0, to: beacon.count * 8, by: 7) {
            var changed = beacon
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(network.beaconKey.open(changed) == nil)
        }
    }

    @Test func `nonces never repeat, and another start has others`() {
        var one = nonces()
        var other = nonces(2)
        var seen = Set<[UInt8]>()
        for _ in 0..<10_000 {
            seen.insert(one.next())
            seen.insert(other.next())
        }
        #expect(seen.count == 20_000)
    }

    @Test func `no byte of a beacon is stable`() throws {
        var nonces = nonces()
        let beacons = try (1...UInt64(64)).map { counter in
            let announcement = try member.announcement(in: network, counter: counter)
            return try #require(network.beaconKey.seal(announcement, nonce: nonces.next()))
        }
        for position in 0..<BeaconKey.byteCount {
            var counts = [Int](repeating: 0, count: 256)
            for beacon in beacons { counts[Int(beacon[position])] += 1 }
            // By chance, a value occurs 9 times or more at any of the 412 places once in 10^6 runs.
            #expect((counts.max() ?? 0) < 9, "byte \(position)")
        }
        for (one, other) in zip(beacons, beacons.dropFirst()) {
            let equal = zip(one, other).count { $0 == $1 }
            // 412 / 256 on average.
            #expect(equal < 14)
        }
    }

    @Test func `nothing crashes opening`() throws {
        var nonces = nonces()
        let beacon = try #require(network.beaconKey.seal(member.announcement(in: network), nonce: nonces.next()))
        neverCrash(on: [beacon]) { _ = network.beaconKey.open($0) }
    }
}

@Suite("Rendezvous probe") struct RendezvousProbeTests {
    private let network: Network
    private let other: Network
    private let member = Member(seed: 1)

    init() throws {
        network = try Network()
        other = try Network(seed: 2)
    }

    private func rendezvousProbe() throws -> [UInt8] {
        let announcement = try member.announcement(in: network, for: .rendezvousProbe)
        let key = network.secrets.newest.rendezvous.publicKey
        return try #require(RendezvousProbe.seal(announcement, to: key) { $1.seal($0, info: $2) })
    }

    @Test func `only members know and open it`() throws {
        let rendezvousProbe = try rendezvousProbe()
        #expect(rendezvousProbe.count == RendezvousProbe.byteCount)
        let ours = network.secrets.newest.rendezvous
        let theirs = other.secrets.newest.rendezvous
        #expect(RendezvousProbe.isAddressed(rendezvousProbe, to: ours.publicKey))
        #expect(!RendezvousProbe.isAddressed(rendezvousProbe, to: theirs.publicKey))
        let opened = try #require(RendezvousProbe.open(rendezvousProbe, of: network.id, with: ours))
        #expect(try Announcement(opened, of: network.id).peerId == member.peerId)
        #expect(RendezvousProbe.open(rendezvousProbe, of: other.id, with: ours) == nil)
        #expect(RendezvousProbe.open(rendezvousProbe, of: network.id, with: theirs) == nil)
    }

    @Test func `no byte of a rendezvous probe is stable`() throws {
        let rendezvousProbes = try (0..<32).map { _ in try rendezvousProbe() }
        for position in 0..<RendezvousProbe.byteCount {
            var counts = [Int](repeating: 0, count: 256)
            for rendezvousProbe in rendezvousProbes { counts[Int(rendezvousProbe[position])] += 1 }
            #expect((counts.max() ?? 0) < 8, "byte \(position)")
        }
    }

    @Test func `a tag that fits does not open what was changed`() throws {
        let rendezvousProbe = try rendezvousProbe()
        let ours = network.secrets.newest.rendezvous
        for position in [16, 47, 48, 200, RendezvousProbe.byteCount - 1] {
            var changed = rendezvousProbe
            changed[position] ^= 1
            #expect(RendezvousProbe.isAddressed(changed, to: ours.publicKey) == (position >= 48))
            #expect(RendezvousProbe.open(changed, of: network.id, with: ours) == nil)
        }
    }

    @Test func `nothing crashes opening`() throws {
        let ours = network.secrets.newest.rendezvous
        neverCrash(on: [try rendezvousProbe()], rounds: 1_000) { damaged in
            _ = RendezvousProbe.isAddressed(damaged, to: ours.publicKey)
            _ = RendezvousProbe.open(damaged, of: network.id, with: ours)
        }
    }
}
