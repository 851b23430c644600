internal import Bytes
internal import Crypto
internal import Identity
internal import OrderedCollections

// The sender: mail is delivered to a connected recipient, and deposited with holders otherwise.
extension Mailbox {
    private static let keyLabel = DomainLabel("runar/mailbox-key/v1")
    private static let receiptLabel = DomainLabel("runar/mailbox-receipt/v1")
    private static let drawLabel = DomainLabel("runar/mailbox-draw/v1")

    /// Derives the key pair for deposits from the secret of the process.
    static func depositKey(_ configuration: Configuration) -> SealingKeyPair {
        let message = keyLabel.message(configuration.networkId.bytes)
        return SealingKeyPair(SecretBytes(copying: code(of: message, under: configuration.secret).bytes))
    }

    private static func code(of message: [UInt8], under secret: SecretBytes) -> Bytes32 {
        let key = unsafe secret.withUnsafeBytes { bytes in unsafe SymmetricKey(data: bytes) }
        return Bytes32(output: HMAC<SHA256>.authenticationCode(for: message, using: key))
    }

    mutating func submit(_ mail: OutgoingMail) {
        let mailbox = mailbox(of: mail.recipient)
        let draw = Self.code(of: Self.drawLabel.message(mailbox.bytes), under: configuration.secret)
        outbox.add(mail, mailbox: mailbox, draw: draw)
    }

    /// Begins the next steps of queued mails, as many as may be under way concurrently.
    mutating func advanceOutbox(_ turn: inout Turn) {
        while outbox.attemptCount < configuration.limits.attempts, let id = outbox.takeNext() {
            guard let step = nextStep(of: id, &turn) else { continue }
            outbox.begin(.reading(step), of: id)
            var relays: [PeerId] = []
            if case .deposit(_, _?) = step { relays = outbox[id].map { Array($0.relays) } ?? [] }
            turn.emit(.host(.readOutgoing(id, relays: relays)))
        }
    }

    private mutating func nextStep(of id: MailId, _ turn: inout Turn) -> Outbox.Step? {
        guard let entry = outbox[id] else { return nil }
        if members.contains(entry.mail.recipient), !entry.wasOffered { return .deliver }
        let homes = entry.mail.homes
        let wanted = homes.isEmpty ? configuration.limits.holders : homes.count
        guard entry.holders.count < wanted else { return nil }
        for home in homes where home != entry.mail.recipient && !members.contains(home) {
            if !entry.holders.contains(home), !entry.failed.contains(home) { turn.emit(.connect(home)) }
        }
        let ordered = candidates(for: entry)
        let planned = entry.holders.union(ordered.prefix(wanted - entry.holders.count))
        for holder in ordered {
            switch way(of: entry, to: holder, unlike: planned) {
            case .over(let relay): return .deposit(holder: holder, relay: relay)
            case .direct: return .deposit(holder: holder, relay: nil)
            // The next holder may be connected to a relay.
            case .blocked: continue
            }
        }
        return nil
    }

    /// The members that may hold a mail next, in the order of the attempts.
    ///
    /// The members nearest to the mailbox are those that the recipient searches first. The holders are drawn among them once
    /// per mailbox and process: a relay that learns a holder learns little about the mailbox, and no more from each further
    /// mail.
    private func candidates(for entry: Outbox.Entry) -> [PeerId] {
        let homes = entry.mail.homes
        let peers = homes.isEmpty ? members.holders : homes.filter(members.isHolder)
        let near = peers.filter { $0 != entry.mail.recipient }
            .sorted { entry.mailbox.words.isNearer($0, than: $1) }
            .prefix(homes.isEmpty ? configuration.limits.holderCandidates : homes.count)
            .filter { !entry.holders.contains($0) && !entry.failed.contains($0) }
            .sorted { entry.draw.isNearer($0, than: $1) }
        // A member that relayed the mail knows its sender: it holds the mail only if no other member can.
        return near.filter { !entry.relays.contains($0) } + near.filter(entry.relays.contains)
    }

    /// The way of a deposit to its holder.
    private enum Way {
        case over(PeerId)
        /// No other member is connected.
        case direct
        /// The members that are connected do not reach the holder, or do not work.
        case blocked
    }

    /// Chooses a member that relays a deposit, preferably one that neither holds the mail nor will.
    ///
    /// The holder learns the sender of a deposit that is not relayed. Failed relays are therefore no reason to omit the
    /// relay: a holder could cause their failures.
    private mutating func way(
        of entry: Outbox.Entry,
        to holder: PeerId,
        unlike holders: OrderedSet<PeerId>
    ) -> Way {
        let others = members.peers.filter { $0 != holder && $0 != entry.mail.recipient }
        guard !others.isEmpty else { return .direct }
        let usable = others.filter { members.isResponsive($0) && entry.mayReach(holder, over: $0) }
        let uninvolved = usable.filter { !holders.contains($0) }
        return (uninvolved.isEmpty ? usable : uninvolved).randomElement(using: &random).map(Way.over) ?? .blocked
    }

