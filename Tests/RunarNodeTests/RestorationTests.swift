internal import Testing

@testable internal import RunarNode

/// A root key made on another device: the list of its networks is not known.
@Suite("Restoration") struct RestorationTests {
    private let household = Household()

    /// A new device to which the root key of `owner` was brought.
    private func restored(from owner: RunarNode) throws -> RunarNode {
        let keys = InMemoryKeyStorage()
        try keys.store(try owner.recoveryPhrase().masterKey.secret, id: "root")
        return try household.makeNode(keys: keys)
    }

    @Test func `a restored root key creates no network before the free index is given`() throws {
        let old = try household.makeNode()
        let home = try old.createNetwork(name: "Home")
        let new = try restored(from: old)
        #expect(throws: NodeError.networkIndexNeeded(next: 0)) { try new.createNetwork(name: "Cabin") }
        #expect(try new.networks().isEmpty)
        let cabin = try new.createNetwork(name: "Cabin", index: 1)
        #expect(cabin.networkId != home.networkId)
        #expect(try new.restoreNetwork(home))
        #expect(Set(try new.networks().map(\.index)) == [0, 1])
    }

    @Test func `networks that are created concurrently on a new device have one root key`() async throws {
        for _ in 0..<20 {
            let node = try household.makeNode()
            let networks = try await withThrowingTaskGroup(of: NetworkId.self) { group in
                for name in ["One", "Two", "Three"] {
                    group.addTask { try node.createNetwork(name: name).networkId }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let friend = PeerId(publicKey: generatePeerKey().publicKey)
            for network in networks {
                #expect(throws: Never.self) { try node.issueToken(for: friend, in: network, expiration: nil) }
            }
            #expect(try Set(node.networks().map(\.index)) == [0, 1, 2])
        }
    }

    @Test func `texts of old networks raise the proposed index, and a given index raises the next`() throws {
        let old = try household.makeNode()
        let texts = try ["One", "Two", "Three"].map { try old.createNetwork(name: $0) }
        let new = try restored(from: old)
        #expect(try new.restoreNetwork(texts[1]))
        let needed = NodeError.networkIndexNeeded(next: 2)
        #expect(throws: needed) { try new.createNetwork(name: "Four") }
        #expect(throws: NodeError.networkIndexRefused(1, next: 2)) { try new.createNetwork(name: "Four", index: 1) }
        #expect(throws: needed) { try new.createNetwork(name: "Four") }
        let four = try new.createNetwork(name: "Four", index: 3)
        let five = try new.createNetwork(name: "Five")
        #expect(!texts.map(\.networkId).contains(four.networkId))
        #expect(try new.networks().first { $0.networkId == five.networkId }?.index == 4)
    }

    @Test func `an index beyond the restorable range is refused`() throws {
        let node = try household.makeNode()
        let refused = NodeError.networkIndexRefused(1024, next: 0)
        #expect(throws: refused) { try node.createNetwork(name: "Far", index: 1024) }
        let far = try node.createNetwork(name: "Far", index: 1023)
        #expect(try restored(from: node).restoreNetwork(far))
    }

    @Test func `a new root key needs no index, and a bad name creates none`() throws {
        let node = try household.makeNode()
        #expect(throws: IdentityError.self) { try node.createNetwork(name: "a\nb") }
        #expect(try !node.hasRootKey())
        for index in UInt32(0)..<3 {
            let made = try node.createNetwork(name: "Home")
            #expect(try node.networks().first { $0.networkId == made.networkId }?.index == index)
        }
    }

    @Test func `known peers have a token or were connected, and none is revoked`() async throws {
        try await Household.run(members: 2) { metadata, owner, members in
            let nonMember = PeerId(publicKey: generatePeerKey().publicKey)
            _ = try owner.issueToken(for: nonMember, in: metadata.networkId, expiration: nil, label: "tablet")
            let known = try owner.knownPeers()
            #expect(known.map(\.peerId) == (members.map(\.peerId) + [nonMember]).sorted())
            #expect(known.first { $0.peerId == nonMember }?.label == "tablet")
            #expect(known.allSatisfy { $0.networks == [metadata.networkId] && $0.lastSeen == nil })
            #expect(try members[1].knownPeers().isEmpty)
            try await members[1].connectToPeer(
                peerId: members[0].peerId,
                networkId: metadata.networkId,
                address: members[0].address
            )
            #expect(try members[1].knownPeers().map(\.peerId) == [members[0].peerId])
            try owner.revoke(members[0].peerId, in: metadata.networkId)
            #expect(try owner.knownPeers().map(\.peerId) == [members[1].peerId, nonMember].sorted())
        }
    }
}
