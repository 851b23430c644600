internal import Bytes
internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import Mailbox

/// Members that use up the room or the work of holders and relays.
@Suite("Quotas of mail") struct QuotaTests {
    private let receipt = [UInt8](repeating: 1, count: Deposit.receiptByteCount)

    /// Six members, the first two offline, with small bounds at the holder 2.
    private func makeNetwork(_ change: (inout Mailbox.Limits) -> Void) -> MailNetwork {
        var limits = Mailbox.Limits()
        limits.depositsAtOnce = 1_000
        change(&limits)
        let net = MailNetwork(6, limits: limits)
        net.start(2, 3, 4, 5)
        net.run(for: .seconds(1))
        return net
    }

    private func invented(_ number: Int) -> MailboxId? { MailboxId([UInt8](repeating: UInt8(number), count: 32)) }

    /// Deposits a mail with the member 2, and returns whether it is held afterwards.
    @discardableResult
    private func deposit(_ net: MailNetwork, _ text: String, from sender: Int, in mailbox: MailboxId) -> Bool {
        let mail = Mail(to: mailbox, expirationSeconds: MailNetwork.epoch + 1_000, body: Array(text.utf8))
        let bytes = Deposit(receipt: receipt, mail: mail).bytes
        net.inject(Message.deposit(request: 1, bytes).bytes, from: sender, to: 2)
        net.run(for: .milliseconds(10))
        return net.members[2].disk.held[mail.id] != nil
    }

    private func statuses(_ net: MailNetwork, to number: Int) -> [DepositStatus] {
        net.sent.filter { $0.to == number }.compactMap { sent in
            if case .reply(_, let status, _) = sent.message { status } else { nil }
        }
    }

    // MARK: Mailboxes

