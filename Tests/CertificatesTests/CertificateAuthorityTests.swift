internal import Bytes
internal import Certificates
internal import Identity
internal import TestSupport
internal import Testing

/// A root key with its authority, and devices.
struct Issuing {
    let root: Ed25519PrivateKey
    let authority: CertificateAuthority
    let device: Ed25519PrivateKey
    /// A second in the year 2030.
    let end: UInt64 = 1_900_000_000

    init(seed: UInt64 = 11) {
        var random = SplitMix64(seed: seed)
        root = Ed25519PrivateKey(generating: &random)
        authority = CertificateAuthority(masterKey: root)
        device = Ed25519PrivateKey(generating: &random)
    }

    func message(for device: Ed25519PrivateKey, until end: UInt64? = nil) throws -> CertificateMessage {
        var random = SplitMix64(seed: 12)
        return try authority.issue(
            for: CertificateRequest(for: device),
            until: end ?? self.end,
            using: &random
        )
    }
}

@Suite("Certificate authority") struct CertificateAuthorityTests {
    private let issuing = Issuing()

    @Test func `a request says who asks, and is read back`() throws {
        let request = try CertificateRequest(for: issuing.device)
        #expect(request.publicKey == issuing.device.publicKey)
        #expect(request.der.count < 300)
        let read = try CertificateRequest(der: request.der)
        #expect(read == request)
        #expect(read.peerId == PeerId(publicKey: issuing.device.publicKey))
    }

    @Test func `a certificate names the device and its authority, and nothing tells when it was made`() throws {
        let message = try issuing.message(for: issuing.device)
        #expect(message.peerId == PeerId(publicKey: issuing.device.publicKey))
        #expect(message.authority == issuing.authority.publicKey)
        #expect(message.endSeconds == issuing.end)
        #expect(message.startSeconds == 946_684_800)
        #expect(try NodeCertificate.publicKey(fromDER: message.certificateDER) == issuing.device.publicKey)
        let summary = try CertificateSummary(der: message.certificateDER)
        #expect(summary.subject == "CN=\(message.peerId.text)")
        #expect(summary.issuer == "CN=runar \(PeerId(publicKey: issuing.authority.publicKey).short)")
        #expect(!summary.isSelfSigned)
        #expect(summary.serialNumber.count == 16)
        #expect(try CertificateSummary(der: message.authorityDER).isSelfSigned)
        #expect(message.binary.count < 1_000)
        #expect(try CertificateMessage(binary: message.binary) == message)
    }

    @Test func `a root key has one authority, and another root another one`() throws {
        #expect(CertificateAuthority(masterKey: issuing.root).publicKey == issuing.authority.publicKey)
        #expect(Issuing(seed: 99).authority.publicKey != issuing.authority.publicKey)
        #expect(issuing.authority.publicKey != issuing.root.publicKey)
        let (one, two) = (try issuing.message(for: issuing.device), try issuing.message(for: issuing.root))
        let names = try [one, two].map { try CertificateSummary(der: $0.authorityDER) }
        #expect(names[0].serialNumber == names[1].serialNumber)
        #expect(names[0].subject == names[1].subject)
    }

    @Test func `a certificate is in force up to its last second`() throws {
        let message = try issuing.message(for: issuing.device)
        #expect(message.isInForce(at: issuing.end))
        #expect(!message.isInForce(at: issuing.end + 1))
        #expect(!message.isInForce(at: 946_684_799))
    }

    @Test(arguments: [0, 946_684_799, 253_402_300_800, UInt64.max])
    func `an end that cannot be stated is refused`(end: UInt64) throws {
        #expect(throws: NodeCertificateError.invalidValidity) { try issuing.message(for: issuing.device, until: end) }
    }

    @Test func `parts of two messages of one authority do not make a third`() throws {
        let other = Issuing(seed: 5)
        let one = try issuing.message(for: issuing.device)
        let two = try issuing.message(for: other.device)
        var mixed = two.binary
        let signature = one.binary.suffix(64)
        mixed.replaceSubrange((mixed.count - 64)..., with: signature)
        #expect(throws: NodeCertificateError.notIssued(reason: "the two do not belong together")) {
            try CertificateMessage(binary: mixed)
        }
    }
}

/// Requests and messages made by another implementation, and variants of them with one thing wrong.
@Suite("Issued certificate vectors") struct IssuedCertificateVectorTests {
    private struct Vectors: Decodable {
        struct Request: Decodable {
            let name: String
            let der: String
            let error: String?
        }

        struct Message: Decodable {
            let name: String
            let binary: String
            let error: String?
        }

        let root: String
        let authority: String
        let device: String
        let peer_id_text: String
        let end_seconds: UInt64
        let requests: [Request]
        let messages: [Message]
    }

    private let vectors: Vectors

    init() throws { vectors = try TestSupport.vectors(named: "Certificates/issued.json") }

    @Test func `the authority of the root is the one that another implementation derives`() throws {
        let root = try Ed25519PrivateKey(rawRepresentation: Hex.decode(vectors.root))
        #expect(Hex.encode(CertificateAuthority(masterKey: root).publicKey.bytes) == vectors.authority)
    }

    @Test func `only a request with its own key's name and proof is accepted`() throws {
        for vector in vectors.requests {
            let der = try Hex.decode(vector.der)
            guard let expected = vector.error else {
                #expect(try CertificateRequest(der: der).peerId.text == vectors.peer_id_text)
                continue
            }
            let error = #expect(throws: NodeCertificateError.self, "\(vector.name)") {
                try CertificateRequest(der: der)
            }
            #expect(error?.name == expected, "\(vector.name): \(error.map { "\($0)" } ?? "none")")
        }
    }

    @Test func `only a message in which everything belongs together is accepted`() throws {
        for vector in vectors.messages {
            let binary = try Hex.decode(vector.binary)
            guard let expected = vector.error else {
                let message = try CertificateMessage(binary: binary)
                #expect(message.peerId.text == vectors.peer_id_text)
                #expect(Hex.encode(message.authority.bytes) == vectors.authority)
                #expect(message.endSeconds == vectors.end_seconds)
                continue
            }
            let error = #expect(throws: NodeCertificateError.self, "\(vector.name)") {
                try CertificateMessage(binary: binary)
            }
            #expect(error?.name == expected, "\(vector.name): \(error.map { "\($0)" } ?? "none")")
        }
    }

    @Test func `our request is the other implementation's, byte by byte, where signatures are not random`() throws {
        let device = try Ed25519PrivateKey(rawRepresentation: Hex.decode(vectors.device))
        let ours = try CertificateRequest(for: device)
        let theirs = try Hex.decode(#require(vectors.requests.first).der)
        #expect(ours.der.dropLast(64) == theirs.dropLast(64))
    }

    @Test func `damaged requests and messages never crash`() throws {
        let requests = try vectors.requests.filter { $0.error == nil }.map { try Hex.decode($0.der) }
        neverCrash(on: requests, rounds: 2_000) { _ = try CertificateRequest(der: $0) }
        let messages = try vectors.messages.filter { $0.error == nil }.map { try Hex.decode($0.binary) }
        neverCrash(on: messages, rounds: 2_000) { _ = try CertificateMessage(binary: $0) }
    }
}
