internal import Foundation
internal import NodeStore
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import RunarNode

@Suite("The hash table of a node", .timeLimit(.minutes(15))) struct HashTableTests {
    private let key = Data("greeting".utf8)

    @Test func `a member gets the record that another one put, and the writer deletes it`() async throws {
        try await Household.runConnected(members: 3) { network, owner, members in
            let receipt = try await members[0].dhtPut(networkId: network, key: key, value: Data("hello".utf8))
            #expect(receipt.replicas >= 1)
            #expect(receipt.expiration.timeIntervalSinceNow > 5 * 86_400)
            for node in [owner] + members {
                #expect(try await node.dhtGet(networkId: network, key: key, cache: false) == Data("hello".utf8))
            }
            let record = try #require(try await members[1].dhtRecord(networkId: network, key: key))
            #expect(record.writer == members[0].peerId)
            #expect(record.version == receipt.version)
            try await members[0].dhtDelete(networkId: network, key: key)
            #expect(try await members[2].dhtGet(networkId: network, key: key, cache: false) == nil)
        }
    }

    @Test func `each member has its own record under a key, and readers get the newest`() async throws {
        try await Household.runConnected(members: 2) { network, owner, members in
            let first = try await members[0].dhtPut(networkId: network, key: key, value: Data([1]))
            try await members[1].dhtPut(
                networkId: network,
                key: key,
                value: Data([2]),
                condition: .ifVersion(first.version)
            )
            #expect(try await owner.dhtGet(networkId: network, key: key) == Data([2]))
            let all = try await owner.dhtRecords(networkId: network, key: key)
            #expect(all.map(\.value) == [Data([2]), Data([1])])
            let older = try await owner.dhtRecord(networkId: network, key: key, writer: members[0].peerId)
            #expect(older?.value == Data([1]))
        }
    }

    @Test func `a failed condition returns the current record`() async throws {
        try await Household.runConnected(members: 2) { network, owner, members in
            let first = try await members[0].dhtPut(
                networkId: network,
                key: key,
                value: Data([1]),
                condition: .ifAbsent
            )
            let error = await failure {
                try await members[1].dhtPut(networkId: network, key: key, value: Data([2]), condition: .ifAbsent)
            }
            guard case .conflict(let current?)? = error as? DHTError else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(current.version == first.version && current.writer == members[0].peerId)
            #expect(try await owner.dhtGet(networkId: network, key: key) == Data([1]))
        }
    }

    @Test func `invalid requests are refused before anything is sent`() async throws {
        try await Household.runConnected(members: 1) { network, owner, members in
            let large = Data(count: 65_537)
            let error = await failure { try await owner.dhtPut(networkId: network, key: key, value: large) }
            #expect(error as? DHTError == .valueTooLarge(limit: 65_536, found: 65_537))
            let keyless = await failure { _ = try await owner.dhtGet(networkId: network, key: Data()) }
            #expect(keyless as? DHTError == .invalidKey(limit: 1024, found: 0))
            let other = try members[0].createNetwork(name: "Other").networkId
            let nonMember = await failure { _ = try await owner.dhtGet(networkId: other, key: key) }
            #expect(nonMember as? DHTError == .notAMember)
        }
    }

    @Test func `a node that stops ends its requests`() async throws {
        let household = Household()
        let node = try household.makeNode()
        let network = try node.createNetwork(name: "Home").networkId
        #expect(await failure { _ = try await node.dhtGet(networkId: network, key: key) } as? NodeError == .notRunning)
        try await node.start()
        // Alone it is the only replica, and is certain of its own value.
        let receipt = try await node.dhtPut(networkId: network, key: key, value: Data([1]))
        #expect(receipt.replicas == 0)
        #expect(try await node.dhtGet(networkId: network, key: key, cache: false) == Data([1]))
        await node.stop()
        #expect(await failure { _ = try await node.dhtGet(networkId: network, key: key) } as? NodeError == .notRunning)
    }

    @Test func `the record of a service is neither listed nor counted as a value`() async throws {
        let household = Household()
        let node = try household.makeNode()
        let network = try node.createNetwork(name: "Home").networkId
        try await node.start()
        let label = Array("runar/service-provider/v1".utf8)
        let serviceKey = Data([UInt8(label.count)] + label + Array("lamp".utf8))
        try await node.dhtPut(networkId: network, key: serviceKey, value: Data([1]))
        try await node.dhtPut(networkId: network, key: key, value: Data([1]))
        #expect(node.storedHeads(networkId: network).map(\.key) == [Array(key)])
        let status = try #require(node.dhtStatus(networkId: network))
        #expect(status.records == 1 && status.ownRecords == 1)
        await node.stop()
    }

    @Test func `records survive a restart`() async throws {
        let folder = try TemporaryDirectory()
        let household = Household()
        let keys = InMemoryKeyStorage()
        let path = folder.file("state.sqlite")
        let node = try household.makeNode(keys: keys, statePath: path)
        let network = try node.createNetwork(name: "Home").networkId
        try await node.start()
        try await node.dhtPut(networkId: network, key: key, value: Data([7]))
        try await node.dhtPut(networkId: network, key: Data([1]), value: Data([8]))
        try await node.dhtDelete(networkId: network, key: Data([1]))
        await node.stop()
        let again = try household.makeNode(keys: keys, statePath: path)
        try await again.start()
        #expect(try await again.dhtGet(networkId: network, key: key) == Data([7]))
        #expect(try await again.dhtGet(networkId: network, key: Data([1])) == nil)
        #expect(again.dhtStatus(networkId: network)?.ownRecords == 2)
        await again.stop()
        try again.leaveNetwork(network)
        #expect(try again.store.tableRecords(of: network).isEmpty)
    }

    @Test func `the cache answers until it is cleared, deleted from or revoked by pattern`() async throws {
        try await Household.runConnected(members: 1) { network, owner, members in
            let keys = ["a/1", "a/2", "b"].map { Data($0.utf8) }
            for key in keys { try await members[0].dhtPut(networkId: network, key: key, value: Data([1])) }
            func cached() -> [UInt8?] { keys.map { owner.cached([UInt8]($0), in: network)?.value.first } }
            _ = try await owner.dhtGet(networkId: network, key: keys[0], cache: false)
            #expect(cached() == [nil, nil, nil])
            for key in keys { _ = try await owner.dhtGet(networkId: network, key: key) }
            #expect(cached() == [1, 1, 1])
            #expect(owner.revokeCache(networkId: network, pattern: "a/*") == 2)
            #expect(cached() == [nil, nil, 1])
            owner.deleteCache(networkId: network, key: keys[2])
            #expect(cached() == [nil, nil, nil])
            _ = try await owner.dhtGet(networkId: network, key: keys[1])
            #expect(cached() == [nil, 1, nil])
            owner.clearCache(networkId: network)
            #expect(cached() == [nil, nil, nil])
        }
    }

    @Test func `a put fills the cache unless caching is off`() async throws {
        try await Household.runConnected(members: 1) { network, owner, _ in
            let keys = ["cached", "not cached"].map { Data($0.utf8) }
            let receipt = try await owner.dhtPut(networkId: network, key: keys[0], value: Data([1]))
            try await owner.dhtPut(networkId: network, key: keys[1], value: Data([1]), cache: false)
            #expect(owner.cached([UInt8](keys[0]), in: network)?.version == receipt.version)
            #expect(owner.cached([UInt8](keys[1]), in: network) == nil)
        }
    }

    @Test func `a newly stored replica replaces the cached record`() async throws {
        try await Household.runConnected(members: 1) { network, owner, members in
            for number: UInt8 in 1...3 {
                try await members[0].dhtPut(networkId: network, key: key, value: Data([number]))
                if number == 1 { _ = try await owner.dhtGet(networkId: network, key: key) }
                while try await owner.dhtGet(networkId: network, key: key) != Data([number]) { await Task.yield() }
            }
            try await members[0].dhtDelete(networkId: network, key: key)
            while try await owner.dhtGet(networkId: network, key: key) != nil { await Task.yield() }
        }
    }

    @Test func `members find each other through a common member`() async throws {
        try await Household.runConnected(members: 4) { network, owner, members in
            try await members[0].dhtBootstrap(networkId: network, bootstrapPeer: owner.peerId)
            func others(than node: RunarNode) -> [PeerId] {
                ([owner] + members).map(\.peerId).filter { $0 != node.peerId }
            }
            // A search leaves out members that are slow to answer, as some are on a busy machine.
            var found: [DiscoveredPeer] = []
            while found.count < 4 { found = try await members[0].dhtFindPeers(networkId: network) }
            #expect(Set(found.map(\.peerId)) == Set(others(than: members[0])))
            #expect(found.allSatisfy { $0.sources == [.hashTable] && !$0.addresses.isEmpty })
            var all: [DiscoveredPeer] = []
            while all.count < 4 { all = await members[1].discoverPeers(for: network) }
            #expect(all.map(\.peerId) == others(than: members[1]).sorted())
        }
    }

    @Test func `a member that only the hash table named is a known peer`() async throws {
        try await Household.runConnected(members: 2) { network, owner, members in
            let (seeker, other) = (members[0], members[1].peerId)
            try await seeker.dhtBootstrap(networkId: network, bootstrapPeer: owner.peerId)
            // A search leaves out a member that is slow to answer.
            while try await !seeker.dhtFindPeers(networkId: network).contains(where: { $0.peerId == other }) {}
            await members[1].stop()
            while seeker.connectedPeers().contains(other) { await Task.yield() }
            // As if it had never been met: only the search still names it.
            try seeker.store.prunePeers(unseenSince: seeker.wallSeconds + 60, limit: 0)
            let known = try #require(try seeker.knownPeers().first { $0.peerId == other })
            #expect(known.networks == [network] && known.isInHashTable)
        }
    }

    @Test func `a message reaches a member that only other members know`() async throws {
        try await Household.runConnected(members: 2) { network, owner, members in
            let inbox = members[1].startListening()
            try await members[0].sendToPeer("found you", peerId: members[1].peerId)
            let (peer, _) = try await inbox.first { _ in true }
            #expect(peer == members[0].peerId)
        }
    }

    @Test func `a device without the hash table exchanges messages and neither stores nor finds`() async throws {
        let household = Household()
        let owner = try household.makeNode()
        let guest = try household.makeNode { $0.usesHashTable = false }
        let network = try owner.createNetwork(name: "Home").networkId
        let token = try owner.issueToken(for: guest.peerId, in: network, expiration: nil)
        try await guest.joinNetwork(networkId: network, accessToken: token)
        try await owner.start()
        try await guest.start()
        try await guest.connect(to: owner, in: network)
        let inbox = guest.startListening()
        try await owner.sendToPeer("hello", peerId: guest.peerId)
        _ = try await inbox.first { _ in true }
        #expect(await failure { _ = try await guest.dhtGet(networkId: network, key: key) } as? DHTError == .switchedOff)
        #expect(guest.dhtStatus(networkId: network)?.contacts == 0)
        await guest.stop()
        await owner.stop()
    }
}
