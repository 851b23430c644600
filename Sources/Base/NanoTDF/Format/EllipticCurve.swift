/// The elliptic curve of a key, by the number that a NanoTDF gives it (section 3.3.1.3.2).
public enum EllipticCurve: UInt8, CaseIterable, Hashable, Sendable {
    /// NIST P-256.
    case secp256r1 = 0
    /// NIST P-384.
    case secp384r1 = 1
    /// NIST P-521.
    case secp521r1 = 2
    /// The curve of SEC 2 that Bitcoin uses. It is recognised, and refused by everything that computes.
    case secp256k1 = 3

    /// The bytes of a public key in the compressed form of X9.62: 33, 49, 67 or 33.
    public var publicKeyByteCount: Int { 1 + coordinateByteCount }

    /// The bytes of an ECDSA signature, `r` and `s` of fixed width: 64, 96, 132 or 64.
    public var signatureByteCount: Int { 2 * coordinateByteCount }

    /// The bytes of a coordinate, and of a private key.
    var coordinateByteCount: Int {
        switch self {
        case .secp256r1, .secp256k1: 32
        case .secp384r1: 48
        case .secp521r1: 66
        }
    }
}

extension EllipticCurve: CustomStringConvertible {
    /// The name that RFC 5480 gives the curve.
    public var description: String {
        switch self {
        case .secp256r1: "secp256r1"
        case .secp384r1: "secp384r1"
        case .secp521r1: "secp521r1"
        case .secp256k1: "secp256k1"
        }
    }
}
