import Bytes
import Foundation
import NanoTDF
import TestSupport
import Testing

@Suite("NanoTDF vectors") struct VectorTests {
    @Test(arguments: try Samples.published())
    func `an example of the specification opens`(sample: Samples.Published) throws {
        let bytes = try Hex.decode(sample.nanotdf)
        let file = try NanoTDF(bytes)
        #expect(file.bytes == bytes)
        #expect(file.header.keyAccess.url == sample.key_access)
        #expect(file.header.keyAccess.identifier == [])
        #expect(file.header.policy == .remote(try ResourceLocator(url: sample.policy)))
        #expect(file.header.cipher.rawValue == sample.cipher)
        #expect(file.header.signatureCurve.rawValue == sample.signature_curve)
        #expect(file.header.isSigned == (sample.creator != nil))

        let opened = try NanoTDFOpener.open(file, with: sample.key())
        #expect(opened.plaintext == [UInt8](sample.plaintext.utf8))
        #expect(opened.dialect == .specification)
        #expect(opened.binding == .ecdsa)
        #expect(opened.creator.map { Hex.encode($0.compressedRepresentation) } == sample.creator)
        #expect(opened.policy == nil)
    }

    @Test(arguments: try Samples.sdk())
    func `a file in the dialect of the SDKs opens`(sample: Samples.SDK) throws {
        let bytes = try Hex.decode(sample.nanotdf)
        let file = try NanoTDF(bytes)
        #expect(file.bytes == bytes)
        #expect(file.header.keyAccess.identifier == [UInt8](sample.key_identifier.utf8))
        #expect(file.header.cipher.rawValue == sample.cipher)

        let secret = SecretBytes(copying: try Hex.decode(sample.recipient_private))
        let opened = try NanoTDFOpener.open(file, with: NanoTDFPrivateKey(rawRepresentation: secret, on: .secp256r1))
        #expect(opened.plaintext == [UInt8](sample.plaintext_utf8.utf8))
        #expect(opened.policy == [UInt8](sample.policy_utf8.utf8))
        #expect(opened.dialect == .sdk)
        #expect(opened.binding == .hash)
        #expect(!opened.binding.isAuthenticated)
        #expect(opened.creator == nil)
    }

    @Test(arguments: try Samples.made())
    func `a file of another implementation opens`(sample: Samples.Made) throws {
        let bytes = try Hex.decode(sample.nanotdf)
        let file = try NanoTDF(bytes)
        #expect(file.bytes == bytes)
        #expect(file.header.policy.type == sample.policy_type)

        let opened = try NanoTDFOpener.open(file, with: sample.key())
        #expect(Hex.encode(opened.plaintext) == sample.plaintext)
        #expect(opened.dialect.rawValue == sample.dialect)
        #expect(opened.binding.rawValue == sample.binding)
        #expect(opened.policy.map { Hex.encode($0) } == sample.policy)
        #expect(opened.creator.map { Hex.encode($0.compressedRepresentation) } == sample.creator)
    }

    @Test(arguments: try Samples.made())
    func `a key of another implementation is read from PEM`(sample: Samples.Made) throws {
        let key = try NanoTDFPrivateKey(pemRepresentation: sample.recipient_pem)
        #expect(key.curve.rawValue == sample.curve)
        #expect(key.rawRepresentation.withBytes { Hex.encode($0) } == sample.recipient_private)
        let pem = try #require(key.publicKey.pemRepresentation)
        #expect(try NanoTDFPublicKey(pemRepresentation: pem) == key.publicKey)
    }
}
