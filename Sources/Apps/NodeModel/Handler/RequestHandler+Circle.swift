internal import Circle
internal import CommandModel
internal import Foundation
internal import Identity
internal import OneTimeKeys
internal import RunarNode
internal import SealedMessages

// The inner circle: people and trust.
extension RequestHandler {
    package func circleReport() throws -> CircleReport {
        let circle = try circle()
        let (card, names) = (circle.card, PeopleNames(circle))
        let people = circle.people.filter { $0.trust != .none }.map { report($0) }
        let streams = try circle.streams().map { StreamReport($0, names) }
        let blocked = try circle.blockedProfiles().map { CircleReport.Blocked($0, names) }
        return CircleReport(
            personId: card?.publicID.text,
            name: card?.profile.name,
            blurb: card?.profile.blurb,
            did: card?.profile.did,
            handle: card?.profile.handle,
            card: card?.text,
            people: people.sorted { ($0.name, $0.personId) < ($1.name, $1.personId) },
            streams: streams.sorted {
                ($0.isLeft ? 1 : 0, $0.name, $0.streamId) < ($1.isLeft ? 1 : 0, $1.name, $1.streamId)
            },
            devices: ownDevices(of: card),
            homes: try homes(on: card),
            blocked: blocked.sorted { ($0.name, $0.personId) < ($1.name, $1.personId) }
        )
    }

    private func ownDevices(of card: ProfileCard?) -> [CircleReport.Device] {
        let (localPeerId, connected) = (node.peerId, Set(node.connectedPeers()))
        let keyStores = try? keyStores()  // nil: the reason is logged, and no keys are shown
        return (card?.devices ?? []).map { device in
            let isLocal = device == localPeerId
            let relationship = isLocal ? nil : keyStores?.relationship(with: device)
            return CircleReport.Device(
                peerId: device.base64Encoded,
                connected: isLocal || connected.contains(device),
                sendingKeys: relationship?.sendingKeyCount ?? 0,
                low: relationship?.isLow ?? false,
                local: isLocal
            )
        }
    }

    private func homes(on card: ProfileCard?) throws -> [CircleReport.Home] {
        guard let homes = card?.homes, !homes.isEmpty else { return [] }
        let (known, connected) = (try node.knownPeers(), Set(node.connectedPeers()))
        return homes.map { home in
            let isLocal = home == node.peerId
            return CircleReport.Home(
                peerId: home.base64Encoded,
                label: known.first { $0.peerId == home }?.label,
                connected: isLocal || connected.contains(home),
                local: isLocal
            )
        }
    }

    package func setProfile(_ form: ProfileForm) async throws -> CircleReport {
        try Self.requireName(form.name)
        try await circle().setProfile(name: form.name, blurb: form.blurb, did: form.did, handle: form.handle)
        return try circleReport()
    }

    /// Throws for a name that a person left empty, before the checks that also hold for names of other devices.
    static func requireName(_ name: String) throws(CommandFailure) {
        guard name.allSatisfy(\.isWhitespace) else { return }
        throw CommandFailure("no-name", .data, "the name is empty: give one")
    }

    /// Chooses the members that hold mail for the devices of this device's person.
    package func setHomes(_ names: [PeerName]) async throws -> CircleReport {
        // Checked before each name is looked up.
        guard names.count <= ProfileCard.homeLimit else {
            throw CircleError.tooLong("the list of homes", limit: ProfileCard.homeLimit, found: names.count)
        }
        let homes = try names.map { try resolve($0) }
        try await circle().setHomes(homes)
        return try circleReport()
    }

    package func ownCard() throws -> CardReport {
        guard let card = try circle().card else { throw CircleError.noProfile }
        return CardReport(personId: card.publicID.text, name: card.profile.name, text: card.text)
    }

    // MARK: Trust

    /// Asks the person of a connected device for trust.
    package func invite(_ name: PeerName) async throws -> InvitedReport {
        let peer = try resolve(name)
        try await circle().invite(peer)
        return InvitedReport(peerId: peer.base64Encoded)
    }

    /// Asks the person of a card for trust.
    package func addPerson(card text: String) async throws -> PersonReport {
        try report(of: try await circle().invite(ProfileCard(text: text)))
    }

    package func accept(_ name: PersonName) async throws -> PersonReport {
        let person = try resolve(name)
        try await circle().accept(person)
        return try report(of: person)
    }

    package func decline(_ name: PersonName, ignoringDevices: Bool) async throws -> DoneReport {
        try await circle().decline(resolve(name), ignoringDevices: ignoringDevices)
        return DoneReport(done: true)
    }

    package func verify(_ name: PersonName, digits: String) async throws -> PersonReport {
        let person = try resolve(name)
        try await circle().verify(Self.safetyNumber(digits), of: person)
        return try report(of: person)
    }

    package func revokeTrust(in name: PersonName) async throws -> PersonReport {
        let person = try resolve(name)
        try await circle().revokeTrust(in: person)
        return try report(of: person)
    }

    // MARK: Reports

    func report(of id: PublicID) throws -> PersonReport {
        guard let person = try circle().people.first(where: { $0.id == id }) else {
            throw CircleError.unknownPerson(id)
        }
        return report(person)
    }

    private func report(_ person: Person) -> PersonReport {
        PersonReport(person, on: node, try? keyStores())  // nil: the reason is logged, and no keys are shown
    }
}

extension CircleReport.Blocked {
    fileprivate init(_ profile: BlockedProfile, _ names: PeopleNames) {
        self.init(
            personId: profile.blockedPublicID.text,
            name: names.name(of: profile.blockedPublicID),
            reportedAt: UInt64(max(0, profile.reportTimestamp.timeIntervalSince1970)),
            reasons: profile.reportReasons
        )
    }
}
