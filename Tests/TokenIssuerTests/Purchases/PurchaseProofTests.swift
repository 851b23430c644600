internal import Bytes
internal import Certificates
internal import Failures
internal import TestSupport
internal import Testing
@testable internal import TokenIssuer

@Suite("Proofs of purchase", .timeLimit(.minutes(5))) struct PurchaseProofTests {
    private let vectors: PurchaseVectors
    private let valid: PurchaseVectors.Vector

    init() throws {
        vectors = try PurchaseVectors()
        valid = try #require(vectors.vectors.first)
    }

    private func vector(_ name: String) throws -> PurchaseVectors.Vector {
        try #require(vectors.vectors.first { $0.name == name })
    }

    @Test func `a transaction with one thing wrong is refused by the name of the rule`() async throws {
        #expect(vectors.vectors.count { $0.error == nil } == 7)
        for vector in vectors.vectors {
            do {
                _ = try await vectors.verify(vector)
                #expect(vector.error == nil, "\(vector.name) is accepted")
            } catch let error as PurchaseError {
                #expect(error.name == vector.error, "\(vector.name): \(error)")
                #expect(error.rule == vector.rule, "\(vector.name): \(error)")
            }
        }
    }

    @Test func `a purchase has the identity, product, end and allowance of the transaction`() async throws {
        let purchase = try await vectors.verify(valid)
        #expect(purchase.environment == .production)
        #expect(purchase.originalTransactionId == vectors.originalTransactionId)
        #expect(purchase.productId == vectors.productId)
        #expect(purchase.expires == valid.now + 86_400)
        #expect(purchase.allowance == vectors.allowance)
        #expect(try await vectors.verify(vector("a purchase without an end")).expires == nil)
        let sandbox = try await vectors.verify(vector("a sandbox purchase at a test issuer"))
        #expect(sandbox.environment == .sandbox)
    }

    @Test func `a time of signature inside the validity of an expired leaf needs an unbounded age`() async throws {
        let backdated = try vector("an expired leaf with a time of signature inside its validity")
        let yearAndDay: UInt64 = 367 * 86_400
        let proof = PurchaseProof(backdated.jws)
        await #expect(throws: PurchaseError.signedTooLongAgo(limitSeconds: 86_400)) {
            try await proof.verify(by: vectors.rules(), at: backdated.now)
        }
        // The same proof passes if the operator allows that age: the bound alone refuses it.
        _ = try await proof.verify(by: vectors.rules(maximumAgeSeconds: yearAndDay), at: backdated.now)
    }

    @Test func `the bounds of the time of signature are exact`() async throws {
        let rules = try vectors.rules()
        let proof = PurchaseProof(valid.jws)
        let signed = valid.now - 60
        for now in [signed - 60, signed, signed + 86_399] {
            _ = try await proof.verify(by: rules, at: now)
        }
        await #expect(throws: PurchaseError.signedInFuture) { try await proof.verify(by: rules, at: signed - 61) }
        await #expect(throws: PurchaseError.signedInFuture) { try await proof.verify(by: rules, at: 0) }
        await #expect(throws: PurchaseError.signedTooLongAgo(limitSeconds: 86_400)) {
            try await proof.verify(by: rules, at: signed + 86_401)
        }
        await #expect(throws: PurchaseError.signedTooLongAgo(limitSeconds: 86_400)) {
            try await proof.verify(by: rules, at: .max)
        }
    }

    @Test func `another pinned root refuses every transaction`() async throws {
        let other = try AppleVectors()
        let rules = try PurchaseRules(
            bundleId: vectors.bundleId,
            allowances: [vectors.productId: 1],
            rootFile: Base64.decode(other.realRoot)
        )
        await #expect(throws: PurchaseError.untrusted(.unknownRoot)) {
            try await PurchaseProof(valid.jws).verify(by: rules, at: valid.now)
        }
    }

    @Test func `a file without roots is refused with the address and the fingerprint of the root`() throws {
        let error = #expect(throws: PurchaseError.self) {
            try PurchaseRules(bundleId: "com.example.exit", allowances: [:], rootFile: Array("nothing".utf8))
        }
        #expect(error == .unusableRoots(.noCertificate))
        let message = error.map { "\($0)" } ?? ""
        #expect(message.contains("https://www.apple.com/certificateauthority/"))
        #expect(message.contains("63:34:3A:BF"))
        #expect(error?.failureCode.slug == "bad-root-certificates")
    }

    @Test func `messages contain neither transaction nor control characters`() async throws {
        for vector in vectors.vectors where vector.error != nil {
            let error = await #expect(throws: PurchaseError.self) { try await vectors.verify(vector) }
            #expect(error.map { "\($0)" }?.contains(vectors.originalTransactionId) == false, "\(vector.name)")
        }
        #expect(!"\(PurchaseError.algorithmRefused("\u{1B}[2J"))".contains("\u{1B}"))
        #expect(!"\(PurchaseError.environmentRefused("\n"))".contains("\n"))
        #expect(!"\(PurchaseError.unknownProduct("\u{202E}"))".contains("\u{202E}"))
    }

    @Test func `a text up to the limit is read and a longer one is not`() throws {
        let limit = CompactSignature.maximumByteCount
        let error = #expect(throws: PurchaseError.self) {
            try CompactSignature(String(repeating: ".", count: limit))
        }
        #expect(error?.name == "malformed")
        #expect(throws: PurchaseError.tooLong(limit: limit, found: limit + 1)) {
            try CompactSignature(String(repeating: ".", count: limit + 1))
        }
    }

    @Test func `damaged transactions never crash and are never accepted`() async throws {
        let rules = try vectors.rules()
        var damaged: [String] = []
        neverCrash(onTexts: [valid.jws], rounds: 3_000) { damaged.append($0) }
        for text in damaged where text != valid.jws {
            await #expect(throws: PurchaseError.self) { try await PurchaseProof(text).verify(by: rules, at: valid.now) }
        }
    }

    @Test func `damaged headers and payloads never crash`() throws {
        let segments = try valid.jws.split(separator: ".").map { try Base64URL.decode(String($0)) }
        neverCrash(on: [segments[0]]) { bytes in
            _ = try CompactSignature("\(Base64URL.encode(bytes)).e30.AA")
        }
        let header = Base64URL.encode(segments[0])
        neverCrash(on: [segments[1]]) { bytes in
            let signature = try CompactSignature("\(header).\(Base64URL.encode(bytes)).AA")
            _ = try PurchaseClaims(signature.claims)
        }
    }
}

