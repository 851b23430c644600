internal import Testing

@testable internal import RunarNode

@Suite("Missed revocations", .timeLimit(.minutes(15))) struct MissedRevocationTests {
    @Test func `a device that was off while it was revoked is no member once a member refused it`() async throws {
        try await Household.run(members: 1) { metadata, owner, members in
            let device = members[0]
            try await device.connectToPeer(
                peerId: owner.peerId,
                networkId: metadata.networkId,
                address: owner.address
            )
            await device.stop()
            try owner.revoke(device.peerId, in: metadata.networkId)
            #expect(try device.membershipStates().map(\.isRevoked) == [false])
            let events = device.eventStream
            try await device.start()
            _ = try await events.first { if case .membershipEnded = $0 { true } else { false } }
            // The revocation and the end of the token are stored one after the other.
            while try device.membershipStates().map({ $0.isRevoked && $0.token == nil }) != [true] {
                try Task.checkCancellation()
                await Task.yield()
            }
            #expect(try device.networks().allSatisfy { !$0.isMember })
            // It stays so without a connection.
            await device.stop()
            try await device.start()
            #expect(try device.membershipStates().map(\.isRevoked) == [true])
            #expect(device.connectedPeers().isEmpty)
        }
    }
}
