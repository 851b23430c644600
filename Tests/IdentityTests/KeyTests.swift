import Bytes
import Foundation
import Identity
import TestSupport
import Testing

@Suite("Ed25519 keys") struct KeyTests {
    struct SignatureVector: Decodable, CustomTestStringConvertible {
        let secret: String
        let `public`: String
        let message: String
        let signature: String

        var testDescription: String { "message of \(message.utf8.count / 2) bytes" }
    }

    struct Encodings: Decodable {
        let small_order: [String]
        let not_canonical: [String]
        let `public`: String
        let message: String
        let signature: String
        let malleated: [String]
    }

    @Test(arguments: try vectors(named: "Identity/ed25519.json", as: [SignatureVector].self))
    func `the vectors of RFC 8032 verify and nothing near them does`(vector: SignatureVector) throws {
        let key = try Ed25519PrivateKey(rawRepresentation: Hex.decode(vector.secret))
        let message = try Hex.decode(vector.message)
        let signature = try Hex.decode(vector.signature)
        #expect(Hex.encode(key.publicKey.bytes) == vector.public)
        #expect(key.publicKey.isValidSignature(signature, for: message))
        #expect(try key.publicKey.isValidSignature(key.signature(for: message), for: message))
        #expect(!key.publicKey.isValidSignature(signature, for: message + [0]))
        for index in signature.indices {
            var wrong = signature
            wrong[index] ^= 1
            #expect(!key.publicKey.isValidSignature(wrong, for: message))
        }
        for count in [0, 1, 32, 63] {
            #expect(!key.publicKey.isValidSignature(signature.prefix(count), for: message))
        }
        #expect(!key.publicKey.isValidSignature(signature + [0], for: message))
    }

    @Test func `points of small order are refused wherever a key is read`() throws {
        let encodings = try vectors(named: "Identity/encodings.json", as: Encodings.self)
        #expect(encodings.small_order.count == 10)
        for text in encodings.small_order {
            let bytes = try Hex.decode(text)
            let refusal = IdentityError.invalidPublicKey(reason: "it is a point of small order")
            #expect(throws: refusal) { try Ed25519PublicKey(rawRepresentation: bytes) }
            #expect(throws: refusal) { try Ed25519PublicKey(base64Encoded: Base64.encode(bytes)) }
            #expect(throws: refusal) { try NetworkId(rawRepresentation: bytes) }
            #expect(throws: refusal) { try NetworkId(text: CheckedBase32.encode(bytes)) }
            #expect(throws: refusal) { try NetworkId(base64Encoded: Base64.encode(bytes)) }
        }
    }

    @Test func `a second encoding of a point is refused`() throws {
        let encodings = try vectors(named: "Identity/encodings.json", as: Encodings.self)
        #expect(encodings.not_canonical.count == 38)
        for text in encodings.not_canonical {
            let bytes = try Hex.decode(text)
            let refusal = IdentityError.invalidPublicKey(reason: "its encoding is not canonical")
            #expect(throws: refusal) { try Ed25519PublicKey(rawRepresentation: bytes) }
            #expect(throws: refusal) { try NetworkId(rawRepresentation: bytes) }
        }
    }

    @Test func `nothing verifies under bytes that are no point of the curve`() throws {
        let message = [UInt8]("hello".utf8)
        let signature = try Ed25519PrivateKey().sign(message)
        for first in UInt8(2)..<40 {
            let key = try Ed25519PublicKey(rawRepresentation: [first] + [UInt8](repeating: 0, count: 31))
            #expect(!key.isValidSignature(signature, for: message))
            #expect(!key.isValidSignature([UInt8](repeating: 0, count: 64), for: message))
        }
    }

    @Test func `a signature cannot be turned into another one`() throws {
        let encodings = try vectors(named: "Identity/encodings.json", as: Encodings.self)
        let key = try Ed25519PublicKey(rawRepresentation: Hex.decode(encodings.public))
        let message = try Hex.decode(encodings.message)
        #expect(try key.isValidSignature(Hex.decode(encodings.signature), for: message))
        #expect(encodings.malleated.count >= 14)
        for text in encodings.malleated {
            #expect(try !key.isValidSignature(Hex.decode(text), for: message))
        }
        // R with y >= p: all ones but the sign.
        let unreduced = [UInt8](repeating: 0xFF, count: 31) + [0x7F] + (try Hex.decode(encodings.signature))[32...]
        #expect(!key.isValidSignature(unreduced, for: message))
    }

    @Test func `made keys differ and sign`() throws {
        let one = generateMasterKey()
        let other = generatePeerKey()
        #expect(one != other)
        let message = Data("hello".utf8)
        let signature = try one.privateKey.signature(for: message)
        #expect(one.publicKey.isValidSignature(signature, for: message))
        #expect(!other.publicKey.isValidSignature(signature, for: message))
        #expect(try Ed25519PrivateKey(rawRepresentation: one.privateKey.rawRepresentation) == one.privateKey)
    }

    @Test func `a key of another length is refused`() {
        for count in [0, 31, 33, 64] {
            #expect(throws: IdentityError.wrongLength(of: "a private key", expected: 32, found: count)) {
                try Ed25519PrivateKey(rawRepresentation: [UInt8](repeating: 1, count: count))
            }
        }
    }

    @Test func `public keys are JSON strings of base64`() throws {
        let key = generatePeerKey().publicKey
        let json = try JSONEncoder().encode([key])
        #expect(try JSONDecoder().decode([String].self, from: json) == [key.base64Encoded])
        #expect(try JSONDecoder().decode([Ed25519PublicKey].self, from: json) == [key])
    }
}
