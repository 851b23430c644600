internal import NodeStore
internal import Testing

@testable internal import RunarNode

/// The order in which a node dials the addresses that it stores of a peer.
@Suite("Stored addresses", .timeLimit(.minutes(15))) struct StoredAddressTests {
    /// Whether a dial to a peer failed at an address since the start of a node.
    private func hasFailed(_ node: RunarNode, at address: SocketAddress, of peer: PeerId) -> Bool {
        node.pathHistory(of: peer).contains { entry in
            if case .notReached(address, _) = entry.event { true } else { false }
        }
    }

    @Test func `an address that failed is dialled after one that did not`() async throws {
        let household = Household()
        let (owner, other) = (try household.makeNode(), try household.makeNode())
        let member = try household.makeNode()
        try await Household.run(owner, [other, member]) { metadata in
            let peer = owner.peerId
            let now = member.wallSeconds
            // Another peer answers at the one, so that its failure needs no timeout.
            let failing = try #require(other.listenAddresses.first)
            let good = try #require(owner.listenAddresses.first)
            await member.stop()
            try member.store.noteEvidence(of: peer, in: metadata.networkId, source: .text, at: now)
            try member.store.noteAddress(failing, of: peer, source: .text, at: now)
            try await member.start()
            while !hasFailed(member, at: failing, of: peer) {
                try Task.checkCancellation()
                await Task.yield()
            }
            await member.stop()

            // The address that was noted last would be first.
            try member.store.noteAddress(good, of: peer, source: .text, at: now - 1)
            #expect(try member.knownAddresses(of: peer) == [good, failing])
            try await member.start()
            while !member.connectedPeers().contains(peer) {
                try Task.checkCancellation()
                await Task.yield()
            }
            let dialled = member.pathHistory(of: peer).compactMap { entry -> SocketAddress? in
                if case .dialled(let address) = entry.event { address } else { nil }
            }
            #expect(dialled.first == good)
        }
    }
}
