internal import Identity
internal import OrderedCollections

/// The mail that this node received and that the application has not stored yet.
struct Receptions: Sendable {
    private struct Reception: Sendable {
        let byteCount: Int
        /// The members that sent the mail and wait for an answer.
        var sources: OrderedSet<PeerId>
    }

    private let limits: Mailbox.Limits
    private var receptions: OrderedDictionary<MailId, Reception> = [:]
    private var amounts: [PeerId: Holdings.Amount] = [:]
    private var total = Holdings.Amount()

    init(limits: Mailbox.Limits) { self.limits = limits }

    /// The result of adding a mail.
    enum Addition: Hashable, Sendable {
        /// The mail is new; it must be delivered to the application.
        case isNew
        /// The mail was delivered before, and the application has not confirmed it.
        case isPending
        /// There is no room for the mail; its holder sends it again.
        case isRefused
    }

    mutating func add(_ id: MailId, byteCount: Int, from peer: PeerId) -> Addition {
        if receptions[id] != nil {
            receptions[id]?.sources.append(peer)
            return .isPending
        }
        let amount = amounts[peer, default: Holdings.Amount()]
        guard amount.hasRoom(for: byteCount, mails: limits.receivingMails, bytes: limits.receivingBytes),
            total.hasRoom(for: byteCount, mails: limits.receivingMailsInAll, bytes: limits.receivingBytesInAll)
        else { return .isRefused }
        total.add(byteCount)
        amounts[peer, default: Holdings.Amount()].add(byteCount)
        receptions[id] = Reception(byteCount: byteCount, sources: [peer])
        return .isNew
    }

    /// Takes out a mail that the application answered, and returns the members that wait for that.
    mutating func take(_ id: MailId) -> OrderedSet<PeerId> {
        guard let reception = receptions.removeValue(forKey: id) else { return [] }
        total.remove(reception.byteCount)
        // Room was taken in the name of the first source.
        if let first = reception.sources.first {
            amounts[first]?.remove(reception.byteCount)
            if amounts[first]?.mails == 0 { amounts[first] = nil }
        }
        return reception.sources
    }
}
