internal import CircleModel
internal import Concurrency
internal import Identity
internal import Testing

@testable internal import Circle

/// Changes that two devices of one person make before either of them has the other one's letter.
@Suite("Concurrent changes of own devices", .timeLimit(.minutes(5))) struct ConcurrentChangeTests {
    private func card(_ name: String, at seconds: UInt64, signedBy key: Ed25519KeyPair) throws -> ProfileCard {
        let profile = Profile(id: Profile.id(ofPerson: key.publicKey), name: name)
        return try ProfileCard(profile, devices: [.new(of: key)], issuedSeconds: seconds, signedBy: key)
    }

    @Test func `one of two cards of equal time replaces the other one, and a later card replaces both`() throws {
        let key = generatePeerKey()
        let (one, other) = (try card("One", at: 100, signedBy: key), try card("Other", at: 100, signedBy: key))
        let later = try card("Later", at: 101, signedBy: key)
        #expect(one.replaces(other) != other.replaces(one))
        #expect(!one.replaces(one))
        for card in [one, other] {
            #expect(later.replaces(card) && !card.replaces(later))
            #expect(card.replaces(nil))
        }
    }

    /// Adds a laptop to the person of a phone, until both have one card and the people of the phone know the laptop.
    private func setUp(_ laptop: CircleDevice, from phone: CircleDevice, with friends: CircleDevice...) async throws {
        try laptop.circle.expectDevice(phone.peerId)
        try await phone.circle.addDevice(laptop.peerId)
        await laptop.wait { $0.circle.card == phone.circle.card }
        await phone.waitForKeys(with: laptop)
        for friend in friends {
            await laptop.wait { $0.person(of: friend)?.trust == .trusted }
            await friend.wait { $0.person(of: phone)?.card?.devices.contains(laptop.peerId) == true }
            await laptop.waitForKeys(with: friend)
        }
    }

    /// Signs a card with another name and stores it, as a change of the profile does.
    ///
    /// Called in turn. Returns the card, and the devices that are owed it.
    private func rename(
        _ name: String,
        after earlier: ProfileCard,
        on driver: CircleDriver
    ) throws -> (card: ProfileCard, told: [PeerId]) {
        let card = try ProfileCard(
            Profile(id: earlier.profile.id, name: name),
            devices: earlier.entries,
            issuedSeconds: earlier.issuedSeconds + 60,
            signedBy: driver.personKey
        )
        let told = try driver.owe(card)
        try driver.keep(card)
        return (card, told)
    }

    @Test func `a description from before a deletion does not bring a group back`() async throws {
        try await withCircles("Ada", "Laptop") { devices, _ in
            let (phone, laptop) = (devices[0], devices[1])
            try await setUp(laptop, from: phone)
            let group = try await phone.circle.makeStream(name: "Friends").publicID
            await laptop.wait { (try? $0.circle.stream(group)) != nil }  // nil: not yet
            let description = try #require(try phone.circle.driver.description(of: group, for: laptop.peerId))
            let driver = laptop.circle.driver
            try await laptop.circle.deleteStream(group)
            // The device with the lower PeerId wins where both change a group, but not where one deleted it.
            let lowest = try PeerId(rawRepresentation: [UInt8](repeating: 0, count: PeerId.byteCount))
            let person = try laptop.personId
            let change = try await driver.mutex.withLock { try driver.apply(description, from: person, lowest) }
            #expect(change == nil)
            #expect(throws: CircleError.unknownStream(group)) { try laptop.circle.stream(group) }
        }
    }

    @Test func `a consent and a revocation that are performed in the wrong order leave the stored one`() async throws {
        try await withCircles("Ada", "Ben") { devices, _ in
            let (ada, ben) = (devices[0], devices[1])
            try await ada.makeTrust(with: ben)
            let (driver, friend) = (ada.circle.driver, try #require(ada.person(of: ben)).id)
            func store(_ inputs: Trust.Input...) async throws -> [CircleDriver.TrustChange] {
                try await driver.mutex.withLock { try inputs.map { try driver.apply($0, to: friend) } }
            }
            try await ada.circle.revokeTrust(in: friend)
            for change in try await store(.invite, .revoke).reversed() { try await driver.perform(change) }
            #expect(try ada.node.bannedPeers() == [ben.peerId])
            #expect(ada.keys.relationship(with: ben.peerId) == nil)
            try await driver.handle(.invite, of: friend)
            for change in try await store(.revoke, .invite).reversed() { try await driver.perform(change) }
            #expect(try ada.node.bannedPeers().isEmpty)
        }
    }

    @Test func `two devices that sign cards of equal time agree on one, and so does a friend`() async throws {
        try await withCircles("Ada", "Laptop", "Ben") { devices, _ in
            let (phone, laptop, ben) = (devices[0], devices[1], devices[2])
            try await phone.makeTrust(with: ben)
            try await setUp(laptop, from: phone, with: ben)
            let earlier = try #require(phone.circle.card)
            let (one, other) = (phone.circle.driver, laptop.circle.driver)
            // Neither device takes a letter before both have signed.
            let (first, second) = try await one.mutex.withLock {
                try await other.mutex.withLock {
                    (
                        try rename("Ada at the phone", after: earlier, on: one),
                        try rename("Ada at the laptop", after: earlier, on: other)
                    )
                }
            }
            #expect(first.told.contains(ben.peerId) && second.told.contains(ben.peerId))
            for peer in first.told { await one.sendOwed(to: peer) }
            for peer in second.told { await other.sendOwed(to: peer) }
            let kept = first.card.replaces(second.card) ? first.card : second.card
            for device in [phone, laptop] { await device.wait { $0.circle.card == kept } }
            await ben.wait { $0.person(of: phone)?.card == kept }
        }
    }

    /// Describes a stream under another name, with its revision.
    private func description(_ name: String, of stream: Circle.Stream) throws -> StreamDescription {
        let renamed = Circle.Stream(
            id: stream.id,
            creatorPublicID: stream.creatorPublicID,
            profile: Profile(id: stream.id, name: name),
            policies: stream.policies,
            isInnerCircle: stream.isInnerCircle,
            sourcePublicID: stream.sourcePublicID,
            members: stream.members,
            participation: stream.participation,
            revision: stream.revision
        )
        return try StreamDescription(renamed, cards: [])
    }

    private func peer(_ byte: UInt8) throws -> PeerId {
        try PeerId(rawRepresentation: [UInt8](repeating: byte, count: PeerId.byteCount))
    }

    @Test func `an own device with a lower PeerId wins when revisions are equal, and no device of another person does`()
        async throws
    {
        try await withCircles("Ada") { devices, _ in
            let driver = devices[0].circle.driver
            let stream = try await devices[0].circle.makeStream(name: "Friends")
            let (id, lowest, highest) = (stream.publicID, try peer(0), try peer(255))
            let renamed = try description("Renamed", of: stream)
            try await driver.mutex.withLock {
                #expect(try driver.apply(renamed, from: driver.ownId, highest)?.stream == nil)
                #expect(try driver.stream(id) == stream)
                #expect(try driver.apply(renamed, from: driver.ownId, lowest)?.stream.revision == stream.revision)
                #expect(try driver.stream(id).profile.name == "Renamed")

                let theirs = Circle.Stream.unknown
                let (first, second) = (try description("Theirs", of: theirs), try description("Again", of: theirs))
                #expect(try driver.apply(first, from: theirs.creatorPublicID, lowest)?.stream.participation == .invited)
                #expect(try driver.apply(second, from: theirs.creatorPublicID, lowest)?.stream == nil)
                #expect(try driver.stream(theirs.publicID).profile.name == "Theirs")
            }
        }
    }

    @Test func `two devices that change a group concurrently keep the invitation and the removal`() async throws {
        try await withCircles("Ada", "Laptop", "Ben", "Cleo") { devices, _ in
            let (phone, laptop, ben, cleo) = (devices[0], devices[1], devices[2], devices[3])
            let (benId, cleoId) = (try ben.personId, try cleo.personId)
            for friend in [ben, cleo] { try await phone.makeTrust(with: friend) }
            let group = try await phone.circle.makeStream(name: "Friends").publicID
            try await phone.circle.invite(benId, to: group)
            await ben.wait { (try? $0.circle.stream(group))?.participation == .invited }  // nil: not yet
            try await ben.circle.join(group)
            await phone.wait { (try? $0.circle.stream(group).members.first?.hasJoined) == true }  // nil: not yet
            try await setUp(laptop, from: phone, with: ben, cleo)
            let before = try phone.circle.stream(group)
            await laptop.wait { (try? $0.circle.stream(group)) == before }  // nil: not yet

            let other = laptop.circle.driver
            let invited = Circle.Stream.Member(person: cleoId, hasJoined: false)
            // The laptop takes the letter of the phone after this change of its own, which has an equal revision.
            let change = try await other.mutex.withLock {
                let removed = try await phone.circle.remove(benId, from: group)
                let change = try other.change(group, telling: [cleoId]) { $0.members.append(invited) }
                #expect(change?.stream.revision == removed.revision && removed.revision == before.revision + 1)
                return change
            }
            let described = try #require(change)
            await other.perform(described)

            // The device with the higher PeerId describes the group once more.
            for device in [phone, laptop] {
                await device.wait { (try? $0.circle.stream(group).revision) == before.revision + 2 }  // nil: not yet
                #expect(try device.circle.stream(group).members == [invited])
            }
            await cleo.wait { (try? $0.circle.stream(group))?.participation == .invited }  // nil: not yet
            await ben.wait { (try? $0.circle.stream(group).participation) == .left }  // nil: not yet
        }
    }
}
