internal import Bytes
internal import Identity
internal import OrderedCollections

// The holder: mail of other members is stored until its owner has it.
extension Mailbox {
    // MARK: Deposits

    mutating func openDeposit(_ sealed: [UInt8], _ source: DepositSource, _ turn: inout Turn) {
        guard mayDeposit(sealed.count, source, &turn) else { return }
        let info = Deposit.info(configuration.networkId, holder: configuration.localPeerId)
        guard let bytes = key.open(sealed, info: info) else { return answer(source, .unreadable, &turn) }
        read(bytes, source, &turn)
    }

    mutating func deposit(_ bytes: [UInt8], _ source: DepositSource, _ turn: inout Turn) {
        guard mayDeposit(bytes.count, source, &turn) else { return }
        read(bytes, source, &turn)
    }

    /// Counts a deposit before any work is done for it, and answers one that is beyond the budget.
    private mutating func mayDeposit(_ byteCount: Int, _ source: DepositSource, _ turn: inout Turn) -> Bool {
        guard configuration.holdsMail else {
            answer(source, .unavailable, &turn)
            return false
        }
        guard budgets.takeDeposit(of: byteCount, by: source.peer, at: turn.now.monotonic) else {
            answer(source, .tooMany, &turn)
            return false
        }
        return true
    }

    private mutating func read(_ bytes: [UInt8], _ source: DepositSource, _ turn: inout Turn) {
        let deposit: Deposit
        do throws(BytesError) {
            deposit = try Deposit(bytes)
        } catch {
            // A relay cannot read the deposits that it forwards, so it is not at fault.
            return answer(source, .unreadable, &turn)
        }
        store(deposit, source, &turn)
    }

    private mutating func store(_ deposit: Deposit, _ source: DepositSource, _ turn: inout Turn) {
        let mail = deposit.mail
        let latest = turn.now.wallSeconds + configuration.limits.lifetimeSeconds + UnixTime.graceSeconds
        guard !UnixTime.isPast(mail.expirationSeconds, at: turn.now.wallSeconds), mail.expirationSeconds <= latest
        else {
            return answer(source, .badExpiration, &turn)
        }
        // Mail for this node itself is delivered to it, not held.
        guard mail.mailbox != ownMailbox else { return answer(source, .unavailable, &turn) }
        if holdings[mail.id] != nil { return answer(source, .stored, receipt: deposit.receipt, &turn) }
        if pendingDeposits.join(mail.id, source, receipt: deposit.receipt) { return }
        let held = HeldMail(
            id: mail.id,
            mailbox: mail.mailbox,
            expirationSeconds: mail.expirationSeconds,
            byteCount: mail.body.count,
            depositor: source.peer
        )
        guard !holdings.isRevoked(held) else { return answer(source, .unavailable, &turn) }
        switch holdings.room(for: held) {
        case .refused(let status): return answer(source, status, &turn)
        case .available(let yielding): delete(yielding, &turn)
        }
        holdings.reserve(held)
        pendingDeposits.add(held, source, receipt: deposit.receipt)
        turn.emit(.host(.hold(mail, held)))
    }

    /// Answers those that deposited a mail which was stored, or not.
    mutating func depositStored(_ id: MailId, _ isHeld: Bool, _ turn: inout Turn) {
        guard let (mail, sources) = pendingDeposits.take(id) else { return }
        // The depositor or the owner may have been revoked meanwhile.
        let isKept = isHeld && !holdings.isRevoked(mail)
        if isKept { add(mail, &turn) } else { holdings.release(mail) }
        if isHeld, !isKept { turn.emit(.host(.delete([id]))) }
        for (source, receipt) in sources {
            if isKept {
                answer(source, .stored, receipt: receipt, &turn)
            } else {
                answer(source, .unavailable, &turn)
            }
        }
    }

    func answer(
        _ source: DepositSource,
        _ status: DepositStatus,
        receipt: [UInt8] = [UInt8](repeating: 0, count: Deposit.receiptByteCount),
        _ turn: inout Turn
    ) {
        guard members.contains(source.peer) else { return }
        let reply = Message.reply(request: source.request, status, receipt: receipt)
        turn.emit(.send(source.peer, reply.bytes))
    }

    // MARK: Holding

    /// Adds a mail that an earlier run stored.
    mutating func load(_ mail: HeldMail, _ turn: inout Turn) {
        guard holdings[mail.id] == nil else { return }
        guard !holdings.isRevoked(mail) else { return turn.emit(.host(.delete([mail.id]))) }
        holdings.reserve(mail)
        add(mail, &turn)
    }

    /// Adds a mail that is stored, and offers it to its owner if that is connected.
    mutating func add(_ mail: HeldMail, _ turn: inout Turn) {
        holdings.add(mail)
        if let owner = members.owner(of: mail.mailbox) { offerCollection(to: owner, &turn) }
    }

    mutating func delete(_ ids: some Sequence<MailId>, _ turn: inout Turn) {
        let removed = holdings.remove(ids)
        guard !removed.isEmpty else { return }
        for (mailbox, ids) in removed {
            if let owner = members.owner(of: mailbox) { collections.remove(ids, of: owner) }
        }
        turn.emit(.host(.delete(removed.values.flatMap { $0 }.sorted())))
    }

    // MARK: Collections

    /// Notifies a member that this node holds mail for it.
    func offerCollection(to owner: PeerId, _ turn: inout Turn) {
        guard !collections.contains(owner), !holdings.ids(in: mailbox(of: owner)).isEmpty else { return }
        turn.emit(.send(owner, Message.notice.bytes))
    }

    mutating func collect(_ owner: PeerId, _ turn: inout Turn) {
        guard budgets.takeCollection(by: owner, at: turn.now.monotonic) else { return }
        collections.start(owner)
        continueCollection(of: owner, &turn)
    }

    /// Reads the next mails for an owner that collects.
    mutating func continueCollection(of owner: PeerId, _ turn: inout Turn) {
        guard collections.contains(owner) else { return }
        let page = collections.nextPage(for: owner, from: holdings.ids(in: mailbox(of: owner)), in: holdings)
        guard !page.isEmpty else { return }
        turn.emit(.host(.readHeld(page, for: owner)))
    }

    /// Sends mails that were read for an owner.
    mutating func sendPage(_ mails: [Mail], to owner: PeerId, _ turn: inout Turn) {
        guard collections.noteRead(for: owner) else { return }
        for mail in mails where holdings[mail.id] != nil {
            let message = Message.mail(expirationSeconds: mail.expirationSeconds, body: mail.body)
            turn.emit(.send(owner, message.bytes))
        }
        continueCollection(of: owner, &turn)
    }
}
