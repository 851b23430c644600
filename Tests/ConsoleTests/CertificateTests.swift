internal import Bytes
internal import Certificates
internal import Console
internal import Foundation
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing

@Suite("The console's certificate", .timeLimit(.minutes(15))) struct CertificateTests {
    private static let now: UInt64 = 1_800_000_000
    private static let addresses = ["192.168.7.5", "fd00::5", "fe80::5%3"].compactMap { IPAddress($0) }
    private let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem").path

    private func load(at seconds: UInt64 = now, _ addresses: [IPAddress] = addresses) throws -> ServerCertificate {
        try ConsoleCertificate.load(
            from: path,
            addresses: addresses,
            hostName: "a-device",
            clocks: Clocks(monotonic: { .zero }, wallSeconds: { seconds })
        )
    }

    private func withoutFile(_ body: () throws -> Void) rethrows {
        defer { try? FileManager.default.removeItem(atPath: path) }  // a test need not have made it
        try body()
    }

    @Test(.enabled(if: NetworkVisitor.missing.isEmpty, Comment(rawValue: NetworkVisitor.missing)))
    func `an independent reader finds a certificate that browsers take, and its fingerprint`() async throws {
        let made = try load()
        defer { try? FileManager.default.removeItem(atPath: path) }  // a test need not have made it
        try await withNetworkConsole(certificate: made) { port in
            let found = try await NetworkVisitor(port, token: "").certificate()
            #expect(found.curve == "secp256r1")
            #expect(found.hash == "sha256")
            #expect(Set(found.addresses) == ["192.168.7.5", "fd00::5", "fe80::5"])
            #expect(found.names == ["a-device"])
            #expect(found.uses == ["serverAuth"])
            #expect(found.signs)
            #expect(!found.signsCertificates)
            #expect((120...127).contains(found.serialBits))
            #expect(found.days == 825)
            #expect(found.end == made.endSeconds)
            #expect(found.fingerprint == made.fingerprint)
        }
    }

    @Test func `it is kept in a file for the person alone, and is the same for other addresses`() throws {
        try withoutFile {
            let first = try load()
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let second = try load(at: Self.now + 700 * 86_400, [])
            #expect(second.fingerprint == first.fingerprint)
            #expect(second.privateKeyDER == first.privateKeyDER)
            #expect(first.fingerprint.count == 32 * 3 - 1)
        }
    }

    @Test func `it is made anew, with another key, when fewer than thirty days are left`() throws {
        try withoutFile {
            let first = try load()
            let late = first.endSeconds - 30 * 86_400
            #expect(try load(at: late).fingerprint == first.fingerprint)
            let second = try load(at: late + 1)
            #expect(second.fingerprint != first.fingerprint)
            #expect(second.privateKeyDER != first.privateKeyDER)
            #expect(second.endSeconds > first.endSeconds)
            #expect(try load(at: late + 1).fingerprint == second.fingerprint)
        }
    }

    @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"])
    func `a damaged file is named with what to do, and is not replaced`(text: String) throws {
        try withoutFile {
            try Data(text.utf8).write(to: URL(filePath: path))
            let error = #expect(throws: ConsoleCertificateError.self) { try load() }
            #expect(error?.description.contains(path) == true)
            #expect(error?.description.contains("Remove the file") == true)
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(text.utf8))
        }
    }

    @Test func `a key that is not the certificate's is refused`() throws {
        var random = SystemRandomNumberGenerator()
        let texts = try (0..<2).map { _ in
            let one = try ServerCertificate.make(addresses: [], hostName: nil, at: Self.now, using: &random)
            return one.pem.withBytes { String(decoding: $0, as: UTF8.self) }
        }
        let key = try #require(texts[1].range(of: "-----BEGIN PRIVATE"))
        let end = try #require(texts[0].range(of: "-----BEGIN PRIVATE"))
        let mixed = String(texts[0][..<end.lowerBound]) + String(texts[1][key.lowerBound...])
        #expect(throws: NodeCertificateError.self) { try ServerCertificate(pem: mixed) }
        #expect(throws: Never.self) { try ServerCertificate(pem: texts[0]) }
    }

    @Test func `no text crashes the reader`() throws {
        var random = SplitMix64(seed: 5)
        var system = SystemRandomNumberGenerator()
        let made = try ServerCertificate.make(addresses: Self.addresses, hostName: "a", at: Self.now, using: &system)
        let text = made.pem.withBytes { $0 }
        for _ in 0..<400 {
            var damaged = text
            for _ in 0..<1 + Int(random.next() % 4) {
                damaged[Int(random.next() % UInt64(damaged.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            if random.next() % 4 == 0 { damaged.removeLast(Int(random.next() % UInt64(damaged.count))) }
            // Whatever was changed, an accepted text has a key that fits the certificate.
            let read = try? ServerCertificate(pem: String(decoding: damaged, as: UTF8.self))  // refused is well
            if let read { #expect(read.privateKeyDER == made.privateKeyDER) }
        }
        let long = String(repeating: "-", count: ServerCertificate.maximumTextByteCount + 1)
        #expect(throws: NodeCertificateError.self) { try ServerCertificate(pem: long) }
    }

    @Test(arguments: ["a\u{0}bc", "größe", "", String(repeating: "a", count: 254), "a bc"])
    func `a machine's name that fits no certificate is left out`(name: String) throws {
        var random = SystemRandomNumberGenerator()
        let made = try ServerCertificate.make(addresses: [], hostName: name, at: Self.now, using: &random)
        #expect(!made.certificateDER.contains(Array(name.utf8)) || name.isEmpty)
        #expect(made.certificateDER.contains(Array("localhost".utf8)))
    }
}
