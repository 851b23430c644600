internal import CircleStore
internal import Concurrency
internal import Identity
internal import Testing

@testable internal import Circle

/// Letters that cannot be made, because their content is too long or damaged.
@Suite("Letters that cannot be made", .timeLimit(.minutes(5))) struct ImpossibleLetterTests {
    /// The card of a new person, whose texts have the greatest length.
    private func makeLargeCard() throws -> ProfileCard {
        let key = generatePeerKey()
        let profile = Profile(
            id: Profile.id(ofPerson: key.publicKey),
            name: text(Profile.nameByteLimit),
            blurb: text(Profile.textByteLimit),
            interests: text(Profile.textByteLimit),
            location: text(Profile.shortByteLimit),
            did: text(Profile.shortByteLimit),
            handle: text(Profile.shortByteLimit)
        )
        return try ProfileCard(profile, devices: [.new(of: key)], issuedSeconds: 1, signedBy: key)
    }

    private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    /// Makes a circle trust as many new people as have cards that are too long together for one letter; returns their ids.
    private func addPeople(to driver: CircleDriver) async throws -> [PublicID] {
        let first = try makeLargeCard()
        let count = ThoughtServiceModel.contentByteLimit / first.bytes.count + 1
        #expect(count < Circle.Stream.memberLimit)
        let cards = try [first] + (1..<count).map { _ in try makeLargeCard() }
        try await driver.mutex.withLock {
            for card in cards {
                let person = CircleDriver.KnownPerson(key: card.key, card: card, trust: Trust(.trusted))
                try driver.save(card.publicID, person)
            }
        }
        return cards.map(\.publicID)
    }

    /// Members of a stream, of whom all or none joined.
    private func members(_ people: some Sequence<PublicID>, hasJoined: Bool) -> [Circle.Stream.Member] {
        people.map { Circle.Stream.Member(person: $0, hasJoined: hasJoined) }
    }

    @Test func `an invitation is refused if the cards of all members do not fit into one letter`() async throws {
        try await withCircles("Ada") { devices, _ in
            let (circle, driver) = (devices[0].circle, devices[0].circle.driver)
            let people = try await addPeople(to: driver)
            let group = try await circle.makeStream(name: "Friends").publicID
            let last = try #require(people.last)
            let invited = members(people.dropLast(), hasJoined: false)
            try await driver.mutex.withLock { _ = try driver.change(group) { $0.members = invited } }
            let before = try circle.stream(group)
            #expect(before.members.count == people.count - 1)
            let error = await #expect(throws: CircleError.self) { try await circle.invite(last, to: group) }
            guard case .tooLong(_, limit: let limit, found: let found)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(limit == ThoughtServiceModel.contentByteLimit && found > limit)
            #expect(try circle.stream(group) == before)

            // Without two of the others the last one fits.
            try await circle.remove(people[0], from: group)
            try await circle.remove(people[1], from: group)
            try await circle.invite(last, to: group)
            #expect(try circle.stream(group).members.contains { $0.person == last })
        }
    }

    @Test func `a description that is too long is left out, and the next one that is not reaches its reader`()
        async throws
    {
        try await withCircles("Ada", "Ben") { devices, _ in
            let (ada, ben) = (devices[0], devices[1])
            try await ada.makeTrust(with: ben)
            let (driver, benId) = (ada.circle.driver, try ben.personId)
            let people = try await addPeople(to: driver)
            let group = try await ada.circle.makeStream(name: "Friends").publicID
            // The cards of members may grow after they joined.
            let (joined, invited) = (members(people, hasJoined: true), members([benId], hasJoined: false))
            let unknown = PublicID(hash: [1])
            try await driver.mutex.withLock {
                _ = try driver.change(group, telling: [benId]) { $0.members = joined + invited }
                try driver.store.owe([StoredOwedLetter(.participation, unknown.bytes)], to: [ben.peerId])
            }
            await driver.sendOwed(to: ben.peerId)
            #expect(try driver.store.owedLetters(to: ben.peerId).isEmpty)

            let change = try await driver.mutex.withLock {
                try driver.change(group, telling: [benId]) { $0.members = invited }
            }
            let shorter = try #require(change)
            await driver.perform(shorter)
            await ben.wait { (try? $0.circle.stream(group))?.participation == .invited }  // nil: not yet
        }
    }

    @Test func `a thought that is damaged on disk is refused, and holds up no later one`() async throws {
        try await withCircles("Ada", "Ben") { devices, _ in
            let (ada, ben) = (devices[0], devices[1])
            try await ada.makeTrust(with: ben)
            let (driver, adaId, benId) = (ada.circle.driver, try ada.personId, try ben.personId)
            let intact = try ThoughtServiceModel(
                creatorPublicID: adaId,
                streamPublicID: driver.conversationId(with: benId),
                mediaType: .say,
                createdAtMilliseconds: driver.milliseconds,
                content: Array("intact".utf8)
            )
            let stream = try driver.conversation(with: benId, driver.known(benId))
            let damaged = try ThoughtServiceModel(
                creatorPublicID: adaId,
                streamPublicID: driver.conversationId(with: benId),
                mediaType: .say,
                createdAtMilliseconds: driver.milliseconds,
                content: Array("damaged".utf8)
            )
            for (model, nano) in [(damaged, [1, 2, 3]), (intact, try driver.history.seal(intact))] {
                let thought = StoredThought(model, in: stream, nano: nano)
                try driver.store.add(thought, [StoredDelivery(thought: thought.publicID, peerId: ben.peerId)])
            }
            try await driver.sealWaiting(for: ben.peerId)
            #expect(try driver.store.deliveries(of: damaged.publicID).map(\.state) == [.refused])
            #expect(try driver.store.unsealedDeliveries(to: ben.peerId).isEmpty)
            await ben.wait { (try? $0.texts(with: ada)) == ["intact"] }  // nil: not yet
        }
    }
}
