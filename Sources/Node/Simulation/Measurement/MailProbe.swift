internal import Mailbox

/// The mails that a scenario sends, and the nodes that have each on their disks.
struct MailProbe {
    /// The time after which a recipient has the mail of each member that is online with it.
    ///
    /// The recipient searches the hash table for holders at an interval, and connects and collects within a minute.
    private static let meetingTime = (Mailbox.Limits().searchInterval + .seconds(60)).nanoseconds
    /// The time after its expiration until which a holder may still send a mail: a minute for clocks that differ, and the
    /// interval at which holders look for expired mail.
    private static let lateTime = Duration.seconds(120).nanoseconds

    private struct Sent {
        let recipient: Int
        let at: Int64
        let expiration: Int64
        /// The nodes that have the mail on their disks, its sender among them, with the time since which they do.
        var carriers: [Int: Int64]
        var shownCount = 0
        var isLate = false
        var isRefused = false
        /// Whether the recipient could have collected the mail.
        var hasMet = false

        func isExpired(at now: Int64) -> Bool { shownCount == 0 && !isRefused && expiration <= now }
    }

    private var mails: [Sent] = []
    /// The number of each mail; looked up, never iterated.
    private var numbers: [MailId: Int] = [:]
    /// The number of each mail by its body, so that it is recognised under another id, too.
    private var numbersByBody: [[UInt8]: Int] = [:]
    /// The mails that were neither shown nor refused, did not expire, and were never online together with their
    /// recipient.
    private var unsettled: [Int] = []
    /// The time from the recipient's start, for mails that were sent before it.
    private var afterStart = Samples()
    /// The time from the sending, for mails to a recipient that was online.
    private var whileOnline = Samples()
    private var heldMails = Samples()
    private var heldBytes = Samples()

    // MARK: Disks

    /// Notes a mail that its sender has stored.
    mutating func begin(_ mail: Mail, from sender: Int, to recipient: Int, at now: Int64, until expiration: Int64) {
        let number = mails.count
        mails.append(Sent(recipient: recipient, at: now, expiration: expiration, carriers: [sender: now]))
        numbers[mail.id] = number
        numbersByBody[mail.body] = number
        unsettled.append(number)
    }

    /// Notes that a holder stored a mail.
    mutating func noteStored(_ id: MailId, at now: Int64, by node: Int) {
        guard let number = numbers[id] else { return }
        mails[number].carriers[node] = now
    }

    /// Notes that a node no longer has a mail: it was shown, was refused or expired, or is lost.
    mutating func noteDeleted(_ id: MailId, at now: Int64, by node: Int) {
        guard let number = numbers[id] else { return }
        mails[number].carriers[node] = nil
        let mail = mails[number]
        if mail.shownCount == 0, !mail.isRefused, now < mail.expiration { mails[number].hasMet = true }
    }

    /// Notes the mails and bytes that a member holds for others at one moment.
    mutating func noteHeld(mails: Int, bytes: Int) {
        heldMails.add(Int64(mails))
        heldBytes.add(Int64(bytes))
    }

    // MARK: Recipients

    /// Notes that a recipient, which started at a time, shows a mail to its person.
    mutating func noteShown(_ mail: Mail, at now: Int64, startedAt: Int64) {
        guard let number = numbersByBody[mail.body] else { return }
        mails[number].shownCount += 1
        let sent = mails[number]
        guard sent.shownCount == 1 else { return }
        mails[number].isLate = now > sent.expiration + Self.lateTime
        if startedAt > sent.at {
            afterStart.add(now - startedAt)
        } else {
            whileOnline.add(now - sent.at)
        }
    }

    mutating func noteRefusal(of id: MailId) {
        guard let number = numbers[id] else { return }
        mails[number].isRefused = true
    }

    /// Notes that a recipient is no longer a member: its mail is deleted.
    mutating func noteRevocation(of recipient: Int) {
        for number in mails.indices where mails[number].recipient == recipient { mails[number].isRefused = true }
    }

    /// Notes the unsettled mails of recipients that are online together with a node that has them, for long enough.
    mutating func noteMeetings(in nodes: Population, separatedUntil end: Int64, at now: Int64) {
        var unsettled: [Int] = []
        for number in self.unsettled {
            let mail = mails[number]
            guard mail.shownCount == 0, !mail.isRefused else { continue }
            if Self.hasMet(mail, in: nodes, separatedUntil: end, at: now) {
                mails[number].hasMet = true
            } else if now < mail.expiration {
                unsettled.append(number)
            }
        }
        self.unsettled = unsettled
    }

    private static func hasMet(_ mail: Sent, in nodes: Population, separatedUntil end: Int64, at now: Int64) -> Bool {
        let until = min(now, mail.expiration)
        return mail.carriers.contains { carrier in
            guard let start = nodes.meeting(of: carrier.key, and: mail.recipient, separatedUntil: end) else {
                return false
            }
            return until - max(start, carrier.value) >= Self.meetingTime
        }
    }

    // MARK: Figures

    func add(to figures: inout Figures, at now: Int64) {
        guard !mails.isEmpty else { return }
        let delivered = mails.count { $0.shownCount > 0 }
        let refused = mails.count { $0.shownCount == 0 && $0.isRefused }
        let expired = mails.count { $0.isExpired(at: now) }
        figures["mailsSent"] = Double(mails.count)
        figures["mailsDelivered"] = Double(delivered)
        figures["mailsRefused"] = Double(refused)
        figures["mailsExpired"] = Double(expired)
        figures["mailsPending"] = Double(mails.count - delivered - refused - expired)
        figures["mailsDeliveredShare"] = Double(delivered) / Double(max(delivered + refused + expired, 1))
        figures["mailsShownTwice"] = Double(mails.count { $0.shownCount > 1 })
        figures["mailsShownLate"] = Double(mails.count { $0.isLate })
        figures["mailsLost"] = Double(mails.count { $0.hasMet && $0.shownCount == 0 && !$0.isRefused })
        figures.add("mailAfterStart", afterStart)
        figures.add("mailWhileOnline", whileOnline)
        figures.add(counts: "mailsHeld", heldMails)
        figures.add(counts: "mailBytesHeld", heldBytes)
    }
}
