internal import CircleStore
internal import NodeStore
internal import RunarNode
internal import SealedMessages
internal import Testing

@testable internal import Circle

/// Thoughts and letters while as much mail as may be waits for its delivery.
@Suite("Full outgoing mail", .timeLimit(.minutes(15))) struct FullMailTests {
    @Test func `thoughts and letters without room wait, use no keys, and are sent when mail has left`() async throws {
        try await withCircles("Ada", "Ben", outgoingMailLimit: 2) { devices, network in
            let (ada, ben) = (devices[0], devices[1])
            try await ada.makeTrust(with: ben)
            await ben.stop()
            let friend = try #require(ada.person(of: ben)).id
            for number in 1...4 { try await ada.circle.say("\(number)", to: friend) }
            let store = ada.node.stateStore
            #expect(try store.outgoingMailCount(in: network) == 2)

            let keyCount = try #require(ada.keys.relationship(with: ben.peerId)).sendingKeyCount
            let thought = try await ada.circle.say("5", to: friend)
            #expect(thought.state == .waiting)
            try await ada.circle.setProfile(name: "Ada Lovelace")
            #expect(try ada.node.circleStore.unsealedDeliveries(to: ben.peerId).last?.thought == thought.publicID)
            #expect(try ada.node.circleStore.owedLetters(to: ben.peerId) == [StoredOwedLetter(.card)])
            #expect(try store.outgoingMailCount(in: network) == 2)
            #expect(ada.keys.relationship(with: ben.peerId)?.sendingKeyCount == keyCount)

            try await ben.restart()
            try await ben.connect(to: ada, in: network)
            let expected = (1...5).map { "\($0)" }
            await ben.wait { (try? $0.texts(with: ada))?.sorted() == expected }  // nil: not yet
            await ben.wait { $0.person(of: ada)?.card?.profile.name == "Ada Lovelace" }
        }
    }
}
