import Bytes
import Foundation
import NanoTDF
import TestSupport
import Testing

@Suite("Sealing a NanoTDF") struct SealingTests {
    /// A combination of header fields.
    struct Choice: CustomTestStringConvertible, Sendable {
        let curve: EllipticCurve
        let cipher: SymmetricCipher
        let binding: NanoTDFHeader.BindingMode
        let policy: NanoTDFSealer.Policy

        var testDescription: String { "\(curve), \(cipher), \(binding), \(policy)" }

        static func all() throws -> [Choice] {
            let policies: [NanoTDFSealer.Policy] = [
                .remote(try ResourceLocator(url: "https://kas.example.com/policy")),
                .plain([UInt8]("a policy".utf8)),
                .encrypted([UInt8]("a policy".utf8)),
            ]
            return Samples.curves.flatMap { curve in
                SymmetricCipher.allCases.flatMap { cipher in
                    [NanoTDFHeader.BindingMode.ecdsa, .hash].flatMap { binding in
                        policies.map { Choice(curve: curve, cipher: cipher, binding: binding, policy: $0) }
                    }
                }
            }
        }
    }

    @Test func `every combination of curve, cipher, binding and policy opens again`() throws {
        for choice in try Choice.all() {
            let recipient = try NanoTDFPrivateKey(generatedOn: choice.curve)
            let sealed = try Samples.sealed(
                to: recipient.publicKey,
                policy: choice.policy,
                cipher: choice.cipher,
                binding: choice.binding
            )
            let file = try NanoTDF(sealed.bytes)
            #expect(file == sealed, "\(choice)")
            let opened = try NanoTDFOpener.open(file, with: recipient)
            #expect(opened.plaintext == [UInt8]("a message".utf8), "\(choice)")
            #expect(opened.dialect == .sdk, "\(choice)")
            #expect(opened.binding == (choice.binding == .ecdsa ? .ecdsa : .hash), "\(choice)")
            switch choice.policy {
            case .remote: #expect(opened.policy == nil, "\(choice)")
            case .plain(let content), .encrypted(let content): #expect(opened.policy == content, "\(choice)")
            }
        }
    }

    @Test func `the header that a key access service receives has no content`() throws {
        let (content, policy) = ([UInt8]("the boat leaves at half past six".utf8), [UInt8]("the crew alone".utf8))
        let needles = ["content": [content], "policy": [policy]]
        let recipient = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let locator = try ResourceLocator(url: "https://kas.example")
        let policies: [(NanoTDFSealer.Policy, Set<String>)] = [(.plain(policy), ["policy"]), (.encrypted(policy), [])]
        for (choice, visible) in policies {
            let file = try NanoTDFSealer(to: recipient.publicKey, keyAccess: locator, policy: choice).seal(content)
            #expect(occurring(needles, in: file.header.bytes) == visible)
            #expect(occurring(needles, in: file.bytes) == visible)
            let opened = try NanoTDFOpener.open(file, with: recipient)
            #expect(occurring(needles, in: opened.plaintext + (opened.policy ?? [])) == ["content", "policy"])
        }
    }

    @Test(arguments: Samples.curves, Samples.curves)
    func `a creator on any curve is reported`(recipientCurve: EllipticCurve, creatorCurve: EllipticCurve) throws {
        let recipient = try NanoTDFPrivateKey(generatedOn: recipientCurve)
        let creator = try NanoTDFPrivateKey(generatedOn: creatorCurve)
        let sealed = try Samples.sealed(to: recipient.publicKey, creator: creator)
        let file = try NanoTDF(sealed.bytes)
        #expect(file.header.isSigned)
        #expect(try NanoTDFOpener.open(file, with: recipient).creator == creator.publicKey)
    }

    @Test(arguments: [0, 2, 8, 32])
    func `an identifier of each length survives`(count: Int) throws {
        let identifier = [UInt8](repeating: 0x61, count: count)
        let recipient = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let sealer = try NanoTDFSealer(
            to: recipient.publicKey,
            keyAccess: Samples.locator(identifier: identifier),
            policy: .plain([1])
        )
        let file = try NanoTDF(sealer.seal([]).bytes)
        #expect(file.header.keyAccess.identifier == identifier)
        #expect(try NanoTDFOpener.open(file, with: recipient).plaintext == [])
    }

