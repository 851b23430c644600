internal import CircleModel
internal import CircleStore
internal import Concurrency
internal import Identity
internal import SealedMessages

// Cards: that of this device's person, and those of others.
extension CircleDriver {
    // MARK: The own profile

    func setProfile(name: String, blurb: String?, did: String?, handle: String?) async throws {
        var profile = Profile(id: Profile.id(ofPerson: personKey.publicKey), name: name, blurb: blurb)
        (profile.did, profile.handle) = (try ProfileIdentifiers.did(did), try ProfileIdentifiers.handle(handle))
        try profile.check()
        let told = try await mutex.withLock { [profile] in
            var profile = profile
            let former = state.withLock { $0.ownCard?.profile }
            if did == nil { profile.did = former?.did }
            if handle == nil { profile.handle = former?.handle }
            let card = try makeCard(profile, state.withLock { $0.ownCard?.entries ?? [] }.with(ownEntry()))
            let told = try owe(card)
            try keep(card)
            try makeDefaultStreams()
            return told
        }
        for device in told { await sendOwed(to: device) }
    }

    /// Puts this device on the card in place of its former key, if the device was renewed.
    func renewCard() async throws {
        let told = try await mutex.withLock { () -> [PeerId] in
            let former = try store.ownDevice()
            try store.setOwnDevice(localPeerId)
            guard let card = state.withLock({ $0.ownCard }), !card.devices.contains(localPeerId) else { return [] }
            let newer = try makeCard(
                card.profile,
                card.entries.filter { $0.peerId != former }.with(ownEntry()),
                homes: card.homes.map { $0 == former ? localPeerId : $0 }
            )
            let told = try owe(newer)
            try keep(newer)
            return told
        }
        for device in told { await sendOwed(to: device) }
        // An earlier process may have ended before it deleted the keys.
        for peer in keys.relationships.map(\.peer) where try store.removalTime(of: peer) != nil {
            await forget(peer)
        }
    }

    /// The statement of this device that it belongs to its person.
    func ownEntry() throws -> CardDevice { try entry(for: personKey.publicKey) }

    /// The statement of this device that it belongs to a person, with a time that is not before `seconds`.
    func entry(for person: Ed25519PublicKey, notBefore seconds: UInt64 = 0) throws -> CardDevice {
        try CardDevice(
            of: person,
            mailKey: mailKey.publicKey,
            signedSeconds: max(milliseconds / 1_000, seconds),
            signedBy: deviceKey.privateKey
        )
    }

    /// Signs a card of this device's person with a later time than the present one, even if the clock is behind.
    ///
    /// Without `homes` it has those of the present one.
    func makeCard(
        _ profile: Profile,
        _ devices: [CardDevice],
        homes: [PeerId]? = nil,
        after other: ProfileCard? = nil
    ) throws -> ProfileCard {
        let earlier = other ?? state.withLock { $0.ownCard }
        return try ProfileCard(
            profile,
            devices: devices,
            homes: homes ?? earlier?.homes ?? [],
            issuedSeconds: max(milliseconds / 1_000, (earlier?.issuedSeconds ?? 0) + 1),
            signedBy: personKey
        )
    }

    /// Stores a card of this device's person.
    ///
    /// Called with the mutex held.
    func keep(_ card: ProfileCard) throws {
        try store.save(makeAccount(), card)
        state.withLock { $0.ownCard = card }
        events.send(.cardChanged(card))
    }

    /// Records a card as owed to the devices of trusted people and of this person, and returns these devices.
    func owe(_ card: ProfileCard) throws -> [PeerId] {
        let devices = devices(of: state.withLock { Array($0.people.keys) })
        let told = devices + card.devices.filter { $0 != localPeerId }
        try store.owe([StoredOwedLetter(.card)], to: told)
        return told
    }

    /// The account, which is made if it is missing.
    @discardableResult
    func makeAccount() throws -> StoredAccount {
        if let account = try store.account() { return account }
        let account = StoredAccount()
        try store.save(account)
        return account
    }

    // MARK: Letters

    /// A newer card that is stored.
    struct CardChange: Sendable {
        let card: ProfileCard
        /// The devices that the card does not name any longer.
        let removed: [PeerId]
        /// The event for listeners; nil for the own card.
        var event: CircleEvent?
        /// The devices that are owed the card.
        var told: [PeerId] = []
    }

    /// Stores a newer card of a trusted person, or of this one, which a letter brought; nil if it is not newer.
    ///
    /// Called with the mutex held.
    func apply(_ card: ProfileCard, from id: PublicID) throws -> CardChange? {
        guard card.publicID == id else { throw CircleError.invalidSignature }
        if id == ownId {
            return try applyOwn(card)
        }
        var person = try known(id)
        guard person.trust.state == .trusted, card.replaces(person.card), mayTake(card) else { return nil }
        let removed = devices(of: id, missingIn: card)
        for device in removed { try store.forgetDevice(device) }
        person.card = card
        try save(id, person)
        return CardChange(card: card, removed: removed, event: .profileChanged(self.person(id, person)))
    }

    /// Stores a card that another own device made; one that names a device which was removed here is made anew without it.
    private func applyOwn(_ card: ProfileCard) throws -> CardChange? {
        let earlier = state.withLock { $0.ownCard }
        guard card.replaces(earlier) else { return nil }
        let removed = earlier?.devices.filter { !card.devices.contains($0) && $0 != localPeerId } ?? []
        for device in removed { try noteRemoval(of: device) }
        let gone = try card.entries.filter { entry in
            try entry.signedSeconds < store.removalTime(of: entry.peerId) ?? 0
        }
        guard !gone.isEmpty, card.devices.contains(localPeerId) else {
            try keep(card)
            return CardChange(card: card, removed: removed)
        }
        let goneDevices = gone.map(\.peerId)
        let newer = try makeCard(
            card.profile,
            card.entries.filter { !gone.contains($0) },
            homes: card.homes.filter { !goneDevices.contains($0) },
            after: card
        )
        let told = try owe(newer)
        try keep(newer)
        return CardChange(card: newer, removed: removed + goneDevices, told: told)
    }

    /// Notes the time at which a device left the card, and deletes the mail to it.
    func noteRemoval(of device: PeerId) throws {
        try store.removeDevice(device, at: milliseconds / 1_000)
    }

    /// Does what a newer card leads to.
    func perform(_ change: CardChange) async {
        if let event = change.event { events.send(event) }
        for device in change.removed { await forget(device) }
        await exchangeKeys(with: change.card.devices)
        for device in change.told { await sendOwed(to: device) }
    }

    /// The most people of streams in whom there is no trust; further ones are left out.
    private static let untrustedLimit = 2_048

    /// Keeps the card of a member of a stream, for the case that this person joins.
    func note(_ card: ProfileCard) throws {
        let id = card.publicID
        var person = state.withLock { $0.people[id] } ?? KnownPerson(key: card.key, trust: Trust())
        switch person.trust.state {
        case .none where card.replaces(person.card) && mayTake(card):
            let count = state.withLock { $0.people.values.count { $0.trust.state == .none } }
            guard person.card != nil || count < Self.untrustedLimit else { return }
            person.card = card
            try save(id, person)
        // Their own word on themselves counts.
        case .none, .invited, .requested, .trusted, .revoked: break
        }
    }
}

extension [CardDevice] {
    /// The entries with one in place of that of the same device.
    func with(_ entry: CardDevice) -> [CardDevice] { filter { $0.peerId != entry.peerId } + [entry] }
}
