internal import Bytes
internal import Concurrency
internal import Identity
internal import Logging
internal import Mailbox
internal import OneTimeKeys
internal import RunarNode
internal import SealedMessages
internal import Storage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// Letters that come in: they are stored before the key with which they were sealed is erased.
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
    private func take(_ mail: Mail, in network: NetworkId) async throws -> Reception? {
        guard let (message, copy) = parts(of: mail.body) else { return .refused }
        let router = ArkavoMessageRouter(of: localPeerId) { [keys] name in keys.peer(ofKey: name) }
        guard case .conversation(let peer, let sealed) = router.route(message, from: .mailbox(network)) else {
            return .refused
        }
        guard try !store.hasReceived(mail.id.bytes) else {
            // A crash came before its key was erased, or its holder did not receive the answer.
            try await keys.eraseKey(of: sealed, from: peer)
            return .delivered
        }
        if isInvited(peer) { return nil }
        let opened = Locked<(PublicID, Opened)?>(nil)
        do {
            // In turn, so that a revocation comes before all of it or after.
            try await turns.withLock {
                guard let person = trustedPerson(of: peer), let key = keys.deviceKey(of: peer) else {
                    throw CircleError.invalidSignature
                }
                _ = try await keys.open(sealed, from: peer) { plaintext in
                    let result = try self.store(plaintext, copy, mail, from: key, peer, of: person)
                    opened.withLock { $0 = (person, result) }
                }
            }
        } catch is CircleError {
            return .refused
        } catch OneTimeKeyError.keyUsed, OneTimeKeyError.authenticationFailed, OneTimeKeyError.keyNotFound {
            return .refused
        } catch SealedMessageError.noKeys {
            return .refused
        }
        if let (person, result) = opened.withLock({ $0 }) { try await act(on: result, of: person, peer) }
        return .delivered
    }

    /// A letter that is stored.
    private enum Opened: Sendable {
        case thought(PublicID, isNew: Bool)
        case receipt(Receipt)
        case card(ProfileCard)
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
            guard let (keys, digest) = letter.content else {
                throw CircleError.malformed(of: "a letter", reason: "it has no content")
            }
            let model = try ThoughtServiceModel(SealedContent.open(copy, with: keys, digest: digest))
            let stream = try conversation(with: person, known(person))
            guard model.creatorPublicID == person, model.streamPublicID == stream.publicID else {
                throw CircleError.malformed(of: "a thought", reason: "it names another person or conversation")
            }
            let thought = StoredThought(
                id: UUID().bytes,
                publicID: model.publicID.bytes,
                streamID: stream.id.bytes,
                creator: person.bytes,
                mediaType: model.mediaType.rawValue,
                createdAt: model.createdAtMilliseconds,
                nano: try history.seal(model)
            )
            let isNew = try store.add(
                thought,
                receivedAs: mail.id.bytes,
                from: peer,
                expiration: mail.expirationSeconds
            )
            return .thought(model.publicID, isNew: isNew)
        case .receipt:
            let receipt = try Receipt(letter.body)
            _ = try store.noteReceived(mail.id.bytes, expiration: mail.expirationSeconds)
            return .receipt(receipt)
        case .card:
            let card = try ProfileCard(letter.body)
            _ = try store.noteReceived(mail.id.bytes, expiration: mail.expirationSeconds)
            return .card(card)
        }
    }

    private func act(on opened: Opened, of person: PublicID, _ peer: PeerId) async throws {
        switch opened {
        case .thought(let id, let isNew):
            if isNew { events.send(.thoughtReceived(try thought(id))) }
            await sendOwed(to: peer)
        case .receipt(let receipt):
            for id in receipt.thoughts {
                let state: DeliveryState = receipt.state == .opened ? .opened : .delivered
                let changed = try store.setDelivery(of: id.bytes, to: peer, state: state.rawValue)
                if let mail = changed?.mailId.flatMap(MailID.init), let network = try network(of: peer) {
                    node.noteReceipt(of: mail, in: network)
                }
                try report(changed)
            }
        case .card(let card): try await received(card, from: person)
        }
    }

    private func parts(of body: [UInt8]) -> (message: [UInt8], copy: [UInt8])? {
        var reader = ByteReader(body)
        guard let count = try? reader.readUInt32(), count <= reader.remaining,  // nil: it is too short
            let message = try? reader.readBytes(count: Int(count))  // the same
        else { return nil }
        return (message, reader.readRemaining())
    }
}
