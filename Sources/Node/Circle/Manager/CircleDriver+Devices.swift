internal import Bytes
internal import CircleModel
internal import CircleStore
internal import Concurrency
internal import Essentials
internal import Identity
internal import Logging
internal import OneTimeKeys
internal import RunarNode
internal import SealedMessages

// The devices of this person: a device with the circle sets up further ones, and all of them exchange changes.
extension CircleDriver {
    /// The time in which a device that was named may set up this one.
    private static let expectationMilliseconds: UInt64 = 10 * 60 * 1_000
    private static let keyLabel = DomainLabel("runar/person-key/v1")
    private static let setupLabel = DomainLabel("runar/device-setup/v1")
    private static let (timeByteCount, offerByteCount) = (8, 64 + Ed25519Signature.byteCount)

    // MARK: The device that is set up

    /// Lets a device give its person and circle to this one, once, within ten minutes.
    func expect(_ peer: PeerId) throws {
        guard hasNoPeople else { throw CircleError.hasCircle }
        let until = milliseconds + Self.expectationMilliseconds
        state.withLock { $0.expectedDevice = (peer, until) }
    }

    /// Whether this person has neither invited, trusted nor revoked a person.
    private var hasNoPeople: Bool {
        state.withLock { $0.people.values.allSatisfy { [.none, .requested].contains($0.trust.state) } }
    }

    private func isExpected(_ peer: PeerId) -> Bool {
        let now = milliseconds
        return state.withLock { $0.expectedDevice?.peer == peer && $0.expectedDevice?.until ?? 0 > now }
    }

    func addDeviceActions(to service: RunarService) {
        service.registerRawAction("device-key") { [weak self] request in
            guard let self, let peer = request.peer, isExpected(peer) else { return Self.refused }
            return Data(try setupOffer(to: peer))
        }
        service.registerRawAction("device") { [weak self] request in
            guard let self, let peer = request.peer, isExpected(peer) else { return Self.refused }
            return try await adopt([UInt8](request.payload), from: peer).map { Data($0.bytes) } ?? Self.refused
        }
    }

    /// The key to which the person's key is sealed for this device, with its signature for the device that asks.
    ///
    /// It is no entry of a card: this device signs one only for a person whose key it has.
    private func setupOffer(to peer: PeerId) throws -> [UInt8] {
        let message = Self.setupLabel.message(peer.bytes, mailKey.publicKey.bytes)
        let signature = try Ed25519Signature(of: message, by: deviceKey.privateKey)
        return deviceKey.publicKey.bytes + mailKey.publicKey.bytes + signature.bytes
    }

    /// Takes the key of the person, and returns the entry of this device for the person's card; nil if it is refused.
    private func adopt(_ message: [UInt8], from peer: PeerId) async throws -> CardDevice? {
        let sealedByteCount = Ed25519PrivateKey.byteCount + SealingKey.overheadByteCount
        guard message.count > Self.timeByteCount + sealedByteCount else { return nil }
        var reader = ByteReader(message)
        let seconds = try reader.readUInt64()
        guard seconds <= milliseconds / 1_000 + Self.clockTolerance,
            var secret = mailKey.open(try reader.readBytes(count: sealedByteCount), info: Self.info(peer, localPeerId)),
            let card = try? ProfileCard(reader.readBytes(count: reader.remaining))  // nil: it is none
        else { return nil }
        let key = Ed25519KeyPair(privateKey: try Ed25519PrivateKey(SecretBytes(consuming: &secret)))
        guard card.key == key.publicKey, card.devices.contains(peer) else { return nil }
        let entry = try entry(for: key.publicKey, notBefore: seconds)
        let first = try Self.card(card, adding: entry, signedBy: key)
        return try await mutex.withLock {
            guard hasNoPeople, isExpected(peer) else { return nil }
            try node.setPersonKey(key)
            // The streams and thoughts of the person that this device had before have no owner now.
            try store.deleteCircle()
            state.withLock { state in
                state.personKey = key
                state.ownCard = nil
                state.people = [:]
                state.invitedDevices = []
                state.ignoredDevices = []
                state.expectedDevice = nil
            }
            try keep(first)
            try makeDefaultStreams()
            return entry
        }
    }

