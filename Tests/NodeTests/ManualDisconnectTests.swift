internal import NodeCore
internal import Testing
internal import Transport

@testable internal import Node

@Suite("Disconnecting nodes", .timeLimit(.minutes(15))) struct ManualDisconnectTests {
    @Test(arguments: Lab.Wire.allCases)
    func `who was disconnected stays away, hears why, and comes back when it is asked for`(
        over wire: Lab.Wire
    ) async throws {
        try await Lab.runStar(2, over: wire) { lab, nodes in
            let (one, other) = (nodes[0], nodes[1])
            lab.introduce(one, to: other)
            try await other.driver.reach(one.peerId)
            other.driver.apply(.peer(.wanted(one.peerId)))
            let ends = other.events.listen()
            one.driver.apply(.peer(.unwanted(other.peerId)))
            let end = try await ends.first { if case .peerLeft = $0 { true } else { false } }
            #expect(end == .peerLeft(one.peerId, lab.networkId, reason: CloseCode.manuallyDisconnected.explanation))
            #expect(one.driver.manualDisconnect(from: other.peerId)?.isOurs == true)
            #expect(other.driver.manualDisconnect(from: one.peerId)?.isOurs == false)

            let refusal = await failure { try await other.driver.reach(one.peerId) }
            #expect(refusal as? NodeError == .refusedByPeer(one.peerId, CloseCode.manuallyDisconnected.explanation))
            #expect(one.driver.admittedPeers().isEmpty)

            try await one.driver.reach(other.peerId)
            try await other.driver.reach(one.peerId)
            #expect(
                one.driver.manualDisconnect(from: other.peerId) == nil
                    && other.driver.manualDisconnect(from: one.peerId) == nil
            )
        }
    }

    @Test func `after the pause the two find each other again by themselves`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            let (one, other) = (nodes[0], nodes[1])
            lab.introduce(one, to: other)
            other.driver.apply(.peer(.wanted(one.peerId)))
            let events = other.events.listen()
            one.driver.apply(.peer(.unwanted(other.peerId)))
            _ = try await events.first { if case .peerLeft = $0 { true } else { false } }
            #expect(other.driver.manualDisconnect(from: one.peerId)?.rest == .seconds(605))
            lab.clock.advance(by: .seconds(606))
            _ = try await events.first { if case .peerJoined = $0 { true } else { false } }
            #expect(other.driver.manualDisconnect(from: one.peerId) == nil)
        }
    }
}
