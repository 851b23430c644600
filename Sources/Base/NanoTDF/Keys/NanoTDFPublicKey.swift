internal import Bytes
internal import Crypto
internal import Essentials

/// A public key on one of the curves of NanoTDF.
public struct NanoTDFPublicKey: Sendable {
    /// The point, for those curves that the system's cryptography computes on.
    enum Point {
        case secp256r1(P256.KeyAgreement.PublicKey)
        case secp384r1(P384.KeyAgreement.PublicKey)
        case secp521r1(P521.KeyAgreement.PublicKey)
        /// Whether the bytes are a point was not checked.
        case secp256k1
    }

    let point: Point
    /// The compressed form of X9.62: 33, 49, 67 or 33 bytes.
    public let compressedRepresentation: [UInt8]

    /// Reads the compressed form of X9.62; nil if it is no point of `curve`.
    ///
    /// Points of secp256k1 are only checked for their length and first byte, since nothing is computed with them.
    public init?(compressed bytes: [UInt8], on curve: EllipticCurve) {
        guard bytes.count == curve.publicKeyByteCount, bytes.first == 2 || bytes.first == 3 else { return nil }
        do {
            point =
                switch curve {
                case .secp256r1: .secp256r1(try P256.KeyAgreement.PublicKey(compressedRepresentation: bytes))
                case .secp384r1: .secp384r1(try P384.KeyAgreement.PublicKey(compressedRepresentation: bytes))
                case .secp521r1: .secp521r1(try P521.KeyAgreement.PublicKey(compressedRepresentation: bytes))
                case .secp256k1: .secp256k1
                }
        } catch {
            return nil
        }
        compressedRepresentation = bytes
    }

    /// Reads a PEM text with a SubjectPublicKeyInfo (RFC 5480).
    ///
    /// - Throws: ``NanoTDFError/invalidKey(reason:)`` if the text is something else, and
    ///   ``NanoTDFError/unsupportedCurve(_:)`` for a key on secp256k1. Text around the key is ignored.
    public init(pemRepresentation text: String) throws(NanoTDFError) {
        self = try PEMText.key(
            in: text,
            isPrivate: false,
            readBy: [
                { Self(try P256.KeyAgreement.PublicKey(pemRepresentation: $0)) },
                { Self(try P384.KeyAgreement.PublicKey(pemRepresentation: $0)) },
                { Self(try P521.KeyAgreement.PublicKey(pemRepresentation: $0)) },
            ]
        )
    }

    init(_ key: P256.KeyAgreement.PublicKey) {
        point = .secp256r1(key)
        compressedRepresentation = [UInt8](key.compressedRepresentation)
    }

    init(_ key: P384.KeyAgreement.PublicKey) {
        point = .secp384r1(key)
        compressedRepresentation = [UInt8](key.compressedRepresentation)
    }

    init(_ key: P521.KeyAgreement.PublicKey) {
        point = .secp521r1(key)
        compressedRepresentation = [UInt8](key.compressedRepresentation)
    }

    /// The curve.
    public var curve: EllipticCurve {
        switch point {
        case .secp256r1: .secp256r1
        case .secp384r1: .secp384r1
        case .secp521r1: .secp521r1
        case .secp256k1: .secp256k1
        }
    }

    /// A name for the key in a ``ResourceLocator``: 32 hexadecimal digits, the first 16 bytes of SHA-256 of the
    /// compressed form.
    public var identifier: [UInt8] {
        [UInt8](Hex.encode(Array(SHA256.hash(data: compressedRepresentation)).prefix(16)).utf8)
    }

    /// The key as a SubjectPublicKeyInfo in PEM; nil for a key on secp256k1.
    public var pemRepresentation: String? {
        switch point {
        case .secp256r1(let key): key.pemRepresentation
        case .secp384r1(let key): key.pemRepresentation
        case .secp521r1(let key): key.pemRepresentation
        case .secp256k1: nil
        }
    }

    /// Whether `signature` is this key's over the SHA-256 of `message`; `r` and `s` have the width of a coordinate.
    ///
    /// Both values of `s` that fit are accepted: the published example of the format has the higher one.
    func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        let digest = SHA256.hash(data: message)
        do {
            switch point {
            case .secp256r1(let key):
                return try P256.Signing.PublicKey(x963Representation: key.x963Representation)
                    .isValidSignature(P256.Signing.ECDSASignature(rawRepresentation: signature), for: digest)
            case .secp384r1(let key):
                return try P384.Signing.PublicKey(x963Representation: key.x963Representation)
                    .isValidSignature(P384.Signing.ECDSASignature(rawRepresentation: signature), for: digest)
            case .secp521r1(let key):
                return try P521.Signing.PublicKey(x963Representation: key.x963Representation)
                    .isValidSignature(P521.Signing.ECDSASignature(rawRepresentation: signature), for: digest)
            case .secp256k1:
                return false
            }
        } catch {
            return false
        }
    }
}

extension NanoTDFPublicKey: Hashable {
    /// Whether both are the same point of the same curve.
    public static func == (left: NanoTDFPublicKey, right: NanoTDFPublicKey) -> Bool {
        left.curve == right.curve && left.compressedRepresentation == right.compressedRepresentation
    }

    /// Feeds the curve and the compressed form.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(curve)
        hasher.combine(compressedRepresentation)
    }
}
