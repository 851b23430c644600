import Bytes
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Identity

@Suite("P-256 keys") struct P256KeyTests {
    private let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

    @Test(arguments: try DIDKeyVectors.file.get().keys)
    func `all forms of a key are one key`(vector: DIDKeyVectors.Key) throws {
        let compressed = try P256PublicKey(compressed: Hex.decode(vector.compressed))
        let uncompressed = try P256PublicKey(x963: Hex.decode(vector.x963))
        #expect(compressed == uncompressed)
        #expect(Hex.encode(uncompressed.compressed) == vector.compressed)
        #expect(Hex.encode(compressed.x963) == vector.x963)
        guard let secret = vector.private else { return }
        let key = try P256PrivateKey(rawRepresentation: SecretBytes(copying: Hex.decode(secret)))
        #expect(key.publicKey == compressed)
        key.rawRepresentation.withBytes { #expect(Hex.encode($0) == secret) }
    }

    @Test(arguments: try DIDKeyVectors.file.get().signatures)
    func `signatures of another library verify with either s`(vector: DIDKeyVectors.Signature) throws {
        let key = try DIDKey(vector.did).publicKey
        let message = try Hex.decode(vector.message)
        for text in [vector.low, vector.high] {
            let signature = try Hex.decode(text)
            #expect(key.isValidSignature(raw: signature, for: message))
            #expect(!key.isValidSignature(raw: signature, for: message + [0]))
            #expect(!key.isValidSignature(raw: signature + [0], for: message))
            #expect(!key.isValidSignature(raw: signature.dropLast(), for: message))
            #expect(!key.isValidSignature(der: signature, for: message))
            for index in signature.indices {
                var changed = signature
                changed[index] ^= 0x10
                #expect(!key.isValidSignature(raw: changed, for: message))
            }
        }
        for text in [vector.der_low, vector.der_high] {
            let signature = try Hex.decode(text)
            #expect(key.isValidSignature(der: signature, for: message))
            #expect(!key.isValidSignature(der: signature, for: message + [0]))
            #expect(!key.isValidSignature(raw: signature, for: message))
        }
        #expect(Hex.encode(P256PrivateKey.withLowS(try Hex.decode(vector.high))) == vector.low)
        #expect(Hex.encode(P256PrivateKey.withLowS(try Hex.decode(vector.low))) == vector.low)
    }

    @Test func `DER in another form than the only one is refused`() throws {
        let vector = try #require(try DIDKeyVectors.file.get().signatures.first)
        let key = try DIDKey(vector.did).publicKey
        let message = try Hex.decode(vector.message)
        let der = try Hex.decode(vector.der_low)
        let r = Array(der[4..<4 + Int(der[3])])
        let s = Array(der[(6 + r.count)...])
        let twoByteLength: [UInt8] = [0x30, 0x81] + der[1...]
        let longer: [UInt8] = [0x30, der[1] + 1, 2, UInt8(r.count + 1), 0] + r + [2, UInt8(s.count)] + s
        let indefinite: [UInt8] = [0x30, 0x80] + der[2...] + [0, 0]
        let inside: [UInt8] = [0x30, der[1] + 2] + der[2...] + [5, 0]
        let shorter = Array(der.dropLast())
        let wrong: [[UInt8]] = [twoByteLength, longer, indefinite, inside, der + [0], shorter, [], [0x30, 0]]
        for wrong in wrong {
            #expect(!key.isValidSignature(der: wrong, for: message), "\(Hex.encode(wrong))")
        }
        // Without its byte of zero, the integer is negative.
        #expect(r.first == 0)
        let negative: [UInt8] = [0x30, der[1] - 1, 2, UInt8(r.count - 1)] + r[1...] + [2, UInt8(s.count)] + s
        #expect(!key.isValidSignature(der: negative, for: message))
        #expect(key.isValidSignature(der: der, for: message))
    }

    @Test func `signatures have the lower s and verify elsewhere`() throws {
        let key = P256PrivateKey()
        let half = try Hex.decode("7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8")
        let other = try P256.Signing.PublicKey(compressedRepresentation: key.publicKey.compressed)
        for index in UInt8(0)..<64 {
            let signature = try key.signature(for: [index])
            #expect(!half.lexicographicallyPrecedes(signature[32...]))
            #expect(key.publicKey.isValidSignature(raw: signature, for: [index]))
            let parsed = try P256.Signing.ECDSASignature(rawRepresentation: signature)
            #expect(other.isValidSignature(parsed, for: [index]))
            #expect(key.publicKey.isValidSignature(der: Array(parsed.derRepresentation), for: [index]))
        }
        #expect(!P256PrivateKey().publicKey.isValidSignature(raw: try key.signature(for: [1]), for: [1]))
    }

    @Test func `the lower s is itself at half of the order`() throws {
        let zeros = [UInt8](repeating: 0, count: 32)
        let half = try Hex.decode("7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8")
        var above = half
        above[31] += 1
        #expect(P256PrivateKey.withLowS(zeros + half) == zeros + half)
        #expect(P256PrivateKey.withLowS(zeros + above) == zeros + half)
    }

    @Test func `signatures with a zero or a number above the order are invalid`() throws {
        let key = P256PrivateKey()
        let signature = try key.signature(for: [1])
        let (r, s) = (Array(signature[..<32]), Array(signature[32...]))
        let zero = [UInt8](repeating: 0, count: 32)
        let order = try Hex.decode(order)
        for wrong in [zero + s, r + zero, zero + zero, order + s, r + order] {
            #expect(!key.publicKey.isValidSignature(raw: wrong, for: [1]))
        }
    }

    @Test func `bytes that are no point are refused with the reason`() throws {
        let vector = try #require(try DIDKeyVectors.file.get().keys.first)
        let compressed = try Hex.decode(vector.compressed)
        let uncompressed = try Hex.decode(vector.x963)
        for count in [0, 1, 32, 34, 65] {
            #expect(throws: P256KeyError.wrongLength(of: "a compressed key", expected: 33, found: count)) {
                try P256PublicKey(compressed: [UInt8](repeating: 2, count: count))
            }
        }
        for count in [0, 33, 64, 66] {
            #expect(throws: P256KeyError.wrongLength(of: "an uncompressed key", expected: 65, found: count)) {
                try P256PublicKey(x963: [UInt8](repeating: 4, count: count))
            }
        }
        for first in [UInt8(0), 1, 4, 5, 6, 0xFF] {
            #expect(throws: P256KeyError.wrongFirstByte(of: "a compressed key", expected: "2 or 3", found: first)) {
                try P256PublicKey(compressed: [first] + compressed[1...])
            }
        }
        // 6 and 7 are the hybrid form of X9.62.
        for first in [UInt8(0), 2, 3, 6, 7] {
            #expect(throws: P256KeyError.wrongFirstByte(of: "an uncompressed key", expected: "4", found: first)) {
                try P256PublicKey(x963: [first] + uncompressed[1...])
            }
        }
        for index in 1..<65 {
            var changed = uncompressed
            changed[index] ^= 1
            #expect(throws: P256KeyError.notOnCurve) { try P256PublicKey(x963: changed) }
        }
        #expect(throws: P256KeyError.notOnCurve) {
            try P256PublicKey(x963: [4] + [UInt8](repeating: 0, count: 64))
        }
    }

    @Test func `scalars outside of the order are refused`() throws {
        for text in [String(repeating: "00", count: 32), order, String(repeating: "ff", count: 32)] {
            #expect(throws: P256KeyError.scalarOutOfRange) {
                try P256PrivateKey(rawRepresentation: SecretBytes(copying: Hex.decode(text)))
            }
        }
        for count in [0, 31, 33] {
            #expect(throws: P256KeyError.wrongLength(of: "a private key", expected: 32, found: count)) {
                try P256PrivateKey(rawRepresentation: SecretBytes(copying: [UInt8](repeating: 1, count: count)))
            }
        }
    }

    @Test func `a private key prints as redacted and survives its bytes`() throws {
        let key = P256PrivateKey()
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key)] { #expect(text == "P256PrivateKey(redacted)") }
        #expect(dumped.contains("P256PrivateKey(redacted)"))
        key.rawRepresentation.withBytes { #expect(!dumped.contains(Hex.encode($0))) }
        let copy = try P256PrivateKey(rawRepresentation: key.rawRepresentation)
        #expect(copy.publicKey == key.publicKey)
        #expect(P256PrivateKey().publicKey != key.publicKey)
        #expect(Set([key.publicKey, copy.publicKey]).count == 1)
    }

    @Test func `no bytes crash the readers`() throws {
        let file = try DIDKeyVectors.file.get()
        let key = try #require(file.keys.first)
        let signature = try #require(file.signatures.first)
        let publicKey = try DIDKey(signature.did).publicKey
        let inputs = try [key.compressed, key.x963, signature.low, signature.der_high].map { try Hex.decode($0) }
        neverCrash(on: inputs) { bytes in
            #expect(!publicKey.isValidSignature(raw: bytes, for: [1]))
            #expect(!publicKey.isValidSignature(der: bytes, for: [1]))
            let compressed = try? P256PublicKey(compressed: bytes)  // most are refused
            #expect(compressed.map { $0.compressed == bytes } ?? true)
            let uncompressed = try? P256PublicKey(x963: bytes)  // most are refused
            #expect(uncompressed.map { $0.x963 == bytes } ?? true)
        }
    }
}
