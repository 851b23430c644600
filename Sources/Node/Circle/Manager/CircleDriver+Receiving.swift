internal import Bytes
internal import CircleModel
internal import CircleStore
internal import Concurrency
internal import Essentials
internal import Identity
internal import Logging
internal import Mailbox
internal import Node
internal import OneTimeKeys
internal import RunarNode
internal import SealedMessages

// Received letters. Each is stored before the key with which it was sealed is erased.
extension CircleDriver {
    func receive(from incoming: BoundedChannel<ReceivedMail>) async {
        while let received = try? await incoming.next() {  // nil: cancelled
            let mail = received.mail
            do {
                let reception = try await take(mail, in: received.network)
                node.answerMail([mail.id], in: received.network, reception)
            } catch is CancellationError {
                return
            } catch {
                node.logs[.messages].warning("a letter was not stored: \(error)")
                node.answerMail([mail.id], in: received.network, nil)
            }
        }
    }

    /// Stores what a mail contains, and returns the answer to its holders.
    ///
    /// Mail that cannot be opened is refused, so that no holder sends it again. The letter of a person whose consent is
    /// still on its way comes again later.
    func take(_ mail: Mail, in network: NetworkId) async throws -> Reception? {
        guard let envelope = envelope(of: mail) else { return .refused }
        let router = ArkavoMessageRouter(of: localPeerId) { [keys] name in keys.peer(ofKey: name) }
        guard case .conversation(let peer, let sealed) = router.route(envelope.letter, from: .mailbox(network)) else {
            return .refused
        }
        guard try !store.hasReceived(mail.id.bytes) else {
            // A crash came before its key was erased, or its holder did not receive the answer.
            try await keys.eraseKey(of: sealed, from: peer)
            return .delivered
        }
        if isInvited(peer) { return nil }
        let opened = Locked<Opened?>(nil)
        var isWaiting = false
        defer { if !isWaiting { state.withLock { $0.waiting[mail.id] = nil } } }
        do {
            // Under the mutex, so that a revocation comes before all of it or after.
            try await mutex.withLock {
                guard let person = trustedPerson(of: peer) else {
                    // A device exchanges keys with all devices that its cards name. The card that names it may still be on
                    // its way here, from its person or, if this device is new, from another device of this person.
                    if owner(of: peer) == nil { throw NotYet() }
                    throw CircleError.invalidSignature
                }
                // A crash may have come between the pool of an exchange and its result; the next exchange brings the key.
                guard let key = keys.deviceKey(of: peer) else { throw NotYet() }
                _ = try await keys.open(sealed, from: peer) { plaintext in
                    let result = try store(plaintext, envelope.copy, mail, from: key, peer, of: person)
                    opened.withLock { $0 = result }
                }
            }
        } catch is NotYet {
            isWaiting = mayWait(mail, from: owner(of: peer) == nil ? nil : peer)
            return isWaiting ? nil : .refused
        } catch is CircleError {
            return .refused
        } catch OneTimeKeyError.keyUsed, OneTimeKeyError.authenticationFailed, OneTimeKeyError.keyNotFound {
            return .refused
        } catch SealedMessageError.noKeys {
            return .refused
        }
        if let result = opened.withLock({ $0 }) { try await act(on: result, peer) }
        return .delivered
    }

    /// A letter that is stored.
    private enum Opened: Sendable {
        case thought(PublicID, isNew: Bool)
        case receipt([StoredDelivery])
        case card(CardChange)
        case stream(StreamChange)
        case trust(TrustChange)
        /// It contains nothing new.
        case old
    }

    /// A letter that another letter, a card, or an exchange of keys has to precede; it comes again later.
    struct NotYet: Error {}

    /// The most mails of one sender that wait for another letter, their bytes, and the time, in milliseconds, after which
    /// one is refused.
    private static let (waitingLimit, waitingByteLimit, patience): (Int, Int, UInt64) = (16, 512 << 10, 86_400_000)
    /// The limit in bytes for all senders that no card names: a quarter of ``Mailbox/Limits/collectionBytes``.
    private static let unnamedByteLimit = 256 << 10

