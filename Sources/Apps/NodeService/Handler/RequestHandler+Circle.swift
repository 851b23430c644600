internal import Circle
internal import Foundation
internal import Identity
internal import OneTimeKeys
internal import RunarNode
internal import SealedMessages

// The inner circle: people, trust and thoughts.
extension RequestHandler {
    /// The fewest characters of an id that are looked up: fewer are a slip.
    private static let fewestCharacters = 4

    func circleReport() throws -> CircleReport {
        let circle = try circle()
        let card = circle.card
        let people = circle.people.filter { $0.trust != .none }.map(report)
        return CircleReport(
            personId: card?.publicID.text,
            name: card?.profile.name,
            blurb: card?.profile.blurb,
            card: card?.text,
            people: people.sorted { ($0.name, $0.personId) < ($1.name, $1.personId) }
        )
    }

    func setProfile(_ form: ProfileForm) async throws -> CircleReport {
        try await circle().setProfile(name: form.name, blurb: form.blurb)
        return try circleReport()
    }

    func ownCard() throws -> CardReport {
        guard let card = try circle().card else { throw CircleError.noProfile }
        return CardReport(personId: card.publicID.text, name: card.profile.name, text: card.text)
    }

    // MARK: Trust

    /// Asks the person of a connected device for trust.
    func invite(_ name: PeerName) async throws -> InvitedReport {
        let peer = try resolve(name)
        try await circle().invite(peer)
        return InvitedReport(peerId: peer.base64Encoded)
    }

    /// Asks the person of a card for trust.
    func addPerson(card text: String) async throws -> PersonReport {
        try report(of: try await circle().invite(ProfileCard(text: text)))
    }

    func accept(_ name: PersonName) async throws -> PersonReport {
        let person = try resolve(name)
        try await circle().accept(person)
        return try report(of: person)
    }

    func decline(_ name: PersonName) async throws -> DoneReport {
        try await circle().decline(resolve(name))
        return DoneReport(done: true)
    }

    func verify(_ name: PersonName, digits: String) async throws -> PersonReport {
        let person = try resolve(name)
        try await circle().verify(Self.safetyNumber(digits), of: person)
        return try report(of: person)
    }

    func revokeTrust(in name: PersonName) async throws -> PersonReport {
        let person = try resolve(name)
        try await circle().revokeTrust(in: person)
        return try report(of: person)
    }

    // MARK: Thoughts

    func say(_ text: String, to name: PersonName) async throws -> ThoughtReport {
        let person = try resolve(name)
        return ThoughtReport(try await circle().say(text, to: person), with: person, isOwn: true)
    }

    func thoughts(with name: PersonName, _ question: ThoughtsQuestion) throws -> ThoughtsReport {
        let (circle, person) = (try circle(), try resolve(name))
        let limit = question.limit ?? 50
        let thoughts =
            if let search = question.search.flatMap(Search.init) {
                try Self.find(search, in: circle, with: person, before: question.before, limit: limit)
            } else {
                try circle.thoughts(with: person, before: question.before, limit: limit)
            }
        return ThoughtsReport(person: try report(of: person), thoughts: thoughts.map { report($0, with: person) })
    }

    /// The thoughts that are decrypted at a time in a search.
    private static let searchPage = 256

    private static func find(
        _ search: Search,
        in circle: CircleManager,
        with person: PublicID,
        before number: UInt64?,
        limit: Int
    ) throws -> [Thought] {
        var (found, last): ([Thought], UInt64?) = ([], number)
        while found.count < limit {
            let page = try circle.thoughts(with: person, before: last, limit: searchPage)
            found += page.filter { $0.model.text.map(search.isIn) == true }
            guard page.count == searchPage else { break }
            last = page.last?.number
        }
        return Array(found.prefix(limit))
    }

    /// Tells the person that the thoughts up to a place were seen; returns the number of those it tells of.
    func noteOpened(_ name: PersonName, from first: UInt64, to last: UInt64) async throws -> DoneReport {
        let (circle, person) = (try circle(), try resolve(name))
        let (end, isOverflow) = last.addingReportingOverflow(1)
        let thoughts = try circle.thoughts(with: person, before: isOverflow ? nil : end, limit: Self.openedLimit)
        try await circle.noteOpened(thoughts.filter { $0.number >= first })
        return DoneReport(done: true)
    }

    /// The most thoughts that one request notes as seen.
    private static let openedLimit = 256

    /// Tells each change in the conversation with a person, until the request is cancelled.
    func followThoughts(with name: PersonName, _ tell: @escaping Tell) async throws {
        let (circle, person) = (try circle(), try resolve(name))
        let events = circle.events
        await tell(.circle(try circleReport()))
        for await event in events {
            switch event {
            case .trustChanged(let changed, _), .profileChanged(let changed):
                if changed.id == person { await tell(.circle(try circleReport())) }
            case .thoughtReceived(let thought), .deliveryChanged(let thought):
                guard thought.model.streamPublicID == circle.conversation(with: person) else { continue }
                await tell(.thought(report(thought, with: person)))
            }
        }
    }

    // MARK: Names and reports

    /// Finds a person by id, by the beginning of the id, or by name.
    ///
    /// - Throws: ``CommandFailure`` if no person matches, or several do.
    private func resolve(_ name: PersonName) throws -> PublicID {
        let text = name.text.trimmingCharacters(in: .whitespacesAndNewlines)
        let people = try circle().people.filter { $0.trust != .none }
        let named = people.filter { $0.card?.profile.name == text || $0.id.text == text }
        let isLong = text.count >= Self.fewestCharacters
        let matches = named.isEmpty ? people.filter { isLong && $0.id.text.hasPrefix(text) } : named
        guard let person = matches.first else {
            throw CommandFailure(
                "no-such-person",
                .data,
                "\"\(text)\" is no name, id or beginning of an id (\(Self.fewestCharacters) characters or more) of a person"
                    + " in your circle: `runar circle list` shows them"
            )
        }
        guard matches.count == 1 else {
            throw CommandFailure(
                "ambiguous-person",
                .data,
                "\"\(text)\" may be any of \(matches.map(\.id.text).joined(separator: ", ")): give the beginning of the id"
            )
        }
        return person.id
    }

    private func report(of id: PublicID) throws -> PersonReport {
        guard let person = try circle().people.first(where: { $0.id == id }) else {
            throw CircleError.unknownPerson(id)
        }
        return report(person)
    }

    private func report(_ person: Person) -> PersonReport {
        let connected = Set(node.connectedPeers())
        let keyStores = try? keyStores()  // nil: the log says why, and no keys are shown
        return PersonReport(person) { device in
            let relationship = keyStores?.relationship(with: device)
            return PersonReport.Device(
                peerId: device.base64Encoded,
                isConnected: connected.contains(device),
                sendingKeys: relationship?.sendingKeyCount ?? 0,
                isLow: relationship?.isLow ?? false
            )
        }
    }

    private func report(_ thought: Thought, with person: PublicID) -> ThoughtReport {
        ThoughtReport(thought, with: person, isOwn: thought.model.creatorPublicID != person)
    }
}
