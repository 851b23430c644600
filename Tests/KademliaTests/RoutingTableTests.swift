internal import Bytes
internal import Identity
internal import Testing

@testable internal import Kademlia

@Suite("Routing table") struct RoutingTableTests {
    private func table(_ random: inout SeededGenerator) throws -> RoutingTable {
        RoutingTable(local: try self.peer(&random), places: 20, peersPerAddressGroup: 2)
    }

    private func peer(_ random: inout SeededGenerator) throws -> PeerId {
        try PeerId(rawRepresentation: random.bytes(32))
    }

    /// An address in a block of its own for every number.
    private func address(_ number: Int) -> SocketAddress {
        SocketAddress(.v4(0x0100_0000 + UInt32(number) << 8 + 1), port: 4433)
    }

    @Test func `the nearest are those that sorting finds`() throws {
        var random = SeededGenerator(seed: 1)
        var table = try self.table(&random)
        for number in 0..<500 {
            table.insert(try self.peer(&random), addresses: [self.address(number)], at: .seconds(number))
        }
        for _ in 0..<50 {
            let target = try self.peer(&random).words
            let sorted = table.entries.map(\.peerId).sorted { Distance($0.words, target) < Distance($1.words, target) }
            let found = table.nearest(to: target, count: 20) { _ in true }.map { table.entries[$0].peerId }
            #expect(found == Array(sorted.prefix(20)))
            let own = Distance(table.local, target)
            let nearer = table.entries.count { Distance($0.peerId.words, target) < own }
            #expect(table.countNearer(to: target, limit: 1000) == nearer)
            #expect(table.countNearer(to: target, limit: 3) == min(3, nearer))
        }
    }

    @Test func `the nearest forty always find a place, and every bucket has twenty more`() throws {
        var random = SeededGenerator(seed: 2)
        var table = try self.table(&random)
        var all: [PeerId] = []
        for number in 0..<5000 {
            let peer = try self.peer(&random)
            all.append(peer)
            table.insert(peer, addresses: [self.address(number)], at: .seconds(number))
        }
        all.sort { Distance($0.words, table.local) < Distance($1.words, table.local) }
        #expect(table.entries.prefix(40).map(\.peerId) == Array(all.prefix(40)))
        for bucket in 0..<Distance.bucketCount {
            let range = table.range(of: bucket)
            for position in range {
                #expect(Distance(table.entries[position].peerId.words, table.local).bucket == bucket)
            }
            #expect(range.clamped(to: 40..<table.count).count <= 20)
        }
        #expect((0..<Distance.bucketCount).map { table.range(of: $0).count }.reduce(0, +) == table.count)
        #expect(table.count < 40 + 20 * 9)
        // In a full bucket the old ones keep their places while they are connected.
        let far = table.range(of: 0).map { table.entries[$0].since }
        #expect(far.allSatisfy { $0 < .seconds(60) })
    }

    @Test func `a member that was not seen for long gives its place to a newcomer`() throws {
        var random = SeededGenerator(seed: 3)
        var table = try self.table(&random)
        for number in 0..<2000 {
            table.insert(try self.peer(&random), addresses: [self.address(number)], at: .zero)
        }
        let full = table.range(of: 0)
        #expect(full.count == 20)
        let stale = table.entries[full.lowerBound + 7].peerId
        table.update(stale) { entry in
            entry.isConnected = false
            entry.lastSeen = .zero
        }
        let newcomer = try self.far(from: table, &random)
        let early = table.insert(newcomer, addresses: [self.address(5000)], at: .seconds(1800))
        #expect(!early)
        #expect(table[stale] != nil)
        let late = table.insert(newcomer, addresses: [self.address(5000)], at: .seconds(3700))
        #expect(late)
        #expect(table[stale] == nil)
    }

    /// A peer of bucket 0.
    private func far(from table: RoutingTable, _ random: inout SeededGenerator) throws -> PeerId {
        while true {
            let peer = try self.peer(&random)
            if Distance(peer.words, table.local).bucket == 0 { return peer }
        }
    }

    @Test func `one block of addresses cannot take a bucket that others want`() throws {
        var random = SeededGenerator(seed: 4)
        var table = try self.table(&random)
        for number in 0..<40 {
            // The neighbourhood, so that the rest counts in its bucket.
            var bytes = table.local.bytes
            bytes[31] ^= UInt8(number + 1)
            table.insert(try PeerId(rawRepresentation: bytes), addresses: [], at: .zero)
        }
        let sybil = SocketAddress(.v4(0x0505_0501), port: 1)
        for number in 0..<20 {
            table.insert(try self.far(from: table, &random), addresses: [sybil], at: .seconds(number))
        }
        // A household shares one address, and no other peer competes for the places.
        #expect(table.range(of: 0).count == 20)
        for number in 0..<30 {
            table.insert(try self.far(from: table, &random), addresses: [self.address(number)], at: .seconds(100))
        }
        let left = table.range(of: 0).count { table.entries[$0].addresses == [sybil] }
        #expect(left == 2)
        #expect(table.range(of: 0).count == 20)
        for _ in 0..<30 { table.insert(try self.far(from: table, &random), addresses: [sybil], at: .seconds(200)) }
        #expect(table.range(of: 0).count { table.entries[$0].addresses == [sybil] } == 2)
    }
}
