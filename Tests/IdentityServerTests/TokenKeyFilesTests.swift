internal import CommandModel
internal import Crypto
internal import Foundation
internal import NanoTDF
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

@Suite("Files with the keys of tokens") struct TokenKeyFilesTests {
    private let home: TemporaryDirectory
    private let now: UInt64 = 1_900_000_000

    init() throws {
        home = try TemporaryDirectory()
    }

    private func files(
        signing: String? = nil,
        encoding: String? = nil,
        decoding: String? = nil
    ) throws -> TokenKeyFiles {
        func path(_ name: String?) -> String? { name.map { home.file($0) } }
        return TokenKeyFiles(
            TokenKeyFiles.Paths(signing: path(signing), encoding: path(encoding), decoding: path(decoding)),
            in: try DataDirectory(at: home.path)
        )
    }

    private func write(_ text: String, to name: String) throws {
        try home.write(Array(text.utf8), to: name)
    }

    /// The code and the message of a refusal to load keys.
    private func failure(_ files: TokenKeyFiles) -> CommandFailure? {
        do {
            _ = try files.load(at: now)
            return nil
        } catch {
            return CommandFailure(error)
        }
    }

    /// A private key in SEC 1 (RFC 5915), as OpenSSL writes "EC PRIVATE KEY".
    private func sec1(_ key: P256.Signing.PrivateKey) -> String {
        let curve = DER.identifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
        let point = DER.tagged(0x03, [0] + [UInt8](key.publicKey.x963Representation))
        let bytes = DER.sequence(
            DER.integer([1]) + DER.octets([UInt8](key.rawRepresentation)) + DER.tagged(0xA0, curve)
                + DER.tagged(0xA1, point)
        )
        let text = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN EC PRIVATE KEY-----\n\(text)\n-----END EC PRIVATE KEY-----\n"
    }

    private func publicKey(_ key: P256.Signing.PrivateKey) throws -> NanoTDFPublicKey {
        try NanoTDFPublicKey(pemRepresentation: key.publicKey.pemRepresentation)
    }

