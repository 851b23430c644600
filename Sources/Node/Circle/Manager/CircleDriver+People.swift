internal import Bytes
internal import Concurrency
internal import Identity
internal import Logging
internal import Node
internal import OneTimeKeys
internal import RunarNode
internal import SealedMessages
internal import Storage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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

    // MARK: The own profile

    func setProfile(name: String, blurb: String?) async throws {
        let profile = Profile(id: Profile.id(ofPerson: personKey.publicKey), name: name, blurb: blurb)
        try profile.check()
        let trusted = try await turns.withLock {
            let earlier = state.withLock { $0.ownCard }
            // A later card has a later time, whatever the clock says.
            let seconds = max(milliseconds / 1_000, (earlier?.issuedSeconds ?? 0) + 1)
            let card = try ProfileCard(
                profile,
                devices: Set(earlier?.devices ?? []).union([localPeerId]),
                homes: earlier?.homes ?? [],
                issuedSeconds: seconds,
                signedBy: personKey
            )
            let account = try store.account()
            try store.save(
                StoredAccount(
                    identityAssuranceLevel: account?.identityAssuranceLevel ?? "ial0",
                    ageVerificationStatus: account?.ageVerificationStatus ?? "unverified",
                    profile: StoredProfile(profile)
                )
            )
            // A card that is owed and did not change is harmless.
            let devices = state.withLock { state in
                state.people.values.filter { $0.trust.state == .trusted }.flatMap(\.devices)
            }
            for device in devices { try store.owe(.card, to: device) }
            try store.set(Self.cardSetting, to: card.bytes)
            state.withLock { $0.ownCard = card }
            return devices
        }
        for device in trusted { await sendOwed(to: device) }
    }

    // MARK: Trust

    /// Asks the person of a device, whose card is not known yet.
    func invite(_ device: PeerId) async throws {
        let person = state.withLock { state in
            state.people.first { $0.value.devices.contains(device) }?.key
        }
        if let person { return try await accept(person) }
        guard let card = state.withLock({ $0.ownCard }) else { throw CircleError.noProfile }
        state.withLock { _ = $0.invitedDevices.insert(device) }
        _ = try await ask("request", card.bytes, device)
    }

    /// Asks the person of a card that came by another channel.
    func invite(_ card: ProfileCard) async throws -> PublicID {
        let id = card.publicID
        guard id != ownID else { throw CircleError.ownCard }
        guard state.withLock({ $0.ownCard }) != nil else { throw CircleError.noProfile }
        try await turns.withLock {
            var person = state.withLock { $0.people[id] } ?? KnownPerson(key: card.key, trust: Trust())
            // The bans of a revocation are lifted for the devices that it named.
            guard person.trust.state != .revoked, card.issuedSeconds > person.card?.issuedSeconds ?? 0 else { return }
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
        try await turns.withLock {
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
        let (effects, before, after) = try await turns.withLock {
            let before = try known(id)
            var after = before
            let effects = after.trust.handle(input)
            if after.trust != before.trust {
                if after.trust.state == .revoked {
                    try revoke(id, &after, devices: before.devices)
                } else {
                    try save(id, after)
                }
            }
            return (effects, before, after)
        }
        for effect in effects { try await perform(effect, of: id, before, after) }
    }

    /// Stores a revocation in one transaction: from here on no code path trusts the person.
    private func revoke(_ id: PublicID, _ person: inout KnownPerson, devices: [PeerId]) throws {
        person.verifiedAt = nil
        try store.revoke(stored(id, person), devices: devices)
        state.withLock { [person] state in
            state.people[id] = person
            state.invitedDevices.subtract(devices)
        }
    }

    private func save(_ id: PublicID, _ person: KnownPerson) throws {
        try store.save(stored(id, person), person.card.map { StoredProfile($0.profile) })
        state.withLock { $0.people[id] = person }
    }

    private func stored(_ id: PublicID, _ person: KnownPerson) -> StoredPerson {
        StoredPerson(
            publicID: id.bytes,
            key: person.key.bytes,
            card: person.card?.bytes,
            trust: person.trust.state.rawValue,
            verifiedAt: person.verifiedAt,
            changedAt: milliseconds / 1_000
        )
    }

    private func perform(
        _ effect: Trust.Effect,
        of id: PublicID,
        _ before: KnownPerson,
        _ after: KnownPerson
    ) async throws {
        let devices = after.devices
        switch effect {
        case .sendRequest:
            for device in devices { await connect(to: device) }
            await send("request", to: devices)
        case .sendAccept: await send("accept", to: devices)
        case .sendDecline: await send("decline", to: devices)
        case .exchangeKeys: await exchangeKeys(with: devices)
        case .banDevices:
            for device in devices {
                keys.setRefused(true, device)
                try node.banPeer(device)
            }
        case .liftBan:
            for device in devices {
                try node.liftBan(of: device)
                keys.setRefused(false, device)
            }
        case .destroyKeys:
            for device in devices where keys.relationship(with: device) != nil {
                try await keys.removeKeys(of: device)
                node.logs[.messages].notice(
                    "the one-time keys with peer \(device.short) were deleted: trust was revoked"
                )
            }
        case .dropMail: for device in devices { try node.withdrawMail(to: device) }
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
    private func send(_ action: String, to devices: [PeerId]) async {
        let card = state.withLock { $0.ownCard }
        let connected = Set(node.connectedPeers())
        for device in devices where connected.contains(device) {
            await attempt("the message \"\(action)\" to a person") {
                _ = try await ask(action, action == "decline" ? [] : card?.bytes ?? [], device)
            }
        }
    }

    /// Exchanges keys with the devices that are connected and with which none were exchanged.
    func exchangeKeys(with devices: [PeerId]) async {
        let connected = Set(node.connectedPeers())
        for device in devices where connected.contains(device) && device != localPeerId {
            guard keys.relationship(with: device)?.suite == nil else { continue }
            await attempt("the exchange of keys with a person") { try await keys.exchangeKeys(with: device) }
        }
    }

    /// A network in which a device is connected, or else one in which it is known.
    func network(of device: PeerId) throws -> NetworkId? {
        let networks = try node.knownPeers().first { $0.peerId == device }?.networks ?? []
        return networks.first { node.connectedPeers(in: $0).contains(device) } ?? networks.first
    }

    // MARK: Requests

    /// Asks a device, and returns its answer: 1 if it took the message.
    private func ask(_ action: String, _ body: [UInt8], _ device: PeerId) async throws -> Bool {
        guard let network = try network(of: device) else { throw SealedMessageError.notConnected(device) }
        let answer = try await node.requestRaw(
            "\(network.text):\(Self.servicePath)/\(action)",
            payload: Data(body),
            encoding: nil,
            options: RequestOptions(peer: device)
        )
        return answer == Self.taken
    }

    private static let (taken, refused) = (Data([1]), Data([0]))

    /// The service that receives requests of other people.
    func makeService() -> RunarService {
        let service = RunarService(
            name: "Circle",
            path: Self.servicePath,
            version: "1",
            description: "Requests for trust, and their answers"
        )
        for (action, input) in [("request", Trust.Input.requestReceived), ("accept", .acceptReceived)] {
            service.registerRawAction(action) { [weak self] request in
                guard let self, let peer = request.peer else { return Self.refused }
                return try await received(input, [UInt8](request.payload), from: peer) ? Self.taken : Self.refused
            }
        }
        service.registerRawAction("decline") { [weak self] request in
            guard let self, let peer = request.peer else { return Self.refused }
            let person = state.withLock { state in state.people.first { $0.value.devices.contains(peer) }?.key }
            if let person { try await handle(.declineReceived, of: person) }
            state.withLock { _ = $0.invitedDevices.remove(peer) }
            return Self.taken
        }
        return service
    }

    /// Takes a card with a request or a consent; returns whether it was taken.
    private func received(_ input: Trust.Input, _ bytes: [UInt8], from peer: PeerId) async throws -> Bool {
        let card = try? ProfileCard(bytes)  // nil: it is no card, and is refused
        guard let card, card.devices.contains(peer), card.publicID != ownID else { return false }
        let isTaken = try await turns.withLock {
            let (earlier, wasInvited, requests) = state.withLock { state in
                (
                    state.people[card.publicID], state.invitedDevices.contains(peer),
                    state.people.values.count { $0.trust.state == .requested }
                )
            }
            if let earlier, earlier.trust.state == .revoked { return false }
            var person = earlier ?? KnownPerson(key: card.key, trust: Trust(wasInvited ? .invited : .none))
            let isKnown = earlier != nil || wasInvited
            guard isKnown || input == .requestReceived && requests < Self.requestLimit else { return false }
            if let before = person.card, before.issuedSeconds > card.issuedSeconds { return true }
            person.card = card
            try save(card.publicID, person)
            state.withLock { _ = $0.invitedDevices.remove(peer) }
            return true
        }
        guard isTaken else { return false }
        try await handle(input, of: card.publicID)
        return true
    }

    /// Takes a newer card of a trusted person, which a letter of one of the devices brought.
    func received(_ card: ProfileCard, from id: PublicID) async throws {
        guard card.publicID == id else { throw CircleError.invalidSignature }
        let changed = try await turns.withLock { () -> KnownPerson? in
            var person = try known(id)
            guard person.trust.state == .trusted, card.issuedSeconds > person.card?.issuedSeconds ?? 0 else {
                return nil
            }
            person.card = card
            try save(id, person)
            return person
        }
        if let changed { events.send(.profileChanged(person(id, changed))) }
        await exchangeKeys(with: card.devices)
    }
}

extension StoredProfile {
    init(_ profile: Profile) {
        self.init(
            id: profile.id.bytes,
            publicID: profile.publicID.bytes,
            name: profile.name,
            blurb: profile.blurb,
            interests: profile.interests,
            location: profile.location,
            hasHighEncryption: profile.hasHighEncryption,
            hasHighIdentityAssurance: profile.hasHighIdentityAssurance,
            did: profile.did,
            handle: profile.handle
        )
    }
}
