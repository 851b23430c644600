package import Bytes
internal import Crypto
internal import Essentials

/// The public X-Wing key of a client (ML-KEM-768 with X25519), to which a gateway encapsulates the preshared key.
package struct EncapsulationKey: Hashable, Sendable {
    package static let byteCount = 1_216
    package let bytes: [UInt8]

    /// Takes 1,216 bytes.
    ///
    /// - Throws: ``ExitModelError/wrongLength(of:expected:found:)``.
    package init(_ bytes: [UInt8]) throws(ExitModelError) {
        guard bytes.count == Self.byteCount else {
            throw .wrongLength(of: "encapsulationKey", expected: Self.byteCount, found: bytes.count)
        }
        self.bytes = bytes
    }

    /// Returns a new shared secret of 32 bytes, and its encapsulation for the owner of the key.
    ///
    /// - Throws: ``ExitModelError/noXWing``; ``ExitModelError/encapsulationFailed`` for bytes that are no key.
    package func encapsulate() throws(ExitModelError) -> (secret: SecretBytes, encapsulated: EncapsulatedKey) {
        guard #available(macOS 26, iOS 26, *) else { throw .noXWing }
        do {
            let result = try XWingMLKEM768X25519.PublicKey(rawRepresentation: bytes).encapsulate()
            return (result.sharedSecret.secretBytes, try EncapsulatedKey([UInt8](result.encapsulated)))
        } catch {
            throw .encapsulationFailed
        }
    }
}

/// The encapsulation of a shared secret for one client.
package struct EncapsulatedKey: Hashable, Sendable {
    package static let byteCount = 1_120
    package let bytes: [UInt8]

    /// Takes 1,120 bytes.
    ///
    /// - Throws: ``ExitModelError/wrongLength(of:expected:found:)``.
    package init(_ bytes: [UInt8]) throws(ExitModelError) {
        guard bytes.count == Self.byteCount else {
            throw .wrongLength(of: "encapsulatedKey", expected: Self.byteCount, found: bytes.count)
        }
        self.bytes = bytes
    }
}

/// The private X-Wing key of a client, for one redemption.
///
/// It consists of a seed of 32 bytes, which is wiped with the last copy.
package struct DecapsulationKey: Sendable {
    package static let byteCount = 32
    private let seed: SecretBytes

    /// Makes a key from `random`, which must be fit for keys outside tests.
    package init(using random: inout some RandomNumberGenerator) {
        seed = unsafe SecretBytes(count: Self.byteCount) { buffer in
            for index in buffer.indices {
                unsafe buffer[index] = UInt8.random(in: .min ... .max, using: &random)
            }
        }
    }

    /// Returns the public key.
    ///
    /// - Throws: ``ExitModelError/noXWing``, ``ExitModelError/encapsulationFailed``.
    package func encapsulationKey() throws(ExitModelError) -> EncapsulationKey {
        guard #available(macOS 26, iOS 26, *) else { throw .noXWing }
        do {
            return try EncapsulationKey([UInt8](privateKey().publicKey.rawRepresentation))
        } catch {
            throw .encapsulationFailed
        }
    }

    /// Returns the shared secret of 32 bytes.
    ///
    /// X-Wing has implicit rejection: an encapsulation for another key gives another secret, not an error.
    ///
    /// - Throws: ``ExitModelError/noXWing``, ``ExitModelError/encapsulationFailed``.
    package func decapsulate(_ encapsulated: EncapsulatedKey) throws(ExitModelError) -> SecretBytes {
        guard #available(macOS 26, iOS 26, *) else { throw .noXWing }
        do {
            return try privateKey().decapsulate(Data(encapsulated.bytes)).secretBytes
        } catch {
            throw .encapsulationFailed
        }
    }

    @available(macOS 26, iOS 26, *)
    private func privateKey() throws -> XWingMLKEM768X25519.PrivateKey {
        try unsafe seed.withUnsafeBytes { bytes in
            try unsafe XWingMLKEM768X25519.PrivateKey(seedRepresentation: bytes, publicKey: nil)
        }
    }
}

extension DecapsulationKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `DecapsulationKey(redacted)`.
    package var description: String { "DecapsulationKey(redacted)" }

    /// Always `DecapsulationKey(redacted)`.
    package var debugDescription: String { description }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension SymmetricKey {
    fileprivate var secretBytes: SecretBytes {
        unsafe withUnsafeBytes { bytes in unsafe SecretBytes(copying: bytes) }
    }
}