    @Test func `a locator outside the format is refused`() throws {
        for count in [1, 3, 7, 9, 31, 33] {
            #expect(throws: NanoTDFError.self) {
                try Samples.locator(identifier: [UInt8](repeating: 1, count: count))
            }
        }
        #expect(throws: NanoTDFError.self) { try ResourceLocator(.https, body: "") }
        #expect(throws: NanoTDFError.self) { try ResourceLocator(.https, body: String(repeating: "a", count: 256)) }
        #expect(throws: NanoTDFError.self) { try ResourceLocator(url: "ftp://example.com") }
        #expect(throws: NanoTDFError.self) { try ResourceLocator(url: "example.com") }
        #expect(try ResourceLocator(.https, body: String(repeating: "a", count: 255)).url?.count == 263)
        #expect(try ResourceLocator(.sharedResourceDirectory, body: "a").url == nil)
    }

    @Test func `the zeros at the end of an identifier are padding`() throws {
        #expect(try Samples.locator(identifier: [0x65, 0x31, 0, 0, 0, 0, 0, 0]).trimmedIdentifier == [0x65, 0x31])
        #expect(try Samples.locator(identifier: [0, 0]).trimmedIdentifier == [])
    }

    @Test func `a name becomes an identifier of the next length`() throws {
        #expect(try ResourceLocator.identifier(named: "") == [])
        #expect(try ResourceLocator.identifier(named: "e") == [0x65, 0])
        #expect(try ResourceLocator.identifier(named: "e1") == [0x65, 0x31])
        #expect(try ResourceLocator.identifier(named: "key-1") == [UInt8]("key-1".utf8) + [0, 0, 0])
        #expect(try ResourceLocator.identifier(named: "123456789").count == 32)
        #expect(throws: NanoTDFError.self) {
            try ResourceLocator.identifier(named: String(repeating: "a", count: 33))
        }
    }

    @Test func `a policy has at most 65535 bytes`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let longest = [UInt8](repeating: 7, count: 65_535)
        let file = try Samples.sealed(to: key.publicKey, policy: .plain(longest))
        #expect(try NanoTDFOpener.open(NanoTDF(file.bytes), with: key).policy == longest)
        let encrypted = [UInt8](longest.dropLast(16))
        let other = try Samples.sealed(to: key.publicKey, policy: .encrypted(encrypted))
        #expect(try NanoTDFOpener.open(NanoTDF(other.bytes), with: key).policy == encrypted)

        for policy in [
            NanoTDFSealer.Policy.plain([]), .encrypted([]), .plain(longest + [0]), .encrypted(encrypted + [0]),
        ] {
            #expect(throws: NanoTDFError.self) { try Samples.sealed(to: key.publicKey, policy: policy) }
        }
    }

    @Test func `two files to the same key share neither ephemeral key nor IV`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let files = try (0..<50).map { _ in try Samples.sealed(to: key.publicKey) }
        #expect(Set(files.map(\.header.ephemeralPublicKey)).count == 50)
        #expect(Set(files.map(\.payload.iv)).count >= 48)
    }

    @Test func `a payload above the limit is refused`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let sealer = try NanoTDFSealer(to: key.publicKey, keyAccess: Samples.locator(), policy: .plain([1]))
        let limit = sealer.plaintextByteLimit
        #expect(limit == 0xFF_FFFF - 3 - 16)
        var refused: NanoTDFError?
        do { _ = try sealer.seal([UInt8](repeating: 0, count: limit + 1)) } catch { refused = error }
        #expect(refused == .tooLarge(limit: limit, found: limit + 1))
    }

    @Test func `the largest payload opens again`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let sealer = try NanoTDFSealer(to: key.publicKey, keyAccess: Samples.locator(), policy: .plain([1]))
        let plaintext = [UInt8](repeating: 7, count: sealer.plaintextByteLimit)
        let file = try NanoTDF(sealer.seal(plaintext).bytes)
        #expect(file.bytes.count <= NanoTDF.byteLimit)
        #expect(try NanoTDFOpener.open(file, with: key).plaintext == plaintext)
    }

    @Test func `the messages of a collection share a header and open alone`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        var sealer = NanoTDFCollectionSealer(
            try NanoTDFSealer(to: key.publicKey, keyAccess: Samples.locator(), policy: .plain([1]))
        )
        let texts = (1...300).map { "message \($0)" }
        var files: [NanoTDF] = []
        for text in texts { files.append(try sealer.seal([UInt8](text.utf8))) }
        #expect(Set(files.map(\.header)).count == 1)
        #expect(files[0].payload.iv == [0, 0, 1])
        #expect(files[299].payload.iv == [0, 1, 0x2C])
        let opener = try NanoTDFOpener(files[0].header, key: key)
        for (file, text) in zip(files, texts).reversed() {
            #expect(try opener.open(file).plaintext == [UInt8](text.utf8))
        }
        #expect(try NanoTDFOpener.open(files[7], with: key).plaintext == [UInt8](texts[7].utf8))
    }
}
