internal import Testing

@testable internal import RunarNode

/// Nodes that start again and are found, without discovery.
@Suite("Restarts", .timeLimit(.minutes(15))) struct RestartTests {
    @Test func `an owner that was only ever dialled is connected again after a restart`() async throws {
        // A node in memory has another address after each start, so the member cannot find the owner.
        try await Household.run(members: 1) { metadata, owner, members in
            try await members[0].connect(to: owner, in: metadata.networkId)
            let before = owner.address
            await owner.stop()
            #expect(try owner.knownAddresses(of: members[0].peerId).map(\.description) == [members[0].address])
            try await owner.start()
            #expect(owner.address != before)
            while !owner.connectedPeers().contains(members[0].peerId) {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    @Test func `a node that may have any port has that of its last run, unless it is taken`() async throws {
        let household = Household(carrier: .sockets)
        let node = try household.makeNode()
        try await node.start()
        let port = node.listeningPort
        await node.stop()
        try await node.start()
        #expect(node.listeningPort == port)
        await node.stop()
        let other = try household.makeNode { $0.listenAddresses = [SocketAddress(.v4(0x7F00_0001), port: port)] }
        try await other.start()
        try await node.start()
        #expect(node.listeningPort != port && node.isRunning)
        await node.stop()
        await other.stop()
    }
}
