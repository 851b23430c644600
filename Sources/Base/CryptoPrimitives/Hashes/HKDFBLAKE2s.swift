internal import Bytes

/// HKDF (RFC 5869) with BLAKE2s and without info, as the Noise framework defines it (section 4.3).
///
/// The functions KDF1 to KDF3 of the WireGuard paper (section 5.4) are `count` 1 to 3.
package enum HKDFBLAKE2s {
    /// The most keys that ``derive(key:input:count:)`` makes.
    package static let maximumCount = 3

    /// Derives `count` keys of 32 bytes, 1 to 3, from a chaining key and input key material, which may be empty.
    package static func derive(
        key: some Collection<UInt8>,
        input: some Collection<UInt8>,
        count: Int
    ) -> [[UInt8]] {
        precondition(1...maximumCount ~= count, "\(count) derived keys")
        var extracted = HMACBLAKE2s.authenticationCode(for: input, key: key)
        defer { extracted.wipe() }
        var keys: [[UInt8]] = []
        keys.reserveCapacity(count)
        var message: [UInt8] = []
        message.reserveCapacity(HMACBLAKE2s.byteCount + 1)
        defer { message.wipe() }
        for number in 1...UInt8(count) {
            message.append(number)
            let key = HMACBLAKE2s.authenticationCode(for: message, key: extracted)
            keys.append(key)
            message.replaceSubrange(0..., with: key)
        }
        return keys
    }
}
