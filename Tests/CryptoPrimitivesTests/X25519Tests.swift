import Bytes
import CryptoPrimitives
import Foundation
import TestSupport
import Testing

@Suite("X25519 keys") struct X25519Tests {
    private static let secretHex = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"

    @Test(arguments: [
        [
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        ],
        [
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
        ],
    ])
    func `the examples of RFC 7748 section 5_2 give their results`(example: [String]) throws {
        let key = try X25519PrivateKey(rawRepresentation: Hex.decode(example[0]))
        let secret = try key.sharedSecret(with: X25519PublicKey(rawRepresentation: Hex.decode(example[1])))
        #expect(secret.withBytes { Hex.encode($0) } == example[2])
    }

    @Test func `a thousand iterations of RFC 7748 section 5_2 give their result`() throws {
        var scalar = [9] + [UInt8](repeating: 0, count: 31)
        var coordinate = scalar
        for round in 1...1_000 {
            let key = try X25519PrivateKey(rawRepresentation: scalar)
            let secret = try key.sharedSecret(with: X25519PublicKey(rawRepresentation: coordinate))
            coordinate = scalar
            scalar = secret.withBytes { $0 }
            if round == 1 {
                #expect(
                    Hex.encode(scalar) == "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"
                )
            }
        }
        #expect(Hex.encode(scalar) == "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51")
    }

    @Test func `two keys agree on the secret of RFC 7748 section 6_1`() throws {
        let first = try X25519PrivateKey(rawRepresentation: Hex.decode(Self.secretHex))
        let second = try X25519PrivateKey(
            rawRepresentation: Hex.decode("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
        )
        #expect(
            Hex.encode(first.publicKey.bytes)
                == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
        )
        #expect(
            Hex.encode(second.publicKey.bytes)
                == "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
        )
        let secret = try first.sharedSecret(with: second.publicKey)
        #expect(try secret == second.sharedSecret(with: first.publicKey))
        #expect(
            secret.withBytes { Hex.encode($0) }
                == "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
        )
    }

    @Test(arguments: LowOrderPoint.all) func `a point of low order is refused`(point: LowOrderPoint) throws {
        let key = try X25519PrivateKey(rawRepresentation: Hex.decode(Self.secretHex))
        let publicKey = try X25519PublicKey(rawRepresentation: Hex.decode(point.encoding))
        #expect(throws: X25519Error.lowOrderPoint) { try key.sharedSecret(with: publicKey) }
    }

    @Test func `base64 reads and writes the 32 bytes of a public key`() throws {
        let key = try X25519PublicKey(rawRepresentation: [UInt8](0..<32))
        let text = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        #expect(key.base64Encoded == text)
        #expect("\(key)" == text)
        #expect(try X25519PublicKey(base64Encoded: text) == key)
        #expect(try X25519PublicKey(base64Encoded: text).bytes == [UInt8](0..<32))
    }

    @Test(arguments: [
        "", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gIQ==", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gI", "-AECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    ])
    func `another text than canonical base64 of 32 bytes is refused`(text: String) {
        #expect(throws: X25519Error.self) { try X25519PublicKey(base64Encoded: text) }
        #expect(throws: X25519Error.self) { try X25519PrivateKey(base64Encoded: text) }
        #expect(throws: X25519Error.self) { try PresharedKey(base64Encoded: text) }
    }

    @Test func `damaged text never crashes`() throws {
        let text = try X25519PublicKey(rawRepresentation: [UInt8](0..<32)).base64Encoded
        neverCrash(onTexts: [text]) { text in
            let key = try X25519PublicKey(base64Encoded: text)
            #expect(key.base64Encoded == text)
        }
    }

    @Test(arguments: [0, 31, 33]) func `another number of bytes is refused`(count: Int) {
        let bytes = [UInt8](repeating: 1, count: count)
        #expect(throws: X25519Error.wrongLength(of: "a public key", found: count)) {
            try X25519PublicKey(rawRepresentation: bytes)
        }
        #expect(throws: X25519Error.wrongLength(of: "a private key", found: count)) {
            try X25519PrivateKey(rawRepresentation: bytes)
        }
        #expect(throws: X25519Error.wrongLength(of: "a preshared key", found: count)) {
            try PresharedKey(rawRepresentation: bytes)
        }
    }

    @Test func `a public key is coded as base64`() throws {
        let keys = try [X25519PublicKey(rawRepresentation: [UInt8](0..<32))]
        let json = Data(#"["AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]"#.utf8)
        #expect(try JSONEncoder().encode(keys) == json)
        #expect(try JSONDecoder().decode([X25519PublicKey].self, from: json) == keys)
        #expect(throws: X25519Error.self) {
            try JSONDecoder().decode([X25519PublicKey].self, from: Data(#"["AAEC"]"#.utf8))
        }
    }

    @Test func `public keys with one different bit are unequal`() throws {
        let key = try X25519PublicKey(rawRepresentation: [UInt8](repeating: 0, count: 32))
        for index in 0..<32 {
            var bytes = key.bytes
            bytes[index] = 1
            #expect(try X25519PublicKey(rawRepresentation: bytes) != key)
        }
        #expect(try Set([key, X25519PublicKey(rawRepresentation: key.bytes)]).count == 1)
    }
}

@Suite("Secret keys") struct SecretKeyTests {
    @Test func `keys come from the given generator`() {
        var first = SplitMix64(seed: 1)
        var second = SplitMix64(seed: 1)
        let key = X25519PrivateKey(using: &first)
        #expect(key == X25519PrivateKey(using: &second))
        #expect(key != X25519PrivateKey(using: &second))
        #expect(PresharedKey(using: &first) != PresharedKey(using: &first))
    }

    @Test func `private and preshared keys print redacted`() throws {
        let bytes = [UInt8](repeating: 0xA7, count: 32)
        let privateKey = try X25519PrivateKey(rawRepresentation: bytes)
        let presharedKey = try PresharedKey(rawRepresentation: bytes)
        #expect("\(privateKey)" == "X25519PrivateKey(redacted)")
        #expect(String(reflecting: privateKey) == "X25519PrivateKey(redacted)")
        #expect("\(presharedKey)" == "PresharedKey(redacted)")
        #expect(String(reflecting: presharedKey) == "PresharedKey(redacted)")
        #expect(Mirror(reflecting: privateKey).children.isEmpty)
        #expect(Mirror(reflecting: presharedKey).children.isEmpty)
    }

    @Test func `the secret of a key keeps the bytes that were given`() throws {
        let bytes = [UInt8](repeating: 0xA7, count: 32)
        #expect(try X25519PrivateKey(base64Encoded: Base64.encode(bytes)).secret.withBytes { $0 } == bytes)
        #expect(try PresharedKey(base64Encoded: Base64.encode(bytes)).secret.withBytes { $0 } == bytes)
        #expect(PresharedKey.zero.secret.withBytes { $0 } == [UInt8](repeating: 0, count: 32))
    }
}

/// The encodings of points of low order on the curve and its twist (<https://cr.yp.to/ecdh.html>), and those with the highest
/// bit set, which X25519 ignores.
struct LowOrderPoint: CustomTestStringConvertible {
    let encoding: String

    var testDescription: String { encoding }

    static let all: [LowOrderPoint] = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b880",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f11d7",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ].map(LowOrderPoint.init)
}
