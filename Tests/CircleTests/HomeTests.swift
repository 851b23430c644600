internal import Circle
internal import Identity
internal import Mailbox
internal import NodeStore
internal import RunarNode
internal import Testing

/// Members that a person chose to hold mail.
@Suite("Homes of a person", .timeLimit(.minutes(15))) struct HomeTests {
    private func holdsMail(_ holder: CircleDevice, for owner: CircleDevice, in network: NetworkId) throws -> Bool {
        let mailbox = MailboxId(of: owner.peerId, in: network).bytes
        return try holder.node.stateStore.mails(in: .held, of: network).contains { $0.mailbox == mailbox }
    }

    /// Stops a device, and returns once another one noticed it.
    private func stop(_ device: CircleDevice, noticedBy other: CircleDevice, in network: NetworkId) async {
        let (peer, events) = (device.peerId, other.node.eventStream)
        await device.stop()
        for await event in events { if case .peerLeft(peer, network, _) = event { return } }
    }

    @Test func `a home holds the mail of its person, and no other member does`() async throws {
        try await withCircles("Ada", "Ben", "Cam", "Dan") { devices, network in
            let (ada, ben, cam, dan) = (devices[0], devices[1], devices[2], devices[3])
            try await ada.makeTrust(with: ben)
            let home = dan.peerId
            try await ada.circle.setHomes([home])
            await ben.wait { $0.person(of: ada)?.card?.homes == [home] }
            let person = try ada.personId
            await stop(ada, noticedBy: ben, in: network)
            let thought = try await ben.circle.say("held", to: person)
            await ben.wait { (try? $0.circle.thought(thought.publicID))?.state == .stored }  // nil: not yet
            #expect(try ben.circle.thought(thought.publicID).deliveries.map(\.holders) == [1])
            #expect(try holdsMail(dan, for: ada, in: network))
            #expect(try !holdsMail(cam, for: ada, in: network))
            await ben.stop()
            try await ada.restart()
            try await ada.connect(to: dan, in: network)
            await ada.wait { (try? $0.texts(with: ben)) == ["held"] }  // nil: not yet
        }
    }

    @Test func `the nearest members hold the mail of a device that is its own only home`() async throws {
        try await withCircles("Ada", "Ben", "Cam") { devices, network in
            let (ada, ben, cam) = (devices[0], devices[1], devices[2])
            try await ada.makeTrust(with: ben)
            let (home, person) = (ada.peerId, try ada.personId)
            try await ada.circle.setHomes([home])
            await ben.wait { $0.person(of: ada)?.card?.homes == [home] }
            await stop(ada, noticedBy: ben, in: network)
            let thought = try await ben.circle.say("held", to: person)
            await ben.wait { (try? $0.circle.thought(thought.publicID))?.state == .stored }  // nil: not yet
            #expect(try holdsMail(cam, for: ada, in: network))
        }
    }

    @Test func `homes are at most four known members, each named once`() async throws {
        try await withCircles("Ada", "Ben") { devices, _ in
            let (ada, friend) = (devices[0], devices[1].peerId)
            let card = ada.circle.card
            let unknownPeers = (0...ProfileCard.homeLimit).map { _ in PeerId(publicKey: generatePeerKey().publicKey) }
            let tooLong = CircleError.tooLong(
                "the list of homes",
                limit: ProfileCard.homeLimit,
                found: unknownPeers.count
            )
            await #expect(throws: tooLong) { try await ada.circle.setHomes(unknownPeers) }
            await #expect(throws: CircleError.repeatedHome(friend)) {
                try await ada.circle.setHomes([friend, friend])
            }
            await #expect(throws: CircleError.unknownHome(unknownPeers[0])) {
                try await ada.circle.setHomes([friend, unknownPeers[0]])
            }
            #expect(ada.circle.card == card)
            let homes = [friend, ada.peerId]
            try await ada.circle.setHomes(homes)
            #expect(try ada.circle.account().homes == homes)
            try await ada.restart()
            try await ada.circle.setProfile(name: "Ada Lovelace")
            #expect(ada.circle.card?.homes == homes)
            try await ada.circle.setHomes([])
            #expect(try ada.circle.account().homes.isEmpty)
        }
    }

    @Test func `a device of a person in whom trust is revoked is no home`() async throws {
        try await withCircles("Ada", "Ben") { devices, _ in
            let (ada, ben) = (devices[0], devices[1])
            try await ada.makeTrust(with: ben)
            let homes = [ada.peerId, ben.peerId]
            try await ada.circle.setHomes(homes)
            try await ada.circle.revokeTrust(in: ben.personId)
            #expect(ada.circle.card?.homes == [ada.peerId])
            await #expect(throws: CircleError.self) { try await ada.circle.setHomes(homes) }
        }
    }
}
