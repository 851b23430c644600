internal import CryptoExtras

/// An RSA public key for RS256 (RFC 8230), within bounds that keep a verification cheap.
package struct RSAPublicKey: Hashable, Sendable {
    /// Sizes of the modulus in bits.
    package static let bitCounts = 2_048...4_096
    /// The most bytes of the exponent.
    package static let exponentByteLimit = 4

    /// The modulus, most significant byte first, without leading zeros.
    package let modulus: [UInt8]
    /// The exponent, most significant byte first, without leading zeros.
    package let exponent: [UInt8]

    init(modulus: [UInt8], exponent: [UInt8]) throws(WebAuthnError) {
        guard let first = modulus.first, first > 0, let last = modulus.last, !last.isMultiple(of: 2) else {
            throw .malformed(of: "the RSA key", reason: "the modulus is not odd, or has leading zeros")
        }
        let bitCount = modulus.count * 8 - first.leadingZeroBitCount
        guard Self.bitCounts.contains(bitCount) else {
            let bounds = "\(Self.bitCounts.lowerBound) to \(Self.bitCounts.upperBound)"
            throw .malformed(of: "the RSA key", reason: "the modulus has \(bitCount) bits, where \(bounds) are allowed")
        }
        guard (1...Self.exponentByteLimit).contains(exponent.count), exponent[0] > 0, exponent != [1],
            let lastOfExponent = exponent.last, !lastOfExponent.isMultiple(of: 2)
        else {
            throw .malformed(of: "the RSA key", reason: "the exponent is not an odd number from 3 to 2^32")
        }
        self.modulus = modulus
        self.exponent = exponent
    }

    /// Whether `signature` is this key's over exactly `message`.
    func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard signature.count == modulus.count else { return false }
        do {
            let key = try _RSA.Signing.PublicKey(n: modulus, e: exponent)
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return key.isValidSignature(signature, for: message, padding: .insecurePKCS1v1_5)
        } catch {
            return false
        }
    }
}
