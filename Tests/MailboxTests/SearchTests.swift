internal import Bytes
internal import Identity
internal import OrderedCollections
internal import TestSupport
internal import Testing

@testable internal import Mailbox

/// Recipients search for their mail, and nothing public names a holder.
@Suite("Searches for mail") struct SearchTests {
    private func peers(_ count: Int, seed: UInt64) -> [PeerId] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in PeerId(publicKey: FakeSigner(using: &random).publicKey) }
    }

    /// Runs one search among members, and returns those that it found and its lookups.
    private func search(among peers: [PeerId], for mailbox: MailboxId) -> (found: OrderedSet<PeerId>, lookups: Int) {
        let limits = Mailbox.Limits()
        var search = HolderSearch(of: mailbox, limits: limits)
        search.start(at: .zero)
        var found: OrderedSet<PeerId> = []
        var lookups = 0
        while let dueAt = search.dueAt, dueAt < limits.searchInterval, let place = search.takeDue(at: dueAt) {
            lookups += 1
            let near = peers.sorted { place.isNearer($0, than: $1) }.prefix(limits.lookupMembers)
            found.append(contentsOf: near)
            search.noteFound(Array(near), at: dueAt)
        }
        return (found, lookups)
    }

    @Test(arguments: [1, 19, 20, 21, 50, 300])
    func `a search finds all members, the nearest ones first`(count: Int) throws {
        let peers = peers(count, seed: UInt64(count))
        let mailbox = try #require(MailboxId([UInt8](repeating: 0x5a, count: 32)))
        let (found, lookups) = search(among: peers, for: mailbox)
        #expect(found.count == count)
        let nearest = peers.sorted { mailbox.words.isNearer($0, than: $1) }.prefix(20)
        #expect(Array(found.prefix(20)) == Array(nearest))
        #expect(lookups <= max(1, count / 5))
    }

    @Test func `a lookup that failed is repeated with the next search`() throws {
        let limits = Mailbox.Limits()
        let mailbox = try #require(MailboxId([UInt8](repeating: 0x5a, count: 32)))
        var search = HolderSearch(of: mailbox, limits: limits)
        search.start(at: .zero)
        #expect(search.takeDue(at: .seconds(1)) == nil)
        #expect(search.takeDue(at: limits.searchDelay) == mailbox.words)
        #expect(search.dueAt == nil)
        search.noteFound(nil, at: .seconds(3))
        #expect(search.dueAt == .seconds(3) + limits.searchInterval)
        #expect(search.takeDue(at: .seconds(3) + limits.searchInterval) == mailbox.words)
        search.stop()
        search.noteFound([], at: .seconds(700))
        #expect(search.dueAt == nil)
    }

    @Test func `members that invent neighbours of a mailbox do not prolong a search without end`() throws {
        let mailbox = try #require(MailboxId([UInt8](repeating: 0x5a, count: 32)))
        let limits = Mailbox.Limits()
        var search = HolderSearch(of: mailbox, limits: limits)
        search.start(at: .zero)
        var count = 0
        while let dueAt = search.dueAt, let place = search.takeDue(at: dueAt) {
            count += 1
            // Twenty ids that share all bits with each place.
            search.noteFound([PeerId](repeating: PeerId(words: place), count: 20), at: dueAt)
            if search.dueAt == dueAt + limits.searchInterval { break }
            if count > 5_000 { break }
        }
        #expect(count <= 1 << HolderSearch.depthLimit)
    }

    @Test func `a search takes place without mail, and a holder makes none`() {
        let net = MailNetwork(8, seed: 3)
        net.start(0, 2, 3, 4, 5, 6, 7)
        net.run(for: .seconds(5))
        #expect(Set(net.lookups.map(\.member)) == [0, 2, 3, 4, 5, 6, 7])
        let count = net.lookups.count
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(60))
        #expect(net.holders(of: mail).count == 3)
        #expect(net.lookups.count == count)
    }

    @Test func `the holders of one recipient stay the same for each mail of a sender`() {
        let net = MailNetwork(30, seed: 4)
        for number in 0..<30 where number != 1 { net.start(number) }
        net.run(for: .seconds(1))
        let mails = (0..<10).map { net.send("mail \($0)", from: 0, to: 1) }
        net.run(for: .seconds(10))
        #expect(Set(mails.map { net.holders(of: $0) }).count == 1)
        // Another sender draws others.
        let other = net.send("mail", from: 2, to: 1)
        net.run(for: .seconds(10))
        #expect(net.holders(of: other) != net.holders(of: mails[0]))
    }

    @Test(arguments: [1] as [UInt64])
    func `mail reaches recipients in a network in which each member knows few others`(seed: UInt64) {
        let net = MailNetwork(120, seed: seed)
        net.isMeshed = false
        var random = SeededGenerator(seed: seed, name: "links")
        for number in 0..<100 {
            net.start(number, isReceiving: false)
            for _ in 0..<8 where number > 0 { net.connect(number, Int.random(in: 0..<number, using: &random)) }
        }
        let letters = (0..<40).map { net.send("letter \($0)", from: $0, to: 100 + $0 % 20) }
        net.run(for: .seconds(70))
        for sender in 0..<40 { net.stop(sender) }
        let held = letters.indices.filter { net.holders(of: letters[$0]).contains { $0 >= 40 } }
        #expect(held.count > 15)
        for number in 100..<120 {
            net.start(number, isReceiving: true)
            net.connect(number, 40 + number % 60)
        }
        net.run(for: .seconds(120))
        for number in held { #expect(net.texts(of: 100 + number % 20).contains("letter \(number)")) }
    }
}
