internal import Bytes
internal import Crypto
internal import Essentials

/// AEAD_XChaCha20_Poly1305 (draft-irtf-cfrg-xchacha-03, section 2.3): nonces of 24 bytes, which may be random.
package enum XChaChaPoly {
    /// The size of a key in bytes.
    package static let keyByteCount = HChaCha20.keyByteCount
    /// The size of a nonce in bytes.
    package static let nonceByteCount = 24
    /// The size of the tag, which follows the ciphertext, in bytes.
    package static let tagByteCount = 16

    /// Returns the ciphertext and its tag; other lengths of `key` and `nonce` are errors of the program.
    package static func seal(
        _ message: some Collection<UInt8>,
        key: [UInt8],
        nonce: [UInt8],
        authenticating associatedData: [UInt8] = []
    ) -> [UInt8] {
        do {
            let box = try ChaChaPoly.seal(
                Array(message),
                using: subkey(key, nonce),
                nonce: innerNonce(nonce),
                authenticating: associatedData
            )
            return Array(box.ciphertext) + Array(box.tag)
        } catch {
            preconditionFailure("ChaCha20-Poly1305 refused \(message.count) bytes")
        }
    }

    /// Returns the message; nil if the key, the nonce or the associated data are others, or the bytes were changed.
    ///
    /// Other lengths of `key` and `nonce` are errors of the program.
    package static func open(
        _ sealed: some Collection<UInt8>,
        key: [UInt8],
        nonce: [UInt8],
        authenticating associatedData: [UInt8] = []
    ) -> [UInt8]? {
        guard sealed.count >= tagByteCount else { return nil }
        do {
            let box = try ChaChaPoly.SealedBox(
                nonce: innerNonce(nonce),
                ciphertext: Array(sealed.dropLast(tagByteCount)),
                tag: Array(sealed.suffix(tagByteCount))
            )
            return Array(try ChaChaPoly.open(box, using: subkey(key, nonce), authenticating: associatedData))
        } catch {
            return nil
        }
    }

    private static func subkey(_ key: [UInt8], _ nonce: [UInt8]) -> SymmetricKey {
        precondition(nonce.count == nonceByteCount, "a nonce of \(nonce.count) bytes")
        var derived = HChaCha20.derive(key: key, nonce: nonce[..<HChaCha20.nonceByteCount])
        defer { derived.wipe() }
        return SymmetricKey(data: derived)
    }

    private static func innerNonce(_ nonce: [UInt8]) throws -> ChaChaPoly.Nonce {
        try ChaChaPoly.Nonce(data: [0, 0, 0, 0] + nonce[HChaCha20.nonceByteCount...])
    }
}
