internal import Mailbox

/// The mail on the disk of a device: that of its application, and that which it holds for other members.
struct MailDisk {
    /// Looked up and sorted, never iterated as they are.
    private var held: [MailId: (mail: Mail, description: HeldMail)] = [:]
    private var outgoing: [MailId: (mail: Mail, description: OutgoingMail)] = [:]
    /// The ids of the mail that the application has.
    private var received: Set<MailId> = []

    /// The mails that are held for other members, and their bytes.
    var heldAmount: (mails: Int, bytes: Int) {
        (held.count, held.values.reduce(0) { $0 + $1.description.byteCount })
    }

    /// Whether the application has a mail.
    func hasReceived(_ id: MailId) -> Bool { received.contains(id) }

    /// Stores a mail of the application.
    mutating func add(_ mail: Mail, _ description: OutgoingMail) {
        outgoing[mail.id] = (mail, description)
    }

    /// The inputs that restore the mailboxes of a core from the stored mail.
    var inputs: [Mailbox.HostInput] {
        let held = self.held.keys.sorted().compactMap { self.held[$0]?.description }
        let outgoing = self.outgoing.keys.sorted().compactMap { self.outgoing[$0]?.description }
        let inputs: [Mailbox.HostInput] = held.isEmpty ? [] : [.heldLoaded(held)]
        return inputs + outgoing.map { .submitted($0) }
    }

    /// Performs an effect of the mailboxes; returns the input that answers it, nil if none does.
    mutating func perform(_ effect: Mailbox.HostEffect) -> Mailbox.HostInput? {
        switch effect {
        case .readOutgoing(let id, let relays):
            if !relays.isEmpty {
                update(id) {
                    OutgoingMail($0, to: $1.recipient, homes: $1.homes, holders: $1.holders, relays: relays)
                }
            }
            return .outgoingRead(id, outgoing[id]?.mail)
        case .progressed(let id, let progress):
            note(progress, of: id)
            return nil
        case .hold(let mail, let description):
            held[mail.id] = (mail, description)
            return .held(mail.id, true)
        case .readHeld(let ids, let owner): return .heldRead(for: owner, ids.compactMap { held[$0]?.mail })
        case .delete(let ids):
            for id in ids { held[id] = nil }
            return nil
        case .receive(let mail, _):
            received.insert(mail.id)
            return .stored([mail.id], .delivered)
        }
    }

    private mutating func note(_ progress: Mailbox.Progress, of id: MailId) {
        switch progress {
        case .held(let holders):
            update(id) { OutgoingMail($0, to: $1.recipient, homes: $1.homes, holders: holders, relays: $1.relays) }
        case .delivered, .refused, .expired: outgoing[id] = nil
        }
    }

    private mutating func update(_ id: MailId, _ change: (Mail, OutgoingMail) -> OutgoingMail) {
        guard let (mail, description) = outgoing[id] else { return }
        outgoing[id] = (mail, change(mail, description))
    }
}
