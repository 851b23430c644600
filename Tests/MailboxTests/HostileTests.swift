internal import Identity
internal import OrderedCollections
internal import TestSupport
internal import Testing

@testable internal import Mailbox

/// Members that break the rules, or are curious.
@Suite("Hostile members and mail") struct HostileTests {
    private func messages(_ net: MailNetwork, to number: Int) -> [(from: Int, message: Message)] {
        net.sent.filter { $0.to == number }.map { ($0.from, $0.message) }
    }

    @Test func `a holder is sent the mail by a relay and never by the sender`() {
        let net = MailNetwork(8, seed: 3)
        net.start(0, 2, 3, 4, 5, 6, 7)
        net.run(for: .seconds(1))
        var holders: Set<Int> = []
        for number in 0..<20 {
            let mail = net.send("mail \(number)", from: 0, to: 1)
            net.run(for: .seconds(2))
            holders.formUnion(net.holders(of: mail))
        }
        #expect(holders.count == 3)
        for holder in holders {
            for (source, message) in messages(net, to: holder) {
                switch message {
                case .deposit, .deliver, .mail: Issue.record("\(source) sent \(holder) an open mail")
                case .relayed: #expect(source != 0)
                case .key, .relay, .reply, .notice, .collect, .received: break
                }
            }
            for held in net.members[holder].disk.held.values {
                #expect(held.description.depositor != net.members[0].peerId)
            }
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `no relay of a mail holds it while another member can`(seed: UInt64) {
        let net = MailNetwork(8, seed: seed)
        net.start(0, 2, 3, 4, 5, 6, 7)
        net.run(for: .seconds(1))
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(2))
        let relays = net.sent.compactMap { sent in
            if case .relay = sent.message { sent.to } else { nil }
        }
        #expect(relays.count == 3 && net.holders(of: mail).count == 3)
        #expect(Set(relays).isDisjoint(with: net.holders(of: mail)))
    }

    @Test func `a relay cannot open a deposit`() throws {
        let net = MailNetwork(5)
        net.start(0, 2, 3, 4)
        net.send("secret", from: 0, to: 1)
        net.run(for: .seconds(2))
        for (_, relay, message) in net.sent {
            guard case .relay(_, _, let sealed) = message else { continue }
            let mailbox = try #require(net.members[relay].mailbox)
            for holder in net.members {
                #expect(mailbox.key.open(sealed, info: Deposit.info(net.id, holder: holder.peerId)) == nil)
            }
            #expect(!sealed.contains(Array("secret".utf8)))
        }
    }

    @Test func `a relay forwards neither mailbox nor mail in clear`() throws {
        let net = MailNetwork(8, seed: 3)
        net.start(0, 2, 3, 4, 5, 6, 7)
        net.run(for: .seconds(1))
        let text = "the body of a mail that three members hold"
        let mail = net.send(text, from: 0, to: 1)
        net.run(for: .seconds(2))
        let mailbox = MailboxId(of: net.members[1].peerId, in: net.id)
        let needles = ["body": [Array(text.utf8)], "mailbox": [mailbox.bytes], "mail": [mail.bytes]]
        let relayed = net.sent.filter { sent in
            switch sent.message {
            case .relay, .relayed: true
            case .key, .deliver, .deposit, .reply, .notice, .collect, .mail, .received: false
            }
        }
        #expect(relayed.count == 6)
        #expect(relayed.allSatisfy { if case .relay = $0.message { $0.from == 0 } else { $0.from != 0 } })
        #expect(relayed.allSatisfy { occurring(needles, in: $0.message.bytes).isEmpty })
        // The holder is named to the relay, and the deposit that the relay forwards has both.
        let holders = net.holders(of: mail).map { net.members[$0].peerId.bytes }
        let requests = relayed.filter { if case .relay = $0.message { true } else { false } }
        #expect(requests.allSatisfy { request in holders.contains { occurs($0, in: request.message.bytes) } })
        let held = try #require(net.members[net.holders(of: mail)[0]].disk.held[mail]?.mail)
        let deposit = Deposit(receipt: [UInt8](repeating: 1, count: Deposit.receiptByteCount), mail: held)
        #expect(occurring(needles, in: deposit.bytes + mail.bytes) == ["body", "mailbox", "mail"])
        // The key and the tag of HPKE are 48 bytes, so a relay knows the length.
        for case .relay(_, _, let sealed) in requests.map({ $0.message }) {
            #expect(sealed.count == deposit.bytes.count + 48)
        }
    }

    @Test func `a member that neither relays nor holds a mail is sent nothing about it`() {
        let net = MailNetwork(12, seed: 3)
        for number in 0..<12 where number != 1 { net.start(number, isReceiving: false) }
        net.run(for: .seconds(1))
        let count = net.sent.count
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(2))
        let sent = net.sent.dropFirst(count)
        let relays = sent.compactMap { sent in
            if case .relay = sent.message { sent.to } else { nil }
        }
        let involved = Set(relays + net.holders(of: mail) + [0])
        #expect(Set(sent.map { $0.to }) == involved && involved.count < net.online.count)
    }

