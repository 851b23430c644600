internal import Crypto
internal import Essentials

/// A public key on the curve P-256 (secp256r1), with the verifier made once.
///
/// Only points of the curve become one. Signatures are ECDSA over SHA-256 (ES256). Verification accepts both values of
/// s that fit, as FIPS 186-5 does; only ``P256PrivateKey`` is limited to the lower one.
package struct P256PublicKey: Sendable {
    /// The size of the compressed form in bytes.
    package static let compressedByteCount = 33
    /// The size of the uncompressed form of X9.63 in bytes.
    package static let x963ByteCount = 65
    /// The size of a raw signature in bytes: r and s.
    package static let signatureByteCount = 64
    /// The most bytes that a signature in DER has.
    package static let derSignatureByteLimit = 72

    /// The compressed form of SEC 1: 02 or 03, and x.
    package let compressed: [UInt8]
    private let verifier: P256.Signing.PublicKey

    /// Reads the compressed form of SEC 1.
    package init(compressed: some Collection<UInt8>) throws(P256KeyError) {
        let bytes = try Self.checked(
            compressed,
            of: "a compressed key",
            count: Self.compressedByteCount,
            firstBytes: [2, 3]
        )
        let key: P256.Signing.PublicKey
        do { key = try P256.Signing.PublicKey(compressedRepresentation: bytes) } catch { throw .notOnCurve }
        // Excludes coordinates that are not below the prime.
        guard key.compressedRepresentation.elementsEqual(bytes) else { throw .notOnCurve }
        self.compressed = bytes
        verifier = key
    }

    /// Reads the uncompressed form of X9.63: 04, x and y.
    package init(x963: some Collection<UInt8>) throws(P256KeyError) {
        let bytes = try Self.checked(x963, of: "an uncompressed key", count: Self.x963ByteCount, firstBytes: [4])
        let key: P256.Signing.PublicKey
        do { key = try P256.Signing.PublicKey(x963Representation: bytes) } catch { throw .notOnCurve }
        // Excludes coordinates that are not below the prime.
        guard key.x963Representation.elementsEqual(bytes) else { throw .notOnCurve }
        self.init(key)
    }

    init(_ key: P256.Signing.PublicKey) {
        compressed = [UInt8](key.compressedRepresentation)
        verifier = key
    }

    /// The uncompressed form of X9.63: 04, x and y.
    package var x963: [UInt8] { [UInt8](verifier.x963Representation) }

    /// Whether the 64 bytes of `signature`, r and s, are this key's over exactly `message`.
    package func isValidSignature(raw signature: [UInt8], for message: [UInt8]) -> Bool {
        guard signature.count == Self.signatureByteCount else { return false }
        do {
            let signature = try P256.Signing.ECDSASignature(rawRepresentation: signature)
            return verifier.isValidSignature(signature, for: message)
        } catch {
            return false
        }
    }

    /// Whether `signature` is this key's over exactly `message`, in the only form that DER allows.
    package func isValidSignature(der signature: [UInt8], for message: [UInt8]) -> Bool {
        guard signature.count <= Self.derSignatureByteLimit else { return false }
        do {
            let parsed = try P256.Signing.ECDSASignature(derRepresentation: signature)
            // Excludes encodings that a lenient parser accepts.
            guard parsed.derRepresentation.elementsEqual(signature) else { return false }
            return verifier.isValidSignature(parsed, for: message)
        } catch {
            return false
        }
    }

    private static func checked(
        _ bytes: some Collection<UInt8>,
        of form: String,
        count: Int,
        firstBytes: [UInt8]
    ) throws(P256KeyError) -> [UInt8] {
        guard bytes.count == count else { throw .wrongLength(of: form, expected: count, found: bytes.count) }
        guard let first = bytes.first, firstBytes.contains(first) else {
            let expected = firstBytes.map { "\($0)" }.joined(separator: " or ")
            throw .wrongFirstByte(of: form, expected: expected, found: bytes.first ?? 0)
        }
        return Array(bytes)
    }
}

extension P256PublicKey: Hashable {
    /// Whether both are the same point.
    package static func == (left: P256PublicKey, right: P256PublicKey) -> Bool { left.compressed == right.compressed }

    /// Feeds the compressed form.
    package func hash(into hasher: inout Hasher) { hasher.combine(compressed) }
}

extension P256PublicKey: CustomStringConvertible {
    /// The key as a ``DIDKey``.
    package var description: String { DIDKey(self).description }
}
