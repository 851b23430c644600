/// The places of a bounded number that each source has, and the rule by which one of them passes to a newcomer.
///
/// The block with the most places yields, and within it the address with the most: so neither an address nor a block
/// keeps the others out. A newcomer without a place always gets one. A party with many addresses therefore replaces
/// places, but those of its own block first, and the oldest: a peer that needs its place for a round trip keeps it.
package struct SourcePlaces: Sendable {
    private struct Block: Sendable {
        var count = 0
        var addresses: [IPAddress: Int] = [:]
        /// The number of places of the address that has the most.
        var most: Int { addresses.values.max() ?? 0 }
    }

    /// Looked up, and walked only to compare numbers.
    private var blocks: [IPAddress: Block] = [:]
    /// The number of places that are taken.
    package private(set) var count = 0

    package init() {}

    package mutating func add(_ source: AddressSource) { change(source, by: 1) }
    package mutating func remove(_ source: AddressSource) { change(source, by: -1) }

    private mutating func change(_ source: AddressSource, by change: Int) {
        var block = blocks[source.block] ?? Block()
        let own = (block.addresses[source.address] ?? 0) + change
        block.addresses[source.address] = own == 0 ? nil : own
        block.count += change
        blocks[source.block] = block.count == 0 ? nil : block
        count += change
    }

    /// Returns the sources of which the oldest place passes to a newcomer; empty if it gets none.
    package func yielding(to newcomer: AddressSource) -> Set<AddressSource> {
        let most = blocks.values.reduce(0) { max($0, $1.count) }
        let own = blocks[newcomer.block] ?? Block()
        let places = own.addresses[newcomer.address] ?? 0
        if places > 0 {
            if own.count == most { return own.most > places + 1 ? Self.largest(of: own) : [] }
            guard most > own.count + 1 else { return [] }
        }
        return blocks.reduce(into: []) { found, entry in
            if entry.value.count == most { found.formUnion(Self.largest(of: entry.value)) }
        }
    }

    private static func largest(of block: Block) -> Set<AddressSource> {
        let most = block.most
        return Set(block.addresses.filter { $0.value == most }.keys.map { AddressSource($0) })
    }
}
