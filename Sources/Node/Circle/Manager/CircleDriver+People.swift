internal import Bytes
internal import CircleModel
internal import CircleStore
internal import Concurrency
internal import Essentials
internal import Identity
internal import Logging
internal import Node
internal import OneTimeKeys
internal import RunarNode
internal import SealedMessages

// People: cards, requests, consent, and the end of trust.
extension CircleDriver {
    var people: [Person] {
        state.withLock { $0.people }.map { person($0.key, $0.value) }.sorted { $0.id < $1.id }
    }

    func person(_ id: PublicID, _ known: KnownPerson) -> Person {
        Person(
            id: id,
            card: known.card,
            trust: known.trust.state,
            safetyNumber: SafetyNumber(between: personKey.publicKey, and: known.key),
            isVerified: known.verifiedAt != nil
        )
    }

    func known(_ id: PublicID) throws(CircleError) -> KnownPerson {
        guard let person = state.withLock({ $0.people[id] }) else { throw .unknownPerson(id) }
        return person
    }

    // MARK: Trust

    /// Asks the person of a device, whose card is not known yet.
    func invite(_ device: PeerId) async throws {
        let owner = owner(of: device)
        guard owner != ownId else { throw CircleError.ownCard }
        if let owner, [.trusted, .invited].contains(try known(owner).trust.state) { return try await accept(owner) }
        guard let card = state.withLock({ $0.ownCard }) else { throw CircleError.noProfile }
        try await mutex.withLock {
            try stopIgnoring([device])
            state.withLock { _ = $0.invitedDevices.insert(device) }
        }
        _ = try await ask("request", card.bytes, device)
    }

    /// Asks the person of a card that came by another channel.
    func invite(_ card: ProfileCard) async throws -> PublicID {
        let id = card.publicID
        guard id != ownId else { throw CircleError.ownCard }
        guard state.withLock({ $0.ownCard }) != nil else { throw CircleError.noProfile }
        try await mutex.withLock {
            var person = state.withLock { $0.people[id] } ?? KnownPerson(key: card.key, trust: Trust())
            // The bans of a revocation are lifted for the devices that it named.
            guard person.trust.state != .revoked, card.replaces(person.card) else { return }
            try checkDevices(of: card)
            person.card = card
            try save(id, person)
        }
        try await accept(id)
        return id
    }

    func accept(_ id: PublicID) async throws {
        guard state.withLock({ $0.ownCard }) != nil else { throw CircleError.noProfile }
        try await handle(.invite, of: id)
    }

    func verify(_ number: SafetyNumber, of id: PublicID) async throws {
        try await mutex.withLock {
            var person = try known(id)
            guard number == SafetyNumber(between: personKey.publicKey, and: person.key) else {
                throw CircleError.wrongSafetyNumber
            }
            person.verifiedAt = milliseconds / 1_000
            try save(id, person)
        }
    }

    /// Applies an input to the trust in a person: the state is stored, and then the effects are performed.
    func handle(_ input: Trust.Input, of id: PublicID) async throws {
        try await perform(try await mutex.withLock { try apply(input, to: id) })
    }

    /// The stored trust in a person after an input, and the effects that follow.
    struct TrustChange: Sendable {
        let id: PublicID
        let person: KnownPerson
        let effects: [Trust.Effect]
        /// The devices that are owed a letter about it.
        var told: [PeerId] = []
        /// The devices that a newer card of the person does not name any longer.
        var dropped: [PeerId] = []
    }

    /// Stores the trust in a person after an input.
    ///
    /// Called with the mutex held.
    func apply(_ input: Trust.Input, to id: PublicID, at seconds: UInt64? = nil) throws -> TrustChange {
        let before = try known(id)
        if input == .invite {
            guard !state.withLock({ $0.blocked.contains(id) }) else { throw CircleError.blocked(id) }
            // Another person may have become trusted since the card came.
            if let card = before.card { try checkDevices(of: card) }
            try stopIgnoring(before.devices)
        }
        var after = before
        let effects = after.trust.handle(input)
        var told: [PeerId] = []
        if after.trust != before.trust {
            after.changedSeconds = max(seconds ?? milliseconds / 1_000, before.changedSeconds)
            switch after.trust.state {
            case .revoked: told = try revoke(id, &after)
            case .trusted:
                told = otherDevices
                try store.owe([StoredOwedLetter(.person, id.bytes)], to: told)
                try save(id, after)
            case .none, .invited, .requested: try save(id, after)
            }
        }
        return TrustChange(id: id, person: after, effects: effects, told: told)
    }

    /// Performs the effects of a change that is stored.
    ///
    /// A revocation and a consent may be performed at the same time: the effects of the former one of them are skipped.
    func perform(_ change: TrustChange) async throws {
        for effect in change.effects where effect.isReport || isPresent(change) {
            try await perform(effect, of: change)
        }
        if change.person.trust.state == .revoked {
            await attempt("removing homes") { try await removeHomes(devices(belongingTo: change.id)) }
        }
        for device in change.dropped { await forget(device) }
        for device in change.told { await sendOwed(to: device) }
    }

    /// Stores a revocation in one transaction: from here on no code path trusts the person.
    ///
    /// Returns the devices that are owed a letter about it.
    private func revoke(_ id: PublicID, _ person: inout KnownPerson) throws -> [PeerId] {
        person.verifiedAt = nil
        var after = state.withLock { $0 }
        after.people[id] = person
        let devices = devices(belongingTo: id, in: after)
        let letters = try letters(afterLosing: id) + otherDevices.map { (StoredOwedLetter(.person, id.bytes), $0) }
        try store.revoke(stored(id, person), devices: devices, owner: ownId, owing: letters)
        state.withLock { [person] state in
            state.people[id] = person
            state.invitedDevices.subtract(devices)
        }
        return Array(Set(letters.map(\.peer)))
    }

