internal import Concurrency
internal import Foundation
internal import Testing

@testable internal import RunarNode

@Suite("Cached answers", .timeLimit(.minutes(15))) struct ServiceCacheTests {
    private func makeUsers(_ calls: Locked<Int>) -> RunarService {
        let service = RunarService(name: "Users", path: "users", version: "1", description: "")
        service.registerAction("get_user", options: .cached) { (id: RunarValue?) async throws -> Int in
            if id == "none" { throw RunarError.invalidParameters }
            return calls.withLock { calls in
                calls += 1
                return calls
            }
        }
        service.registerAction("list", options: .cached) { (_: Int?) async throws -> Int in
            calls.withLock { calls in
                calls += 1
                return calls
            }
        }
        return service
    }

    private func withNode(_ body: (RunarNode, Locked<Int>, Locked<Duration>) async throws -> Void) async throws {
        let ahead = Locked(Duration.zero)
        let calls = Locked(0)
        let node = try Household().makeNode(clock: .system(ahead: ahead))
        try await node.addService(makeUsers(calls))
        try await node.start()
        try await body(node, calls, ahead)
        await node.stop()
    }

    @Test func `the same request is answered from memory for thirty seconds`() async throws {
        try await withNode { node, calls, ahead in
            for _ in 0..<3 {
                let first: Int = try await node.request("users/get_user", payload: RunarValue.int(123))
                #expect(first == 1)
            }
            let other: Int = try await node.request("users/get_user", payload: RunarValue.int(124))
            #expect(other == 2)
            ahead.withLock { $0 += .seconds(5) }
            let still: Int = try await node.request("users/get_user", payload: RunarValue.int(123))
            ahead.withLock { $0 += .seconds(26) }
            let anew: Int = try await node.request("users/get_user", payload: RunarValue.int(123))
            #expect(still == 1 && anew == 3)
        }
    }

    @Test func `a memory warning empties it`() async throws {
        try await withNode { node, calls, _ in
            let first: Int = try await node.request("users/get_user", payload: RunarValue.int(123))
            node.handleMemoryWarning()
            let anew: Int = try await node.request("users/get_user", payload: RunarValue.int(123))
            #expect(first == 1 && anew == 2)
        }
    }

    @Test func `a text is another request than the value that it spells, under the same key`() async throws {
        try await withNode { node, _, _ in
            let number: Int = try await node.request("users/get_user", payload: RunarValue.int(123))
            let text: Int = try await node.request("users/get_user", payload: RunarValue.string("123"))
            let again: Int = try await node.request("users/get_user", payload: RunarValue.int(123))
            #expect(number == 1 && text == 2 && again == 1)
            try await node.deleteCache(service: "users", key: "get_user:123")
            let first: Int = try await node.request("users/get_user", payload: RunarValue.string("123"))
            let second: Int = try await node.request("users/get_user", payload: RunarValue.int(123))
            #expect(first == 3 && second == 4)
        }
    }

    @Test func `the order of names and the encoding make no other request, and failures are not kept`() async throws {
        try await withNode { node, calls, _ in
            for payload in [["a": 1, "b": 2], ["b": 2, "a": 1]] as [[String: RunarValue]] {
                let answer: Int = try await node.request("users/get_user", payload: payload)
                #expect(answer == 1)
            }
            for _ in 0..<2 {
                let error = await failure { let _: Int = try await node.request("users/get_user", payload: "none") }
                #expect((error as? RunarError)?.code == 5003)
            }
        }
    }

    @Test func `answers are forgotten by key, by pattern and all at once`() async throws {
        try await withNode { node, calls, _ in
            func ask(_ id: RunarValue) async throws -> Int { try await node.request("users/get_user", payload: id) }
            let before = [try await ask(123), try await ask("ann"), try await ask("bob")]
            let list: Int = try await node.request("users/list", payload: Int?.none)
            #expect(before == [1, 2, 3] && list == 4)
            try await node.deleteCache(service: "users", key: "get_user:123")
            #expect(try await ask(123) == 5)
            try await node.deleteCache(service: "users", key: "list")
            let relisted: Int = try await node.request("users/list", payload: Int?.none)
            #expect(relisted == 6)
            try await node.revokeCache(service: "users", pattern: "get_user:*b*")
            #expect(try await ask("ann") == 2)
            #expect(try await ask("bob") == 7)
            try await node.clearCache(service: "users")
            #expect(try await ask("ann") == 8)
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `another device answers the same request from its memory for thirty seconds`(
        over carrier: Household.Carrier
    ) async throws {
        let (household, ahead) = (Household(carrier: carrier), Locked(Duration.zero))
        let (owner, member) = (try household.makeNode(clock: .system(ahead: ahead)), try household.makeNode())
        try await Household.run(owner, [member]) { metadata in
            let network = metadata.networkId
            try await member.connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
            try await RemoteServiceTests.offer(makeUsers(Locked(0)), by: owner, to: member, in: network)
            for (passed, expected) in [(0, 1), (5, 1), (26, 2)] {
                ahead.withLock { $0 += .seconds(passed) }
                let answer: Int = try await member.request("Home:users/get_user", payload: RunarValue.int(123))
                #expect(answer == expected)
            }
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `another device's answers are forgotten there, and the hash table's here`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let calls = Locked(0)
            try await RemoteServiceTests.offer(makeUsers(calls), by: owner, to: members[0], in: network)
            for expected in [1, 1] {
                let answer: Int = try await members[0].request("Home:users/get_user", payload: RunarValue.int(1))
                #expect(answer == expected)
            }
            try await members[0].clearCache(service: "Home:users")
            let anew: Int = try await members[0].request("Home:users/get_user", payload: RunarValue.int(1))
            #expect(anew == 2)

            let key = Data("greeting".utf8)
            try await owner.dhtPut(networkId: network, key: key, value: Data("old".utf8))
            #expect(try await members[0].dhtGet(networkId: network, key: key) == Data("old".utf8))
            #expect(members[0].cached([UInt8](key), in: network) != nil)
            try await members[0].revokeCache(service: "Home:$dht", pattern: "greet*")
            #expect(members[0].cached([UInt8](key), in: network) == nil)
        }
    }
}