    /// Sends a mail after its body was read.
    mutating func send(_ id: MailId, _ mail: Mail?, _ turn: inout Turn) {
        guard let entry = outbox[id], case .reading(let step)? = entry.attempt else { return }
        guard let mail, mail.id == id else { return outbox.noteUnreadable(id) }
        let until = turn.now.monotonic + configuration.limits.attemptTimeout
        switch step {
        case .deliver:
            guard members.contains(entry.mail.recipient) else { return outbox.noteSilence(of: id) }
            let message = Message.deliver(expirationSeconds: mail.expirationSeconds, body: mail.body)
            turn.emit(.send(entry.mail.recipient, message.bytes))
            outbox.begin(.delivering(until: until), of: id)
        case .deposit(let holder, let relay):
            let request = nextRequest()
            guard let key = members.key(of: holder) else { return outbox.noteFailure(of: id, at: holder) }
            if let relay, !members.contains(relay) { return outbox.noteFailure(of: id, atRelay: relay) }
            let receipt = receipt(for: id, request)
            let deposit = Deposit(receipt: receipt, mail: mail)
            if let relay {
                let info = Deposit.info(configuration.networkId, holder: holder)
                guard let sealed = configuration.seal(deposit.bytes, key, info) else {
                    return outbox.noteFailure(of: id, at: holder)
                }
                turn.emit(.send(relay, Message.relay(request: request, holder: holder, sealed).bytes))
            } else {
                turn.emit(.send(holder, Message.deposit(request: request, deposit.bytes).bytes))
            }
            outbox.begin(
                .depositing(holder: holder, relay: relay, request: request, receipt: receipt, until: until),
                of: id
            )
        }
    }

    /// Returns the number of the next request to another member, of this node's own mail or of relayed mail.
    mutating func nextRequest() -> UInt32 {
        lastRequest &+= 1
        return lastRequest
    }

    private func receipt(for id: MailId, _ request: UInt32) -> [UInt8] {
        var writer = ByteWriter(capacity: MailId.byteCount + 4)
        writer.write(id.bytes)
        writer.write(request)
        let code = Self.code(of: Self.receiptLabel.message(writer.bytes), under: configuration.secret)
        return Array(code.bytes.prefix(Deposit.receiptByteCount))
    }

    /// Ends a mail with its last step.
    mutating func finish(_ id: MailId, _ progress: Progress, _ turn: inout Turn) {
        guard outbox.remove(id) != nil else { return }
        turn.emit(.host(.progressed(id, progress)))
    }

    // MARK: Answers

    /// Takes the answer of a holder or a relay to a deposit; it is for this node's own mail or for a relayed one.
    mutating func replied(
        _ request: UInt32,
        _ status: DepositStatus,
        _ receipt: [UInt8],
        from peer: PeerId,
        _ turn: inout Turn
    ) {
        guard !passOn(request, status, receipt, from: peer, &turn) else { return }
        guard let id = outbox.mail(of: request),
            case .depositing(let holder, let relay, request, let expected, _)? = outbox[id]?.attempt,
            peer == relay ?? holder
        else { return }  // a late answer
        switch status {
        case .stored:
            guard ConstantTime.areEqual(receipt, expected) else {
                // The relay or the holder reports a false result.
                if let relay { outbox.noteFailure(of: id, atRelay: relay) }
                return outbox.noteFailure(of: id, at: holder)
            }
            outbox.noteStored(id, by: holder)
            let holders = outbox[id].map { Array($0.holders) } ?? []
            turn.emit(.host(.progressed(id, .held(by: holders))))
        case .unreachable:
            // A holder that was sent the deposit directly has no reason for a status of relays.
            guard let relay else { return outbox.noteFailure(of: id, at: holder) }
            outbox.noteUnconnected(relay, to: holder, for: id)
        case .relayFull:
            guard let relay else { return outbox.noteFailure(of: id, at: holder) }
            outbox.noteFailure(of: id, atRelay: relay)
        case .mailboxFull, .holderFull, .tooMany, .badExpiration, .unreadable, .unavailable, .unanswered:
            outbox.noteFailure(of: id, at: holder)
        }
    }

    /// Takes the recipient's answer to mails that this node delivered or holds.
    mutating func confirmed(_ reception: Reception, _ ids: [MailId], by peer: PeerId, _ turn: inout Turn) {
        for id in ids where outbox[id]?.mail.recipient == peer {
            switch reception {
            case .delivered: finish(id, .delivered, &turn)
            case .refused: finish(id, .refused, &turn)
            }
        }
        let mailbox = mailbox(of: peer)
        delete(ids.filter { holdings[$0]?.mailbox == mailbox }, &turn)
        continueCollection(of: peer, &turn)
    }
}
