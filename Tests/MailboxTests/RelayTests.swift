internal import Identity
internal import Testing

@testable internal import Mailbox

/// The sender stays behind its relays, whatever holders and relays report.
@Suite("Senders behind relays") struct RelayTests {
    private static let refusals = DepositStatus.allCases.filter { $0 != .stored }

    private func reply(_ request: UInt32, _ status: DepositStatus) -> [Message] {
        [.reply(request: request, status, receipt: [UInt8](repeating: 0, count: Deposit.receiptByteCount))]
    }

    private func direct(_ net: MailNetwork) -> Int {
        net.sent.count { if case .deposit = $0.message { true } else { false } }
    }

    @Test(arguments: refusals)
    func `a holder that refuses relayed deposits is not sent one by the sender`(status: DepositStatus) {
        let net = MailNetwork(6, seed: 3)
        for holder in [2, 3] {
            net.hostile[holder] = { _, message in
                if case .relayed(let request, _) = message { self.reply(request, status) } else { nil }
            }
        }
        net.start(0, 2, 3, 4, 5)
        net.run(for: .seconds(1))
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(300))
        #expect(direct(net) == 0)
        #expect(net.holders(of: mail) == [4, 5])
    }

    @Test func `a holder that does not answer is not sent a deposit by the sender, and costs no relay`() {
        let net = MailNetwork(5, seed: 3)
        net.hostile[2] = { _, message in if case .relayed = message { [] } else { nil } }
        net.start(0, 2, 3, 4)
        net.run(for: .seconds(1))
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(30))
        #expect(direct(net) == 0)
        #expect(net.holders(of: mail) == [3, 4])
        let reports = net.sent.compactMap { sent in
            if sent.to == 0, case .reply(_, let status, _) = sent.message { status } else { nil as DepositStatus? }
        }
        #expect(reports.count { $0 == .unanswered } == 1)
    }

    @Test func `all holders of a network that refuse get no deposit from the sender`() {
        let net = MailNetwork(5, seed: 3)
        for holder in [2, 3, 4] {
            net.hostile[holder] = { _, message in
                if case .relayed(let request, _) = message { self.reply(request, .tooMany) } else { nil }
            }
        }
        net.start(0, 2, 3, 4)
        net.run(for: .seconds(1))
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(300))
        #expect(direct(net) == 0 && net.holders(of: mail).isEmpty)
        net.hostile = [:]
        net.run(for: .seconds(61))
        #expect(net.holders(of: mail) == [2, 3, 4])
    }

    @Test(arguments: DepositStatus.allCases)
    func `a relay passes on no status of relays from a holder`(status: DepositStatus) {
        let net = MailNetwork(4)
        net.hostile[2] = { _, message in
            if case .relayed(let request, _) = message { self.reply(request, status) } else { nil }
        }
        net.start(0, 2, 3)
        net.run(for: .seconds(1))
        let deposit = Message.relay(request: 7, holder: net.members[2].peerId, [UInt8](repeating: 7, count: 200))
        net.inject(deposit.bytes, from: 0, to: 3)
        net.run(for: .seconds(1))
        let answers = net.sent.compactMap { sent in
            if case .reply(7, let status, _) = sent.message, sent.to == 0 { status } else { nil as DepositStatus? }
        }
        #expect(answers == [status.isOfRelay ? .unavailable : status])
    }

    @Test func `a relay without a connection to one holder still relays to another one`() {
        let net = MailNetwork(5)
        net.isMeshed = false
        for number in [0, 2, 3, 4] { net.start(number, isReceiving: false) }
        for (one, other) in [(0, 2), (0, 3), (0, 4), (3, 4)] { net.connect(one, other) }
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(5))
        // Only the sender is connected to 2.
        #expect(net.holders(of: mail) == [3, 4])
        #expect(direct(net) == 0)
    }

    @Test func `a sender deposits a mail itself while the holder is the only connected member`() {
        let net = MailNetwork(3)
        net.start(0, 2)
        let mail = net.send("hello", from: 0, to: 1)
        net.run(for: .seconds(2))
        #expect(net.holders(of: mail) == [2])
        #expect(direct(net) == 1)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `a relay of a mail does not become its holder after a restart of the sender`(seed: UInt64) throws {
        var limits = Mailbox.Limits()
        limits.holders = 2
        let net = MailNetwork(5, limits: limits, seed: seed)
        net.start(0, 3, 4)
        let mail = net.send("hello", from: 0, to: 1)
        for _ in 0..<200 where net.holders(of: mail).isEmpty { net.run(for: .milliseconds(5)) }
        let holder = try #require(net.holders(of: mail).first)
        net.stop(0)
        net.start(2)
        net.start(0)
        net.run(for: .seconds(5))
        #expect(net.holders(of: mail) == [2, holder])
    }
}
