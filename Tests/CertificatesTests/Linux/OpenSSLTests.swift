#if os(Linux)
internal import Bytes
internal import Certificates
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

/// Our certificates in the eyes of an implementation that shares no code with ours.
///
/// Without an `openssl` command the tests report that and check nothing; with one, they fail when it disagrees.
@Suite("OpenSSL") struct OpenSSLTests {
    let key: Ed25519PrivateKey
    let certificate: NodeCertificate

    init() throws {
        var random = SplitMix64(seed: 6)
        key = Ed25519PrivateKey(generating: &random)
        certificate = try NodeCertificate.selfSigned(for: key, using: &random)
    }

    @Test func `it verifies the certificate and reads what we wrote`() throws {
        guard try OpenSSL.isPresent() else { return }
        try OpenSSL.withFolder { folder in
            let file = try OpenSSL.write(
                CertificateText.encode(certificate.certificateDER),
                to: "certificate.pem",
                in: folder
            )
            let purposes = ["sslserver", "sslclient"]
            for purpose in purposes {
                let verified = try OpenSSL.run(
                    "verify",
                    "-CAfile",
                    file,
                    "-check_ss_sig",
                    "-x509_strict",
                    "-partial_chain",
                    "-purpose",
                    purpose,
                    file
                )
                #expect(verified.status == 0, "\(verified.output)")
            }
            let text = try OpenSSL.run("x509", "-in", file, "-noout", "-text").output
            for line in [
                "Version: 3 (0x2)", "Subject: CN = runar", "Issuer: CN = runar", "Signature Algorithm: ED25519",
                "Not Before: Jan  1 00:00:00 2000 GMT", "Not After : Dec 31 23:59:59 9999 GMT", "CA:FALSE",
                "Digital Signature", "TLS Web Server Authentication, TLS Web Client Authentication",
            ] {
                #expect(text.contains(line), "\(line) is missing in\n\(text)")
            }
        }
    }

    @Test func `it sees the same public key in the certificate and in the private key`() throws {
        guard try OpenSSL.isPresent() else { return }
        try OpenSSL.withFolder { folder in
            let certificateFile = try OpenSSL.write(certificate.certificateDER, to: "certificate.der", in: folder)
            let keyFile = try certificate.privateKeyDER.withBytes { try OpenSSL.write($0, to: "key.der", in: folder) }
            let fromCertificate = try OpenSSL.run("x509", "-inform", "DER", "-in", certificateFile, "-noout", "-pubkey")
            let fromKey = try OpenSSL.run("pkey", "-inform", "DER", "-in", keyFile, "-pubout")
            #expect(fromCertificate.status == 0 && fromKey.status == 0, "\(fromCertificate.output)\(fromKey.output)")
            #expect(fromCertificate.output == fromKey.output)
            let spki = try Hex.decode("302a300506032b6570032100") + key.publicKey.bytes
            #expect(fromKey.output.contains(Base64.encode(spki)))
        }
    }

    @Test func `it does not verify a certificate with a changed byte`() throws {
        guard try OpenSSL.isPresent() else { return }
        try OpenSSL.withFolder { folder in
            var changed = certificate.certificateDER
            changed[changed.count - 20] ^= 1
            let file = try OpenSSL.write(CertificateText.encode(changed), to: "changed.pem", in: folder)
            #expect(try OpenSSL.run("verify", "-CAfile", file, "-check_ss_sig", "-partial_chain", file).status != 0)
        }
    }
}
#endif
