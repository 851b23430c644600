internal import Platform
internal import TestSupport
internal import Testing

@testable internal import RunarNode

@Suite("Banned peers", .timeLimit(.minutes(15))) struct BannedPeerTests {
    @Test func `a banned peer is disconnected and refused, also after a restart`() async throws {
        let home = try TemporaryDataDirectory()
        try SystemFileSystem().makeDirectory(home.path, mode: 0o700)
        let household = Household()
        let owner = try household.makeNode(statePath: home.path + "/owner.sqlite")
        let member = try household.makeNode()
        try await Household.run(owner, [member]) { metadata in
            let network = metadata.networkId
            try await member.connect(to: owner, in: network)
            let events = member.eventStream
            try owner.banPeer(member.peerId)
            for await event in events {
                if case .peerLeft(owner.peerId, network, _) = event { break }
            }
            #expect(owner.connectedPeers().isEmpty)
            await #expect(throws: NodeError.self) { try await owner.sendToPeer("hello", peerId: member.peerId) }
            await owner.stop()
            try await owner.start()
            #expect(try owner.bannedPeers() == [member.peerId])
            await #expect(throws: (any Error).self) {
                try await member.connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
            }
            try owner.liftBan(of: member.peerId)
            try await member.connect(to: owner, in: network)
            #expect(owner.connectedPeers() == [member.peerId])
        }
    }
}
