internal import Foundation
internal import Identity
internal import RunarNode
internal import Testing

@testable internal import Circle

/// Devices that ask and consent in the names of people.
@Suite("Requests of one device", .timeLimit(.minutes(15))) struct RequestTests {
    private static var now: UInt64 { UInt64(Date.now.timeIntervalSince1970) }

    /// A card of a person that was made for it, and names a device.
    private func inventedCard(_ name: String, by device: CircleDevice) throws -> ProfileCard {
        let (person, driver) = (Ed25519KeyPair(), device.circle.driver)
        let entry = try CardDevice(
            of: person.publicKey,
            mailKey: driver.mailKey.publicKey,
            signedSeconds: Self.now,
            signedBy: driver.deviceKey.privateKey
        )
        let profile = Profile(id: Profile.id(ofPerson: person.publicKey), name: name, blurb: nil)
        return try ProfileCard(profile, devices: [entry], issuedSeconds: Self.now, signedBy: person)
    }

    /// Whether a device takes the request of an invented person from another device.
    private func takes(_ device: CircleDevice, from other: CircleDevice) async throws -> Bool {
        try await other.circle.driver.ask("request", inventedCard("Invented", by: other).bytes, device.peerId)
    }

    @Test func `four requests of one device wait, and another device is heard`() async throws {
        try await withCircles("Ada", "Ben", "Mallory") { devices, _ in
            let (ada, ben, mallory) = (devices[0], devices[1], devices[2])
            var taken = 0
            for _ in 0..<68 { taken += try await takes(ada, from: mallory) ? 1 : 0 }
            #expect(taken == 4 && ada.circle.people.count == 4)
            #expect(try await takes(ada, from: ben))
        }
    }

    @Test func `a declined request makes room, unless its device is ignored`() async throws {
        try await withCircles("Ada", "Mallory") { devices, network in
            let (ada, mallory) = (devices[0], devices[1])
            for _ in 0..<4 { #expect(try await takes(ada, from: mallory)) }
            let people = ada.circle.people
            try await ada.circle.decline(people[0].id)
            #expect(try await takes(ada, from: mallory))
            try await ada.circle.decline(people[1].id, ignoringDevices: true)
            #expect(try await !takes(ada, from: mallory))
            try await ada.restart()
            try await mallory.connect(to: ada, in: network)
            #expect(try await !takes(ada, from: mallory))
            // This person's own invitation ends it.
            try await ada.circle.invite(mallory.peerId)
            try await mallory.circle.accept(ada.personId)
            await ada.wait { $0.circle.people.contains { $0.trust == .trusted } }
        }
    }

    @Test func `the devices of a trusted person are not ignored`() async throws {
        try await withCircles("Ada", "Ben") { devices, _ in
            let (ada, ben) = (devices[0], devices[1])
            try await ada.makeTrust(with: ben)
            let friend = try ben.personId
            await #expect(throws: CircleError.self) { try await ada.circle.decline(friend, ignoringDevices: true) }
            #expect(ada.circle.people.map(\.trust) == [.trusted])
        }
    }

    @Test func `a device that left the newest card of its person neither asks nor consents`() async throws {
        try await withCircles("Ada", "Ben", "Laptop") { devices, _ in
            let (ada, ben, laptop) = (devices[0], devices[1], devices[2])
            let (driver, newest) = (ben.circle.driver, try #require(ben.circle.card))
            let entry = try laptop.circle.driver.entry(for: driver.personKey.publicKey)
            let older = try ProfileCard(
                newest.profile,
                devices: newest.entries + [entry],
                issuedSeconds: newest.issuedSeconds - 10,
                signedBy: driver.personKey
            )
            let friend = try await ada.circle.invite(newest)
            for action in ["accept", "request"] {
                #expect(try await !laptop.circle.driver.ask(action, older.bytes, ada.peerId))
                #expect(ada.circle.people.first { $0.id == friend }?.trust == .invited)
            }
            // The device that the newest card names may still have the older one.
            #expect(try await driver.ask("accept", older.bytes, ada.peerId))
            #expect(ada.circle.people.first { $0.id == friend }?.trust == .trusted)
            #expect(ada.circle.people.first { $0.id == friend }?.card == newest)
        }
    }
}
