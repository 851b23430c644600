internal import Bytes
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenIssuer

/// Apple's library for Python (Tests/Interop/purchase_peer.py) and this code judge the same signed transactions.
@Suite("Independent verification of purchases", .timeLimit(.minutes(15))) struct PurchaseInteropTests {
    private struct Vectors: Decodable {
        let root: String
        let bundleId: String
        let productId: String
        let vectors: [Vector]
    }

    private struct Vector: Decodable {
        let name: String
        let jws: String
        let now: UInt64
        let allowsSandbox: Bool
        /// The reason why the library accepts a transaction that is refused here.
        let difference: String?
    }

    private struct AppleVectors: Decodable {
        let testRoot: String
        let transactionInfo: String
        let renewalInfo: String
        let wrongBundleId: String
        let missingX5CHeaderClaim: String
        let testNotification: String
        let legacyTransaction: String
        let xcodeSignedTransaction: String
    }

    private struct Request: Encodable {
        let root: String
        let bundleId: String
        let sandbox: Bool
        /// Whether the library requires the extensions that OpenSSL's strict flag does.
        var strict = true
        let jws: String
    }

    private struct Answer: Decodable {
        let accepted: Bool
        let status: String
    }

    private func answers(to requests: [Request]) async throws -> [Answer] {
        let lines = try requests.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        let answers = try await aside { try PythonScripts.lines(of: "purchase_peer.py", for: lines) }
        return try answers.map { try JSONDecoder().decode(Answer.self, from: Data($0.utf8)) }
    }

    /// Returns the error of a verification, or nil for an accepted purchase.
    private func refusal(_ request: Request, productId: String, at now: UInt64) async throws -> PurchaseError? {
        let rules = try PurchaseRules(
            bundleId: request.bundleId,
            allowances: [productId: 1],
            rootFile: Base64.decode(request.root),
            allowsSandbox: request.sandbox
        )
        do {
            _ = try await PurchaseProof(request.jws).verify(by: rules, at: now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `both accept and refuse the same transactions but those with a stated difference`() async throws {
        let vectors: Vectors = try TestSupport.vectors(named: "TokenIssuer/purchases.json")
        let requests = vectors.vectors.map {
            Request(root: vectors.root, bundleId: vectors.bundleId, sandbox: $0.allowsSandbox, jws: $0.jws)
        }
        let answers = try await answers(to: requests)
        for (vector, (request, answer)) in zip(vectors.vectors, zip(requests, answers)) {
            let error = try await refusal(request, productId: vectors.productId, at: vector.now)
            let detail = "\(vector.name): \(answer.status), \(error.map { "\($0)" } ?? "accepted")"
            if vector.difference == nil {
                #expect(answer.accepted == (error == nil), "\(detail)")
            } else {
                #expect(answer.accepted && error != nil, "\(detail): the stated difference does not exist")
            }
        }
        #expect(answers.count { $0.accepted } > 7)
    }

    @Test func `both find the signature of Apple's mock transaction valid, and refuse the rest`() async throws {
        let vectors: AppleVectors = try TestSupport.vectors(named: "TokenIssuer/app-store-server-library.json")
        let texts = [
            vectors.transactionInfo, vectors.renewalInfo, vectors.wrongBundleId, vectors.missingX5CHeaderClaim,
            vectors.testNotification, vectors.legacyTransaction, vectors.xcodeSignedTransaction,
        ]
        let requests = texts.map {
            Request(root: vectors.testRoot, bundleId: "com.example", sandbox: true, strict: false, jws: $0)
        }
        let answers = try await answers(to: requests)
        #expect(answers.map(\.accepted) == [true] + Array(repeating: false, count: 6))
        var errors: [PurchaseError?] = []
        for request in requests {
            errors.append(try await refusal(request, productId: "pass", at: 1_672_956_214))
        }
        // The mock has no product. That claim is read after the signature, so that the error shows a valid signature.
        #expect(errors.first == .invalidClaim("productId"))
        #expect(errors.allSatisfy { $0 != nil })
    }
}
