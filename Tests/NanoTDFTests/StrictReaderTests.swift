import Bytes
import Foundation
import NanoTDF
import TestSupport
import Testing

@Suite("Refused NanoTDFs") struct StrictReaderTests {
    /// A change of the first sample of the SDKs, whose locator has 49 bytes, and the field that is refused.
    struct Damage: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let position: Int
        let bytes: [UInt8]
        let field: NanoTDFError.Field
        let offset: Int
    }

    /// Offsets in the first sample: locator 3, modes 52 and 53, policy 54, content 57, binding 145, key 153, payload 186.
    static let damages = [
        Damage(testDescription: "another magic number", position: 0, bytes: [0x4D], field: .magic, offset: 0),
        Damage(testDescription: "version 13", position: 2, bytes: [0x4D], field: .magic, offset: 0),
        Damage(testDescription: "version 11", position: 2, bytes: [0x4B], field: .magic, offset: 0),
        Damage(testDescription: "protocol 2", position: 3, bytes: [0x32], field: .locatorProtocol, offset: 3),
        Damage(testDescription: "protocol 14", position: 3, bytes: [0x3E], field: .locatorProtocol, offset: 3),
        Damage(testDescription: "identifier 4", position: 3, bytes: [0x41], field: .locatorIdentifier, offset: 3),
        Damage(testDescription: "identifier 15", position: 3, bytes: [0xF1], field: .locatorIdentifier, offset: 3),
        Damage(testDescription: "an empty body", position: 4, bytes: [0], field: .locatorBody, offset: 4),
        Damage(testDescription: "a body that is not UTF-8", position: 5, bytes: [0xFF], field: .locatorBody, offset: 5),
        Damage(testDescription: "reserved bit 3", position: 52, bytes: [0x08], field: .bindingMode, offset: 52),
        Damage(testDescription: "reserved bit 6", position: 52, bytes: [0x40], field: .bindingMode, offset: 52),
        Damage(testDescription: "curve 4", position: 52, bytes: [0x04], field: .bindingMode, offset: 52),
        Damage(testDescription: "curve 7", position: 52, bytes: [0x07], field: .bindingMode, offset: 52),
        Damage(testDescription: "cipher 6", position: 53, bytes: [0x06], field: .payloadMode, offset: 53),
        Damage(testDescription: "cipher 15", position: 53, bytes: [0x0F], field: .payloadMode, offset: 53),
        Damage(testDescription: "curve 4 of a signature", position: 53, bytes: [0x40], field: .payloadMode, offset: 53),
        Damage(testDescription: "policy 4", position: 54, bytes: [4], field: .policyType, offset: 54),
        Damage(testDescription: "policy 255", position: 54, bytes: [255], field: .policyType, offset: 54),
        Damage(testDescription: "an empty policy", position: 55, bytes: [0, 0], field: .policyContent, offset: 55),
        Damage(testDescription: "a tag as policy", position: 54, bytes: [2, 0, 8], field: .policyContent, offset: 57),
        Damage(testDescription: "an uncompressed key", position: 153, bytes: [4], field: .ephemeralKey, offset: 153),
        Damage(testDescription: "no point", position: 154, bytes: noPoint, field: .ephemeralKey, offset: 153),
        Damage(testDescription: "a short one", position: 186, bytes: [0, 0, 10], field: .payloadLength, offset: 186),
        Damage(testDescription: "a long payload", position: 186, bytes: [0, 0, 36], field: .payload, offset: 217),
        Damage(testDescription: "the IV 000000", position: 189, bytes: [0, 0, 0], field: .iv, offset: 189),
    ]

    /// An x-coordinate above the prime of the field.
    private static let noPoint = [UInt8](repeating: 0xFF, count: 32)

    @Test(arguments: damages)
    func `a field outside the format is refused with its offset`(damage: Damage) throws {
        var bytes = try Hex.decode(Samples.sdk()[0].nanotdf)
        #expect(bytes.count == 224)
        bytes.replaceSubrange(damage.position..<damage.position + damage.bytes.count, with: damage.bytes)
        let error = #expect(throws: NanoTDFError.self) { try NanoTDF(bytes) }
        guard case .malformed(let field, let offset, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(field == damage.field)
        #expect(offset == damage.offset)
    }

    @Test func `a file is refused when it is cut at any offset or goes on`() throws {
        for text in try Samples.published().map(\.nanotdf) + [Samples.sdk()[0].nanotdf] {
            let bytes = try Hex.decode(text)
            for count in bytes.indices {
                #expect(throws: NanoTDFError.self, "cut at \(count)") { try NanoTDF([UInt8](bytes.prefix(count))) }
            }
            let goesOn = NanoTDFError.malformed(
                field: .end,
                offset: bytes.count,
                reason: "1 bytes follow the last field"
            )
            #expect(throws: goesOn) { try NanoTDF(bytes + [0]) }
            let first = try NanoTDF.first(in: (bytes + [0])[...])
            #expect(first.byteCount == bytes.count)
            #expect(first.file.bytes == bytes)
        }
    }

    @Test func `a change of any byte of a signed file is refused`() throws {
        let recipient = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let creator = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        for policy in [NanoTDFSealer.Policy.remote(try Samples.locator()), .plain([1, 2]), .encrypted([1, 2])] {
            let bytes = try Samples.sealed(to: recipient.publicKey, policy: policy, creator: creator).bytes
            let signature = bytes.count - 64 - 33
            for index in bytes.indices where index != signature {
                for bit in [0, 3, 7] {
                    var changed = bytes
                    changed[index] ^= 1 << UInt8(bit)
                    #expect(throws: NanoTDFError.self, "byte \(index), bit \(bit)") {
                        try NanoTDFOpener.open(NanoTDF(changed), with: recipient)
                    }
                }
            }
        }
    }

    @Test func `a file without signature protects all but the locator and the meaningless bits`() throws {
        let recipient = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let bytes = try Samples.sealed(to: recipient.publicKey).bytes
        var unprotected: Set<Int> = []
        for index in bytes.indices {
            for bit in UInt8(0)..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                if (try? NanoTDFOpener.open(NanoTDF(changed), with: recipient)) != nil {  // an error is expected
                    unprotected.insert(index)
                }
            }
        }
        // The protocol, the body and the identifier; then the curve of an absent signature.
        #expect(unprotected.isSubset(of: Set([3] + Array(5..<22) + [23])))
        #expect(unprotected.contains(5))
    }

    @Test func `a remote policy that was changed is refused`() throws {
        let sample = try Samples.published()[1]
        let bytes = try Hex.decode(sample.nanotdf)
        for index in 23..<54 {
            var changed = bytes
            changed[index] ^= 1
            #expect(throws: NanoTDFError.self) { try NanoTDFOpener.open(NanoTDF(changed), with: sample.key()) }
        }
    }

    @Test func `a hash binding lets anyone replace the policy`() throws {
        let recipient = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let genuine = try Samples.sealed(to: recipient.publicKey, binding: .hash).bytes
        let policy = NanoTDFSealer.Policy.plain([UInt8]("no limit".utf8))
        let other = try Samples.sealed(to: recipient.publicKey, policy: policy, binding: .hash).bytes
        // Type, length, content and binding of the policy, which need no key.
        var forged = genuine
        forged.replaceSubrange(24..<24 + 19, with: other[24..<24 + 19])
        let opened = try NanoTDFOpener.open(NanoTDF(forged), with: recipient)
        #expect(opened.policy == [UInt8]("no limit".utf8))
        #expect(opened.binding == .hash)
        #expect(!opened.binding.isAuthenticated)
    }

    @Test func `a message with another header than its collection is refused`() throws {
        let recipient = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let opener = try NanoTDFOpener(Samples.sealed(to: recipient.publicKey).header, key: recipient)
        let other = try Samples.sealed(to: recipient.publicKey)
        #expect(throws: NanoTDFError.otherHeader) { try opener.open(other) }
    }

    @Test func `anyone can remove a signature, and the report says that there is none`() throws {
        let recipient = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let creator = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        var bytes = try Samples.sealed(to: recipient.publicKey, creator: creator).bytes
        bytes[23] &= 0x0F
        bytes.removeLast(33 + 64)
        #expect(try NanoTDFOpener.open(NanoTDF(bytes), with: recipient).creator == nil)
    }

    @Test func `anyone can shorten a tag, and the header says so`() throws {
        let recipient = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let sealed = try Samples.sealed(to: recipient.publicKey)
        var bytes = sealed.bytes
        bytes[23] = 0
        bytes.removeLast(8)
        bytes[bytes.count - sealed.payload.ciphertext.count - 8 - 3 - 1] -= 8
        let file = try NanoTDF(bytes)
        #expect(file.header.cipher == .aes256GCM64)
        #expect(try NanoTDFOpener.open(file, with: recipient).plaintext == [UInt8]("a message".utf8))
    }

    @Test func `locators of different bytes are different, even if their text is equal`() throws {
        let composed = try ResourceLocator(.https, body: "caf\u{E9}.example")
        let decomposed = try ResourceLocator(.https, body: "cafe\u{301}.example")
        #expect(composed.body == decomposed.body)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test func `a GMAC opened with another key names both causes`() throws {
        let sample = try #require(try Samples.made().first { $0.binding == "gmac" })
        let file = try NanoTDF(Hex.decode(sample.nanotdf))
        let other = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let error = #expect(throws: NanoTDFError.invalidBinding) { try NanoTDFOpener.open(file, with: other) }
        #expect(error?.description.contains("the policy was changed, or the key is another one") == true)
    }

    @Test func `a changed hash binding is refused`() throws {
        let recipient = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        var bytes = try Samples.sealed(to: recipient.publicKey, binding: .hash).bytes
        bytes[27] ^= 1
        #expect(throws: NanoTDFError.invalidBinding) { try NanoTDFOpener.open(NanoTDF(bytes), with: recipient) }
    }

    @Test func `another key does not open a file`() throws {
        for curve in Samples.curves {
            let recipient = try NanoTDFPrivateKey(generatedOn: curve)
            let other = try NanoTDFPrivateKey(generatedOn: curve)
            for cipher in SymmetricCipher.allCases {
                let file = try Samples.sealed(to: recipient.publicKey, cipher: cipher)
                #expect(throws: NanoTDFError.authenticationFailed) { try NanoTDFOpener.open(file, with: other) }
            }
        }
    }

    @Test func `a key on another curve is refused with both names`() throws {
        let recipient = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let file = try Samples.sealed(to: recipient.publicKey)
        let other = try NanoTDFPrivateKey(generatedOn: .secp384r1)
        #expect(throws: NanoTDFError.wrongCurve(expected: .secp256r1, found: .secp384r1)) {
            try NanoTDFOpener.open(file, with: other)
        }
    }

    @Test func `secp256k1 is recognised and refused`() throws {
        var bytes = try Hex.decode(Samples.sdk()[0].nanotdf)
        bytes[52] = 3
        let file = try NanoTDF(bytes)
        #expect(file.header.ephemeralPublicKey.curve == .secp256k1)
        #expect(file.bytes == bytes)
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        #expect(throws: NanoTDFError.unsupportedCurve(.secp256k1)) { try NanoTDFOpener.open(file, with: key) }
        #expect(throws: NanoTDFError.unsupportedCurve(.secp256k1)) { try NanoTDFPrivateKey(generatedOn: .secp256k1) }
        let recipient = file.header.ephemeralPublicKey
        #expect(throws: NanoTDFError.unsupportedCurve(.secp256k1)) { try Samples.sealed(to: recipient) }
    }

    @Test func `a policy with its own key access is recognised and refused`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        var bytes = try Samples.sealed(to: key.publicKey).bytes
        bytes[24] = 3
        let policyKey = try NanoTDFPrivateKey(generatedOn: .secp256r1).publicKey
        bytes.insert(contentsOf: [1, 1, 0x61] + policyKey.compressedRepresentation, at: 24 + 3 + 8)
        let file = try NanoTDF(bytes)
        #expect(file.bytes == bytes)
        let locator = try ResourceLocator(.https, body: "a")
        let content = [UInt8]("a policy".utf8)
        #expect(file.header.policy == .encryptedWithKeyAccess(content, locator, ephemeralPublicKey: policyKey))
        #expect(throws: NanoTDFError.unsupportedPolicy) { try NanoTDFOpener.open(file, with: key) }
    }

    @Test func `damaged files never crash the reader`() throws {
        let inputs = try Samples.made().map { try Hex.decode($0.nanotdf) }
        neverCrash(on: inputs, rounds: 5_000) { bytes in
            let file = try NanoTDF(bytes)
            #expect(file.bytes == bytes)
        }
    }

    @Test func `damaged files never crash the opener`() throws {
        let samples = try Samples.published()
        for sample in samples {
            let key = try sample.key()
            neverCrash(on: [try Hex.decode(sample.nanotdf)], rounds: 500) { bytes in
                _ = try NanoTDFOpener.open(NanoTDF(bytes), with: key)
            }
        }
    }
}
