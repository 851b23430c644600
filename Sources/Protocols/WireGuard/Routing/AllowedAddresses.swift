package import Identity

/// The blocks of addresses that each peer may use inside the tunnel (the paper's cryptokey routing table, section 2).
///
/// A packet is sent to the peer with the longest block that contains its destination, and a received packet is accepted
/// only from the peer with the longest block that contains its source. Each block belongs to one peer: a block that a
/// second peer receives leaves the first.
package struct AllowedAddresses: Sendable {
    private var v4 = PrefixTrie()
    private var v6 = PrefixTrie()
    /// The blocks of each owner, in the order in which they were added; the place is the owner's number.
    private var blocks: [[AddressPrefix]] = []

    package init() {}

    /// The nodes of both tries: at most twice the number of blocks.
    var nodeCount: Int { v4.nodeCount + v6.nodeCount }

    /// Returns the owner of the longest block that contains `address`.
    package func owner(of address: IPAddress) -> Int? {
        owner(of: AddressBits(address), isIPv6: address.isIPv6)
    }

    /// Returns the blocks of an owner, in the order in which they were added.
    package func blocks(of owner: Int) -> [AddressPrefix] {
        blocks.indices.contains(owner) ? blocks[owner] : []
    }

    /// Gives a block to an owner, a number from 0; the block leaves its former owner.
    package mutating func insert(_ block: AddressPrefix, owner: Int) {
        let former = formerOwner(of: block)
        guard former != owner else { return }
        if let former { blocks[former].removeAll { $0 == block } }
        while blocks.count <= owner { blocks.append([]) }
        blocks[owner].append(block)
        change(block) { trie in trie.insert(block.bits, length: block.length, owner: Int32(owner)) }
    }

    /// Removes a block of an owner; a block of another one is ignored.
    package mutating func remove(_ block: AddressPrefix, owner: Int) {
        guard formerOwner(of: block) == owner else { return }
        blocks[owner].removeAll { $0 == block }
        change(block) { trie in trie.remove(block.bits, length: block.length) }
    }

    /// Removes all blocks of an owner.
    package mutating func removeAll(owner: Int) {
        for block in blocks(of: owner) {
            change(block) { trie in trie.remove(block.bits, length: block.length) }
        }
        if blocks.indices.contains(owner) { blocks[owner] = [] }
    }

    func owner(of bits: AddressBits, isIPv6: Bool) -> Int? {
        (isIPv6 ? v6.owner(of: bits) : v4.owner(of: bits)).map { Int($0) }
    }

    private func formerOwner(of block: AddressPrefix) -> Int? {
        let trie = block.address.isIPv6 ? v6 : v4
        return trie.owner(of: block.bits, length: block.length).map { Int($0) }
    }

    private mutating func change(_ block: AddressPrefix, _ body: (inout PrefixTrie) -> Void) {
        if block.address.isIPv6 { body(&v6) } else { body(&v4) }
    }
}
