internal import Bytes
internal import Certificates
internal import TestSupport
internal import Testing

/// Chains and keys made by `cryptography` (Tests/Vectors/Certificates/generate_chains.py).
@Suite("Certificate chains") struct CertificateChainTests {
    private struct Vectors: Decodable {
        let start: UInt64
        let end: UInt64
        let leaves: [Leaf]
        let middle: String
        let middleDigest: String
        let root: String
        let otherMiddle: String
        let shortMiddle: String
        let encryptedKey: String
    }

    private struct Leaf: Decodable {
        let kind: String
        let certificate: String
        /// The key in every form, by the name of the form.
        let keys: [String: String]
        let digest: String
    }

    private let vectors: Vectors
    private let leaf: Leaf
    private let key: String

    init() throws {
        vectors = try TestSupport.vectors(named: "Certificates/chains.json")
        leaf = try #require(vectors.leaves.first { $0.kind == "P-256" })
        key = try #require(leaf.keys["PKCS #8"])
    }

    private func read(
        _ certificates: String,
        _ key: String,
        at seconds: UInt64? = nil
    ) throws(CertificateChainError) -> CertificateChain {
        var bytes = Array(key.utf8)
        let seconds = seconds ?? vectors.start + 86_400
        return try CertificateChain(certificates: certificates, key: SecretBytes(consuming: &bytes), at: seconds)
    }

    private func refusal(_ certificates: String, _ key: String, at seconds: UInt64? = nil) -> CertificateChainError? {
        #expect(throws: CertificateChainError.self) { try read(certificates, key, at: seconds) }
    }

    @Test func `keys of authorities are read in every form`() throws {
        for leaf in vectors.leaves where ["P-256", "P-384", "RSA 2048"].contains(leaf.kind) {
            #expect(leaf.keys.count > 1)
            for (form, key) in leaf.keys {
                let chain = try read(leaf.certificate + vectors.middle + vectors.root, key)
                #expect(chain.certificatesDER.count == 3, "\(leaf.kind), \(form)")
                #expect(chain.endSeconds == vectors.end)
                #expect(chain.keyDigests.prefix(2).map { Hex.encode($0) } == [leaf.digest, vectors.middleDigest])
                #expect(!"\(chain)".contains(key.dropFirst(40).prefix(40)))
            }
        }
    }

    @Test func `other text around certificates and keys is skipped`() throws {
        let text = "subject: a\n\(leaf.certificate)\nissuer: b\n\(vectors.middle)\nend"
        #expect(try read(text, "Bag Attributes\n\(key)").certificatesDER.count == 2)
    }

    @Test func `weak and unsupported keys are refused`() throws {
        let others = vectors.leaves.filter { !["P-256", "P-384", "RSA 2048"].contains($0.kind) }
        #expect(others.count == 3)
        for key in others.flatMap(\.keys.values) {
            let error = refusal(leaf.certificate, key)
            guard case .unsupportedKey? = error, error?.part == .key else {
                Issue.record("\(key): \(String(describing: error))")
                continue
            }
        }
        #expect(refusal(leaf.certificate, vectors.encryptedKey) == .encryptedKey)
    }

    @Test func `files without a certificate or a key are refused`() {
        #expect(refusal("", key) == .noCertificate)
        #expect(refusal(key, key) == .noCertificate)
        #expect(refusal(leaf.certificate, "") == .noKey)
        #expect(refusal(leaf.certificate, leaf.certificate) == .noKey)
        let damaged = leaf.certificate.replacing("M", with: "N", maxReplacements: 1)
        guard case .malformed(.certificates, _)? = refusal(damaged, key) else {
            Issue.record("a damaged certificate is read")
            return
        }
    }

    @Test func `a key of another certificate is refused, and a leaf that is not first`() throws {
        let other = try #require(vectors.leaves.last { $0.kind == "RSA 2048" }?.keys["PKCS #8"])
        #expect(refusal(leaf.certificate + vectors.middle, other) == .otherKey)
        #expect(refusal(vectors.middle + leaf.certificate, key) == .leafNotFirst(position: 2))
        #expect(refusal(vectors.middle + vectors.root + leaf.certificate, key) == .leafNotFirst(position: 3))
    }

    @Test func `a chain out of order is refused`() {
        #expect(refusal(leaf.certificate + vectors.root + vectors.middle, key) == .notInOrder(position: 1))
        #expect(refusal(leaf.certificate + vectors.middle + vectors.middle, key) == .notInOrder(position: 2))
        #expect(refusal(leaf.certificate + vectors.otherMiddle, key) == .notInOrder(position: 1))
    }

    @Test func `a chain out of date is refused with its time`() throws {
        let (whole, end) = (leaf.certificate + vectors.middle, vectors.end)
        #expect(try read(whole, key, at: end).certificatesDER.count == 2)
        #expect(try read(whole, key, at: vectors.start).certificatesDER.count == 2)
        #expect(refusal(whole, key, at: end + 1) == .expired(position: 1, endSeconds: end))
        let error = refusal(whole, key, at: end + 1)
        #expect(error.map { "\($0)" }?.contains("2030-06-01") == true)
        let start = vectors.start
        #expect(refusal(whole, key, at: start - 1) == .notYetValid(position: 1, startSeconds: start))
        let short = leaf.certificate + vectors.shortMiddle
        #expect(refusal(short, key, at: end) == .expired(position: 2, endSeconds: start + 86_400))
    }

    @Test func `the number of certificates and the sizes of the files are bounded`() {
        let many = leaf.certificate + String(repeating: vectors.middle, count: 8)
        #expect(refusal(many, key) == .tooManyCertificates(limit: 8))
        let long = String(repeating: "a", count: 65_537)
        #expect(refusal(long, key) == .tooLong(.certificates, limit: 65_536, found: 65_537))
        #expect(refusal(leaf.certificate, long) == .tooLong(.key, limit: 16_384, found: 65_537))
    }

    @Test func `damaged files never crash`() {
        neverCrash(onTexts: [leaf.certificate + vectors.middle], rounds: 300) { _ = try read($0, key) }
        neverCrash(onTexts: [key], rounds: 300) { _ = try read(leaf.certificate, $0) }
    }
}
