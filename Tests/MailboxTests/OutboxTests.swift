internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Mailbox

@Suite("Outbox") struct OutboxTests {
    private static let patience = Duration.seconds(60)

    private func mail(_ number: UInt64, to recipient: PeerId, in network: NetworkId) -> OutgoingMail {
        let mail = Mail(to: MailboxId(of: recipient, in: network), expirationSeconds: number, body: [])
        return OutgoingMail(mail, to: recipient)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `the earliest deadline is that of the oldest unanswered attempt`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let recipients = (0..<3).map { _ in PeerId(publicKey: FakeSigner(using: &random).publicKey) }
        let network = NetworkId(publicKey: FakeSigner(using: &random).publicKey)
        let place = MailboxId(of: recipients[0], in: network).words
        var outbox = Outbox()
        var ids: [MailId] = []
        var (now, sent, mostWaiting) = (Duration.zero, 0, 0)
        for step in UInt64(0)..<2_000 {
            now += .milliseconds(Int.random(in: 0..<2_000, using: &random))
            let recipient = recipients[Int.random(in: 0..<3, using: &random)]
            let id = ids.randomElement(using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2:
                let mail = mail(step, to: recipient, in: network)
                outbox.add(mail, mailbox: MailboxId(of: recipient, in: network), draw: place)
                ids.append(mail.id)
            case 3...4: if let id = outbox.takeNext() { outbox.begin(.reading(.deliver), of: id) }
            case 5...6:
                guard let id, case .reading? = outbox[id]?.attempt else { break }
                outbox.begin(.delivering(until: now + Self.patience), of: id)
                sent += 1
            case 7: if let id { outbox.noteSilence(of: id) }
            case 8: if let id { outbox.remove(id) }
            default: outbox.memberDown(recipient)
            }
            outbox.expireAttempts(at: now)
            ids.removeAll { outbox[$0] == nil }
            let attempts = ids.compactMap { outbox[$0]?.attempt }
            let deadlines = attempts.compactMap(\.deadline)
            #expect(outbox.attemptCount == attempts.count)
            #expect(outbox.earliestDeadline == deadlines.min() && deadlines.allSatisfy { $0 > now })
            mostWaiting = max(mostWaiting, deadlines.count)
        }
        #expect(sent > 100 && mostWaiting > 3)
    }
}
