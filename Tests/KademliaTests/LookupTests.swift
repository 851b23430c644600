internal import Bytes
internal import Identity
internal import Testing

@testable internal import Kademlia

/// The search alone, without a network.
@Suite("Lookup") struct LookupTests {
    private let shape = Lookup.Shape(count: 20, parallelism: 10, dials: 24, paths: 3, candidates: 128)
    private let target = SeededLookup.target

    private func contact(_ number: Int) throws -> Contact {
        var random = SeededGenerator(seed: UInt64(number))
        let peer = try PeerId(rawRepresentation: random.bytes(32))
        return Contact(peerId: peer, addresses: [Swarm.address(of: number)])
    }

    /// Returns a contact that shares `count` leading bytes with the target.
    private func near(_ number: Int, sharing count: Int) throws -> Contact {
        var bytes = try self.contact(number).peerId.bytes
        bytes.replaceSubrange(0..<count, with: self.target.bytes[0..<count])
        return Contact(peerId: try PeerId(rawRepresentation: bytes), addresses: [Swarm.address(of: number)])
    }

    private func lookup(_ shape: Lookup.Shape? = nil) throws -> Lookup {
        Lookup(target: self.target, local: try self.contact(0).peerId, shape: shape ?? self.shape)
    }

    @Test func `a lookup queries each contact once and ends when all have answered`() throws {
        var lookup = try self.lookup()
        var asked: Set<PeerId> = []
        for number in 1...30 { lookup.seed(try self.contact(number), isConnected: true) }
        while true {
            let next = lookup.next()
            if next.isEmpty { break }
            for contact in next {
                #expect(asked.insert(contact.peerId).inserted)
                lookup.answered(contact.peerId, naming: [try self.contact(1), try self.contact(31)]) { _ in false }
            }
        }
        #expect(lookup.isFinished)
        let distances = lookup.nearest.map(\.distance)
        #expect(distances.count == 20 && distances == distances.sorted())
    }

    @Test func `a lookup without contacts is finished`() throws {
        var lookup = try self.lookup()
        #expect(lookup.next().isEmpty && lookup.isFinished && lookup.nearest.isEmpty)
    }

    @Test func `concurrent requests are bounded for each path and kind`() throws {
        var lookup = try self.lookup()
        for number in 1...60 { lookup.seed(try self.contact(number), isConnected: number % 2 == 0) }
        #expect(lookup.next().count <= 3 * 4 + 3)
        #expect(lookup.next().count <= 3 * 8)
        #expect(lookup.next().isEmpty)
    }

    @Test func `few invented contacts of one liar are tried`() throws {
        var lookup = try self.lookup()
        let liar = try self.contact(1)
        lookup.seed(liar, isConnected: true)
        _ = lookup.next()
        let forged = try (100..<120).map { try self.near($0, sharing: 4) }
        lookup.answered(liar.peerId, naming: forged) { _ in false }
        let tried = lookup.next()
        #expect(tried.count == 4)
        for contact in tried { lookup.failed(contact.peerId) }
        #expect(lookup.next().isEmpty)
        #expect(lookup.isFinished)
        #expect(lookup.nearest.map(\.contact) == [liar])
    }

    @Test func `a responsive contact lets the lookup try the others of its answer`() throws {
        var lookup = try self.lookup()
        let honest = try self.contact(1)
        lookup.seed(honest, isConnected: true)
        _ = lookup.next()
        let named = try (100..<120).map { try self.near($0, sharing: 4) }
        lookup.answered(honest.peerId, naming: named) { _ in false }
        let first = lookup.next()
        #expect(first.count == 4)
        lookup.answered(first[0].peerId, naming: []) { _ in false }
        #expect(!lookup.next().isEmpty)
    }

    @Test func `a wrong address from one node does not hide a right one from another`() throws {
        var lookup = try self.lookup()
        let (liar, honest) = (try self.contact(1), try self.contact(2))
        lookup.seed(liar, isConnected: true)
        lookup.seed(honest, isConnected: true)
        _ = lookup.next()
        var wrong = try self.near(100, sharing: 4)
        let right = wrong.addresses
        wrong.addresses = [Swarm.address(of: 9999)]
        lookup.answered(liar.peerId, naming: [wrong]) { _ in false }
        #expect(lookup.next() == [wrong])
        lookup.failed(wrong.peerId)
        lookup.answered(honest.peerId, naming: [Contact(peerId: wrong.peerId, addresses: right)]) { _ in false }
        #expect(lookup.next().map(\.addresses) == [wrong.addresses + right])
    }

    @Test func `a late node is replaced, and counts again when it answers`() throws {
        var lookup = try self.lookup(Lookup.Shape(count: 2, parallelism: 1, dials: 1, paths: 1, candidates: 64))
        let contacts = try (0..<6).map { try self.near(200 + $0, sharing: 6 - $0) }
        for contact in contacts { lookup.seed(contact, isConnected: true) }
        let first = lookup.next()
        #expect(first == [contacts[0], contacts[1]])
        lookup.slow(contacts[0].peerId)
        #expect(!lookup.next().isEmpty)
        lookup.answered(contacts[1].peerId, naming: []) { _ in false }
        lookup.overdue(contacts[0].peerId)
        while let contact = lookup.next().first { lookup.answered(contact.peerId, naming: []) { _ in false } }
        lookup.answered(contacts[2].peerId, naming: []) { _ in false }
        #expect(lookup.isFinished)
        #expect(lookup.nearest.first?.contact == contacts[1])
        lookup.answered(contacts[0].peerId, naming: []) { _ in false }
        #expect(lookup.nearest.first?.contact == contacts[0])
    }

    @Test func `candidates and requests are bounded, whatever answers name`() throws {
        var lookup = try self.lookup()
        var random = SeededGenerator(seed: 9)
        for number in 1...10 { lookup.seed(try self.contact(number), isConnected: true) }
        var asked = 0
        for _ in 0..<1000 {
            let next = lookup.next()
            asked += next.count
            for contact in next {
                let named = (0..<20).compactMap { _ in
                    // Ever nearer inventions, all of which answer.
                    try? PeerId(rawRepresentation: self.target.bytes.prefix(16) + random.bytes(16))  // 32 bytes fit
                }
                let contacts = named.map { Contact(peerId: $0, addresses: [Swarm.address(of: 1)]) }
                lookup.answered(contact.peerId, naming: contacts) { _ in false }
            }
        }
        #expect(asked <= 160)
        #expect(lookup.candidates.count <= 160 + 128)
        #expect(lookup.isFinished)
    }
}

private enum SeededLookup {
    static let target: Bytes32 = {
        var random = SeededGenerator(seed: 77)
        guard let target = Bytes32(random.bytes(32)) else { preconditionFailure("32 bytes are no target") }
        return target
    }()
}
