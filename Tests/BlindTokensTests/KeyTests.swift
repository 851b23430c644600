internal import Bytes
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import BlindTokens

@Suite("Issuer keys") struct KeyTests {
    @Test func `a key of another implementation has its public key and its id`() throws {
        for sample in try Samples.keys() {
            let key = try TokenPrivateKey(pemRepresentation: sample.private_key)
            #expect(Hex.encode(key.publicKey.subjectPublicKeyInfo) == sample.subject_public_key_info)
            #expect("\(key.publicKey.keyId)" == sample.key_id)
            #expect(key.publicKey.keyId.truncated == key.publicKey.subjectPublicKeyInfo.sha256.last)
            #expect(key.pemRepresentation == sample.private_key)
            #expect(try TokenPrivateKey(derRepresentation: key.derRepresentation).publicKey == key.publicKey)
        }
    }

    @Test func `a generated key has 2048 bits and survives its file`() throws {
        let key = try TokenPrivateKey()
        #expect(key.publicKey.modulus.count == 256)
        #expect(key.publicKey.exponent == [1, 0, 1])
        let loaded = try TokenPrivateKey(pemRepresentation: key.pemRepresentation)
        #expect(loaded.publicKey == key.publicKey)
        var random = SplitMix64(seed: 1)
        let token = try Samples.token(from: loaded, for: Samples.challenge(), using: &random)
        #expect(CryptoUtils.verify(token, with: key.publicKey))
    }

    @Test func `a key for general use is refused as the key of an issuer`() throws {
        let text = try Samples.keys()[0].general_use_key
        #expect(throws: BlindTokenError.self) { try TokenPrivateKey(pemRepresentation: text) }
    }

    @Test func `a key file with another text around its block is refused`() throws {
        let text = try Samples.keys()[0].private_key
        #expect(throws: Never.self) { try TokenPrivateKey(pemRepresentation: "\n" + text + "\n") }
        for other in [text + text, "key:\n" + text, text + "end\n", "", String(repeating: "A", count: 20_000)] {
            #expect(throws: BlindTokenError.self) { try TokenPrivateKey(pemRepresentation: other) }
        }
    }

    @Test func `a key with 3072 bits is refused`() throws {
        #expect(throws: BlindTokenError.self) {
            try TokenPublicKey(modulus: [UInt8](repeating: 0xFF, count: 384), exponent: [1, 0, 1])
        }
    }

    @Test(arguments: [[], [0], [1], [2], [1, 0, 0], [0, 3], [1, 0, 0, 0, 1]] as [[UInt8]])
    func `an exponent out of bounds is refused`(exponent: [UInt8]) throws {
        let modulus = try Samples.issuer().publicKey.modulus
        #expect(throws: BlindTokenError.self) { try TokenPublicKey(modulus: modulus, exponent: exponent) }
    }

    @Test(arguments: [[3], [17], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]])
    func `an odd exponent of at most 32 bits is accepted`(exponent: [UInt8]) throws {
        let modulus = try Samples.issuer().publicKey.modulus
        let key = try TokenPublicKey(modulus: modulus, exponent: exponent)
        #expect(try TokenPublicKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo) == key)
    }

    @Test func `an even modulus and one of fewer bits are refused`() throws {
        let modulus = try Samples.issuer().publicKey.modulus
        for other in [modulus.changed(at: 255), [0x7F] + modulus.dropFirst(), [UInt8](modulus.dropFirst())] {
            #expect(throws: BlindTokenError.self) { try TokenPublicKey(modulus: other, exponent: [1, 0, 1]) }
        }
    }

    @Test func `a public key with any byte of its algorithm changed is refused`() throws {
        let info = try Samples.issuer().publicKey.subjectPublicKeyInfo
        for place in 0..<70 {
            #expect(throws: BlindTokenError.self) { try TokenPublicKey(subjectPublicKeyInfo: info.changed(at: place)) }
        }
        #expect(throws: BlindTokenError.self) { try TokenPublicKey(subjectPublicKeyInfo: info + [0]) }
        #expect(throws: BlindTokenError.self) { try TokenPublicKey(subjectPublicKeyInfo: info.dropLast()) }
    }

    @Test func `a public key with another encoding of a length is refused`() throws {
        let info = try Samples.issuer().publicKey.subjectPublicKeyInfo
        // The exponent's length in the long form: three lengths around it grow by one.
        var other = info
        other.replaceSubrange(338..<339, with: [0x81, 0x03])
        #expect(info[337...] == [2, 3, 1, 0, 1])
        for place in [3, 70, 75] { other[place] += 1 }
        #expect(throws: BlindTokenError.self) { try TokenPublicKey(subjectPublicKeyInfo: other) }
    }

    @Test func `a message of another size than 256 bytes is neither padded nor cut`() throws {
        let key = try Samples.issuer()
        for count in [0, 1, 255, 257, 512] {
            let message = [UInt8](repeating: 1, count: count)
            #expect(throws: BlindTokenError.wrongSize(.blindedMessage, expected: 256, found: count)) {
                try key.blindSignature(for: message)
            }
            #expect(throws: BlindTokenError.self) { try TokenRequest(truncatedKeyId: 0, blindedMessage: message) }
        }
    }

    @Test func `a message that is not below the modulus is refused`() throws {
        let key = try Samples.issuer()
        func admits(_ message: [UInt8]) throws -> Bool {
            key.publicKey.admits(try TokenRequest(truncatedKeyId: 0, blindedMessage: message))
        }
        let modulus = key.publicKey.modulus
        for message in [modulus, [UInt8](repeating: 0xFF, count: 256)] {
            #expect(throws: BlindTokenError.messageOutOfRange) { try key.blindSignature(for: message) }
            #expect(try !admits(message))
        }
        // The modulus is odd, so this is the largest number below it.
        let largest = modulus.changed(at: 255)
        #expect(try key.blindSignature(for: largest).count == 256)
        #expect(try admits(largest) && admits([UInt8](repeating: 0, count: 255) + [1]))
    }

    @Test func `a request for another key is refused`() throws {
        let key = try Samples.issuer()
        let request = try TokenRequest(
            truncatedKeyId: key.publicKey.keyId.truncated ^ 1,
            blindedMessage: [UInt8](repeating: 1, count: 256)
        )
        #expect(throws: BlindTokenError.wrongKey) { try key.response(to: request) }
    }

    @Test func `no description contains a secret`() throws {
        let key = try Samples.issuer()
        var random = SplitMix64(seed: 2)
        let token = try Samples.token(from: key, for: Samples.challenge(), using: &random)
        let input = CryptoUtils.makeTokenInput(for: try Samples.challenge(), key: key.publicKey, using: &random)
        let pending = try CryptoUtils.blind(input, for: key.publicKey)
        #expect("\(token)" == "Token(redacted)")
        #expect(String(reflecting: token) == "Token(redacted)")
        #expect("\(pending)" == "PendingToken(redacted)")
        #expect("\(key)" == "TokenPrivateKey(\(key.publicKey.keyId))")
        #expect(Mirror(reflecting: token).children.isEmpty)
        #expect(Mirror(reflecting: pending).children.isEmpty)
        #expect(Mirror(reflecting: key).children.isEmpty)
        #expect("\(key.derRepresentation)" == "SecretBytes(redacted)")
    }
}
