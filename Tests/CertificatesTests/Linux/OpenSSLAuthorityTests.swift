#if os(Linux)
internal import Bytes
internal import Certificates
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

/// Requests and issued certificates in the eyes of OpenSSL, both ways.
@Suite("OpenSSL and the authority") struct OpenSSLAuthorityTests {
    private let issuing = Issuing()

    /// Runs OpenSSL's `verify` for the name of the device.
    private func verify(
        _ certificate: [UInt8],
        with authority: [UInt8],
        _ name: String,
        in folder: URL
    ) throws -> (status: Int32, output: String) {
        let own = try OpenSSL.write(CertificateText.encode(authority), to: "authority.pem", in: folder)
        let file = try OpenSSL.write(CertificateText.encode(certificate), to: "device.pem", in: folder)
        return try OpenSSL.run(
            "verify",
            "-x509_strict",
            "-check_ss_sig",
            "-CAfile",
            own,
            "-purpose",
            "sslserver",
            "-verify_hostname",
            name,
            file
        )
    }

    @Test func `it verifies an issued certificate for the device's name and for no other`() throws {
        guard try OpenSSL.isPresent() else { return }
        let message = try issuing.message(for: issuing.device)
        try OpenSSL.withFolder { folder in
            let right = try verify(message.certificateDER, with: message.authorityDER, message.peerId.text, in: folder)
            #expect(right.status == 0, "\(right.output)")
            let other = PeerId(publicKey: issuing.root.publicKey).text
            #expect(try verify(message.certificateDER, with: message.authorityDER, other, in: folder).status != 0)
            let foreign = try Issuing(seed: 7).message(for: issuing.device)
            let mixed = try verify(message.certificateDER, with: foreign.authorityDER, message.peerId.text, in: folder)
            #expect(mixed.status != 0)
            let text = try OpenSSL.run("x509", "-in", folder.appending(path: "authority.pem").path, "-noout", "-text")
            for line in ["CA:TRUE, pathlen:0", "Certificate Sign, CRL Sign", "Signature Algorithm: ED25519"] {
                #expect(text.output.contains(line), "\(line) is missing in\n\(text.output)")
            }
        }
    }

    @Test func `it verifies our request and reads the name in it`() throws {
        guard try OpenSSL.isPresent() else { return }
        let request = try CertificateRequest(for: issuing.device)
        try OpenSSL.withFolder { folder in
            let file = try OpenSSL.write(request.der, to: "request.der", in: folder)
            let read = try OpenSSL.run("req", "-inform", "DER", "-in", file, "-noout", "-verify", "-text")
            #expect(read.status == 0)
            for line in ["verify OK", "CN = \(request.peerId.text)", "DNS:\(request.peerId.text)"] {
                #expect(read.output.contains(line), "\(line) is missing in\n\(read.output)")
            }
            var changed = request.der
            changed[changed.count - 1] ^= 1
            let bad = try OpenSSL.write(changed, to: "changed.der", in: folder)
            #expect(
                try !OpenSSL.run("req", "-inform", "DER", "-in", bad, "-noout", "-verify").output.contains("verify OK")
            )
        }
    }

    @Test func `a request that it made gets a certificate, one for another name none`() throws {
        guard try OpenSSL.isPresent() else { return }
        let certificate = try NodeCertificate.selfSigned(for: issuing.device)
        let peer = PeerId(publicKey: issuing.device.publicKey)
        try OpenSSL.withFolder { folder in
            let key = try certificate.privateKeyDER.withBytes { try OpenSSL.write($0, to: "key.der", in: folder) }
            for (subject, alternative) in [(peer.text, peer.text), ("laptop", peer.text), (peer.text, "laptop")] {
                let file = folder.appending(path: "request.der")
                let made = try OpenSSL.run(
                    "req",
                    "-new",
                    "-keyform",
                    "DER",
                    "-key",
                    key,
                    "-subj",
                    "/CN=\(subject)",
                    "-addext",
                    "subjectAltName=DNS:\(alternative)",
                    "-outform",
                    "DER",
                    "-out",
                    file.path
                )
                #expect(made.status == 0, "\(made.output)")
                let der = [UInt8](try Data(contentsOf: file))
                guard subject == alternative else {
                    #expect(throws: NodeCertificateError.wrongName(expected: peer.text)) {
                        try CertificateRequest(der: der)
                    }
                    continue
                }
                var random = SplitMix64(seed: 3)
                let message = try issuing.authority.issue(
                    for: CertificateRequest(der: der),
                    until: issuing.end,
                    using: &random
                )
                #expect(message.peerId == peer)
            }
        }
    }
}
#endif
