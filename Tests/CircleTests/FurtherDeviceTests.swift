internal import Circle
internal import CircleStore
internal import Identity
internal import NodeStore
internal import SealedMessages
internal import Testing

/// People with several devices, and people who are blocked.
@Suite("Devices of one person", .timeLimit(.minutes(15))) struct FurtherDeviceTests {
    /// Runs Ada with a phone and a laptop, which is not set up yet, and Ben whom she trusts.
    private func withDevices(
        _ body: ((phone: CircleDevice, laptop: CircleDevice, ben: CircleDevice, network: NetworkId)) async throws ->
            Void
    ) async throws {
        try await withCircles("Ada", "Laptop", "Ben") { devices, network in
            try await devices[0].makeTrust(with: devices[2])
            try await body((devices[0], devices[1], devices[2], network))
        }
    }

    private func setUp(_ laptop: CircleDevice, from phone: CircleDevice, with ben: CircleDevice) async throws {
        try laptop.circle.expectDevice(phone.peerId)
        try await phone.circle.addDevice(laptop.peerId)
        await laptop.wait { $0.person(of: ben)?.trust == .trusted }
        await ben.wait { $0.person(of: phone)?.card?.devices.contains(laptop.peerId) == true }
        await laptop.waitForKeys(with: ben)
    }

    @Test func `a further device gets the person, the circle, and every thought from then on`() async throws {
        try await withDevices { phone, laptop, ben, _ in
            try await phone.say("before", to: ben)
            try await setUp(laptop, from: phone, with: ben)
            #expect(try laptop.personId == phone.personId)
            #expect(try ben.circle.people.map(\.id) == [phone.personId])
            // From Ben to both devices, and from each of Ada's devices to the other one.
            let ada = try phone.personId
            try await ben.circle.say("to both", to: ada)
            for device in [phone, laptop] {
                await device.wait { (try? $0.texts(with: ben))?.last == "to both" }  // nil: not yet
            }
            let friend = try ben.personId
            try await laptop.circle.say("from the laptop", to: friend)
            for device in [phone, ben] {
                await device.wait { one in
                    let texts = try? one.texts(with: one === ben ? phone : ben)  // nil: not yet
                    return texts?.last == "from the laptop"
                }
            }
            #expect(try laptop.texts(with: ben) == ["to both", "from the laptop"])
            let own = try #require(try phone.circle.thoughts(with: friend).first)
            #expect(own.model.creatorPublicID == ada && own.state == nil)
            let sent = try #require(try laptop.circle.thoughts(with: friend).first)
            #expect(sent.deliveries.map(\.device) == [ben.peerId])
        }
    }

    @Test func `no device is set up that does not expect it, or that has people`() async throws {
        try await withDevices { phone, laptop, ben, _ in
            await #expect(throws: CircleError.deviceNotReady(laptop.peerId)) {
                try await phone.circle.addDevice(laptop.peerId)
            }
            try laptop.circle.expectDevice(ben.peerId)
            await #expect(throws: CircleError.deviceNotReady(laptop.peerId)) {
                try await phone.circle.addDevice(laptop.peerId)
            }
            #expect(phone.circle.card?.devices == [phone.peerId])
            #expect(throws: CircleError.hasCircle) { try ben.circle.expectDevice(phone.peerId) }
            await #expect(throws: CircleError.self) { try await phone.circle.addDevice(ben.peerId) }
            try laptop.circle.expectDevice(phone.peerId)
            try await phone.circle.addDevice(laptop.peerId)
            #expect(try laptop.personId == phone.personId)
        }
    }

    @Test func `a further device keeps nothing of the circle that it had before`() async throws {
        try await withCircles("Ada", "Laptop") { devices, _ in
            let (phone, laptop) = (devices[0], devices[1])
            let store = try CircleStore(laptop.node.stateStore)
            let group = try await laptop.circle.makeStream(name: "Former").publicID
            let former = PeerId(publicKey: generatePeerKey().publicKey)
            try store.removeDevice(former, at: 1)
            try store.setRemoved(true, group, from: group)
            let letter = StoredOwedLetter(.stream, group.bytes)
            try store.noteOpened(1, in: group, of: group, owing: [letter], to: [former])
            try store.setIgnoredDevices([former])
            let deleted = try await laptop.circle.makeStream(name: "Deleted").publicID
            try await laptop.circle.deleteStream(deleted)
            #expect(try store.deletedRevision(of: deleted) == 1)
            try laptop.circle.expectDevice(phone.peerId)
            try await phone.circle.addDevice(laptop.peerId)
            #expect(try store.removalTime(of: former) == nil && store.ignoredDevices().isEmpty)
            #expect(try !store.hasRemoved(group, from: group))
            #expect(try store.openedNumber(in: group, of: group) == 0)
            #expect(try store.deletedRevision(of: deleted) == nil)
            #expect(try store.owedLetters(to: former).isEmpty)
            #expect(throws: CircleError.unknownStream(group)) { try laptop.circle.stream(group) }
            #expect(try laptop.circle.streams().count == 3)
        }
    }

    @Test func `trust that is revoked on one device ends on the other one`() async throws {
        try await withDevices { phone, laptop, ben, _ in
            try await setUp(laptop, from: phone, with: ben)
            try await laptop.circle.revokeTrust(in: ben.personId)
            await phone.wait { $0.person(of: ben)?.trust == .revoked }
            for device in [phone, laptop] {
                // The keys are deleted after the event.
                let changes = device.keys.changes
                if device.keys.relationship(with: ben.peerId) != nil {
                    for await _ in changes where device.keys.relationship(with: ben.peerId) == nil { break }
                }
            }
            let friend = try ben.personId
            await #expect(throws: CircleError.notTrusted(friend)) { try await phone.circle.say("?", to: friend) }
        }
    }

    @Test func `a removed device gets nothing more, and others forget it`() async throws {
        try await withDevices { phone, laptop, ben, _ in
            try await setUp(laptop, from: phone, with: ben)
            try await phone.circle.removeDevice(laptop.peerId)
            await ben.wait { $0.person(of: phone)?.card?.devices == [phone.peerId] }
            let thought = try await ben.circle.say("to one", to: phone.personId)
            #expect(thought.deliveries.map(\.device) == [phone.peerId])
            await phone.wait { (try? $0.texts(with: ben))?.last == "to one" }  // nil: not yet
            #expect(try laptop.texts(with: ben).isEmpty)
        }
    }

    @Test func `both devices have the homes that one of them chose, until a home is removed`() async throws {
        try await withDevices { phone, laptop, ben, _ in
            try await setUp(laptop, from: phone, with: ben)
            let (first, second) = (phone.peerId, laptop.peerId)
            try await laptop.circle.setHomes([first, second])
            await phone.wait { $0.circle.card?.homes == [first, second] }
            await ben.wait { $0.person(of: phone)?.card?.homes == [first, second] }
            #expect(laptop.circle.card?.homes == [first, second])
            try await phone.circle.removeDevice(second)
            #expect(phone.circle.card?.homes == [first])
            await ben.wait { $0.person(of: phone)?.card?.homes == [first] }
        }
    }

    @Test func `groups and restarts reach a further device`() async throws {
        try await withDevices { phone, laptop, ben, network in
            let group = try await phone.circle.makeStream(name: "Friends").publicID
            let friend = try ben.personId
            try await phone.circle.invite(friend, to: group)
            await ben.wait { (try? $0.circle.stream(group))?.participation == .invited }  // nil: not yet
            try await ben.circle.join(group)
            await phone.wait { (try? $0.circle.stream(group).members.first?.hasJoined) == true }  // nil: not yet
            try await setUp(laptop, from: phone, with: ben)
            await laptop.wait { (try? $0.circle.stream(group).members.first?.hasJoined) == true }  // nil: not yet
            try await laptop.restart()
            for other in [phone, ben] { try await laptop.connect(to: other, in: network) }
            #expect(try laptop.personId == phone.personId)
            try await laptop.circle.send(.say, Array("from the laptop".utf8), in: group)
            for device in [phone, ben] {
                await device.wait { (try? $0.texts(in: group)) == ["from the laptop"] }  // nil: not yet
            }
        }
    }

    @Test func `a group that its person joined before takes thoughts on a further device`() async throws {
        try await withDevices { phone, laptop, ben, _ in
            let group = try await ben.circle.makeStream(name: "Friends").publicID
            try await ben.circle.invite(phone.personId, to: group)
            await phone.wait { (try? $0.circle.stream(group).participation) == .invited }  // nil: not yet
            try await phone.circle.join(group)
            await ben.wait { (try? $0.circle.stream(group).members.first?.hasJoined) == true }  // nil: not yet
            try await setUp(laptop, from: phone, with: ben)
            await laptop.wait { (try? $0.circle.stream(group).participation) == .joined }  // nil: not yet
            try await ben.circle.send(.say, Array("to all".utf8), in: group)
            for device in [phone, laptop] {
                await device.wait { (try? $0.texts(in: group)) == ["to all"] }  // nil: not yet
            }
            try await phone.circle.leave(group)
            await laptop.wait { (try? $0.circle.stream(group).participation) == .left }  // nil: not yet
        }
    }

    @Test func `a group of two devices takes a member that one of them invited`() async throws {
        try await withDevices { phone, laptop, ben, _ in
            try await setUp(laptop, from: phone, with: ben)
            let group = try await phone.circle.makeStream(name: "Friends").publicID
            try await phone.circle.invite(ben.personId, to: group)
            await ben.wait { (try? $0.circle.stream(group))?.participation == .invited }  // nil: not yet
            try await ben.circle.join(group)
            for device in [phone, laptop] {
                await device.wait { (try? $0.circle.stream(group).members.first?.hasJoined) == true }  // nil: not yet
            }
            try await laptop.circle.send(.say, Array("from the laptop".utf8), in: group)
            await ben.wait { (try? $0.texts(in: group)) == ["from the laptop"] }  // nil: not yet
            #expect(try ben.circle.stream(group).participation == .joined)
            try await laptop.circle.deleteStream(group)
            await phone.wait { (try? $0.circle.stream(group)) == nil }  // nil: deleted
        }
    }

    @Test func `a device that was removed is added again, and no third device throws it out`() async throws {
        try await withCircles("Ada", "Laptop", "Tablet") { devices, _ in
            let (phone, laptop, tablet) = (devices[0], devices[1], devices[2])
            for device in [laptop, tablet] {
                try device.circle.expectDevice(phone.peerId)
                try await phone.circle.addDevice(device.peerId)
            }
            await laptop.wait { $0.circle.card?.devices.count == 3 }
            try await phone.circle.removeDevice(tablet.peerId)
            await laptop.wait { $0.circle.card?.devices.count == 2 }
            try tablet.circle.expectDevice(phone.peerId)
            try await phone.circle.addDevice(tablet.peerId)
            await laptop.wait { $0.circle.card?.devices.count == 3 }
            try await laptop.circle.setProfile(name: "Ada Lovelace")
            await phone.wait { $0.circle.card?.profile.name == "Ada Lovelace" }
            #expect(phone.circle.card?.devices.count == 3)
        }
    }

    @Test func `a request of another person neither blocks the set-up of a device nor survives it`() async throws {
        try await withCircles("Ada", "Laptop", "Mallory") { devices, _ in
            let (phone, laptop, mallory) = (devices[0], devices[1], devices[2])
            try await mallory.circle.invite(laptop.peerId)
            await laptop.wait { $0.person(of: mallory)?.trust == .requested }
            try laptop.circle.expectDevice(phone.peerId)
            try await phone.circle.addDevice(laptop.peerId)
            #expect(try laptop.personId == phone.personId && laptop.circle.people.isEmpty)
        }
    }

    @Test func `asking a device whose person asks is the consent`() async throws {
        try await withCircles("Ada", "Ben") { devices, _ in
            let (ada, ben) = (devices[0], devices[1])
            try await ada.circle.invite(ben.peerId)
            await ben.wait { $0.person(of: ada)?.trust == .requested }
            try await ben.circle.invite(ada.peerId)
            await ada.wait { $0.person(of: ben)?.trust == .trusted }
            await ben.wait { $0.person(of: ada)?.trust == .trusted }
        }
    }

    @Test func `a device with a new key keeps its person, the people and the thoughts`() async throws {
        try await withDevices { phone, _, ben, network in
            try await phone.say("before", to: ben)
            let (ada, friend, former) = (try phone.personId, try ben.personId, ben.peerId)
            try await ben.circle.setHomes([former, phone.peerId])
            await phone.wait { $0.person(of: ben)?.card?.homes.count == 2 }
            try await ben.restart(isRenewed: true)
            #expect(ben.peerId != former)
            let token = try phone.node.issueToken(for: ben.peerId, in: network, expiration: nil)
            try await ben.node.joinNetwork(networkId: network, accessToken: token)
            try await ben.connect(to: phone, in: network)
            let renewed = ben.peerId
            await phone.wait { $0.circle.people.first?.card?.devices == [renewed] }
            await phone.waitForKeys(with: ben)
            #expect(ben.circle.card?.homes == [renewed, phone.peerId])
            #expect(phone.circle.people.map(\.id) == [friend] && ben.circle.people.map(\.id) == [ada])
            #expect(phone.keys.relationship(with: former) == nil)
            try await phone.say("to the new key", to: ben)
            try await ben.say("from the new key", to: phone)
            for (one, other) in [(phone, ben), (ben, phone)] {
                #expect(try one.texts(with: other) == ["before", "to the new key", "from the new key"])
            }
        }
    }

    @Test func `a blocked person is heard again only after the block is lifted`() async throws {
        try await withDevices { phone, _, ben, network in
            let friend = try ben.personId
            try await phone.circle.block(friend, reasons: ["spam": 3])
            #expect(phone.person(of: ben)?.trust == .revoked)
            let block = try #require(try phone.circle.blockedProfiles().first)
            #expect(block.blockedPublicID == friend && block.reportReasons == ["spam": 3])
            await #expect(throws: CircleError.blocked(friend)) { try await phone.circle.accept(friend) }
            try await phone.restart()
            await #expect(throws: CircleError.blocked(friend)) { try await phone.circle.accept(friend) }
            for reasons in [["": 1], ["spam": 0], ["spam": 6], [String(repeating: "x", count: 129): 1]] {
                await #expect(throws: CircleError.self) { try await phone.circle.block(friend, reasons: reasons) }
            }
            try await phone.circle.unblock(friend)
            #expect(try phone.circle.blockedProfiles().isEmpty)
            #expect(try phone.node.bannedPeers().isEmpty)
            #expect(phone.person(of: ben)?.trust == Trust.State.none)
            try await ben.connect(to: phone, in: network)
            try await phone.circle.accept(friend)
            await phone.wait { $0.person(of: ben)?.trust == .trusted }
        }
    }
}
