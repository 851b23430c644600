#if os(Linux)
internal import Bytes
internal import Certificates
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

/// Our certificates in the eyes of an implementation that shares no code with ours.
///
/// Without an `openssl` command the tests say so and check nothing; with one, they fail when it disagrees.
@Suite("OpenSSL") struct OpenSSLTests {
    let key: Ed25519PrivateKey
    let certificate: NodeCertificate

    init() throws {
        var random = SplitMix64(seed: 6)
        key = Ed25519PrivateKey(generating: &random)
        certificate = try NodeCertificate.selfSigned(for: key, using: &random)
    }

    @Test func `it verifies the certificate and reads what we wrote`() throws {
        guard try isPresent() else { return }
        try withFolder { folder in
            let file = try write(CertificateText.encode(certificate.certificateDER), to: "certificate.pem", in: folder)
            let purposes = ["sslserver", "sslclient"]
            for purpose in purposes {
                let verified = try openssl(
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
            let text = try openssl("x509", "-in", file, "-noout", "-text").output
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
        guard try isPresent() else { return }
        try withFolder { folder in
            let certificateFile = try write(certificate.certificateDER, to: "certificate.der", in: folder)
            let keyFile = try certificate.privateKeyDER.withBytes { try write($0, to: "key.der", in: folder) }
            let fromCertificate = try openssl("x509", "-inform", "DER", "-in", certificateFile, "-noout", "-pubkey")
            let fromKey = try openssl("pkey", "-inform", "DER", "-in", keyFile, "-pubout")
            #expect(fromCertificate.status == 0 && fromKey.status == 0, "\(fromCertificate.output)\(fromKey.output)")
            #expect(fromCertificate.output == fromKey.output)
            let spki = try Hex.decode("302a300506032b6570032100") + key.publicKey.bytes
            #expect(fromKey.output.contains(Base64.encode(spki)))
        }
    }

    @Test func `it does not verify a certificate with a changed byte`() throws {
        guard try isPresent() else { return }
        try withFolder { folder in
            var changed = certificate.certificateDER
            changed[changed.count - 20] ^= 1
            let file = try write(CertificateText.encode(changed), to: "changed.pem", in: folder)
            #expect(try openssl("verify", "-CAfile", file, "-check_ss_sig", "-partial_chain", file).status != 0)
        }
    }

    private func isPresent() throws -> Bool {
        let version = try openssl("version")
        if version.status != 0 {
            print("not checked against OpenSSL: no openssl command was found (\(version.output))")
        }
        return version.status == 0
    }

    /// Runs the command and gives its exit status and what it printed.
    private func openssl(_ arguments: String...) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }

    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runar-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        defer { remove(folder) }
        try body(folder)
    }

    private func remove(_ folder: URL) {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            Issue.record("the temporary folder could not be removed: \(error)")
        }
    }

    private func write(_ bytes: [UInt8], to name: String, in folder: URL) throws -> String {
        let file = folder.appending(path: name)
        try Data(bytes).write(to: file)
        return file.path(percentEncoded: false)
    }

    private func write(_ text: String, to name: String, in folder: URL) throws -> String {
        try write([UInt8](text.utf8), to: name, in: folder)
    }
}
#endif
