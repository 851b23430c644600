internal import Bytes
internal import Crypto
internal import Identity
internal import OrderedCollections

// The sender: mail is delivered to a connected recipient, and deposited with holders otherwise.
extension Mailbox {
    private static let keyLabel = DomainLabel("runar/mailbox-key/v1")
    private static let receiptLabel = DomainLabel("runar/mailbox-receipt/v1")

    /// Derives the key pair for deposits from the secret of the process.
    static func depositKey(_ configuration: Configuration) -> SealingKeyPair {
        let message = keyLabel.message(configuration.networkId.bytes)
        return SealingKeyPair(SecretBytes(copying: code(of: message, under: configuration.secret)))
    }

    private static func code(of message: [UInt8], under secret: SecretBytes) -> [UInt8] {
        let key = unsafe secret.withUnsafeBytes { bytes in unsafe SymmetricKey(data: bytes) }
        return Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
    }

    mutating func submit(_ mail: OutgoingMail) {
        outbox.add(mail, mailbox: mailbox(of: mail.recipient))
    }

    /// Begins the next steps of queued mails, as many as may be under way concurrently.
    mutating func advanceOutbox(_ now: NodeTime, _ effects: inout [Effect]) {
        while outbox.attemptCount < configuration.limits.attempts, let id = outbox.takeNext() {
            guard let step = nextStep(of: id, &effects) else { continue }
            outbox.begin(.reading(step), of: id)
            effects.append(.host(.readOutgoing(id)))
        }
    }

    private mutating func nextStep(of id: MailID, _ effects: inout [Effect]) -> Outbox.Step? {
        guard let entry = outbox[id] else { return nil }
        if members.contains(entry.mail.recipient), !entry.wasOffered { return .deliver }
        let homes = entry.mail.homes
        let wanted = homes.isEmpty ? configuration.limits.holders : homes.count
        guard entry.holders.count < wanted else { return nil }
        let candidates = (homes.isEmpty ? members.holders : homes).filter { peer in
            peer != entry.mail.recipient && !entry.holders.contains(peer) && !entry.failed.contains(peer)
        }
        for home in candidates where !members.contains(home) { effects.append(.connect(home)) }
        // A member that relayed the mail knows its sender: it holds the mail only if no other member can.
        let nearest = candidates.filter(members.isHolder).sorted { entry.mailbox.isNearer($0, than: $1) }
        let ordered = nearest.filter { !entry.relays.contains($0) } + nearest.filter(entry.relays.contains)
        guard let holder = ordered.first else { return nil }
        let holders = entry.holders.union(ordered.prefix(wanted - entry.holders.count))
        return .deposit(holder: holder, relay: relay(for: entry, to: holder, unlike: holders))
    }

    /// Chooses a member that relays a deposit, preferably one that neither holds the mail nor will; nil if there is none.
    private mutating func relay(
        for entry: Outbox.Entry,
        to holder: PeerId,
        unlike holders: OrderedSet<PeerId>
    ) -> PeerId? {
        let others = members.responsive.filter { peer in
            peer != holder && peer != entry.mail.recipient && !entry.failedRelays.contains(peer)
        }
        let uninvolved = others.filter { !holders.contains($0) }
        return (uninvolved.isEmpty ? others : uninvolved).randomElement(using: &random)
    }

    /// Sends a mail whose body was read.
    mutating func send(_ id: MailID, _ mail: Mail?, _ now: NodeTime, _ effects: inout [Effect]) {
        guard let entry = outbox[id], case .reading(let step)? = entry.attempt else { return }
        guard let mail, mail.id == id else { return outbox.noteUnreadable(id) }
        let until = now.monotonic + configuration.limits.attemptTimeout
        switch step {
        case .deliver:
            guard members.contains(entry.mail.recipient) else { return outbox.noteFailure(of: id, at: nil) }
            let message = Message.deliver(expirationSeconds: mail.expirationSeconds, body: mail.body)
            effects.append(.send(entry.mail.recipient, message.bytes))
            outbox.begin(.delivering(until: until), of: id)
        case .deposit(let holder, let relay):
            let request = nextRequest()
            guard members.contains(relay ?? holder), let key = members.key(of: holder) else {
                return outbox.noteFailure(of: id, at: holder)
            }
            let receipt = receipt(for: id, request)
            let deposit = Deposit(receipt: receipt, mail: mail)
            if let relay {
                let info = Deposit.info(configuration.networkId, holder: holder)
                guard let sealed = configuration.seal(deposit.bytes, key, info) else {
                    return outbox.noteFailure(of: id, at: holder)
                }
                effects.append(.send(relay, Message.relay(request: request, holder: holder, sealed).bytes))
            } else {
                effects.append(.send(holder, Message.deposit(request: request, deposit.bytes).bytes))
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

    private func receipt(for id: MailID, _ request: UInt32) -> [UInt8] {
        var writer = ByteWriter(capacity: MailID.byteCount + 4)
        writer.write(id.bytes)
        writer.write(request)
        let code = Self.code(of: Self.receiptLabel.message(writer.bytes), under: configuration.secret)
        return Array(code.prefix(Deposit.receiptByteCount))
    }

    /// Ends a mail with its last step.
    mutating func finish(_ id: MailID, _ progress: Progress, _ effects: inout [Effect]) {
        guard outbox.remove(id) != nil else { return }
        effects.append(.host(.progressed(id, progress)))
    }

    // MARK: Answers

    /// Takes the answer of a holder or a relay to a deposit; it is for this node's own mail or for a relayed one.
    mutating func replied(
        _ request: UInt32,
        _ status: DepositStatus,
        _ receipt: [UInt8],
        from peer: PeerId,
        _ effects: inout [Effect]
    ) {
        if let relay = relays.take(request, answeredBy: peer) {
            let reply = Message.reply(request: relay.request, status, receipt: receipt)
            return effects.append(.send(relay.sender, reply.bytes))
        }
        guard let id = outbox.mail(of: request),
            case .depositing(let holder, let relay, request, let expected, _)? = outbox[id]?.attempt,
            peer == relay ?? holder
        else { return }  // it came too late
        switch status {
        case .stored:
            guard ConstantTime.areEqual(receipt, expected) else {
                // The relay claims what only the holder can know.
                return outbox.noteFailure(of: id, atRelay: peer)
            }
            outbox.noteStored(id, by: holder)
            let holders = outbox[id].map { Array($0.holders) } ?? []
            effects.append(.host(.progressed(id, .held(by: holders))))
        case .unreachable, .tooMany:
            if let relay {
                outbox.noteFailure(of: id, atRelay: relay)
            } else {
                outbox.noteFailure(of: id, at: holder)
            }
        case .mailboxFull, .holderFull, .badExpiration, .unreadable, .unavailable:
            outbox.noteFailure(of: id, at: holder)
        }
    }

    /// Takes the recipient's answer to mails that this node delivered or holds.
    mutating func confirmed(
        _ reception: Reception,
        _ ids: [MailID],
        by peer: PeerId,
        _ effects: inout [Effect]
    ) {
        for id in ids where outbox[id]?.mail.recipient == peer {
            switch reception {
            case .delivered: finish(id, .delivered, &effects)
            case .refused: finish(id, .refused, &effects)
            }
        }
        let mailbox = mailbox(of: peer)
        let held = ids.filter { holdings[$0]?.mailbox == mailbox }
        collections.remove(held, of: peer)
        delete(held, &effects)
        continueCollection(of: peer, &effects)
    }
}
