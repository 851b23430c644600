internal import Crypto
internal import Identity
internal import X509

/// The leaf of a chain that met a ``ChainPolicy``.
package struct VerifiedLeaf: Sendable {
    /// The last second since 1970 in which the certificate is valid.
    package let endSeconds: UInt64

    private let publicKey: Certificate.PublicKey

    init(_ certificate: Certificate) {
        endSeconds = UnixTime.clampedSeconds(of: certificate.notValidAfter)
        publicKey = certificate.publicKey
    }

    /// Whether `signature` is one of the leaf's P-256 key over exactly `message` by ES256 (RFC 7518, section 3.4).
    ///
    /// It is r and s of 32 bytes each, not DER. A key of another kind has no such signature.
    package func isValidES256Signature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let key = P256.Signing.PublicKey(publicKey) else { return false }
        do {
            let parsed = try P256.Signing.ECDSASignature(rawRepresentation: signature)
            return key.isValidSignature(parsed, for: message)
        } catch {
            return false
        }
    }
}