    @Test func `the first start makes keys that others cannot read, and the next one reads them`() throws {
        let made = try files().load(at: now)
        #expect(try home.names() == ["sign-key.pem", "token-key.pem"])
        for name in try home.names() {
            let attributes = try FileManager.default.attributesOfItem(atPath: home.file(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let read = try files().load(at: now)
        #expect(read.signing.publicKey == made.signing.publicKey)
        #expect(read.recipient.publicKey == made.recipient.publicKey)
        #expect(made.signing.publicKey != made.recipient.publicKey)
        #expect(made.previous == nil)
    }

    @Test func `a rotation keeps the modes of the files, and the key of tokens`() throws {
        let first = try files().load(at: now)
        try files().rotate(at: now, untilSeconds: now + 10)
        for name in try home.names() {
            let attributes = try FileManager.default.attributesOfItem(atPath: home.file(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let second = try files().load(at: now)
        #expect(second.previous?.key == first.signing.publicKey)
        #expect(second.recipient.publicKey == first.recipient.publicKey)
        let text = String(decoding: try home.bytes("sign-key-previous.pem"), as: UTF8.self)
        #expect(!text.contains("PRIVATE"))
        #expect(try files().load(at: now + 9).previous != nil)
        #expect(try files().load(at: now + 10).previous == nil)
    }

    @Test func `a second rotation waits until the tokens of the first key have expired`() throws {
        _ = try files().load(at: now)
        try files().rotate(at: now, untilSeconds: now + 10)
        let second = try files().load(at: now)
        do {
            try files().rotate(at: now + 9, untilSeconds: now + 20)
            Issue.record("the key was rotated")
        } catch {
            #expect(CommandFailure(error).code == "key-just-rotated")
        }
        #expect(try files().load(at: now + 9).signing.publicKey == second.signing.publicKey)
        try files().rotate(at: now + 10, untilSeconds: now + 20)
        #expect(try files().load(at: now + 10).previous?.key == second.signing.publicKey)
    }

    @Test func `a key of the operator is read in PKCS 8 and SEC 1`() throws {
        let key = P256.Signing.PrivateKey()
        for text in [
            key.pemRepresentation, sec1(key),
            "-----BEGIN EC PARAMETERS-----\n" + "BggqhkjOPQMBBw==\n"
                + "-----END EC PARAMETERS-----\n" + sec1(key),
        ] {
            try write(text, to: "operator.pem")
            let keys = try files(signing: "operator.pem").load(at: now)
            #expect(keys.signing.publicKey == (try publicKey(key)))
        }
        #expect(!(try home.names().contains("sign-key.pem")))
    }

    @Test func `a missing file of the operator is an error, and is not made`() throws {
        let refusal = failure(try files(signing: "missing.pem"))
        #expect(refusal?.code == "bad-key-file")
        #expect(refusal?.message.contains("missing.pem") == true)
        #expect(try home.names().isEmpty)
        #expect(failure(try files(encoding: "missing.pem"))?.code == "bad-key-file")
    }

    @Test func `a key of the operator is not rotated`() throws {
        try write(P256.Signing.PrivateKey().pemRepresentation, to: "operator.pem")
        let before = try home.bytes("operator.pem")
        let files = try files(signing: "operator.pem")
        do {
            try files.rotate(at: now, untilSeconds: now + 10)
            Issue.record("the key was rotated")
        } catch {
            #expect(CommandFailure(error).code == "key-of-operator")
        }
        #expect(try home.bytes("operator.pem") == before)
    }

    @Test func `the halves of a pair are read from either file`() throws {
        let key = P256.Signing.PrivateKey()
        try write(key.pemRepresentation, to: "private.pem")
        try write(key.publicKey.pemRepresentation, to: "public.pem")
        let expected = try publicKey(key)
        let pairs: [(encoding: String?, decoding: String?)] = [
            ("private.pem", "public.pem"), ("public.pem", "private.pem"), ("private.pem", "private.pem"),
            ("private.pem", nil), (nil, "private.pem"),
        ]
        for pair in pairs {
            let keys = try files(encoding: pair.encoding, decoding: pair.decoding).load(at: now)
            #expect(keys.recipient.publicKey == expected)
        }
        #expect(!(try home.names().contains("token-key.pem")))
    }

    @Test func `two keys that are no pair are refused`() throws {
        let (key, other) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        try write(key.pemRepresentation, to: "private.pem")
        try write(other.publicKey.pemRepresentation, to: "public.pem")
        try write(other.pemRepresentation, to: "other.pem")
        for name in ["public.pem", "other.pem"] {
            for files in [
                try files(encoding: "private.pem", decoding: name), try files(encoding: name, decoding: "private.pem"),
            ] {
                let failure = failure(files)
                #expect(failure?.code == "bad-key-file")
                #expect(failure?.message.contains("two halves of one pair") == true)
            }
        }
    }

    @Test func `a public key alone opens no token`() throws {
        try write(P256.Signing.PrivateKey().publicKey.pemRepresentation, to: "public.pem")
        for files in [
            try files(encoding: "public.pem"), try files(decoding: "public.pem"),
            try files(encoding: "public.pem", decoding: "public.pem"),
        ] {
            let failure = failure(files)
            #expect(failure?.code == "bad-key-file")
            #expect(failure?.message.contains("must have the private key") == true)
        }
        #expect(failure(try files(signing: "public.pem"))?.code == "bad-key-file")
    }

    @Test func `a key on another curve is refused`() throws {
        try write(P384.Signing.PrivateKey().pemRepresentation, to: "p384.pem")
        for files in [try files(signing: "p384.pem"), try files(encoding: "p384.pem"), try files(decoding: "p384.pem")]
        {
            let failure = failure(files)
            #expect(failure?.code == "bad-key-file")
            #expect(failure?.message.contains("secp256r1") == true)
        }
    }

    @Test func `a file without a key is refused with its path`() throws {
        let cut = String(P256.Signing.PrivateKey().pemRepresentation.dropLast(60))
        let pem = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
        for text in ["", "secret", cut, pem] {
            try write(text, to: "bad.pem")
            for files in [try files(signing: "bad.pem"), try files(encoding: "bad.pem")] {
                let failure = failure(files)
                #expect(failure?.code == "bad-key-file")
                #expect(failure?.message.contains(home.file("bad.pem")) == true)
            }
        }
        try home.write([0xFF, 0xFE, 0x00], to: "bad.pem")
        #expect(failure(try files(signing: "bad.pem"))?.code == "bad-key-file")
        try home.write([UInt8](repeating: 0x41, count: 20_000), to: "bad.pem")
        #expect(failure(try files(signing: "bad.pem")) != nil)
    }

    @Test func `a previous key without its time is refused`() throws {
        _ = try files().load(at: now)
        try write(P256.Signing.PrivateKey().publicKey.pemRepresentation, to: "sign-key-previous.pem")
        #expect(failure(try files())?.code == "bad-key-file")
        try write("until: soon\n", to: "sign-key-previous.pem")
        #expect(failure(try files())?.code == "bad-key-file")
        try write("until: \(now + 1)\nnothing\n", to: "sign-key-previous.pem")
        #expect(failure(try files())?.code == "bad-key-file")
    }

    @Test func `the watched files are those in use`() throws {
        let named = try files(signing: "a.pem", encoding: "b.pem", decoding: "c.pem")
        for name in ["a.pem", "b.pem", "c.pem", "sign-key-previous.pem"] {
            #expect(named.watchedPaths.contains(home.file(name)))
        }
        #expect(try files().watchedPaths.contains(home.file("sign-key.pem")))
        #expect(try files().watchedPaths.contains(home.file("token-key.pem")))
    }
}
