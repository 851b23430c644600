internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import Mailbox

/// Mail between a few members.
@Suite("Delivery of mail") struct DeliveryTests {
    @Test func `mail for a connected recipient is delivered without a holder`() {
        let net = MailNetwork(4)
        net.start(0, 1, 2, 3)
        net.run(for: .seconds(1))
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(1))
        #expect(net.texts(of: 1) == ["hello"])
        #expect(net.members[0].progress[mail] == .delivered)
        #expect(net.holders(of: mail).isEmpty && net.members[0].disk.outgoing.isEmpty)
    }

    @Test func `mail for an offline recipient is held by three members and collected`() {
        let net = MailNetwork(6)
        net.start(0, 2, 3, 4, 5)
        net.run(for: .seconds(1))
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(2))
        let holders = net.holders(of: mail)
        #expect(holders.count == 3)
        guard case .held(let peers)? = net.members[0].progress[mail] else {
            Issue.record("the sender does not see the holders")
            return
        }
        #expect(Set(peers) == Set(holders.map { net.members[$0].peerId }))

        net.stop(0)
        net.start(1)
        net.run(for: .seconds(2))
        #expect(net.texts(of: 1) == ["hello"])
        #expect(net.holders(of: mail).isEmpty)
        // Its receipt waits for the sender, which reports it to its application.
        net.start(0)
        net.run(for: .seconds(2))
        #expect(net.members[0].progress[mail] == .delivered)
        #expect(net.texts(of: 1) == ["hello"])
    }

    @Test func `a receipt of the application ends a mail`() {
        let net = MailNetwork(5)
        net.start(0, 2, 3, 4)
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(2))
        net.feed(0, .host(.receiptReceived(mail)))
        #expect(net.members[0].progress[mail] == .delivered)
        #expect(net.members[0].mailbox?.outgoingCount == 0)
    }

    @Test func `a recipient finds a holder that it is not connected to`() {
        let net = MailNetwork(5)
        net.isMeshed = false
        net.start(0, 2, 3)
        for (one, other) in [(0, 2), (0, 3), (2, 3)] { net.connect(one, other) }
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(2))
        #expect(net.holders(of: mail).sorted() == [2, 3])
        net.stop(0)
        net.start(1, 4)
        net.connect(1, 4)
        net.run(for: .seconds(5))
        #expect(net.texts(of: 1) == ["hello"])
        #expect(net.holders(of: mail).isEmpty)
    }

    @Test func `holders that connect later get the mail`() {
        let net = MailNetwork(5)
        net.start(0, 2)
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(2))
        #expect(net.holders(of: mail) == [2])
        net.start(3, 4)
        net.run(for: .seconds(2))
        #expect(net.holders(of: mail).count == 3)
    }

    @Test func `mail waits while no member is connected`() {
        let net = MailNetwork(3)
        net.start(0)
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(300))
        #expect(net.members[0].progress[mail] == nil)
        net.start(1)
        net.run(for: .seconds(1))
        #expect(net.members[0].progress[mail] == .delivered)
    }

    @Test func `a home holds the mail of its owner alone`() {
        let net = MailNetwork(6)
        net.isMeshed = false
        net.start(0, 2, 3, 4, 5)
        for other in [2, 3, 4] { net.connect(0, other) }
        let mail = net.send("hello", from: 0, to: 1, homes: [5])
        // The relays connect to the home when they search for their own mail.
        net.run(for: .seconds(70))
        #expect(net.members[0].links.contains(5))
        #expect(net.holders(of: mail) == [5])
    }

    @Test func `expired mail is deleted and reported`() {
        let net = MailNetwork(5)
        net.start(0, 2, 3, 4)
        let mail = net.send("hello", from: 0, to: 1, lifetime: 600)
        net.run(for: .seconds(60))
        #expect(net.holders(of: mail).count == 3)
        net.run(for: .seconds(720))
        #expect(net.members[0].progress[mail] == .expired)
        #expect(net.holders(of: mail).isEmpty)
        net.start(1)
        net.run(for: .seconds(5))
        #expect(net.texts(of: 1).isEmpty)
    }

    @Test func `mail that expired while its holders were offline is not delivered`() {
        let net = MailNetwork(5)
        net.start(0, 2, 3, 4)
        let mail = net.send("hello", from: 0, to: 1, lifetime: 600)
        net.run(for: .seconds(60))
        #expect(net.holders(of: mail).count == 3)
        net.stop(0, 2, 3, 4)
        net.run(for: .seconds(720))
        net.start(0, 1, 2, 3, 4)
        net.run(for: .seconds(5))
        #expect(net.texts(of: 1).isEmpty)
        #expect(net.members[0].progress[mail] == .expired)
        #expect(net.holders(of: mail).isEmpty)
    }

    @Test func `mail that the recipient refuses is deleted and reported`() {
        let net = MailNetwork(5)
        net.members[1].reception = .refused
        net.start(0, 1, 2, 3, 4)
        net.run(for: .seconds(1))
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(1))
        #expect(net.members[0].progress[mail] == .refused)
        #expect(net.texts(of: 1).isEmpty)
    }

    @Test func `mail that the application could not store is sent again`() {
        let net = MailNetwork(5)
        net.members[1].reception = nil
        net.start(0, 1, 2, 3, 4)
        net.run(for: .seconds(1))
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(30))
        #expect(net.holders(of: mail).count == 3)
        net.members[1].reception = .delivered
        net.run(for: .seconds(60))
        #expect(net.texts(of: 1) == ["hello"])
        #expect(net.members[0].progress[mail] == .delivered)
    }

    @Test func `withdrawn mail goes to no further member`() {
        let net = MailNetwork(3)
        net.start(0)
        let mail = net.send("hello", from: 0, to: 1)
        net.feed(0, .host(.withdrawn([mail])))
        net.start(1, 2)
        net.run(for: .seconds(30))
        #expect(net.texts(of: 1).isEmpty && net.holders(of: mail).isEmpty)
        #expect(net.members[0].progress.isEmpty)
    }

    @Test func `mail to a revoked member is refused and its mailbox emptied`() {
        let net = MailNetwork(5)
        net.start(0, 2, 3, 4)
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(2))
        #expect(net.holders(of: mail).count == 3)
        for member in net.online { net.feed(member, .memberRevoked(net.members[1].peerId)) }
        #expect(net.members[0].progress[mail] == .refused)
        #expect(net.holders(of: mail).isEmpty)
    }

    @Test func `a restarted sender deposits no mail with a holder that has it`() {
        let net = MailNetwork(5)
        net.start(0, 2, 3, 4)
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(2))
        let deposits = net.sent.filter { if case .relayed = $0.message { true } else { false } }.count
        #expect(deposits == 3)
        net.stop(0)
        net.start(0)
        net.run(for: .seconds(120))
        let later = net.sent.filter { if case .relayed = $0.message { true } else { false } }.count
        #expect(later == 3 && net.holders(of: mail).count == 3)
    }

    @Test func `a large mailbox is collected in pages`() {
        let net = MailNetwork(3)
        net.start(0, 2)
        for number in 0..<700 { net.send("mail \(number)", from: 0, to: 1) }
        net.run(for: .seconds(120))
        #expect(net.members[2].disk.held.count == 700)
        net.stop(0)
        net.start(1)
        net.run(for: .seconds(20))
        #expect(net.texts(of: 1).sorted() == (0..<700).map { "mail \($0)" }.sorted())
        #expect(net.members[2].disk.held.isEmpty)
    }
}
