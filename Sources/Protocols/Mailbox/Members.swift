internal import Identity
internal import OrderedCollections

/// The admitted members, in the order of their admission.
struct Members: Sendable {
    private struct Member: Sendable {
        let mailbox: MailboxId
        /// The key to which deposits are sealed; nil if the member holds no mail.
        var key: SealingKey?
        /// Whether the messages to the member stay unanswered.
        var isSuspect = false
    }

    private var members: OrderedDictionary<PeerId, Member> = [:]
    private var owners: [MailboxId: PeerId] = [:]

    var isEmpty: Bool { members.isEmpty }

    func contains(_ peer: PeerId) -> Bool { members[peer] != nil }

    /// Adds a member; returns false if it was admitted before.
    mutating func add(_ peer: PeerId, mailbox: MailboxId) -> Bool {
        guard members[peer] == nil else { return false }
        members[peer] = Member(mailbox: mailbox)
        owners[mailbox] = peer
        return true
    }

    mutating func remove(_ peer: PeerId) {
        guard let member = members.removeValue(forKey: peer) else { return }
        owners[member.mailbox] = nil
    }

    mutating func setSuspect(_ isSuspect: Bool, _ peer: PeerId) { members[peer]?.isSuspect = isSuspect }

    /// Sets the key of a member; returns whether it had another one, or none.
    mutating func setKey(_ key: SealingKey, of peer: PeerId) -> Bool {
        guard let member = members[peer], member.key != key else { return false }
        members[peer]?.key = key
        return true
    }

    func key(of peer: PeerId) -> SealingKey? { members[peer]?.key }

    /// The admitted owner of a mailbox.
    func owner(of mailbox: MailboxId) -> PeerId? { owners[mailbox] }

    /// Whether a member holds mail and responds.
    func isHolder(_ peer: PeerId) -> Bool {
        guard let member = members[peer] else { return false }
        return member.key != nil && !member.isSuspect
    }

    /// The members that hold mail and respond.
    var holders: [PeerId] { members.keys.filter(isHolder) }

    /// Whether a member responds.
    func isResponsive(_ peer: PeerId) -> Bool { members[peer]?.isSuspect == false }

    /// All of them.
    var peers: some Collection<PeerId> { members.keys }
}
