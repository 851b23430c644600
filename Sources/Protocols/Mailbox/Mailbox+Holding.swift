internal import Bytes
internal import Identity
internal import OrderedCollections

// The holder: mail of other members is stored until its owner has it.
extension Mailbox {
    // MARK: Deposits

    mutating func openDeposit(
        _ sealed: [UInt8],
        _ source: DepositSource,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard mayDeposit(sealed.count, source, now, &effects) else { return }
        let info = Deposit.info(configuration.networkId, holder: configuration.localPeerId)
        guard let bytes = key.open(sealed, info: info) else { return answer(source, .unreadable, &effects) }
        read(bytes, source, now, &effects)
    }

    mutating func deposit(
        _ bytes: [UInt8],
        _ source: DepositSource,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard mayDeposit(bytes.count, source, now, &effects) else { return }
        read(bytes, source, now, &effects)
    }

    /// Counts a deposit before any work is done for it, and answers one that is beyond the budget.
    private mutating func mayDeposit(
        _ byteCount: Int,
        _ source: DepositSource,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) -> Bool {
        guard configuration.holdsMail else {
            answer(source, .unavailable, &effects)
            return false
        }
        guard budgets.takeDeposit(of: byteCount, by: source.peer, at: now.monotonic) else {
            answer(source, .tooMany, &effects)
            return false
        }
        return true
    }

    private mutating func read(
        _ bytes: [UInt8],
        _ source: DepositSource,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let deposit: Deposit
        do throws(BytesError) {
            deposit = try Deposit(bytes)
        } catch {
            // A relay cannot read the deposits that it forwards, so it is not at fault.
            return answer(source, .unreadable, &effects)
        }
        store(deposit, source, now, &effects)
    }

    private mutating func store(
        _ deposit: Deposit,
        _ source: DepositSource,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let mail = deposit.mail
        let latest = now.wallSeconds + configuration.limits.lifetimeSeconds + UnixTime.graceSeconds
        guard !UnixTime.isPast(mail.expirationSeconds, at: now.wallSeconds), mail.expirationSeconds <= latest else {
            return answer(source, .badExpiration, &effects)
        }
        // Mail for this node itself is delivered to it, not held.
        guard mail.mailbox != ownMailbox else { return answer(source, .unavailable, &effects) }
        if holdings[mail.id] != nil { return answer(source, .stored, receipt: deposit.receipt, &effects) }
        if pendingDeposits.join(mail.id, source, receipt: deposit.receipt) { return }
        let held = HeldMail(
            id: mail.id,
            mailbox: mail.mailbox,
            expirationSeconds: mail.expirationSeconds,
            byteCount: mail.body.count,
            depositor: source.peer
        )
        guard !holdings.isRevoked(held) else { return answer(source, .unavailable, &effects) }
        switch holdings.room(for: held) {
        case .refused(let status): return answer(source, status, &effects)
        case .available(let yielding): delete(yielding, &effects)
        }
        holdings.reserve(held)
        pendingDeposits.add(held, source, receipt: deposit.receipt)
        effects.append(.host(.hold(mail, held)))
    }

    /// Answers those that deposited a mail which was stored, or not.
    mutating func depositStored(_ id: MailID, _ isHeld: Bool, _ effects: inout [Effect]) {
        guard let (mail, sources) = pendingDeposits.take(id) else { return }
        // The depositor or the owner may have been revoked meanwhile.
        let isKept = isHeld && !holdings.isRevoked(mail)
        if isKept { add(mail, &effects) } else { holdings.release(mail) }
        if isHeld, !isKept { effects.append(.host(.delete([id]))) }
        for (source, receipt) in sources {
            if isKept {
                answer(source, .stored, receipt: receipt, &effects)
            } else {
                answer(source, .unavailable, &effects)
            }
        }
    }

    func answer(
        _ source: DepositSource,
        _ status: DepositStatus,
        receipt: [UInt8] = [UInt8](repeating: 0, count: Deposit.receiptByteCount),
        _ effects: inout [Effect]
    ) {
        guard members.contains(source.peer) else { return }
        let reply = Message.reply(request: source.request, status, receipt: receipt)
        effects.append(.send(source.peer, reply.bytes))
    }

    // MARK: Holding

    /// Adds a mail that an earlier run stored.
    mutating func load(_ mail: HeldMail, _ effects: inout [Effect]) {
        guard holdings[mail.id] == nil else { return }
        guard !holdings.isRevoked(mail) else { return effects.append(.host(.delete([mail.id]))) }
        holdings.reserve(mail)
        add(mail, &effects)
    }

    /// Adds a mail that is stored, and offers it to its owner if that is connected.
    mutating func add(_ mail: HeldMail, _ effects: inout [Effect]) {
        holdings.add(mail)
        if let owner = members.owner(of: mail.mailbox) { offerCollection(to: owner, &effects) }
    }

    mutating func delete(_ ids: some Sequence<MailID>, _ effects: inout [Effect]) {
        let removed = holdings.remove(ids)
        guard !removed.isEmpty else { return }
        for (mailbox, ids) in removed {
            if let owner = members.owner(of: mailbox) { collections.remove(ids, of: owner) }
        }
        effects.append(.host(.delete(removed.values.flatMap { $0 }.sorted())))
    }

    // MARK: Collections

    /// Notifies a member that this node holds mail for it.
    func offerCollection(to owner: PeerId, _ effects: inout [Effect]) {
        guard !collections.contains(owner), !holdings.ids(in: mailbox(of: owner)).isEmpty else { return }
        effects.append(.send(owner, Message.notice.bytes))
    }

    mutating func collect(_ owner: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard budgets.takeCollection(by: owner, at: now.monotonic) else { return }
        collections.start(owner)
        continueCollection(of: owner, &effects)
    }

    /// Reads the next mails for an owner that collects.
    mutating func continueCollection(of owner: PeerId, _ effects: inout [Effect]) {
        guard collections.contains(owner) else { return }
        let page = collections.nextPage(for: owner, from: holdings.ids(in: mailbox(of: owner)), in: holdings)
        guard !page.isEmpty else { return }
        effects.append(.host(.readHeld(page, for: owner)))
    }

    /// Sends mails that were read for an owner.
    mutating func sendPage(_ mails: [Mail], to owner: PeerId, _ effects: inout [Effect]) {
        guard collections.noteRead(for: owner) else { return }
        for mail in mails where holdings[mail.id] != nil {
            let message = Message.mail(expirationSeconds: mail.expirationSeconds, body: mail.body)
            effects.append(.send(owner, message.bytes))
        }
        continueCollection(of: owner, &effects)
    }
}