    @Test func `a depositor invents no more mailboxes than its limit`() throws {
        let net = makeNetwork { $0.depositorMailboxes = 8 }
        for number in 1...100 { deposit(net, "a", from: 3, in: try #require(invented(number))) }
        #expect(net.members[2].disk.held.count == 8)
        // Further mail in these is taken, and the mailbox of a member.
        #expect(deposit(net, "b", from: 3, in: try #require(invented(1))))
        #expect(deposit(net, "a", from: 3, in: MailboxId(of: net.members[4].peerId, in: net.id)))
        net.run(for: .seconds(1))
        #expect(statuses(net, to: 3).count { $0 == .holderFull } == 92)
    }

    @Test func `mailboxes of members that a holder has met have room beside all invented ones`() throws {
        let net = makeNetwork { limits in
            limits.depositorMailboxes = 64
            limits.mailboxes = 20
            limits.reservedMailboxes = 10
        }
        net.start(0)
        net.stop(0)
        for number in 1...60 { deposit(net, "a", from: 3, in: try #require(invented(number))) }
        #expect(net.members[2].disk.held.count == 10)
        #expect(deposit(net, "a", from: 4, in: MailboxId(of: net.members[0].peerId, in: net.id)))
        // Also those of an earlier run.
        let remembered = MailboxId(of: net.members[1].peerId, in: net.id)
        net.feed(2, .memberRemembered(net.members[1].peerId))
        #expect(deposit(net, "a", from: 3, in: remembered))
        #expect(net.members[2].disk.held.count == 12)
    }

    @Test func `the depositor with the most mailboxes yields to one with fewer`() throws {
        let net = makeNetwork { limits in
            limits.mailboxes = 20
            limits.reservedMailboxes = 10
        }
        for number in 1...10 { #expect(deposit(net, "a", from: 3, in: try #require(invented(number)))) }
        for number in 11...18 { deposit(net, "a", from: 4, in: try #require(invented(number))) }
        let depositors = net.members[2].disk.held.values.map(\.description.depositor)
        #expect(depositors.count { $0 == net.members[3].peerId } == 5)
        #expect(depositors.count { $0 == net.members[4].peerId } == 5)
        // The newest yield.
        #expect(net.members[2].disk.held.values.contains { $0.mail.mailbox == invented(1) })
    }

    // MARK: Mails and bytes

    @Test func `a depositor fills its own share and nothing more`() {
        let net = makeNetwork { limits in
            limits.depositorMails = 15
            limits.mailboxMails = 40
        }
        let (first, second) = net.members.map { MailboxId(of: $0.peerId, in: net.id) }.firstTwo
        for number in 0..<100 { deposit(net, "\(number)", from: 3, in: first) }
        // A quarter of the mailbox.
        #expect(net.members[2].disk.held.count == 10)
        for number in 0..<100 { deposit(net, "\(number)", from: 3, in: second) }
        #expect(net.members[2].disk.held.count == 15)
        for number in 100..<200 { deposit(net, "\(number)", from: 4, in: first) }
        #expect(net.members[2].disk.held.count == 25)
        net.run(for: .seconds(1))
        #expect(Set(statuses(net, to: 3)) == [.stored, .mailboxFull, .holderFull])
    }

    @Test func `the newest mail of the depositor that uses the most yields (at a full holder)`() {
        let net = makeNetwork { $0.heldBytes = 100 }
        let (first, second) = net.members.map { MailboxId(of: $0.peerId, in: net.id) }.firstTwo
        let body = String(repeating: "x", count: 9)
        for number in 0..<10 { #expect(deposit(net, "\(number)\(body)", from: 3, in: first)) }
        for number in 0..<8 { deposit(net, "\(number)\(body)", from: 4, in: second) }
        let held = net.members[2].disk.held.values.map { ($0.description.depositor, $0.mail.body[0]) }
        #expect(held.filter { $0.0 == net.members[3].peerId }.map(\.1) == Array("01234".utf8))
        #expect(held.filter { $0.0 == net.members[4].peerId }.map(\.1) == Array("01234".utf8))
    }

    @Test func `a relay forwards a bounded amount of one sender`() {
        let net = makeNetwork { $0.relayedMails = 5 }
        let sealed = [UInt8](repeating: 7, count: 200)
        let holder = net.members[2].peerId
        for number in 0..<8 {
            net.inject(Message.relay(request: UInt32(number), holder: holder, sealed).bytes, from: 3, to: 4)
        }
        net.inject(Message.relay(request: 8, holder: holder, sealed).bytes, from: 5, to: 4)
        net.run(for: .seconds(1))
        #expect(statuses(net, to: 3).count { $0 == .relayFull } == 3)
        #expect(statuses(net, to: 3).count { $0 == .unreadable } == 5)
        #expect(statuses(net, to: 5) == [.unreadable])
    }

    // MARK: Revocation

    @Test func `mail that a revoked member deposited is deleted`() throws {
        let net = makeNetwork { _ in }
        let mailbox = MailboxId(of: net.members[0].peerId, in: net.id)
        for number in 1...10 { deposit(net, "a", from: 3, in: try #require(invented(number))) }
        deposit(net, "b", from: 3, in: mailbox)
        let kept = deposit(net, "c", from: 4, in: mailbox)
        // One more is being stored when the revocation arrives.
        let mail = Mail(to: mailbox, expirationSeconds: MailNetwork.epoch + 1_000, body: [1])
        let last = Deposit(receipt: receipt, mail: mail)
        net.inject(Message.deposit(request: 1, last.bytes).bytes, from: 3, to: 2)
        net.feed(2, .memberRevoked(net.members[3].peerId))
        net.run(for: .seconds(1))
        #expect(kept && net.members[2].disk.held.count == 1)
        #expect(net.members[2].mailbox?.heldAmount.mails == 1)
    }

    @Test func `mail of a revoked member is deleted at the next start (after a crash before)`() throws {
        let net = makeNetwork { _ in }
        for number in 1...10 { deposit(net, "a", from: 3, in: try #require(invented(number))) }
        let held = net.members[2].disk.held.values.map(\.description)
        net.stop(2)
        let configuration = Mailbox.Configuration(
            localPeerId: net.members[2].peerId,
            networkId: net.id,
            secret: SecretBytes(copying: [UInt8](repeating: 1, count: 32)),
            randomSeed: 1
        )
        var mailbox = Mailbox(configuration)
        var effects: [Mailbox.Effect] = []
        let now = NodeTime(monotonic: net.now, wallSeconds: MailNetwork.epoch)
        mailbox.handle(.memberRevoked(net.members[3].peerId), at: now, into: &effects)
        mailbox.handle(.host(.heldLoaded(held)), at: now, into: &effects)
        #expect(effects.count { if case .host(.delete) = $0 { true } else { false } } == 10)
        #expect(mailbox.heldAmount.mails == 0)
    }

    // MARK: Work

    @Test func `a relayed deposit beyond the budget is not opened`() {
        let net = makeNetwork { limits in
            limits.depositsAtOnce = 3
            limits.depositsPerSecond = 1
        }
        let junk = Message.relayed(request: 1, [UInt8](repeating: 7, count: 200))
        for _ in 0..<6 { net.inject(junk.bytes, from: 3, to: 2) }
        net.run(for: .milliseconds(100))
        #expect(statuses(net, to: 3) == [.unreadable, .unreadable, .unreadable, .tooMany, .tooMany, .tooMany])
    }

    @Test func `keys that a member repeats cause no work, and further ones are limited`() throws {
        let net = makeNetwork { $0.keysAtOnce = 4 }
        // A mail whose home is offline: each look at it tries to connect.
        net.send("hello", from: 3, to: 0, homes: [1])
        net.run(for: .milliseconds(10))
        let count = net.sought.count
        let known = try #require(net.members[2].mailbox?.key.publicKey)
        for _ in 0..<100 { net.inject(Message.key(known).bytes, from: 2, to: 3) }
        #expect(net.sought.count == count)
        for number in UInt8(1)...100 {
            let key = SealingKeyPair(SecretBytes(copying: [UInt8](repeating: number, count: 32))).publicKey
            net.inject(Message.key(key).bytes, from: 4, to: 3)
        }
        #expect(net.sought.count > count && net.sought.count <= count + 4)
    }
}

extension [MailboxId] {
    fileprivate var firstTwo: (MailboxId, MailboxId) { (self[0], self[1]) }
}
