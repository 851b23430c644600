internal import Identity
internal import TestSupport
internal import Testing

@testable internal import WireGuard

/// A model of the table: a list of all blocks.
private struct NaiveTable {
    var blocks: [(block: AddressPrefix, owner: Int)] = []

    mutating func insert(_ block: AddressPrefix, _ owner: Int) {
        blocks.removeAll { $0.block == block }
        blocks.append((block, owner))
    }

    mutating func remove(_ block: AddressPrefix, _ owner: Int) {
        blocks.removeAll { $0.block == block && $0.owner == owner }
    }

    func owner(of address: IPAddress) -> Int? {
        blocks.filter { AddressPrefix(address, length: $0.block.length) == $0.block }
            .filter { $0.block.address.isIPv6 == address.isIPv6 }
            .max { $0.block.length < $1.block.length }?.owner
    }
}

@Suite("Allowed addresses") struct AllowedAddressesTests {
    /// An address of a small space, so that blocks often contain each other.
    private func address(using random: inout SplitMix64) -> IPAddress {
        let bits = UInt64.random(in: 0..<64, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return .v4(UInt32(bits) << 26 | UInt32(bits))
        case 1: return .v6(high: bits << 58 | bits, low: bits << 58 | bits, scope: 0)
        default: return .v6(high: 0xFD00 << 48, low: bits, scope: 0)
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `the trie finds the owners that a list of blocks finds`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var table = AllowedAddresses()
        var naive = NaiveTable()
        for step in 0..<3_000 {
            let address = address(using: &random)
            let length = Int.random(in: 0...(address.isIPv6 ? 128 : 32), using: &random)
            let block = try #require(AddressPrefix(address, length: length))
            let owner = Int.random(in: 0..<10, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                table.insert(block, owner: owner)
                naive.insert(block, owner)
            case 5..<9:
                let known = naive.blocks.randomElement(using: &random) ?? (block, owner)
                table.remove(known.block, owner: known.owner)
                naive.remove(known.block, known.owner)
            default:
                table.removeAll(owner: owner)
                naive.blocks.removeAll { $0.owner == owner }
            }
            for _ in 0..<4 {
                let probe = self.address(using: &random)
                #expect(table.owner(of: probe) == naive.owner(of: probe), "seed \(seed), step \(step), \(probe)")
            }
            #expect(table.nodeCount <= 2 * naive.blocks.count, "seed \(seed), step \(step)")
        }
        for owner in 0..<10 {
            #expect(table.blocks(of: owner).sorted() == naive.blocks.filter { $0.owner == owner }.map(\.block).sorted())
        }
    }

    @Test func `a block moves to the peer that receives it last`() throws {
        var table = AllowedAddresses()
        let block = try #require(AddressPrefix(.v4(0x0A00_0001), length: 32))
        table.insert(block, owner: 0)
        table.insert(block, owner: 1)
        #expect(table.owner(of: block.address) == 1)
        #expect(table.blocks(of: 0).isEmpty && table.blocks(of: 1) == [block])
        table.remove(block, owner: 0)
        #expect(table.owner(of: block.address) == 1)
    }

    @Test func `the bits after the length of a block are zero`() throws {
        let block = try #require(AddressPrefix(.v6(high: .max, low: .max, scope: 7), length: 68))
        #expect(block.address == .v6(high: .max, low: 0xF << 60, scope: 0))
        #expect(AddressPrefix(.v4(.max), length: 0)?.description == "0.0.0.0/0")
        #expect(AddressPrefix(.v4(.max), length: 33) == nil && AddressPrefix(.v4(.max), length: -1) == nil)
    }
}
