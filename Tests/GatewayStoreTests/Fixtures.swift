internal import Bytes
internal import Identity
internal import TestSupport

@testable internal import GatewayStore

/// The values of client number `number`, which no other number has.
struct TestClient: Sendable {
    let number: Int
    /// Changes the preshared key.
    var version = 0

    init(_ number: Int, version: Int = 0) {
        self.number = number
        self.version = version
    }

    var key: Bytes32 { Bytes32(sha256: Array("client \(number)".utf8)) }
    var secret: [UInt8] { Bytes32(sha256: Array("secret \(number) \(version)".utf8)).bytes }
    var token: Bytes32 { Bytes32(sha256: Array("token \(number) \(version)".utf8)) }

    func request(ends: UInt64 = 1_000, unconfirmedEnds: UInt64 = 1_000) -> LeaseRequest {
        LeaseRequest(
            clientKey: key,
            presharedKey: SecretBytes(copying: secret),
            ends: ends,
            unconfirmedEnds: unconfirmedEnds
        )
    }

    @discardableResult
    func redeem(in store: GatewayStore, ends: UInt64 = 1_000, unconfirmedEnds: UInt64 = 1_000)
        async throws(GatewayStoreError) -> Lease
    {
        try await store.redeem(token, epoch: 7, request(ends: ends, unconfirmedEnds: unconfirmedEnds))
    }
}

extension GatewayStore {
    static func open(_ directory: TemporaryDirectory) throws -> GatewayStore {
        try GatewayStore(path: directory.file("gateway.sqlite"))
    }

    /// Removes the leases that have ended; returns their number.
    @discardableResult
    func endDue(at time: UInt64) async throws(GatewayStoreError) -> Int {
        let due = try await due(at: time, limit: 1_000)
        return due.count - (try await end(due).count)
    }
}
