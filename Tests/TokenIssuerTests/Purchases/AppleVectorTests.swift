internal import Bytes
internal import Certificates
internal import Crypto
internal import TestSupport
internal import Testing
@testable internal import TokenIssuer

/// The test data that Apple publishes with app-store-server-library-swift, under the license in the file.
struct AppleVectors: Decodable {
    /// The root of the mock transactions, valid from 2023 to 2033.
    let testRoot: String
    let transactionInfo: String
    let renewalInfo: String
    let wrongBundleId: String
    let missingX5CHeaderClaim: String
    let testNotification: String
    let legacyTransaction: String
    let xcodeSignedTransaction: String
    /// The chain that signs for the App Store: its root, the Worldwide Developer Relations authority G6, and a leaf.
    let realRoot: String
    let realIntermediate: String
    let realLeaf: String

    init() throws {
        self = try TestSupport.vectors(named: "TokenIssuer/app-store-server-library.json")
    }

    func rules(root: String) throws -> PurchaseRules {
        try PurchaseRules(
            bundleId: "com.example",
            allowances: ["pass": 1],
            rootFile: Base64.decode(root),
            allowsSandbox: true
        )
    }
}

@Suite("Apple's test data") struct AppleVectorTests {
    /// The time of the mock signatures in seconds since 1970.
    private static let signed: UInt64 = 1_672_956_154
    /// A time in the year 2026, in which the leaf is valid.
    private static let leafTime: UInt64 = 1_780_000_000

    private let vectors: AppleVectors

    init() throws {
        vectors = try AppleVectors()
    }

    private func refusal(_ text: String, at now: UInt64 = Self.signed + 60) async -> PurchaseError? {
        await #expect(throws: PurchaseError.self) {
            try await PurchaseProof(text).verify(by: vectors.rules(root: vectors.testRoot), at: now)
        }
    }

    /// The mock has no product: its claims are read after the signature, so that this error shows a valid signature.
    @Test func `the signature of the mock transaction is valid`() async {
        #expect(await refusal(vectors.transactionInfo) == .invalidClaim("productId"))
        let late = await refusal(vectors.transactionInfo, at: Self.signed + 86_401)
        #expect(late == .signedTooLongAgo(limitSeconds: 86_400))
        let altered = vectors.transactionInfo.dropLast(4) + "AAAA"
        #expect(await refusal(String(altered)) == .badSignature)
    }

    @Test func `signed data without the claims of a transaction is refused`() async {
        #expect(await refusal(vectors.renewalInfo) == .invalidClaim("bundleId"))
        #expect(await refusal(vectors.wrongBundleId) == .invalidClaim("environment"))
        #expect(await refusal(vectors.testNotification) == .invalidClaim("environment"))
        #expect(await refusal(vectors.missingX5CHeaderClaim)?.name == "malformed")
        #expect(await refusal(vectors.legacyTransaction)?.name == "malformed")
    }

    @Test func `a transaction of Xcode is refused by its environment`() async {
        #expect(await refusal(vectors.xcodeSignedTransaction) == .environmentRefused("Xcode"))
    }

    @Test func `the pinned fingerprint is that of Apple's root`() throws {
        let pairs = Hex.encode(Array(SHA256.hash(data: try Base64.decode(vectors.realRoot)))).uppercased()
        #expect(PurchaseRules.rootFingerprint.filter { $0 != ":" } == pairs)
        let rules = try vectors.rules(root: vectors.realRoot)
        #expect(rules.rootDigests.map { Hex.encode($0).uppercased() } == [pairs])
    }

    @Test func `the chain of the App Store meets the policy`() async throws {
        let policy = try vectors.rules(root: vectors.realRoot).chainPolicy
        let chain = try [vectors.realLeaf, vectors.realIntermediate, vectors.realRoot].map { try Base64.decode($0) }
        let leaf = try await policy.verify(chain, at: Self.leafTime)
        #expect(leaf.endSeconds > Self.leafTime)
        await #expect(throws: ChainPolicyError.expired(position: 1, endSeconds: leaf.endSeconds)) {
            try await policy.verify(chain, at: leaf.endSeconds + 1)
        }
        let mock = try vectors.rules(root: vectors.testRoot).chainPolicy
        await #expect(throws: ChainPolicyError.unknownRoot) { try await mock.verify(chain, at: Self.leafTime) }
    }
}