    /// The card that a device makes when it joins those of its person; both devices sign equal fields.
    private static func card(
        _ card: ProfileCard,
        adding entry: CardDevice,
        signedBy key: Ed25519KeyPair
    ) throws -> ProfileCard {
        try ProfileCard(
            card.profile,
            devices: card.entries.with(entry),
            homes: card.homes,
            issuedSeconds: card.issuedSeconds + 1,
            signedBy: key
        )
    }

    private static func info(_ sender: PeerId, _ recipient: PeerId) -> [UInt8] {
        keyLabel.message(sender.bytes, recipient.bytes)
    }

    // MARK: The device that has the circle

    /// Gives this person and the circle to another device, which expects it.
    func addDevice(_ peer: PeerId) async throws {
        guard let card = state.withLock({ $0.ownCard }) else { throw CircleError.noProfile }
        let isOthers = state.withLock { state in
            state.people.values.contains { person in
                ![.none, .requested].contains(person.trust.state) && person.devices.contains(peer)
            }
        }
        guard peer != localPeerId, !isOthers else {
            throw CircleError.notAllowed("the device belongs to another person, or is this one")
        }
        guard card.devices.contains(peer) || card.devices.count < ProfileCard.deviceLimit else {
            throw CircleError.tooLong(
                "the list of devices",
                limit: ProfileCard.deviceLimit,
                found: card.devices.count + 1
            )
        }
        let entry = try await setUp(peer, with: card)
        let first = try Self.card(card, adding: entry, signedBy: personKey)
        let told = try await mutex.withLock {
            // The profile and the homes may have changed while the device answered. It gets this card, which replaces its
            // first one, by a letter.
            let present = state.withLock { $0.ownCard } ?? card
            let last = first.replaces(present) ? first : present
            let entries = present.entries.with(entry)
            let newer = try makeCard(present.profile, entries, homes: present.homes, after: last)
            let told = try owe(newer)
            try keep(newer)
            let people = state.withLock { $0.people }
            for (id, person) in people where person.trust.state == .trusted || person.trust.state == .revoked {
                try store.owe([StoredOwedLetter(.person, id.bytes)], to: [peer])
            }
            for stream in try streams() {
                let letters = [StoredOwedLetter.Kind.stream, .participation].map {
                    StoredOwedLetter($0, stream.publicID.bytes)
                }
                try store.owe(letters, to: [peer])
            }
            return told
        }
        await exchangeKeys(with: [peer])
        for device in told { await sendOwed(to: device) }
    }

    /// Gives a device the key of this person, and returns the entry that it signs for a card.
    private func setUp(_ peer: PeerId, with card: ProfileCard) async throws -> CardDevice {
        let offer = [UInt8](try await answer(to: "device-key", [], peer))
        guard offer.count == Self.offerByteCount else { throw CircleError.deviceNotReady(peer) }
        let key = try Ed25519PublicKey(rawRepresentation: offer[..<32])
        let mailKey = try SealingKey(rawRepresentation: offer[32..<64], of: "the mail key of a device")
        let message = Self.setupLabel.message(localPeerId.bytes, mailKey.bytes)
        guard PeerId(publicKey: key) == peer, key.isValidSignature(Array(offer[64...]), for: message) else {
            throw CircleError.invalidSignature
        }
        let info = Self.info(localPeerId, peer)
        let sealed = personKey.privateKey.secret.withBytes { mailKey.seal($0, info: info) }
        guard let sealed else { throw CircleError.deviceNotReady(peer) }
        var writer = ByteWriter(capacity: Self.timeByteCount)
        // The clock of the device may be behind that of an earlier removal.
        writer.write(max(milliseconds / 1_000, try store.removalTime(of: peer) ?? 0))
        let answer = try await answer(to: "device", writer.bytes + sealed + card.bytes, peer)
        guard answer.count == CardDevice.byteCount else { throw CircleError.deviceNotReady(peer) }
        let entry = try CardDevice([UInt8](answer), of: personKey.publicKey)
        guard entry.peerId == peer, entry.mailKey == mailKey else { throw CircleError.invalidSignature }
        guard entry.signedSeconds <= milliseconds / 1_000 + Self.clockTolerance else {
            throw CircleError.clockAhead(peer)
        }
        return entry
    }

