internal import CircleStore
internal import Concurrency
internal import Foundation
internal import Identity
internal import NodeStore
internal import OneTimeKeys
internal import Platform
internal import RunarNode
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import Circle
@testable internal import SealedMessages

/// Circles of real nodes, each with its database on disk.
@Suite("Circles of nodes", .timeLimit(.minutes(15))) struct CircleManagerTests {
    /// Runs two members that are connected.
    private func withScene(overSockets: Bool = false, _ body: (Scene) async throws -> Void) async throws {
        try await withCircles("Ada", "Ben", overSockets: overSockets) { devices, network in
            try await body(Scene(ada: devices[0], ben: devices[1], network: network))
        }
    }

    private struct Scene {
        let ada: CircleDevice
        let ben: CircleDevice
        let network: NetworkId
    }

    /// Makes trust between the two, and waits for the keys of both.
    private func makeTrust(_ scene: Scene) async throws { try await scene.ada.makeTrust(with: scene.ben) }

    private func connect(_ one: CircleDevice, to other: CircleDevice, in network: NetworkId) async throws {
        try await one.connect(to: other, in: network)
    }

    private func waitForKeys(_ scene: Scene) async throws { await scene.ada.waitForKeys(with: scene.ben) }

    private func texts(_ device: CircleDevice, with other: CircleDevice) throws -> [String] {
        try device.texts(with: other)
    }

    private func say(_ text: String, from one: CircleDevice, to other: CircleDevice) async throws {
        try await one.say(text, to: other)
    }

    @Test func `two people consent, and say things that both keep`() async throws {
        try await withScene { scene in
            let (ada, ben) = (scene.ada, scene.ben)
            try await makeTrust(scene)
            let (friend, me) = (try #require(ada.person(of: ben)), try #require(ben.person(of: ada)))
            #expect(friend.card?.profile.name == "Ben" && me.card?.profile.name == "Ada")
            #expect(friend.safetyNumber == me.safetyNumber && !friend.isVerified)
            try await ada.circle.verify(friend.safetyNumber, of: friend.id)
            #expect(ada.person(of: ben)?.isVerified == true)
            try await say("hello", from: ada, to: ben)
            try await say("good day", from: ben, to: ada)
            for (one, other) in [(ada, ben), (ben, ada)] {
                #expect(try texts(one, with: other) == ["hello", "good day"])
            }
            let received = try ben.circle.thoughts(with: me.id).filter { $0.deliveries.isEmpty }
            let first = try #require(received.first)
            #expect(try ben.circle.thought(first.publicID) == first)
            #expect(throws: CircleError.unknownThought(me.id)) { try ben.circle.thought(me.id) }
            try await ben.circle.noteOpened(received)
            await ada.wait { device in
                let sent = try? device.circle.thoughts(with: friend.id).last  // nil: not yet
                return sent?.state == .opened
            }
        }
    }

    @Test func `a thought waits for keys and for a device that is offline, and survives restarts`() async throws {
        try await withScene { scene in
            let (ada, ben) = (scene.ada, scene.ben)
            try await makeTrust(scene)
            await ben.stop()
            let thought = try await ada.circle.say("later", to: #require(ada.person(of: ben)).id)
            #expect(thought.state == .waiting)
            try await ada.restart()
            try await ben.restart()
            try await connect(ben, to: ada, in: scene.network)
            await ben.wait { (try? self.texts($0, with: ada)) == ["later"] }  // nil: not yet
            await ada.wait { device in
                let all = try? device.circle.thoughts(with: #require(device.person(of: ben)).id)  // nil: not yet
                return all?.first?.state == .delivered
            }
        }
    }

    @Test func `a stolen database shows cards, and nothing that was said`() async throws {
        try await withScene { scene in
            let (ada, ben) = (scene.ada, scene.ben)
            try await makeTrust(scene)
            try await say("the key lies under the mat", from: ada, to: ben)
            try await say("I have it in my pocket", from: ben, to: ada)
            await ada.stop()
            let stolen = try ada.storedBytes()
            for words in ["the key lies under the mat", "I have it in my pocket"] {
                #expect(stolen.range(of: Data(words.utf8)) == nil)
            }
            #expect(stolen.range(of: Data("Ben".utf8)) != nil)
        }
    }

    @Test func `a receipt that a crash left out is sent after the restart`() async throws {
        try await withScene { scene in
            let (ada, ben) = (scene.ada, scene.ben)
            try await makeTrust(scene)
            try await say("hello", from: ada, to: ben)
            let friend = try #require(ada.person(of: ben)).id
            let thought = try #require(try ada.circle.thoughts(with: friend).first)
            await ada.stop()
            await ben.stop()
            var delivery = try #require(try ada.node.circleStore.deliveries(of: thought.publicID).first)
            delivery.state = .stored
            try ada.node.circleStore.save(delivery)
            #expect(try ben.node.circleStore.owedLetters(to: ada.peerId).isEmpty)
            try ben.node.circleStore.owe([StoredOwedLetter(.receipt, thought.publicID.bytes)], to: [ada.peerId])
            try await ada.restart()
            try await ben.restart()
            try await connect(ben, to: ada, in: scene.network)
            await ada.wait { (try? $0.circle.thoughts(with: friend).first)?.state == .delivered }  // nil: not yet
            try await ben.expectNothingOwed(to: ada)
        }
    }

    @Test func `a receipt of an opened thought waits until there are keys`() async throws {
        try await withScene { scene in
            let (ada, ben) = (scene.ada, scene.ben)
            try await makeTrust(scene)
            try await say("hello", from: ada, to: ben)
            let friend = try #require(ben.person(of: ada)).id
            await ada.stop()
            let received = try ben.circle.thoughts(with: friend)
            let keyCount = try #require(ben.keys.relationship(with: ada.peerId)).sendingKeyCount
            for number in 0...keyCount { try await ben.circle.say("\(number)", to: friend) }
            try await ben.circle.noteOpened(received)
            let owed = received.map { StoredOwedLetter(.opened, $0.publicID.bytes) }
            #expect(try ben.node.circleStore.owedLetters(to: ada.peerId) == owed)
            try await ada.restart()
            try await connect(ben, to: ada, in: scene.network)
            let thought = try #require(received.first).publicID
            await ada.wait { device in (try? device.circle.thought(thought))?.state == .opened }  // nil: not yet
            try await ben.expectNothingOwed(to: ada)
        }
    }

    @Test func `a receipt of an opened thought waits for the first keys of its creator`() async throws {
        try await withScene { scene in
            let (ada, ben) = (scene.ada, scene.ben)
            try await makeTrust(scene)
            try await say("hello", from: ada, to: ben)
            let received = try ben.circle.thoughts(with: #require(ben.person(of: ada)).id)
            let thought = try #require(received.first).publicID
            let relationship = ben.keys.driver.known(ada.peerId)
            // As long as a pool is exchanged in one direction, this device opens and cannot seal.
            let pool = relationship.state.withLock { state in
                defer { state.peerKeys = nil }
                return state.peerKeys
            }
            ben.keys.driver.noteChange(of: relationship)
            try await ben.circle.noteOpened(received)
            let owed = StoredOwedLetter(.opened, thought.bytes)
            #expect(try ben.node.circleStore.owedLetters(to: ada.peerId).contains(owed))
            relationship.state.withLock { $0.peerKeys = pool }
            ben.keys.driver.noteChange(of: relationship)
            await ada.wait { device in (try? device.circle.thought(thought))?.state == .opened }  // nil: not yet
        }
    }

    @Test func `a new profile and thoughts wait until there are keys`() async throws {
        try await withScene { scene in
            let (ada, ben) = (scene.ada, scene.ben)
            try await makeTrust(scene)
            await ada.stop()
            let friend = try #require(ben.person(of: ada)).id
            let count = try #require(ben.keys.relationship(with: ada.peerId)).sendingKeyCount + 3
            for number in 1...count { try await ben.circle.say("\(number)", to: friend) }
            try await ben.circle.setProfile(name: "Benjamin")
            #expect(try ben.node.circleStore.owedLetters(to: ada.peerId) == [StoredOwedLetter(.card)])
            try await ada.restart()
            try await connect(ben, to: ada, in: scene.network)
            let expected = (1...count).map { "\($0)" }.sorted()
            await ada.wait { device in
                let all = try? device.circle.thoughts(with: #require(device.person(of: ben)).id, limit: 200)  // not yet
                return all?.compactMap(\.model.text).sorted() == expected
            }
            await ada.wait { $0.person(of: ben)?.card?.profile.name == "Benjamin" }
        }
    }

    @Test func `nothing is said without trust`() async throws {
        try await withScene { scene in
            let (ada, ben) = (scene.ada, scene.ben)
            try await ada.circle.invite(ben.peerId)
            await ben.wait { $0.person(of: ada)?.trust == .requested }
            let person = try #require(ben.person(of: ada))
            await #expect(throws: CircleError.notTrusted(person.id)) {
                try await ben.circle.say("hello", to: person.id)
            }
            try await ben.circle.decline(person.id)
            #expect(ben.person(of: ada)?.trust == Trust.State.none)
            #expect(ada.circle.people.isEmpty)
        }
    }

    /// The steps of "Testing Trust Revocation" in the Arkavo document, with two nodes over QUIC.
    @Test func `the eight steps of trust revocation`() async throws {
        try await withScene(overSockets: true) { scene in
            // 1 to 3: two devices with accounts, a circle, and a connection.
            let (ada, ben) = (scene.ada, scene.ben)
            try await makeTrust(scene)
            #expect(ada.node.connectedPeers() == [ben.peerId] && ben.node.connectedPeers() == [ada.peerId])
            // 4: messages.
            try await say("hello", from: ada, to: ben)
            try await say("good day", from: ben, to: ada)

            // 5: the person of device 1 revokes the trust.
            let friend = try #require(ada.person(of: ben)).id
            let (events, left) = (ada.circle.events, ben.node.eventStream)
            try await ada.circle.revokeTrust(in: friend)

            // 6: the connection ends, device 2 is no longer connected, sending fails, and the keys are deleted.
            for await event in left { if case .peerLeft(ada.peerId, _, _) = event { break } }
            #expect(ada.node.connectedPeers().isEmpty)
            #expect(ada.person(of: ben)?.trust == .revoked)
            await #expect(throws: CircleError.notTrusted(friend)) { try await ada.circle.say("?", to: friend) }
            #expect(ada.keys.relationship(with: ben.peerId) == nil)
            await #expect(throws: SealedMessageError.noKeys(ben.peerId)) {
                try await ada.keys.seal([1], to: ben.peerId)
            }
            let directory = try #require(ada.node.stateDirectory)
            let pools = FilePath.joining(FilePath.joining(directory, "one-time-keys"), ada.peerId.text)
            #expect(try SystemFileSystem().names(in: pools).isEmpty)

            // 7: device 2 cannot reconnect, also not after a restart; a new trust makes a new secure connection.
            try await ada.restart()
            await #expect(throws: (any Error).self) { try await connect(ben, to: ada, in: scene.network) }
            #expect(ada.node.connectedPeers().isEmpty && ada.person(of: ben)?.trust == .revoked)
            try await ada.circle.accept(friend)
            // Without a ban Ben's device connects by itself, and consents.
            #expect([.invited, .trusted].contains(ada.person(of: ben)?.trust))
            try await connect(ben, to: ada, in: scene.network)
            await ada.wait { $0.person(of: ben)?.trust == .trusted }
            try await waitForKeys(scene)
            try await say("again", from: ada, to: ben)
            #expect(try texts(ben, with: ada) == ["hello", "good day", "again"])

            // 8: observers were notified.
            var isReported = false
            for await event in events {
                if case .trustChanged(let person, .peerTrustRevoked) = event, person.id == friend { isReported = true }
            }
            #expect(isReported)
        }
    }

    /// The steps of an exchange and of sending that follow, each of which a revocation interrupts once.
    @Test(arguments: 0..<8) func `trust that is revoked at any step leaves neither keys nor mail`(step: Int)
        async throws
    {
        try await withScene { scene in
            let (ada, ben) = (scene.ada, scene.ben)
            let changes = ada.keys.changes
            try await ada.circle.invite(ben.peerId)
            await ben.wait { $0.person(of: ada)?.trust == .requested }
            try await ben.circle.accept(#require(ben.person(of: ada)).id)
            await ada.wait { $0.person(of: ben)?.trust == .trusted }
            let friend = try #require(ada.person(of: ben)).id
            // The states of the exchange, and then the keys that thoughts use.
            var seen = 0
            if step > 0 {
                for await change in changes {
                    seen += 1
                    if change.state == .completed, seen < step { try await ada.circle.say("\(seen)", to: friend) }
                    if seen == step { break }
                }
            }
            try await ada.circle.revokeTrust(in: friend)
            #expect(ada.keys.relationship(with: ben.peerId) == nil)
            #expect(ada.person(of: ben)?.trust == .revoked)
            try await ada.restart()
            #expect(ada.keys.relationship(with: ben.peerId) == nil)
            #expect(ada.node.connectedPeers().isEmpty)
            let directory = try #require(ada.node.stateDirectory)
            let pools = FilePath.joining(FilePath.joining(directory, "one-time-keys"), ada.peerId.text)
            #expect(try SystemFileSystem().names(in: pools).isEmpty)
            #expect(try ada.node.stateStore.mails(in: .outgoing, of: scene.network).isEmpty)
            await #expect(throws: (any Error).self) { try await connect(ben, to: ada, in: scene.network) }
        }
    }
}
