internal import Bytes
internal import Certificates
internal import TestSupport
internal import Testing

/// Chains made by `cryptography` (Tests/Vectors/Certificates/generate_policies.py), most with one rule broken.
@Suite("Chain policies") struct ChainPolicyTests {
    private struct Vectors: Decodable {
        let vectors: [Vector]
        let message: String
        let rawSignature: String
        let derSignature: String
        let rsaLeaf: [String]
        let roots: Roots
    }

    private struct Vector: Decodable {
        let name: String
        let chain: [String]
        let roots: [String]
        let length: Int
        let at: UInt64
        let leafExtensions: [String]
        let intermediateExtensions: [String]
        /// The case of the error, or nil for a chain that meets the policy.
        let rule: String?

        func policy() throws -> ChainPolicy {
            ChainPolicy(
                roots: try RootCertificates(der: roots.map { try Base64.decode($0) }),
                length: length,
                leafExtensions: leafExtensions.map { ExtensionIdentifier($0) },
                intermediateExtensions: intermediateExtensions.map { ExtensionIdentifier($0) }
            )
        }

        func verify() async throws -> VerifiedLeaf {
            try await policy().verify(chain.map { try Base64.decode($0) }, at: at)
        }
    }

    private struct Roots: Decodable {
        let pem: String
        let der: String
        let digest: String
        let leaf: String
    }

    private let vectors: Vectors
    private let valid: Vector

    init() throws {
        vectors = try TestSupport.vectors(named: "Certificates/policies.json")
        valid = try #require(vectors.vectors.first)
    }

    @Test func `a chain that breaks a rule is refused by its name`() async throws {
        #expect(vectors.vectors.count { $0.rule == nil } == 11)
        #expect(Set(vectors.vectors.compactMap(\.rule)).count == 9)
        for vector in vectors.vectors {
            do {
                _ = try await vector.verify()
                #expect(vector.rule == nil, "\(vector.name) is accepted")
            } catch let error as ChainPolicyError {
                #expect(error.rule == vector.rule, "\(vector.name): \(error)")
            }
        }
    }

    @Test func `an error names the position, the limit and the extension`() async throws {
        func refusal(_ name: String) async throws -> ChainPolicyError? {
            let vector = try #require(vectors.vectors.first { $0.name == name })
            return await #expect(throws: ChainPolicyError.self) { try await vector.verify() }
        }
        #expect(try await refusal("one certificate less than required") == .wrongLength(expected: 3, found: 2))
        let missing = ChainPolicyError.missingExtension(position: 2, ExtensionIdentifier("1.2.3.4.2"))
        #expect(try await refusal("an intermediate without its extension") == missing)
        #expect(try await refusal("a second intermediate without its extension")?.description.contains("3") == true)
        let expired = try await refusal("a second after the end")
        #expect(expired == .expired(position: 1, endSeconds: 1_893_456_000))
        #expect(expired?.description.contains("2030-01-01") == true)
        #expect(try await refusal("an expired root").map { "\($0)" }?.contains("certificate 3") == true)
        #expect(try await refusal("a leaf that may only certify") == .wrongKeyUsage(position: 1))
        #expect(try await refusal("an intermediate that may only sign") == .wrongKeyUsage(position: 2))
    }

    @Test func `a verified leaf accepts raw ES256 signatures of its key alone`() async throws {
        let leaf = try await valid.verify()
        let message = try Base64.decode(vectors.message)
        let signature = try Base64.decode(vectors.rawSignature)
        #expect(leaf.endSeconds == 1_893_456_000)
        #expect(leaf.isValidES256Signature(signature, for: message))
        #expect(!leaf.isValidES256Signature(signature, for: message + [0]))
        #expect(!leaf.isValidES256Signature(try Base64.decode(vectors.derSignature), for: message))
        #expect(!leaf.isValidES256Signature(signature + [0], for: message))
        #expect(!leaf.isValidES256Signature([], for: message))
        let rsa = try await valid.policy().verify(vectors.rsaLeaf.map { try Base64.decode($0) }, at: valid.at)
        #expect(!rsa.isValidES256Signature(signature, for: message))
    }

    @Test func `damaged chains never crash`() async throws {
        let policy = try valid.policy()
        let chain = try valid.chain.map { try Base64.decode($0) }
        var damaged: [[[UInt8]]] = []
        neverCrash(on: [chain[0]], rounds: 1_000) { damaged.append([$0, chain[1], chain[2]]) }
        neverCrash(on: [chain[1]], rounds: 1_000) { damaged.append([chain[0], $0, chain[2]]) }
        var accepted = 0
        for chain in damaged {
            do {
                _ = try await policy.verify(chain, at: valid.at)
                accepted += 1
            } catch {
                continue
            }
        }
        // The whole certificates are among the prefixes.
        #expect(accepted <= 2)
    }

    @Test func `roots are read from PEM and DER`() throws {
        let der = try Base64.decode(vectors.roots.der)
        #expect(try RootCertificates(file: der).digests.map { Hex.encode($0) } == [vectors.roots.digest])
        let pem = try RootCertificates(file: Array(vectors.roots.pem.utf8))
        #expect(pem.digests.count == 2)
        #expect(pem.digests.first.map { Hex.encode($0) } == vectors.roots.digest)
    }

    @Test func `files without usable roots are refused`() throws {
        let der = try Base64.decode(vectors.roots.der)
        func refusal(_ file: [UInt8]) -> RootCertificatesError? {
            #expect(throws: RootCertificatesError.self) { try RootCertificates(file: file) }
        }
        #expect(refusal([]) == .noCertificate)
        #expect(refusal(Array("no certificate".utf8)) == .noCertificate)
        #expect(refusal(Array(vectors.roots.pem.replacing("CERTIFICATE", with: "PRIVATE KEY").utf8)) == .noCertificate)
        #expect(refusal(try Base64.decode(vectors.roots.leaf)) == .notAnAuthority(position: 1))
        #expect(refusal(Array(repeating: 0, count: 65_537)) == .tooLong(limit: 65_536, found: 65_537))
        #expect(refusal(Array(String(repeating: vectors.roots.pem, count: 5).utf8)) == .tooMany(limit: 8))
        for damaged in [der + [0], Array(der.dropLast())] {
            guard case .malformed? = refusal(damaged) else {
                Issue.record("a damaged root is read")
                continue
            }
        }
    }

    @Test func `damaged files of roots never crash`() throws {
        let files = [try Base64.decode(vectors.roots.der), Array(vectors.roots.pem.utf8)]
        neverCrash(on: files) { _ = try RootCertificates(file: $0) }
    }
}

extension ChainPolicyError {
    /// The name of the case in vectors.
    fileprivate var rule: String {
        switch self {
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
