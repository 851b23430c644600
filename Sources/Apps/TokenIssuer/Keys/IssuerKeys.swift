internal import BlindTokens

/// The keys that sign tokens, the newest first.
struct IssuerKeys: Sendable {
    /// A key with the times of its use, in seconds since 1970.
    struct Entry: Sendable {
        let key: TokenPrivateKey
        /// The time from which clients use the key; 0 for a key that was in use from the beginning.
        let notBefore: UInt64
        /// The time until which the key signs; nil for the newest key.
        let until: UInt64?

        /// Whether the key signs at a time.
        func isLive(at nowSeconds: UInt64) -> Bool { until.map { nowSeconds < $0 } ?? true }
    }

    /// One key, or the new one and the one before it.
    let entries: [Entry]

    /// Returns the key that signs a request; nil if no live key has the truncated id.
    func key(truncated: UInt8, at nowSeconds: UInt64) -> TokenPrivateKey? {
        live(at: nowSeconds).first { $0.key.publicKey.keyId.truncated == truncated }?.key
    }

    /// The live keys, the newest first.
    func live(at nowSeconds: UInt64) -> [Entry] { entries.filter { $0.isLive(at: nowSeconds) } }
}
