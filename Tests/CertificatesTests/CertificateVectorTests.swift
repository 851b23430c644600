internal import Bytes
internal import Certificates
internal import Identity
internal import TestSupport
internal import Testing

/// Certificates made by OpenSSL, and variants of them with one thing wrong.
@Suite("Certificate vectors") struct CertificateVectorTests {
    struct Vector: Decodable {
        let name: String
        let der: String
        let keyKind: String?
        /// The error of `publicKey(fromDER:)`, if any.
        let node: String?
        let selfSigned: Bool?
        let key: String?
        let peerId: String?
    }

    let vectors: [Vector]

    init() throws {
        vectors = try TestSupport.vectors(named: "Certificates/certificates.json")
    }

    @Test func `only a certificate with exactly one form of key is a node's`() throws {
        for vector in vectors {
            let der = try Hex.decode(vector.der)
            if let expected = vector.node {
                let error = #expect(throws: NodeCertificateError.self, "\(vector.name)") {
                    try NodeCertificate.publicKey(fromDER: der)
                }
                #expect(error?.name == expected, "\(vector.name): \(error.map { "\($0)" } ?? "none")")
            } else {
                let key = try NodeCertificate.publicKey(fromDER: der)
                #expect(Hex.encode(key.bytes) == vector.key, "\(vector.name)")
            }
        }
    }

    @Test func `a summary tells what others' certificates are`() throws {
        for vector in vectors {
            guard let kind = vector.keyKind else { continue }
            let summary = try CertificateSummary(der: Hex.decode(vector.der))
            #expect(summary.keyKind == kind, "\(vector.name)")
            #expect(summary.isSelfSigned == vector.selfSigned, "\(vector.name)")
            #expect(summary.peerId.map { Hex.encode($0.bytes) } == vector.peerId, "\(vector.name)")
        }
    }

    @Test func `a changed certificate is not self-signed`() throws {
        let certificate = try Hex.decode(#require(vectors.first).der)
        var changed = certificate
        changed[changed.count - 1] ^= 1
        #expect(try CertificateSummary(der: certificate).isSelfSigned)
        #expect(try !CertificateSummary(der: changed).isSelfSigned)
    }

    @Test func `damaged certificates never crash`() throws {
        let valid = try vectors.filter { $0.keyKind != nil }.map { try Hex.decode($0.der) }
        neverCrash(on: valid, rounds: 4_000) { bytes in
            _ = try CertificateSummary(der: bytes)
            _ = try NodeCertificate.publicKey(fromDER: bytes)
        }
    }
}

@Suite("Certificates as text") struct CertificateTextTests {
    let der: [UInt8]
    let text: String

    init() throws {
        var random = SplitMix64(seed: 4)
        let key = Ed25519PrivateKey(generating: &random)
        der = try NodeCertificate.selfSigned(for: key, using: &random).certificateDER
        text = CertificateText.encode(der)
    }

    @Test func `text round trips`() throws {
        #expect(text.hasPrefix("-----BEGIN CERTIFICATE-----\n") && text.hasSuffix("\n-----END CERTIFICATE-----\n"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 64 })
        #expect(try CertificateText.decode(text) == der)
        #expect(try CertificateSummary(pem: text) == CertificateSummary(der: der))
    }

    @Test func `remarks around it are skipped`() throws {
        #expect(try CertificateText.decode("Certificate:\n  Data\n" + text + "\nbye\n") == der)
    }

    @Test func `anything but one certificate is refused`() {
        let refused = [
            "", "no certificate", text + text, String(text.dropLast(3)),
            text.replacing("CERTIFICATE", with: "PRIVATE KEY"),
            text.replacing("BEGIN CERTIFICATE", with: "BEGIN X"), text.replacing("MII", with: "M*I"),
        ]
        for text in refused {
            let error = #expect(throws: NodeCertificateError.self) { try CertificateText.decode(text) }
            #expect(error?.name == "malformedText")
        }
        #expect(throws: NodeCertificateError.tooLong(limit: 196_608, found: 200_000)) {
            try CertificateText.decode(String(repeating: " ", count: 200_000))
        }
    }

    @Test func `damaged text never crashes`() {
        neverCrash(onTexts: [text]) { text in _ = try CertificateSummary(pem: text) }
    }
}

extension NodeCertificateError {
    /// The name of the case in vectors.
    var name: String {
        switch self {
        case .tooLong: "tooLong"
        case .malformed: "malformed"
        case .notEd25519: "notEd25519"
        case .unusableKey: "unusableKey"
        case .malformedText: "malformedText"
        case .invalidValidity: "invalidValidity"
        case .signingFailed: "signingFailed"
        case .wrongName: "wrongName"
        case .badProof: "badProof"
        case .notAnAuthority: "notAnAuthority"
        case .notIssued: "notIssued"
        }
    }
}
