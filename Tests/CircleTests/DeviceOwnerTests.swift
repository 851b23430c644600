internal import Foundation
internal import Identity
internal import RunarNode
internal import Testing

@testable internal import Circle

/// A person whose card names a device of another person.
@Suite("Owners of devices", .timeLimit(.minutes(15))) struct DeviceOwnerTests {
    private static var now: UInt64 { UInt64(Date.now.timeIntervalSince1970) }

    /// A card of the person of one device that also names another device, with a statement of a given time.
    private func card(of device: CircleDevice, naming other: CircleDevice, at seconds: UInt64) throws -> ProfileCard {
        let (driver, otherDriver) = (device.circle.driver, other.circle.driver)
        let entry = try CardDevice(
            of: driver.personKey.publicKey,
            mailKey: otherDriver.mailKey.publicKey,
            signedSeconds: seconds,
            signedBy: otherDriver.deviceKey.privateKey
        )
        let own = try #require(device.circle.card)
        return try driver.makeCard(own.profile, own.entries.with(entry))
    }

    private func withTrust(
        _ body: ((ada: CircleDevice, ben: CircleDevice, mallory: CircleDevice, network: NetworkId)) async throws -> Void
    ) async throws {
        try await withCircles("Ada", "Ben", "Mallory") { devices, network in
            try await devices[0].makeTrust(with: devices[1])
            try await body((devices[0], devices[1], devices[2], network))
        }
    }

    @Test func `an earlier statement of a trusted person's device gives another person nothing`() async throws {
        try await withTrust { scene in
            let (ada, ben, mallory) = (scene.ada, scene.ben, scene.mallory)
            let friend = try ben.personId
            try mallory.circle.driver.keep(card(of: mallory, naming: ben, at: Self.now - 100))
            try await ada.makeTrust(with: mallory)
            let enemy = try mallory.personId
            #expect(ada.circle.people.first { $0.id == enemy }?.card?.devices.count == 2)
            // Thoughts of the device are its person's, and thoughts for the other person are not sealed for it.
            try await ben.say("hello", to: ada)
            #expect(try ada.circle.thoughts(with: friend).compactMap(\.model.text) == ["hello"])
            let thought = try await ada.circle.say("to Mallory", to: enemy)
            #expect(thought.deliveries.map(\.device) == [mallory.peerId])
            // The revocation reaches the one device that belongs to the person, also at the next start.
            try await ada.circle.revokeTrust(in: enemy)
            #expect(try ada.node.bannedPeers() == [mallory.peerId])
            #expect(ada.keys.relationship(with: ben.peerId) != nil)
            #expect(ada.keys.relationship(with: mallory.peerId) == nil)
            try await ada.restart()
            try await ben.connect(to: ada, in: scene.network)
            try await ada.circle.say("still here", to: friend)
            await ben.wait { (try? $0.texts(with: ada)) == ["hello", "still here"] }  // nil: not yet
            #expect(try ada.node.bannedPeers() == [mallory.peerId])
        }
    }

    @Test func `a later statement of a trusted person's device is refused until the trust is revoked`() async throws {
        try await withTrust { scene in
            let (ada, ben, mallory) = (scene.ada, scene.ben, scene.mallory)
            let friend = try ben.personId
            let card = try card(of: mallory, naming: ben, at: Self.now + 100)
            #expect(try await !mallory.circle.driver.ask("request", card.bytes, ada.peerId))
            await #expect(throws: CircleError.deviceOfAnother(ben.peerId, friend)) {
                try await ada.circle.invite(card)
            }
            #expect(ada.circle.people.map(\.id) == [friend])
            try await ada.circle.revokeTrust(in: friend)
            try await ada.circle.invite(card)
            #expect(ada.circle.people.first { $0.id == card.publicID }?.trust == .invited)
        }
    }

    @Test func `a request with a device of a person who became trusted is not accepted`() async throws {
        try await withCircles("Ada", "Ben", "Mallory") { devices, _ in
            let (ada, ben, mallory) = (devices[0], devices[1], devices[2])
            let card = try card(of: mallory, naming: ben, at: Self.now + 100)
            #expect(try await mallory.circle.driver.ask("request", card.bytes, ada.peerId))
            try await ben.circle.invite(ada.peerId)
            let friend = try ben.personId
            await ada.wait { $0.circle.people.contains { $0.id == friend && $0.trust == .requested } }
            try await ada.circle.accept(friend)
            await #expect(throws: CircleError.deviceOfAnother(ben.peerId, friend)) {
                try await ada.circle.accept(card.publicID)
            }
            #expect(ada.circle.driver.trustedPerson(of: ben.peerId) == friend)
        }
    }

    @Test func `no person bans a device of this device's person`() async throws {
        try await withCircles("Ada", "Laptop", "Mallory") { devices, _ in
            let (ada, laptop, mallory) = (devices[0], devices[1], devices[2])
            // The laptop was Mallory's before it was Ada's.
            let stale = Self.now - 100
            try laptop.circle.expectDevice(ada.peerId)
            try await ada.circle.addDevice(laptop.peerId)
            try await ada.makeTrust(with: mallory)
            let card = try card(of: mallory, naming: laptop, at: stale)
            #expect(try await mallory.circle.driver.ask("request", card.bytes, ada.peerId))
            #expect(ada.person(of: mallory)?.card?.devices.count == 2)
            try await ada.circle.revokeTrust(in: mallory.personId)
            #expect(try ada.node.bannedPeers() == [mallory.peerId])
            #expect(ada.circle.card?.devices.contains(laptop.peerId) == true)
        }
    }

    @Test func `a statement from the future is refused`() async throws {
        try await withCircles("Ada", "Ben", "Mallory") { devices, _ in
            let (ada, ben, mallory) = (devices[0], devices[1], devices[2])
            let card = try card(of: mallory, naming: ben, at: Self.now + 2 * 86_400)
            await #expect(throws: CircleError.clockAhead(ben.peerId)) { try await ada.circle.invite(card) }
            #expect(try await !mallory.circle.driver.ask("request", card.bytes, ada.peerId))
        }
    }

    @Test func `a device signs no statement for a person whose key it does not get`() async throws {
        try await withCircles("Ben", "Mallory") { devices, _ in
            let (ben, mallory) = (devices[0], devices[1])
            let (driver, friend) = (mallory.circle.driver, try ben.personId)
            try ben.circle.expectDevice(mallory.peerId)
            let offer = [UInt8](try await driver.answer(to: "device-key", [], ben.peerId))
            #expect(offer.count == 128)
            let other = Ed25519PrivateKey()
            let key = try SealingKey(rawRepresentation: offer[32..<64], of: "a key")
            let info = DomainLabel("runar/person-key/v1").message(mallory.peerId.bytes, ben.peerId.bytes)
            let sealed = try #require(other.secret.withBytes { key.seal($0, info: info) })
            let card = try #require(mallory.circle.card)
            let now = Self.now
            let time = (0..<8).reversed().map { UInt8(truncatingIfNeeded: now >> (8 * $0)) }
            let answer = try await driver.answer(to: "device", time + sealed + card.bytes, ben.peerId)
            #expect(answer == CircleDriver.refused)
            #expect(try ben.personId == friend && ben.circle.card?.devices == [ben.peerId])
        }
    }
}
