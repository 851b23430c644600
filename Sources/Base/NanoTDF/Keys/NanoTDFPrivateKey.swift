public import Bytes
internal import Crypto
internal import Essentials

/// A private key on one of the curves of NanoTDF.
///
/// It opens files that were sealed to its public half, and signs as a creator.
public struct NanoTDFPrivateKey: Sendable {
    private enum Scalar {
        case secp256r1(P256.KeyAgreement.PrivateKey)
        case secp384r1(P384.KeyAgreement.PrivateKey)
        case secp521r1(P521.KeyAgreement.PrivateKey)
    }

    private let scalar: Scalar

    /// Generates a key.
    ///
    /// - Throws: ``NanoTDFError/unsupportedCurve(_:)`` for secp256k1.
    public init(generatedOn curve: EllipticCurve) throws(NanoTDFError) {
        switch curve {
        case .secp256r1: self.init(P256.KeyAgreement.PrivateKey())
        case .secp384r1: self.init(P384.KeyAgreement.PrivateKey())
        case .secp521r1: self.init(P521.KeyAgreement.PrivateKey())
        case .secp256k1: throw .unsupportedCurve(curve)
        }
    }

    /// Reads the scalar: 32, 48 or 66 bytes, most significant first.
    ///
    /// - Throws: ``NanoTDFError/invalidKey(reason:)`` for bytes that are no private key of `curve`.
    public init(rawRepresentation secret: SecretBytes, on curve: EllipticCurve) throws(NanoTDFError) {
        do {
            self = try unsafe secret.withUnsafeBytes { bytes in
                switch curve {
                case .secp256r1: try unsafe Self(P256.KeyAgreement.PrivateKey(rawRepresentation: bytes))
                case .secp384r1: try unsafe Self(P384.KeyAgreement.PrivateKey(rawRepresentation: bytes))
                case .secp521r1: try unsafe Self(P521.KeyAgreement.PrivateKey(rawRepresentation: bytes))
                case .secp256k1: throw NanoTDFError.unsupportedCurve(curve)
                }
            }
        } catch let error as NanoTDFError {
            throw error
        } catch {
            throw .invalidKey(reason: "these \(secret.count) bytes are no private key on \(curve)")
        }
    }

    /// Reads a PEM text in PKCS#8 (RFC 5208) or SEC 1.
    ///
    /// - Throws: ``NanoTDFError/invalidKey(reason:)`` if the text is something else, and
    ///   ``NanoTDFError/unsupportedCurve(_:)`` for a key on secp256k1. Text around the key is ignored.
    public init(pemRepresentation text: String) throws(NanoTDFError) {
        self = try PEMText.key(
            in: text,
            isPrivate: true,
            readBy: [
                { Self(try P256.KeyAgreement.PrivateKey(pemRepresentation: $0)) },
                { Self(try P384.KeyAgreement.PrivateKey(pemRepresentation: $0)) },
                { Self(try P521.KeyAgreement.PrivateKey(pemRepresentation: $0)) },
            ]
        )
    }

    private init(_ key: P256.KeyAgreement.PrivateKey) {
        scalar = .secp256r1(key)
    }

    private init(_ key: P384.KeyAgreement.PrivateKey) {
        scalar = .secp384r1(key)
    }

    private init(_ key: P521.KeyAgreement.PrivateKey) {
        scalar = .secp521r1(key)
    }

    /// The public half, which is computed at each call.
    public var publicKey: NanoTDFPublicKey {
        switch scalar {
        case .secp256r1(let key): NanoTDFPublicKey(key.publicKey)
        case .secp384r1(let key): NanoTDFPublicKey(key.publicKey)
        case .secp521r1(let key): NanoTDFPublicKey(key.publicKey)
        }
    }

    /// The curve.
    public var curve: EllipticCurve {
        switch scalar {
        case .secp256r1: .secp256r1
        case .secp384r1: .secp384r1
        case .secp521r1: .secp521r1
        }
    }

    /// The scalar: 32, 48 or 66 bytes.
    public var rawRepresentation: SecretBytes {
        switch scalar {
        case .secp256r1(let key): SecretBytes(copying: key.rawRepresentation)
        case .secp384r1(let key): SecretBytes(copying: key.rawRepresentation)
        case .secp521r1(let key): SecretBytes(copying: key.rawRepresentation)
        }
    }

    /// The shared secret with the other half's owner: the x-coordinate of ECDH.
    func sharedSecret(with other: NanoTDFPublicKey) throws(NanoTDFError) -> SharedSecret {
        do {
            switch (scalar, other.point) {
            case (.secp256r1(let key), .secp256r1(let point)):
                return try key.sharedSecretFromKeyAgreement(with: point)
            case (.secp384r1(let key), .secp384r1(let point)):
                return try key.sharedSecretFromKeyAgreement(with: point)
            case (.secp521r1(let key), .secp521r1(let point)):
                return try key.sharedSecretFromKeyAgreement(with: point)
            case (.secp256r1, _), (.secp384r1, _), (.secp521r1, _):
                throw NanoTDFError.wrongCurve(expected: other.curve, found: curve)
            }
        } catch let error as NanoTDFError {
            throw error
        } catch {
            throw .cryptographyFailed
        }
    }

    /// Signs the SHA-256 of `message`: `r` and `s`, each as long as a coordinate.
    func sign(_ message: [UInt8]) throws(NanoTDFError) -> [UInt8] {
        let digest = SHA256.hash(data: message)
        do {
            switch scalar {
            case .secp256r1(let key):
                return try [UInt8](
                    P256.Signing.PrivateKey(rawRepresentation: key.rawRepresentation).signature(for: digest)
                        .rawRepresentation
                )
            case .secp384r1(let key):
                return try [UInt8](
                    P384.Signing.PrivateKey(rawRepresentation: key.rawRepresentation).signature(for: digest)
                        .rawRepresentation
                )
            case .secp521r1(let key):
                return try [UInt8](
                    P521.Signing.PrivateKey(rawRepresentation: key.rawRepresentation).signature(for: digest)
                        .rawRepresentation
                )
            }
        } catch {
            throw .cryptographyFailed
        }
    }
}

extension NanoTDFPrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Shows the curve only.
    public var description: String { "NanoTDFPrivateKey(\(curve), redacted)" }

    /// Shows the curve only.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