    func save(_ id: PublicID, _ person: KnownPerson) throws {
        try store.save(stored(id, person), person.card?.profile)
        state.withLock { $0.people[id] = person }
    }

    private func stored(_ id: PublicID, _ person: KnownPerson) -> StoredPerson {
        StoredPerson(
            publicID: id,
            key: person.key.bytes,
            card: person.card?.bytes,
            trust: person.trust.state,
            verifiedAt: person.verifiedAt,
            changedAt: person.changedSeconds
        )
    }

    /// Whether the person is still revoked, or still not, as after the change.
    private func isPresent(_ change: TrustChange) -> Bool {
        let present = state.withLock { $0.people[change.id]?.trust.state }
        return (present == .revoked) == (change.person.trust.state == .revoked)
    }

    /// Bans the devices of a person, or lifts their bans, unless the trust has changed since.
    private func setBanned(_ isBanned: Bool, _ devices: [PeerId], of change: TrustChange) async throws {
        try await mutex.withLock {
            guard isPresent(change) else { return }
            for device in devices {
                if isBanned {
                    keys.setRefused(true, device)
                    try node.banPeer(device)
                } else {
                    try node.liftBan(of: device)
                    keys.setRefused(false, device)
                }
            }
        }
    }

    private func perform(_ effect: Trust.Effect, of change: TrustChange) async throws {
        let (id, after) = (change.id, change.person)
        let devices = devices(belongingTo: id)
        switch effect {
        case .sendRequest:
            for device in devices { await connect(to: device) }
            await send("request", to: devices)
        case .sendAccept: await send("accept", to: devices)
        case .sendDecline: await send("decline", to: unownedDevices(of: after))
        case .exchangeKeys:
            try liftForeignBans(of: id)
            await exchangeKeys(with: devices)
        case .banDevices: try await setBanned(true, devices, of: change)
        case .liftBan: try await setBanned(false, devices, of: change)
        case .destroyKeys:
            for device in devices where keys.relationship(with: device) != nil {
                do {
                    try await keys.removeKeys(of: device)
                } catch SealedMessageError.noKeys {
                    continue  // a step of an exchange has deleted them meanwhile
                }
                node.logs[.messages].notice(
                    "the one-time keys with peer \(device.short) were deleted: trust was revoked"
                )
            }
        case .dropMail:
            for device in devices { try node.withdrawMail(to: device) }
            _ = room.offer(())  // false: a signal is pending already
        case .refuse: break  // the caller answers
        case .report(let change): events.send(.trustChanged(person(id, after), change))
        }
    }

    /// Connects to a device; one that is not reached is asked when it connects.
    private func connect(to device: PeerId) async {
        await attempt("connecting to a person") {
            let known = try node.knownPeers().first { $0.peerId == device }?.networks ?? []
            let networks = known.isEmpty ? try node.networks().filter(\.isMember).map(\.networkId) : Array(known)
            for network in networks where !node.connectedPeers().contains(device) {
                await attempt("connecting to peer \(device.short)") {
                    try await node.connectToPeer(peerId: device, networkId: network)
                }
            }
        }
    }

    /// Sends this person's card, or a bare word, to those devices of a person that are connected.
    func send(_ action: String, to devices: [PeerId]) async {
        let card = state.withLock { $0.ownCard }
        let connected = Set(node.connectedPeers())
        for device in devices where connected.contains(device) {
            await attempt("the message \"\(action)\" to a person") {
                _ = try await ask(action, action == "decline" ? [] : card?.bytes ?? [], device)
            }
        }
    }

    /// Begins to exchange keys with the devices that are connected and with which no exchange was completed.
    ///
    /// Letters that wait for keys are sent when keys come.
    func exchangeKeys(with devices: [PeerId]) async {
        let connected = Set(node.connectedPeers())
        for device in devices where connected.contains(device) && device != localPeerId {
            let hasKeys = keys.relationship(with: device)?.suite != nil && keys.deviceKey(of: device) != nil
            guard !hasKeys else { continue }
            await attempt("the exchange of keys with a person") { try await keys.beginExchange(with: device) }
        }
    }

    /// A network in which a device is connected, or else one in which it is known.
    func network(of device: PeerId) throws -> NetworkId? {
        let networks = try node.knownPeers().first { $0.peerId == device }?.networks ?? []
        return networks.first { node.connectedPeers(in: $0).contains(device) } ?? networks.first
    }

    // MARK: Requests

    /// Asks a device, and returns whether it took the message.
    func ask(_ action: String, _ body: [UInt8], _ device: PeerId) async throws -> Bool {
        try await answer(to: action, body, device) == Self.taken
    }

    /// Asks a device, and returns its answer.
    func answer(to action: String, _ body: [UInt8], _ device: PeerId) async throws -> Data {
        guard let network = try network(of: device) else { throw SealedMessageError.notConnected(device) }
        return try await node.requestRaw(
            "\(network.text):\(Self.servicePath)/\(action)",
            payload: Data(body),
            encoding: nil,
            options: RequestOptions(peer: device)
        )
    }
}

extension Trust.Effect {
    fileprivate var isReport: Bool { if case .report = self { true } else { false } }
}
