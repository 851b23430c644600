import Bytes
import Foundation
import Identity
import TestSupport
import Testing

/// The vectors of P-256 keys and their DIDs, which `generate_did_key.py` makes with other libraries.
struct DIDKeyVectors: Decodable {
    struct Key: Decodable, CustomTestStringConvertible {
        let `private`: String?
        let compressed: String
        let x963: String
        let did: String

        var testDescription: String { did }
    }

    struct Signature: Decodable, CustomTestStringConvertible {
        let did: String
        let message: String
        let low: String
        let high: String
        let der_low: String
        let der_high: String

        var testDescription: String { "message \(message)" }
    }

    struct Wrong: Decodable, CustomTestStringConvertible {
        let error: String
        let text: String

        var testDescription: String { "\(error): \(text.prefix(24))" }
    }

    let keys: [Key]
    let signatures: [Signature]
    let wrong: [Wrong]

    static let file = Result { try vectors(named: "Identity/did-key.json", as: DIDKeyVectors.self) }
}

@Suite("did:key") struct DIDKeyTests {
    @Test(arguments: try DIDKeyVectors.file.get().keys)
    func `the text of a DID is that of other implementations`(vector: DIDKeyVectors.Key) throws {
        let key = try P256PublicKey(compressed: Hex.decode(vector.compressed))
        let did = DIDKey(key)
        #expect(did.description == vector.did)
        #expect(vector.did.utf8.count == DIDKey.characterCount)
        #expect(try DIDKey(vector.did) == did)
        #expect(try DIDKey(vector.did).publicKey == key)
        let fragment = vector.did.dropFirst("did:key:".count)
        #expect(did.multibase == fragment && fragment.hasPrefix("zDnae"))
    }

    @Test(arguments: try DIDKeyVectors.file.get().wrong)
    func `each wrong form is refused with its own error`(vector: DIDKeyVectors.Wrong) throws {
        let error = try #require(throws: DIDKeyError.self) { try DIDKey(vector.text) }
        #expect(Self.name(of: error) == vector.error)
        #expect(error.description.contains("did:key:zDnae… with 57 characters"))
    }

    @Test func `the vectors have every error`() throws {
        let names = Set(try DIDKeyVectors.file.get().wrong.map(\.error))
        #expect(
            names == [
                "tooLong", "notDIDKey", "notBare", "otherBase", "invalidBase58", "ed25519", "otherCodec",
                "malformedCodec", "bigEndianCodec", "uncompressedPoint", "uncompressedPointWithoutCodec",
                "compressedPointWithoutCodec", "wrongLength", "notOnCurve",
            ]
        )
    }

    @Test func `an error names the multicodec and the number of bytes`() throws {
        #expect(throws: DIDKeyError.otherCodec(0xE7)) {
            try DIDKey("did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme")
        }
        #expect(DIDKeyError.otherCodec(0xE7).description.contains("0xe7"))
        #expect(throws: DIDKeyError.tooLong(found: 1_000_000)) {
            try DIDKey("did:key:z" + String(repeating: "2", count: 999_991))
        }
    }

    @Test func `a DID is a string in JSON`() throws {
        let did = DIDKey(P256PrivateKey().publicKey)
        let json = try JSONEncoder().encode([did])
        #expect(try JSONDecoder().decode([String].self, from: json) == [did.description])
        #expect(try JSONDecoder().decode([DIDKey].self, from: json) == [did])
        #expect(throws: DIDKeyError.ed25519) {
            try JSONDecoder().decode(
                [DIDKey].self,
                from: Data(#"["did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"]"#.utf8)
            )
        }
    }

    @Test func `a changed character never gives the same DID`() throws {
        let did = try DIDKeyVectors.file.get().keys[0].did
        let expected = try DIDKey(did)
        for (index, byte) in did.utf8.enumerated() {
            var changed = Array(did.utf8)
            changed[index] = byte == UInt8(ascii: "2") ? UInt8(ascii: "3") : UInt8(ascii: "2")
            let read = try? DIDKey(String(decoding: changed, as: UTF8.self))  // most are refused
            #expect(read != expected)
        }
    }

    @Test func `no text crashes the reader`() throws {
        let file = try DIDKeyVectors.file.get()
        neverCrash(onTexts: file.keys.map(\.did) + file.wrong.map(\.text)) { text in
            let did = try DIDKey(text)
            #expect(did.description == text)
        }
    }

    private static func name(of error: DIDKeyError) -> String {
        switch error {
        case .tooLong: "tooLong"
        case .notDIDKey: "notDIDKey"
        case .notBare: "notBare"
        case .otherBase: "otherBase"
        case .invalidBase58: "invalidBase58"
        case .ed25519: "ed25519"
        case .otherCodec: "otherCodec"
        case .malformedCodec: "malformedCodec"
        case .bigEndianCodec: "bigEndianCodec"
        case .uncompressedPoint: "uncompressedPoint"
        case .uncompressedPointWithoutCodec: "uncompressedPointWithoutCodec"
        case .compressedPointWithoutCodec: "compressedPointWithoutCodec"
        case .wrongLength: "wrongLength"
        case .notOnCurve: "notOnCurve"
        }
    }
}
