internal import Foundation
internal import GRDB
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Database
@testable internal import GatewayStore

@Suite("The file of a gateway", .timeLimit(.minutes(5))) struct GatewayFileTests {
    private static let schemaQuery = "SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY type, name"

    /// Returns the number of clients of whom the files contain a key.
    private static func traces(of clients: [TestClient], in directory: TemporaryDirectory) throws -> Int {
        let files = try directory.names().map { try directory.bytes($0) }
        return clients.filter { client in
            files.contains { occurs(client.key.bytes, in: $0) || occurs(client.secret, in: $0) }
        }
        .count
    }

    @Test func `the schema is the released one`() throws {
        let store = try GatewayStore()
        let found = try store.database.read { try String.fetchAll($0, sql: Self.schemaQuery) }.joined(separator: ";\n")
        let expected = String(decoding: try vector(named: "GatewayStore/schema-1.sql"), as: UTF8.self)
        #expect(found + ";\n" == expected)
        #expect(GatewayStore.format.version == 1)
    }

    @Test func `no file contains a key of a client after its lease`() async throws {
        let directory = try TemporaryDirectory()
        let store = try GatewayStore.open(directory)
        let clients = (0..<300).map { TestClient($0) }
        for client in clients { try await client.redeem(in: store, ends: client.number < 100 ? 10 : 1_000) }
        #expect(try Self.traces(of: clients, in: directory) == 300)
        #expect(try await store.endDue(at: 10) == 100)
        #expect(try Self.traces(of: Array(clients[..<100]), in: directory) == 0)
        #expect(try Self.traces(of: Array(clients[100...]), in: directory) == 200)
        try store.close()
    }

    @Test func `no file contains a preshared key after its replacement`() async throws {
        let directory = try TemporaryDirectory()
        let store = try GatewayStore.open(directory)
        let (first, second) = (TestClient(1), TestClient(1, version: 1))
        try await first.redeem(in: store)
        try await second.redeem(in: store)
        let files = try directory.names().map { try directory.bytes($0) }
        #expect(!files.contains { occurs(first.secret, in: $0) })
        #expect(files.contains { occurs(second.secret, in: $0) })
        try store.close()
    }

    @Test func `opening completes the erasure of a process that died`() async throws {
        let (directory, copy) = (try TemporaryDirectory(), try TemporaryDirectory())
        let store = try GatewayStore.open(directory)
        let client = TestClient(1)
        try await client.redeem(in: store)
        try store.database.write { try $0.run("DELETE FROM leases") }
        // The files as a crash leaves them.
        for name in try directory.names() { try copy.write(directory.bytes(name), to: name) }
        #expect(try Self.traces(of: [client], in: copy) == 1)
        let again = try GatewayStore.open(copy)
        #expect(try Self.traces(of: [client], in: copy) == 0)
        try again.close()
        try store.close()
    }

    @Test func `leases and spent tokens survive a restart`() async throws {
        let directory = try TemporaryDirectory()
        let store = try GatewayStore.open(directory)
        let leases = [try await TestClient(1).redeem(in: store), try await TestClient(2).redeem(in: store)]
        try store.close()
        let again = try GatewayStore.open(directory)
        #expect(try await again.leases() == leases)
        await #expect(throws: GatewayStoreError.tokenSpent) { try await TestClient(1).redeem(in: again) }
        try again.close()
    }

    @Test func `a redemption on a failing disk spends the token with its lease, or changes nothing`() async throws {
        let template = try TemporaryDirectory()
        try GatewayStore.open(template).close()
        let client = TestClient(1)
        let walk = FailingDiskWalk(
            open: { try GatewayStore.open($0) },
            attempting: { store in try await client.redeem(in: store) },
            close: { store in try? store.close() },  // the power may be lost
            check: { directory, isAcknowledged, fault in
                let store = try GatewayStore.open(directory)
                let counts = (try await store.spentCount(), UInt64(try await store.leaseCount()))
                #expect(counts == (1, 1) || counts == (0, 0) && !isAcknowledged, "\(fault)")
                try store.close()
            }
        )
        #expect(try await walk.run(in: template, isThorough: true) >= 12)
    }

    @Test func `killing a gateway spends no token twice and leaks no lease`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("gateway.sqlite")
        try GatewayStore(path: path).close()
        var random = SplitMix64(seed: 5)
        var next = 0
        while next < 60 {
            let gateway = try ChildProcess("TokenRacer", arguments: ["redeem", path, "\(next)", "500"])
            var answered = 0
            for _ in 0..<Int.random(in: 1...12, using: &random) where gateway.nextLine() != nil { answered += 1 }
            answered += gateway.kill().count
            let store = try GatewayStore.open(directory)
            // At most one redemption was committed without an answer.
            let leaseCount = try await store.leaseCount()
            let expected = next + answered
            #expect(leaseCount == expected || leaseCount == expected + 1)
            #expect(try await store.spentCount() == UInt64(leaseCount))
            for number in next..<leaseCount {
                let token = Bytes32(sha256: Array("token \(number)".utf8))
                #expect(try await store.spend(token, epoch: 7) == .already)
            }
            next = leaseCount
            try store.close()
        }
        let store = try GatewayStore.open(directory)
        #expect(try await store.endDue(at: 500) == next)
        #expect(try await store.leaseCount() == 0)
        #expect(try await TestClient(1).redeem(in: store).slot.number == 1)
        try store.close()
    }
}
