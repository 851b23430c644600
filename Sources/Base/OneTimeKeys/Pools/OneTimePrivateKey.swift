internal import Bytes
internal import Crypto
internal import NanoTDF

/// The private half of a one-time key, derived from its leaf in the tree of the pool.
enum OneTimePrivateKey {
    case p256(NanoTDFPrivateKey)
    /// The seed.
    case xWing(SecretBytes)

    private static let info = [UInt8]("runar/one-time-keys/private-key/v1".utf8)
    private static let byteCount = 32

    init(_ suite: OneTimeKeySuite, leaf: SecretBytes) throws(OneTimeKeyError) {
        switch suite {
        case .p256:
            // About one of 2^32 outputs is not a scalar of the group; then the next one is used.
            for attempt in UInt8.min ... .max {
                let scalar = Self.expand(leaf, suite, attempt)
                if let key = try? NanoTDFPrivateKey(rawRepresentation: scalar, on: .secp256r1) {  // see above
                    self = .p256(key)
                    return
                }
            }
            throw .cryptographyFailed
        case .xWing:
            self = .xWing(Self.expand(leaf, suite, 0))
        }
    }

    func publicKey() throws(OneTimeKeyError) -> [UInt8] {
        switch self {
        case .p256(let key): key.publicKey.compressedRepresentation
        case .xWing(let seed): try XWing.publicKey(ofSeed: seed)
        }
    }

    /// HKDF-Expand (RFC 5869) with the leaf as pseudorandom key.
    private static func expand(_ leaf: SecretBytes, _ suite: OneTimeKeySuite, _ attempt: UInt8) -> SecretBytes {
        let key = unsafe leaf.withUnsafeBytes { bytes in
            unsafe HKDF<SHA256>.expand(
                pseudoRandomKey: SymmetricKey(data: bytes),
                info: info + [suite.rawValue, attempt],
                outputByteCount: byteCount
            )
        }
        return unsafe key.withUnsafeBytes { bytes in unsafe SecretBytes(copying: bytes) }
    }
}
