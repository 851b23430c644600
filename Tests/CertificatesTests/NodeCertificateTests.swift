internal import Bytes
internal import Certificates
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

@Suite("Node certificates") struct NodeCertificateTests {
    let key: Ed25519PrivateKey
    let certificate: NodeCertificate

    init() throws {
        var random = SplitMix64(seed: 1)
        key = Ed25519PrivateKey(generating: &random)
        certificate = try NodeCertificate.selfSigned(for: key, using: &random)
    }

    @Test func `the key comes back out of the certificate`() throws {
        #expect(try NodeCertificate.publicKey(fromDER: certificate.certificateDER) == key.publicKey)
        #expect(try NodeCertificate.publicKey(fromDER: Data(certificate.certificateDER)) == key.publicKey)
    }

    @Test func `a certificate says nothing but its key`() throws {
        let summary = try CertificateSummary(der: certificate.certificateDER)
        #expect(summary.subject == "CN=runar")
        #expect(summary.issuer == "CN=runar")
        #expect(summary.keyKind == "Ed25519")
        #expect(summary.peerId == PeerId(publicKey: key.publicKey))
        #expect(summary.isSelfSigned)
        #expect(summary.notValidBefore == NodeCertificate.unlimited.lowerBound)
        #expect(summary.notValidAfter == NodeCertificate.unlimited.upperBound)
        #expect(certificate.certificateDER.count < 400)
    }

    @Test func `serial numbers are random, positive and of full length`() throws {
        var random = SplitMix64(seed: 2)
        var serials: Set<[UInt8]> = []
        for _ in 0..<50 {
            let certificate = try NodeCertificate.selfSigned(for: key, using: &random)
            let serial = try CertificateSummary(der: certificate.certificateDER).serialNumber
            #expect(serial.count == 16)
            #expect((0x40...0x7F).contains(serial[0]))
            serials.insert(serial)
        }
        #expect(serials.count == 50)
        #expect(try NodeCertificate.selfSigned(for: key).certificateDER != certificate.certificateDER)
    }

    @Test func `dates are as asked for`() throws {
        var random = SplitMix64(seed: 3)
        let validity = Date(timeIntervalSince1970: 1_700_000_000)...Date(timeIntervalSince1970: 2_600_000_000)
        let certificate = try NodeCertificate.selfSigned(for: key, validity: validity, using: &random)
        let summary = try CertificateSummary(der: certificate.certificateDER)
        #expect(summary.notValidBefore == validity.lowerBound)
        #expect(summary.notValidAfter == validity.upperBound)
    }

    @Test(arguments: [-631_152_001, 253_402_300_800, -Double.infinity, Double.infinity])
    func `dates that cannot be stated are refused`(seconds: TimeInterval) {
        var random = SplitMix64(seed: 3)
        let date = Date(timeIntervalSince1970: seconds)
        #expect(throws: NodeCertificateError.invalidValidity) {
            try NodeCertificate.selfSigned(for: key, validity: date...date, using: &random)
        }
    }

    @Test func `the private key is PKCS 8 of 48 bytes`() throws {
        let seed = try Hex.decode("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
        let key = try Ed25519PrivateKey(rawRepresentation: seed)
        let der = try NodeCertificate.selfSigned(for: key).privateKeyDER
        #expect(der.withBytes { Hex.encode($0) } == "302e020100300506032b657004220420" + Hex.encode(seed))
    }

    @Test func `printing a certificate does not show its private key`() {
        #expect("\(certificate)".contains("privateKeyDER: SecretBytes(redacted)"))
    }
}
