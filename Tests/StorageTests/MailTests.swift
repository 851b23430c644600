internal import GRDB
internal import Identity
internal import Testing

@testable internal import CircleStore
@testable internal import Database
@testable internal import NodeStore

@Suite("Stored mail") struct MailTests {
    private let store: NodeStore

    init() throws { store = try NodeStore() }

    private func mail(
        _ number: UInt8,
        _ folder: StoredMail.Folder = .held,
        in networkId: NetworkId,
        homes: [PeerId] = []
    ) throws -> StoredMail {
        StoredMail(
            folder: folder,
            networkId: networkId,
            mailId: [UInt8](repeating: number, count: 16),
            mailbox: [UInt8](repeating: 7, count: 32),
            peerId: try peer(UInt64(number)),
            expiration: 1_000 + UInt64(number),
            byteCount: 3,
            homes: homes
        )
    }

    @Test func `mail comes back as it was stored, in order and without its body`() throws {
        let home = try network(1)
        let mails = try [3, 1, 2].map { try mail($0, in: home, homes: [peer(8), peer(9)]) }
        try store.addMail(mails.map { ($0, [1, 2, $0.mailId[0]]) })
        #expect(try store.mails(in: .held, of: home) == mails)
        #expect(try store.mails(in: .outgoing, of: home).isEmpty)
        #expect(try store.mails(in: .held, of: network(2)).isEmpty)
        let bodies = try store.mailBodies(
            of: mails.map(\.mailId) + [[UInt8](repeating: 9, count: 16)],
            in: .held,
            of: home
        )
        #expect(bodies.count == 3)
        #expect(bodies[mails[0].mailId]?.body == [1, 2, 3] && bodies[mails[0].mailId]?.expiration == 1_003)
    }

    @Test func `mail that is stored already stays as it is`() throws {
        let home = try network(1)
        let first = try mail(1, in: home)
        try store.addMail([(first, [1])])
        try store.addMail([(first, [2]), (try mail(2, in: home), [3])])
        #expect(try store.mailBodies(of: [first.mailId], in: .held, of: home)[first.mailId]?.body == [1])
        #expect(try store.mails(in: .held, of: home).count == 2)
    }

    @Test func `one mail in both folders is two mails`() throws {
        let home = try network(1)
        try store.addMail([(try mail(1, in: home), [1]), (try mail(1, .outgoing, in: home), [2])])
        try store.deleteMail([[UInt8](repeating: 1, count: 16)], in: .held, of: home)
        #expect(try store.mails(in: .held, of: home).isEmpty)
        #expect(try store.mails(in: .outgoing, of: home).count == 1)
    }

    @Test func `outgoing mail above the limit of its network is not stored`() throws {
        let (home, office) = (try network(1), try network(2))
        try store.addMail([(try mail(9, in: home), [1])])
        for number in UInt8(1)...2 {
            #expect(try store.addOutgoingMail(mail(number, .outgoing, in: home), body: [1], limit: 2))
        }
        #expect(try !store.addOutgoingMail(mail(3, .outgoing, in: home), body: [1], limit: 2))
        #expect(try store.mails(in: .outgoing, of: home).map(\.mailId.first) == [1, 2])
        #expect(try store.addOutgoingMail(mail(3, .outgoing, in: office), body: [1], limit: 2))
        #expect(try store.outgoingMailCount(in: home) == 2)
        try store.deleteMail([[UInt8](repeating: 1, count: 16)], in: .outgoing, of: home)
        #expect(try store.addOutgoingMail(mail(3, .outgoing, in: home), body: [1], limit: 2))
    }

    @Test func `the holders of outgoing mail are replaced`() throws {
        let home = try network(1)
        let outgoing = try mail(1, .outgoing, in: home)
        try store.addMail([(outgoing, [1])])
        let holders = try [peer(4), peer(5)]
        try store.setHolders(holders, of: outgoing.mailId, in: home)
        #expect(try store.mails(in: .outgoing, of: home).first?.holders == holders)
    }

    @Test func `the relays of an outgoing mail are stored with it and deleted with it`() throws {
        let home = try network(1)
        let (first, second) = (try mail(1, .outgoing, in: home), try mail(2, .outgoing, in: home))
        try store.addMail([(first, [1]), (second, [1])])
        try store.addRelays([peer(5), peer(4)], of: first.mailId, in: home)
        try store.addRelays([peer(5), peer(6)], of: first.mailId, in: home)
        let relays = try [peer(4), peer(5), peer(6)].sorted()
        #expect(try store.mails(in: .outgoing, of: home).map(\.relays) == [relays, []])
        try store.deleteMail([first.mailId], in: .outgoing, of: home)
        #expect(try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM mail_relays") } == 0)
        // A relay of a mail that was withdrawn meanwhile is not stored.
        try store.addRelays([peer(5)], of: first.mailId, in: home)
        #expect(try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM mail_relays") } == 0)
    }

    @Test func `the mail of a network goes when the device leaves it`() throws {
        let (home, office) = (try network(1), try network(2))
        try store.save(NetworkRecord(networkId: home, role: .member, metadata: "{}", token: [1], joinedAt: 1))
        try store.addMail([(try mail(1, in: home), [1]), (try mail(2, in: office), [2])])
        try store.leave(home, at: 2)
        #expect(try store.mails(in: .held, of: home).isEmpty)
        #expect(try store.mails(in: .held, of: office).count == 1)
    }

    @Test func `received mail is known until its expiration is before the time of the pruning`() throws {
        let circle = try CircleStore(store)
        let (old, young) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16))
        #expect(try circle.noteReceived(old, expiration: 1_000))
        #expect(try circle.noteReceived(young, expiration: 1_001))
        try circle.pruneReceivedMail(expiredBefore: 1_001)
        #expect(try !circle.noteReceived(young, expiration: 1_001))
        #expect(try circle.noteReceived(old, expiration: 1_000))
    }

    @Test func `bans are stored and lifted`() throws {
        let peers = try [peer(3), peer(1)]
        try store.setBan(true, of: peers)
        try store.setBan(true, of: peers)
        #expect(try store.bannedPeers() == peers.sorted())
        try store.setBan(false, of: [peers[0]])
        #expect(try store.bannedPeers() == [peers[1]])
    }
}