extension PurchaseError {
    /// The name of the case in vectors.
    var name: String {
        switch self {
        case .tooLong: "tooLong"
        case .malformed: "malformed"
        case .algorithmRefused: "algorithmRefused"
        case .environmentRefused: "environmentRefused"
        case .invalidClaim: "invalidClaim"
        case .untrusted: "untrusted"
        case .badSignature: "badSignature"
        case .signedInFuture: "signedInFuture"
        case .signedTooLongAgo: "signedTooLongAgo"
        case .otherApp: "otherApp"
        case .unknownProduct: "unknownProduct"
        case .revoked: "revoked"
        case .replaced: "replaced"
        case .expired: "expired"
        case .unusableRoots: "unusableRoots"
        }
    }

    /// The name of the chain's rule in vectors, or nil for another error.
    fileprivate var rule: String? {
        guard case .untrusted(let error) = self else { return nil }
        return switch error {
        case .wrongLength: "wrongLength"
        case .malformed: "malformed"
        case .notIssuedByNext: "notIssuedByNext"
        case .unknownRoot: "unknownRoot"
        case .expired: "expired"
        case .notYetValid: "notYetValid"
        case .missingExtension: "missingExtension"
        case .wrongKeyUsage: "wrongKeyUsage"
        case .pathRefused: "pathRefused"
        }
    }
}