    @Test func `a relay that claims that a mail is stored is not believed`() {
        let net = MailNetwork(4)
        net.isMeshed = false
        for number in [0, 2, 3] { net.start(number, isReceiving: false) }
        net.connect(0, 2)
        net.connect(0, 3)
        net.run(for: .seconds(1))
        // The two others are not connected, so each reports that it cannot reach the other.
        let mail = net.send("hello", from: 0, to: 1)
        var requests: [UInt32] = []
        net.run(for: .milliseconds(30))
        for (_, _, message) in net.sent {
            if case .relay(let request, _, _) = message { requests.append(request) }
        }
        for request in requests {
            let forged = Message.reply(request: request, .stored, receipt: [UInt8](repeating: 0, count: 16))
            for relay in [2, 3] { net.inject(forged.bytes, from: relay, to: 0) }
        }
        #expect(!requests.isEmpty)
        #expect(net.members[0].progress[mail] == nil)
        net.run(for: .seconds(300))
        // The mail waits: a holder that received it from its sender would know both.
        #expect(net.holders(of: mail).isEmpty)
        #expect(!net.sent.contains { if case .deposit = $0.message { true } else { false } })
        net.connect(2, 3)
        net.run(for: .seconds(61))
        #expect(net.holders(of: mail).sorted() == [2, 3])
    }

    @Test func `a holder cannot put another body under an id`() {
        let net = MailNetwork(4)
        net.start(0, 2, 3)
        let mail = net.send("true", from: 0, to: 1)
        net.run(for: .seconds(2))
        net.stop(0)
        net.start(1)
        let forged = Message.mail(expirationSeconds: MailNetwork.epoch + 86_400, body: Array("false".utf8))
        net.inject(forged.bytes, from: 2, to: 1)
        net.run(for: .seconds(5))
        // It is another mail, which no key of the recipient opens; the true one still arrives.
        #expect(net.texts(of: 1).contains("true"))
        #expect(net.holders(of: mail).isEmpty)
    }

    @Test func `only its owner collects and deletes mail`() {
        let net = MailNetwork(5)
        net.start(0, 2, 3, 4)
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(2))
        let holders = net.holders(of: mail)
        for holder in holders {
            for thief in net.online where thief != holder {
                net.inject(Message.collect.bytes, from: thief, to: holder)
                net.inject(Message.received(.delivered, [mail]).bytes, from: thief, to: holder)
            }
        }
        net.run(for: .seconds(2))
        #expect(net.holders(of: mail) == holders)
        #expect(!net.sent.contains { if case .mail = $0.message { true } else { false } })
    }

    @Test func `mail that comes again is shown once`() {
        let net = MailNetwork(3)
        net.start(0, 1, 2)
        net.run(for: .seconds(1))
        net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(1))
        for (sender, receiver, message) in net.sent where receiver == 1 {
            guard case .deliver(let expiration, let body) = message else { continue }
            net.inject(message.bytes, from: sender, to: 1)
            net.inject(Message.mail(expirationSeconds: expiration, body: body).bytes, from: 2, to: 1)
        }
        net.run(for: .seconds(1))
        #expect(net.texts(of: 1) == ["hello"])
    }

    @Test func `deposits beyond the rate are refused, also over a relay`() {
        var limits = Mailbox.Limits()
        limits.depositsPerSecond = 1
        limits.depositsAtOnce = 5
        let net = MailNetwork(5, limits: limits)
        net.start(0, 2, 3, 4)
        net.run(for: .seconds(1))
        for number in 0..<50 { net.send("mail \(number)", from: 0, to: 1) }
        net.run(for: .seconds(5))
        let stored = Set(net.members.flatMap { $0.disk.held.keys }).count
        #expect(stored <= 30)
        // Nothing is lost: the rest follows.
        net.run(for: .seconds(600))
        #expect(Set(net.members.flatMap { $0.disk.held.keys }).count == 50)
    }

    @Test func `a malformed message is a protocol violation`() {
        let net = MailNetwork(3)
        net.start(0, 1)
        net.inject([99], from: 1, to: 0)
        #expect(net.members[0].violations.count == 1)
        // Of a peer that is not admitted nothing is taken.
        net.inject([99], from: 2, to: 0)
        #expect(net.members[0].violations.count == 1)
    }

    @Test func `deposits that cannot be opened or stored are answered, and the sender stays connected`() {
        let net = MailNetwork(4)
        net.start(0, 2, 3)
        net.run(for: .seconds(1))
        let owner = MailboxId(of: net.members[1].peerId, in: net.id)
        let receipt = [UInt8](repeating: 1, count: 16)
        func deposit(until expiration: UInt64, of mailbox: MailboxId) -> [UInt8] {
            let mail = Mail(to: mailbox, expirationSeconds: expiration, body: [1])
            return Message.deposit(request: 5, Deposit(receipt: receipt, mail: mail).bytes).bytes
        }
        net.inject(Message.relayed(request: 5, [UInt8](repeating: 7, count: 200)).bytes, from: 3, to: 2)
        net.inject(deposit(until: MailNetwork.epoch - 100, of: owner), from: 3, to: 2)
        net.inject(deposit(until: MailNetwork.epoch + 40 * 86_400, of: owner), from: 3, to: 2)
        let own = MailboxId(of: net.members[2].peerId, in: net.id)
        net.inject(deposit(until: MailNetwork.epoch + 1_000, of: own), from: 3, to: 2)
        net.run(for: .seconds(1))
        let answers = messages(net, to: 3).compactMap { _, message in
            if case .reply(5, let status, _) = message { status } else { nil as DepositStatus? }
        }
        #expect(answers == [.unreadable, .badExpiration, .badExpiration, .unavailable])
        #expect(net.members[2].violations.isEmpty && net.members[2].disk.held.isEmpty)
    }
}
