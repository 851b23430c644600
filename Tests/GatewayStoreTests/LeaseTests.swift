internal import Bytes
internal import Failures
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Database
@testable internal import GatewayStore

@Suite("Leases", .timeLimit(.minutes(5))) struct LeaseTests {
    private let network = LeaseNetwork.standard

    @Test func `the first client has the lowest address of both families`() async throws {
        let store = try GatewayStore()
        let lease = try await TestClient(1).redeem(in: store)
        #expect(network.addresses(lease.slot).map(\.description) == ["10.66.0.2", "fd66::2"])
        #expect(network.addresses(.gateway).map(\.description) == ["10.66.0.1", "fd66::1"])
    }

    @Test func `no slot has an address that ends in 0 or 255`() throws {
        let hosts = try (1...LeaseSlot.limit).map { try #require(LeaseSlot($0)).host }
        #expect(!hosts.contains { $0 & 0xFF == 0 || $0 & 0xFF == 255 })
        #expect(Set(hosts).count == 65_023 && hosts == hosts.sorted())
        #expect(hosts.first == 2 && hosts.last == 0xFFFE)
        #expect(LeaseSlot(0) == nil && LeaseSlot(LeaseSlot.limit + 1) == nil)
    }

    @Test func `a network is a private 16 and a unique local 64`() {
        let (ipv4, ipv6) = (IPAddress.v4(0x0A42_0000), IPAddress.v6(high: 0xFD66 << 48, low: 0, scope: 0))
        #expect(LeaseNetwork(ipv4: ipv4, ipv6: ipv6) == .standard)
        #expect(LeaseNetwork(ipv4: .v4(0x0A42_0001), ipv6: ipv6) == nil)
        #expect(LeaseNetwork(ipv4: .v4(0x0808_0000), ipv6: ipv6) == nil)
        #expect(LeaseNetwork(ipv4: ipv4, ipv6: .v6(high: 0x2001 << 48, low: 0, scope: 0)) == nil)
        #expect(LeaseNetwork(ipv4: ipv6, ipv6: ipv4) == nil)
    }

    @Test func `concurrent clients have different addresses`() async throws {
        let directory = try TemporaryDirectory()
        let store = try GatewayStore.open(directory)
        let slots = try await withThrowingTaskGroup(of: LeaseSlot.self) { group in
            for number in 0..<300 { group.addTask { try await TestClient(number).redeem(in: store).slot } }
            return try await group.reduce(into: [LeaseSlot]()) { $0.append($1) }
        }
        #expect(Set(slots).count == 300 && slots.max()?.number == 300)
        // Several redemptions share a commit.
        #expect(store.groupCommits.commits < store.groupCommits.writes)
        try store.close()
    }

    @Test func `two openings of one file grant different addresses`() async throws {
        let directory = try TemporaryDirectory()
        let stores = [try GatewayStore.open(directory), try GatewayStore.open(directory)]
        let slots = try await withThrowingTaskGroup(of: LeaseSlot.self) { group in
            for number in 0..<60 {
                group.addTask { try await TestClient(number).redeem(in: stores[number % 2]).slot }
            }
            return try await group.reduce(into: [LeaseSlot]()) { $0.append($1) }
        }
        #expect(Set(slots).count == 60)
        for store in stores { try store.close() }
    }

    @Test func `the lowest free address is granted again after its lease has ended`() async throws {
        let store = try GatewayStore()
        for number in 0..<6 {
            try await TestClient(number).redeem(in: store, ends: number == 2 || number == 4 ? 10 : 99)
        }
        #expect(try await store.endDue(at: 9) == 0)
        #expect(try await store.endDue(at: 10) == 2)
        let next = try await (10..<13).asyncMap { try await TestClient($0).redeem(in: store).slot.number }
        #expect(next == [3, 5, 7])
        #expect(try await store.leaseCount() == 7)
    }

    @Test func `a gateway at its limit refuses a lease and does not spend the token`() async throws {
        let store = try GatewayStore(leaseLimit: 2)
        try await TestClient(1).redeem(in: store, ends: 10)
        try await TestClient(2).redeem(in: store)
        let refusal = GatewayStoreError.full(limit: 2)
        await #expect(throws: refusal) { try await TestClient(3).redeem(in: store) }
        #expect(refusal.failureCode.slug == "gateway-full" && refusal.failureCode.httpStatus == 503)
        await #expect(throws: refusal) { try await store.grant(TestClient(3).request()) }
        try await store.endDue(at: 10)
        #expect(try await TestClient(3).redeem(in: store).slot.number == 1)
    }

    @Test func `the last address of the network is granted, and none beyond it`() async throws {
        let store = try GatewayStore()
        try store.database.write { try $0.run("UPDATE state SET next_slot = ?", LeaseSlot.limit) }
        let last = try await TestClient(1).redeem(in: store)
        #expect(network.ipv4(last.slot).description == "10.66.255.254")
        #expect(network.ipv6(last.slot).description == "fd66::fffe")
        await #expect(throws: GatewayStoreError.full(limit: LeaseSlot.limit)) {
            try await TestClient(2).redeem(in: store)
        }
    }

    @Test func `a spent token grants no lease`() async throws {
        let store = try GatewayStore()
        let client = TestClient(1)
        #expect(try await store.spend(client.token, epoch: 7) == .first)
        await #expect(throws: GatewayStoreError.tokenSpent) { try await client.redeem(in: store) }
        #expect(try await store.leaseCount() == 0)
    }

    @Test func `a further token of a client replaces its lease and keeps its address`() async throws {
        let store = try GatewayStore()
        let first = try await TestClient(1).redeem(in: store, ends: 10)
        try await TestClient(2).redeem(in: store)
        try await store.record([LeaseUse(clientKey: first.clientKey, addedBytes: 5, isConfirmed: true)])
        let second = try await TestClient(1, version: 1).redeem(in: store, ends: 20)
        #expect(second.slot == first.slot && second.presharedKey != first.presharedKey && second.ends == 20)
        let leases = try await store.leases()
        #expect(leases.count == 2 && leases[0] == second && leases[0].byteCount == 0)
    }

    @Test func `the end of a lease that was replaced keeps the new one`() async throws {
        let store = try GatewayStore()
        try await TestClient(1).redeem(in: store, ends: 10)
        let due = try await store.due(at: 10, limit: 10)
        #expect(due.count == 1)
        let second = try await TestClient(1, version: 1).redeem(in: store, ends: 20)
        #expect(try await store.end(due) == [second])
        #expect(try await store.leases() == [second])
    }

    // MARK: Confirmation and traffic

    @Test func `a lease whose client never connects ends early`() async throws {
        let store = try GatewayStore()
        let silent = try await TestClient(1).redeem(in: store, ends: 1_000, unconfirmedEnds: 100)
        let active = try await TestClient(2).redeem(in: store, ends: 1_000, unconfirmedEnds: 100)
        try await store.record([
            LeaseUse(clientKey: silent.clientKey, addedBytes: 0, isConfirmed: false),
            LeaseUse(clientKey: active.clientKey, addedBytes: 0, isConfirmed: true),
        ])
        #expect(try await store.due(at: 99, limit: 10).isEmpty)
        #expect(try await store.due(at: 100, limit: 10).map(\.slot) == [silent.slot])
        #expect(try await store.due(at: 1_000, limit: 10).map(\.slot) == [silent.slot, active.slot])
        #expect(try await store.due(at: 1_000, limit: 1).count == 1)
    }

    @Test func `traffic adds up, and that of an ended lease is skipped`() async throws {
        let store = try GatewayStore()
        let lease = try await TestClient(1).redeem(in: store)
        for _ in 0..<2 {
            try await store.record([
                LeaseUse(clientKey: lease.clientKey, addedBytes: 1_000, isConfirmed: true),
                LeaseUse(clientKey: TestClient(2).key, addedBytes: 1_000, isConfirmed: true),
            ])
        }
        #expect(try await store.leases().map(\.byteCount) == [2_000])
    }

    @Test func `a lease prints without its keys`() async throws {
        let store = try GatewayStore()
        let lease = try await TestClient(1).redeem(in: store, ends: 77)
        #expect("\(lease)" == "Lease(slot 1, ends 77, redacted)")
        #expect(
            String(reflecting: lease) == "Lease(slot 1, ends 77, redacted)"
                && Mirror(reflecting: lease).children.isEmpty
        )
    }
}

extension Sequence {
    /// Transforms the elements one after the other.
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
