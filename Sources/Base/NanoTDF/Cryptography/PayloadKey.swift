internal import Crypto
internal import Essentials

/// The key of payload and policy (section 4): HKDF-SHA256 of the x-coordinate of ECDH, without info.
struct PayloadKey: Sendable {
    /// SHA-256 of `L1L`.
    ///
    /// An array, because a leak check does not find the storage of a `Data` in a static property.
    private static let salt = Array(SHA256.hash(data: NanoTDFHeader.magic))

    let key: SymmetricKey

    init(_ secret: SharedSecret) {
        key = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self,
            salt: Self.salt,
            sharedInfo: Data(),
            outputByteCount: 32
        )
    }
}