    /// Whether a mail may come again: holders send nothing behind what is not answered, so that little may wait.
    ///
    /// All senders that no card names count as one sender, nil: any member may be one.
    private func mayWait(_ mail: Mail, from sender: PeerId?) -> Bool {
        let now = milliseconds
        let byteLimit = sender == nil ? Self.unnamedByteLimit : Self.waitingByteLimit
        return state.withLock { state in
            if let known = state.waiting[mail.id] { return now < known.since + Self.patience }
            state.waiting = state.waiting.filter { now < $0.value.since + Self.patience }
            let others = state.waiting.values.filter { $0.sender == sender }
            let byteCount = others.reduce(mail.body.count) { $0 + $1.byteCount }
            guard others.count < Self.waitingLimit, byteCount <= byteLimit else { return false }
            state.waiting[mail.id] = (mail.body.count, now, sender)
            return true
        }
    }

    /// Verifies a letter, and stores it with the id of its mail; called before its key is erased.
    private func store(
        _ plaintext: [UInt8],
        _ copy: [UInt8],
        _ mail: Mail,
        from key: Ed25519PublicKey,
        _ peer: PeerId,
        of person: PublicID
    ) throws -> Opened {
        let letter = try Letter(plaintext, to: localPeerId, from: key)
        switch letter.kind {
        case .thought:
            let model = try ThoughtServiceModel(content(of: letter, copy))
            guard let stream = try place(of: model, from: person) else { throw NotYet() }
            let isNew = try store.add(
                StoredThought(model, in: stream, nano: history.seal(model)),
                receivedAs: mail.id.bytes,
                from: peer,
                expiration: mail.expirationSeconds
            )
            return .thought(model.publicID, isNew: isNew)
        case .receipt:
            let opened = try apply(Receipt(letter.body), from: peer)
            return try note(mail, .receipt(opened))
        case .card: return try note(mail, apply(ProfileCard(letter.body), from: person).map { .card($0) })
        case .stream:
            let description = try StreamDescription(content(of: letter, copy))
            return try note(mail, apply(description, from: person, peer).map { .stream($0) })
        case .participation:
            return try note(mail, apply(ParticipationNotice(letter.body), from: person).map { .stream($0) })
        case .trust: return try note(mail, apply(TrustNotice(letter.body), from: person).map { .trust($0) })
        }
    }

    /// Stores how far the thoughts of a receipt came; returns the deliveries that changed.
    private func apply(_ receipt: Receipt, from peer: PeerId) throws -> [StoredDelivery] {
        let state: DeliveryState = receipt.state == .opened ? .opened : .delivered
        return try receipt.thoughts.compactMap { try store.setDelivery(of: $0, to: peer, state: state) }
    }

    private func content(of letter: Letter, _ copy: [UInt8]) throws(CircleError) -> [UInt8] {
        guard let (keys, digest) = letter.content else {
            throw .malformed(of: "a letter", reason: "it has no content")
        }
        return try SealedContent.open(copy, with: keys, digest: digest)
    }

    /// Records that the content of a mail is stored; after a crash before that, it is stored again without harm.
    private func note(_ mail: Mail, _ opened: Opened?) throws -> Opened {
        _ = try store.noteReceived(mail.id.bytes, expiration: mail.expirationSeconds)
        return opened ?? .old
    }

    private func act(on opened: Opened, _ peer: PeerId) async throws {
        switch opened {
        case .thought(let id, let isNew):
            if isNew { events.send(.thoughtReceived(try thought(id))) }
            await sendOwed(to: peer)
        case .receipt(let changed):
            for delivery in changed {
                if let mail = delivery.mailId.flatMap(MailId.init), let network = try network(of: peer) {
                    node.noteReceipt(of: mail, in: network)
                }
                try report(delivery)
            }
        case .card(let change): await perform(change)
        case .stream(let change): await perform(change)
        case .trust(let change): try await perform(change)
        case .old: break
        }
    }

    private func envelope(of mail: Mail) -> Envelope? {
        try? Envelope(mail.body, with: mailKey, of: localPeerId)  // nil: it is none of ours
    }

    // MARK: Received mail

    /// Forgets old received mail at once and then once a day, until the task is cancelled.
    func pruneEachDay() async {
        while !Task.isCancelled {
            await attempt("forgetting old mail") { try forgetReceivedMail(at: milliseconds / 1_000) }
            try? await node.clock.sleep(node.clock.now().monotonic + .seconds(86_400))  // ends with the circle
        }
    }

    /// Forgets the mail that expired more than a lifetime before a time, in seconds since 1970.
    ///
    /// By then no sender and no holder has a copy, even if its clock is a lifetime behind.
    func forgetReceivedMail(at seconds: UInt64) throws {
        try store.pruneReceivedMail(expiredBefore: seconds - min(seconds, Self.lifetimeSeconds))
    }
}
