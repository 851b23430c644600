internal import Bytes
internal import TestSupport
@testable internal import TokenIssuer

/// Transactions signed by chains like those of the App Store (Tests/Vectors/TokenIssuer/generate_purchases.py).
struct PurchaseVectors: Decodable {
    struct Vector: Decodable {
        let name: String
        let jws: String
        /// The time of the verification in seconds since 1970.
        let now: UInt64
        let allowsSandbox: Bool
        /// The case of the error, or nil for a purchase that is accepted.
        let error: String?
        /// The case of the error of the chain.
        let rule: String?
    }

    let root: String
    let bundleId: String
    let productId: String
    let allowance: UInt16
    let originalTransactionId: String
    let vectors: [Vector]

    init() throws {
        self = try TestSupport.vectors(named: "TokenIssuer/purchases.json")
    }

    func rules(allowsSandbox: Bool = false, maximumAgeSeconds: UInt64 = 86_400) throws -> PurchaseRules {
        try PurchaseRules(
            bundleId: bundleId,
            allowances: [productId: allowance],
            rootFile: Base64.decode(root),
            allowsSandbox: allowsSandbox,
            maximumAgeSeconds: maximumAgeSeconds
        )
    }

    func verify(_ vector: Vector) async throws -> Purchase {
        try await PurchaseProof(vector.jws).verify(by: rules(allowsSandbox: vector.allowsSandbox), at: vector.now)
    }
}
