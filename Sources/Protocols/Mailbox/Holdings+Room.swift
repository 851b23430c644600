internal import Identity
internal import OrderedCollections

// The room for a mail: the bounds of its depositor, of its mailbox and of the holder, and the mail that yields.
extension Holdings {
    /// The equal parts of a mailbox; one depositor may use one of them, so that no member alone fills the mailbox.
    private static let mailboxParts = 4

    /// Returns whether there is room for a mail, and the mails that must yield for it.
    func room(for mail: HeldMail) -> Room {
        let share = shares[mail.depositor] ?? Share()
        let part = share.mailboxes[mail.mailbox]
        guard share.amount.hasRoom(for: mail.byteCount, mails: limits.depositorMails, bytes: limits.depositorBytes),
            part != nil || isMet(mail.mailbox) || inventedMailboxes(of: share) < limits.depositorMailboxes
        else { return .refused(.holderFull) }
        let (mails, bytes) = (limits.mailboxMails / Self.mailboxParts, limits.mailboxBytes / Self.mailboxParts)
        guard (part ?? Amount()).hasRoom(for: mail.byteCount, mails: mails, bytes: bytes) else {
            return .refused(.mailboxFull)
        }
        var yielding: OrderedSet<MailId> = []
        if mailboxAmounts[mail.mailbox] == nil {
            guard let mails = yieldingMailbox(for: mail) else { return .refused(.holderFull) }
            yielding.append(contentsOf: mails)
        }
        guard let inMailbox = yieldingMails(for: mail, in: mail.mailbox) else { return .refused(.mailboxFull) }
        yielding.append(contentsOf: inMailbox)
        guard let ofAll = yieldingMails(for: mail, in: nil) else { return .refused(.holderFull) }
        yielding.append(contentsOf: ofAll)
        return .available(yielding: Array(yielding))
    }

    /// The mailboxes of a depositor that belong to no member that this node has met.
    private func inventedMailboxes(of share: Share) -> Int { share.mailboxes.keys.count { !isMet($0) } }

    /// Returns the mails of a mailbox that yields to that of a mail; none if there is room, nil if no mailbox yields.
    private func yieldingMailbox(for mail: HeldMail) -> [MailId]? {
        let isMet = isMet(mail.mailbox)
        let invented = isMet ? 0 : mailboxAmounts.keys.count { !self.isMet($0) }
        let hasPart = isMet || invented < limits.mailboxes - limits.reservedMailboxes
        if hasPart, mailboxAmounts.count < limits.mailboxes { return [] }
        // The reserved part is that of members: a mailbox that may be invented yields to theirs in any case.
        let own = isMet ? -1 : inventedMailboxes(of: shares[mail.depositor] ?? Share())
        let counts = shares.values.map { (share: $0, count: inventedMailboxes(of: $0)) }
        guard let most = counts.max(by: { $0.count < $1.count }), most.count > own + 1 else { return nil }
        let newest = most.share.mailboxes.elements.last { mailbox, amount in
            !self.isMet(mailbox) && mailboxAmounts[mailbox] == amount && ids(in: mailbox).count == amount.mails
        }
        return newest.map { Array(ids(in: $0.key)) }
    }

    /// Returns the newest mails of the depositor that uses the most that must yield to a mail, in a mailbox or at the holder.
    ///
    /// Returns none if there is room, and nil if the mail's own depositor uses as much.
    private func yieldingMails(for mail: HeldMail, in mailbox: MailboxId?) -> [MailId]? {
        let amount = mailbox.map { mailboxAmounts[$0] ?? Amount() } ?? total
        let mailLimit = mailbox == nil ? limits.heldMails : limits.mailboxMails
        let byteLimit = mailbox == nil ? limits.heldBytes : limits.mailboxBytes
        if amount.hasRoom(for: mail.byteCount, mails: mailLimit, bytes: byteLimit) { return [] }
        let surplus = max(0, amount.bytes + mail.byteCount - byteLimit)
        func usage(_ share: Share) -> Int {
            let amount = mailbox.map { share.mailboxes[$0] ?? Amount() } ?? share.amount
            return surplus > 0 ? amount.bytes : amount.mails
        }
        let own = usage(shares[mail.depositor] ?? Share()) + (surplus > 0 ? mail.byteCount : 1)
        guard let most = shares.max(by: { usage($0.value) < usage($1.value) }), usage(most.value) > own else {
            return nil
        }
        var yielding: [MailId] = []
        var byteCount = 0
        let places = mailbox.map { [$0] } ?? Array(most.value.mailboxes.keys.reversed())
        for place in places {
            for id in ids(in: place, from: most.key).reversed() {
                yielding.append(id)
                byteCount += self[id]?.byteCount ?? 0
                if byteCount >= surplus { return yielding }
            }
        }
        return nil
    }
}