    /// Takes a device off the card: nothing is sealed for it any longer.
    func removeDevice(_ peer: PeerId) async throws {
        let told = try await mutex.withLock {
            guard let card = state.withLock({ $0.ownCard }) else { throw CircleError.noProfile }
            guard peer != localPeerId, card.devices.contains(peer) else {
                throw CircleError.notAllowed("it is not another device of yours")
            }
            let newer = try makeCard(
                card.profile,
                card.entries.filter { $0.peerId != peer },
                homes: card.homes.filter { $0 != peer }
            )
            try noteRemoval(of: peer)
            let told = try owe(newer)
            try keep(newer)
            return told
        }
        await forget(peer)
        for device in told { await sendOwed(to: device) }
    }

    /// Deletes what there is for a device that its person's card does not name any longer.
    func forget(_ device: PeerId) async {
        await attempt("forgetting a device") {
            try await mutex.withLock {
                // Another card names it.
                guard device != localPeerId, trustedPerson(of: device) == nil else { return }
                try store.forgetDevice(device)
                try node.withdrawMail(to: device)
                if keys.relationship(with: device) != nil { try await keys.removeKeys(of: device) }
            }
        }
        _ = room.offer(())  // false: a signal is pending already
    }

    // MARK: Letters

    /// The letter about the trust in a person for this person's other devices.
    func trustNotice(of id: PublicID) throws -> TrustNotice? {
        guard let person = state.withLock({ $0.people[id] }), let card = person.card else { return nil }
        return try TrustNotice(person.trust.state, in: card, changedSeconds: person.changedSeconds)
    }

    /// Stores the trust in a person that another device of this person reports; returns nil if it is not new.
    ///
    /// Called with the mutex held.
    func apply(_ notice: TrustNotice, from sender: PublicID) throws -> TrustChange? {
        let id = notice.card.publicID
        guard sender == ownId, id != ownId else {
            throw CircleError.notAllowed("only a device of the same person may send its trust")
        }
        let before = state.withLock { $0.people[id] }
        var person = before ?? KnownPerson(key: notice.card.key, trust: Trust())
        guard person.trust.state != notice.trust, person.changedSeconds <= notice.changedSeconds else { return nil }
        guard notice.trust != .trusted || mayTake(notice.card) else { return nil }
        if notice.card.replaces(person.card) { person.card = notice.card }
        switch notice.trust {
        case .trusted:
            let isLater = person.changedSeconds < notice.changedSeconds
            guard !state.withLock({ $0.blocked.contains(id) }), person.trust.state != .revoked || isLater else {
                return nil
            }
            let wasRevoked = person.trust.state == .revoked
            person.trust = Trust(.trusted)
            person.changedSeconds = notice.changedSeconds
            try save(id, person)
            let effects: [Trust.Effect] = [.exchangeKeys, .report(.trusted)]
            return TrustChange(id: id, person: person, effects: wasRevoked ? [.liftBan] + effects : effects)
        case .revoked:
            let dropped = before == nil ? [] : devices(of: id, missingIn: notice.card)
            for device in dropped { try store.forgetDevice(device) }
            try save(id, person)
            var change = try apply(.revoke, to: id, at: notice.changedSeconds)
            change.dropped = dropped
            return change
        case .none, .invited, .requested: return nil
        }
    }
}
